#include <algorithm>
#include <limits>

#include "conformance/interchange/onnx/rows.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance::onnx {
namespace {

/// What ONNX repeats is written out; beyond this many parts it is refused.
constexpr std::int64_t most_parts = 1024;

/// Zeros copy an extent, -1 is what is left.
[[nodiscard]] Values reshape(NodeTranslation& n) {
  n.read_over({"consumed_inputs"});
  Integers shape = n.says("shape") ? *n.integers("shape") : n.known_integers(1);
  const bool copies = n.integer("allowzero", 0) == 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0 || !copies) continue;
    refuse(i >= n.dims().rank, "a 0 in the shape copies an extent that is not there");
    shape[i] = n.dims()[i];
  }
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    const std::int64_t rest = product(shape), all = n.dims().count();
    refuse(rest <= 0 || all % rest != 0, "no extent fits the -1 in the shape");
    *open = all / rest;
  }
  return {n.reshaped(n.x(), shape)};
}

[[nodiscard]] Values flatten(NodeTranslation& n) {
  const std::int64_t axis = n.integer("axis", 1);
  const std::int64_t first = axis == n.rank() ? axis : from_front(axis, n.rank());
  const Integers shape = extents_of(n.dims());
  const std::span<const std::int64_t> all(shape);
  return {n.reshaped(n.x(), {product(all.first(static_cast<std::size_t>(first))), product(all.subspan(static_cast<std::size_t>(first)))})};
}

/// Axes are an attribute, or since opset 13 an operand.
[[nodiscard]] std::optional<Integers> axes_of(NodeTranslation& n) {
  if (n.says("axes")) return n.integers("axes");
  if (n.has(1)) return n.known_integers(1);
  return std::nullopt;
}

[[nodiscard]] Values squeeze(NodeTranslation& n) {
  std::optional<Integers> axes = axes_of(n);
  if (axes) {
    for (std::int64_t& axis : *axes) axis = from_front(axis, n.rank());
  }
  Integers shape;
  for (std::int64_t i = 0; i < n.rank(); ++i) {
    const std::int64_t extent = n.dims()[static_cast<std::size_t>(i)];
    const bool goes = axes ? std::find(axes->begin(), axes->end(), i) != axes->end() : extent == 1;
    refuse(goes && extent != 1, "an axis that is left out has more than one element");
    if (!goes) shape.push_back(extent);
  }
  return {n.reshaped(n.x(), shape)};
}

[[nodiscard]] Values unsqueeze(NodeTranslation& n) {
  std::optional<Integers> axes = axes_of(n);
  refuse(!axes, "input 2 is missing");
  const std::int64_t rank = n.rank() + static_cast<std::int64_t>(axes->size());
  for (std::int64_t& axis : *axes) axis = from_front(axis, rank);
  std::sort(axes->begin(), axes->end());
  refuse(std::adjacent_find(axes->begin(), axes->end()) != axes->end(), "an axis stands twice");
  Integers shape = extents_of(n.dims());
  for (const std::int64_t axis : *axes) shape.insert(shape.begin() + axis, 1);
  return {n.reshaped(n.x(), shape)};
}

[[nodiscard]] Values shape_of(NodeTranslation& n) {
  const Integers shape = extents_of(n.dims());
  const auto place = [&](std::int64_t p) { return std::clamp(p < 0 ? p + n.rank() : p, std::int64_t{0}, n.rank()); };
  const std::int64_t begin = place(n.integer("start", 0)), end = std::max(begin, place(n.integer("end", n.rank())));
  return {integers_value({shape.begin() + begin, shape.begin() + end})};
}

[[nodiscard]] Values size_of_all(NodeTranslation& n) { return {known_value(HostTensor::of<std::int64_t>({}, {n.dims().count()}))}; }

[[nodiscard]] Values transpose(NodeTranslation& n) {
  Integers permutation;
  for (std::int64_t i = n.rank(); i-- > 0;) permutation.push_back(i);
  return {n.one(n.meaning(), {n.x()}, {{"permutation", n.integers("perm", permutation)}})};
}

[[nodiscard]] Values expand(NodeTranslation& n) {
  return {n.one("broadcast_to", {n.x()}, {{"shape", joined(extents_of(n.dims()), n.known_integers(1))}})};
}

[[nodiscard]] Values concat(NodeTranslation& n) {
  const std::int64_t axis = n.axis("axis", 1, n.rank());
  return {n.one(n.meaning(), n.all(), {{"axis", axis}})};
}

[[nodiscard]] Values split(NodeTranslation& n) {
  const std::int64_t axis = n.axis("axis", 0, n.rank()), extent = n.dims()[static_cast<std::size_t>(axis)];
  const auto parts = static_cast<std::int64_t>(n.results());
  refuse(n.integer("num_outputs", parts) != parts, "as many outputs as parts are expected");
  Integers sizes = n.says("split") ? *n.integers("split") : n.has(1) ? n.known_integers(1) : Integers{};
  if (sizes.empty()) {  // equal parts, the last one perhaps smaller
    const std::int64_t most = (extent + parts - 1) / parts;
    for (std::int64_t k = 0; k < parts; ++k) sizes.push_back(std::clamp(extent - k * most, std::int64_t{0}, most));
  }
  refuse(static_cast<std::int64_t>(sizes.size()) != parts, "as many outputs as parts are expected");
  return n.call("split", {n.x()}, {{"axis", axis}, {"sizes", sizes}});
}

/// Along one axis: where a slice begins and ends, counted from the front.
struct Cut {
  std::int64_t start = 0, stop = 0, step = 1;
};

[[nodiscard]] Cut cut(std::int64_t start, std::int64_t stop, std::int64_t step, std::int64_t extent) {
  refuse(step == 0, "the step of a slice is 0");
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
  const auto place = [&](std::int64_t p) { return std::clamp(p < 0 ? p + extent : p, lowest, highest); };
  const Cut found{place(start), place(stop), step};
  const bool is_empty = step > 0 ? found.start >= found.stop : found.start <= found.stop;
  return is_empty ? Cut{} : found;
}

/// Starts, ends, axes and steps are operands, and before opset 10 attributes without steps.
[[nodiscard]] Values slice(NodeTranslation& n) {
  const bool is_old = n.says("starts");
  const Integers starts = is_old ? *n.places("starts") : n.known_places(1);
  const Integers ends = is_old ? n.places("ends").value_or(Integers{}) : n.known_places(2);
  Integers axes, steps(starts.size(), 1);
  for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (n.says("axes")) axes = *n.integers("axes");
  if (n.has(3)) axes = n.known_integers(3);
  if (n.has(4)) steps = n.known_places(4);
  refuse(ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size(),
         "starts, ends, axes and steps differ in number");
  Integers start(n.dims().rank, 0), stop = extents_of(n.dims()), step(n.dims().rank, 1);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], n.rank()));
    const Cut found = cut(starts[i], ends[i], steps[i], n.dims()[axis]);
    start[axis] = found.start, stop[axis] = found.stop, step[axis] = found.step;
  }
  return {n.one("slice", {n.x()}, {{"start", start}, {"stop", stop}, {"step", step}})};
}

/// The element that stands at a place outside of an axis.
[[nodiscard]] std::int64_t stand_in(std::int64_t place, std::int64_t extent, const std::string& mode) {
  if (mode == "edge") return std::clamp(place, std::int64_t{0}, extent - 1);
  if (mode == "wrap") return (place % extent + extent) % extent;
  const std::int64_t period = std::max(std::int64_t{1}, 2 * (extent - 1)), within = (place % period + period) % period;
  return std::min(within, period - within);
}

/// Padding by elements that are there already: along each axis they are gathered.
[[nodiscard]] Value padded_by_own(NodeTranslation& n, const Integers& low, const Integers& high, const std::string& mode) {
  Value y = n.x();
  for (std::size_t axis = 0; axis < low.size(); ++axis) {
    const std::int64_t extent = n.dims()[axis];
    if (low[axis] == 0 && high[axis] == 0) continue;
    refuse(extent < 1 || low[axis] + extent + high[axis] < 0 || low[axis] + extent + high[axis] > (1 << 20),
           "padding beyond what is offered");
    Integers places;
    for (std::int64_t p = -low[axis]; p < extent + high[axis]; ++p) places.push_back(stand_in(p, extent, mode));
    y = n.one("gather", {y, integers_value(places)}, {{"axis", static_cast<std::int64_t>(axis)}});
  }
  return y;
}

/// The number that is padded with: an operand, and before opset 11 an attribute.
[[nodiscard]] spec::AttributeValue padding_number(NodeTranslation& n) {
  const bool is_old = n.says("pads") || n.says("paddings"), is_real = kind_of(n.dtype()) == Kind::real;
  if (is_old) {
    const double value = n.real("value", 0);
    if (is_real) return value;
    refuse(value != 0, "padding by an attribute, which is a real, of what is none");
    return std::int64_t{0};
  }
  if (!n.has(2)) return is_real ? spec::AttributeValue(0.0) : std::int64_t{0};
  const HostTensor& number = n.known(2);
  refuse(number.dims.count() != 1, "input 3 must be one number");
  refuse(number.dtype != n.dtype(), "mixed element types are not promoted");
  return attribute_of(number);
}

/// Widths are an operand, and before opset 11 an attribute.
[[nodiscard]] Values pad(NodeTranslation& n) {
  const std::string mode = n.text("mode", "constant");
  const bool is_old = n.says("pads") || n.says("paddings");
  const Integers widths = is_old ? n.says("pads") ? *n.integers("pads") : *n.integers("paddings") : n.known_integers(1);
  const spec::AttributeValue value = padding_number(n);
  const std::size_t half = widths.size() / 2;
  Integers low(n.dims().rank, 0), high(n.dims().rank, 0), axes;
  for (std::int64_t i = 0; i < n.rank(); ++i) axes.push_back(i);
  if (n.has(3)) axes = n.known_integers(3);
  refuse(widths.size() != 2 * axes.size(), "two widths are expected for each axis");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(from_front(axes[i], n.rank()));
    low[axis] = widths[i], high[axis] = widths[half + i];
  }
  if (mode == "edge" || mode == "reflect" || mode == "wrap") return {padded_by_own(n, low, high, mode)};
  refuse(mode != "constant", "padding by \"" + mode + "\" is not offered");
  return {n.one("pad", {n.x()}, {{"low", low}, {"high", high}, {"value", value}})};
}

[[nodiscard]] Values tile(NodeTranslation& n) {
  const Integers repeats = n.known_integers(1);
  refuse(repeats.size() != n.dims().rank, "one number of repeats is expected for each axis");
  Value y = n.x();
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    refuse(repeats[axis] < 1 || repeats[axis] > most_parts, "so many repeats are not offered");
    if (repeats[axis] > 1)
      y = n.one("concat", Values(static_cast<std::size_t>(repeats[axis]), y), {{"axis", static_cast<std::int64_t>(axis)}});
  }
  return {y};
}

[[nodiscard]] Values triangle(NodeTranslation& n) {
  const std::int64_t diagonal = n.has(1) ? n.known_place(1) : 0;
  return {n.one(n.integer("upper", 1) != 0 ? "triu" : "tril", {n.x()}, {{"diagonal", diagonal}})};
}

/// Blocks of elements become channels, or channels blocks; `permutation` is of the six axes in between.
[[nodiscard]] Values depth_and_space(NodeTranslation& n) {
  refuse(n.rank() != 4, "four axes are expected");
  const std::int64_t b = n.dims()[0], c = n.dims()[1], h = n.dims()[2], w = n.dims()[3], k = n.integer("blocksize", 1);
  refuse(k < 1 || k > most_parts, "such blocks are not offered");
  if (n.operation() == "SpaceToDepth") {
    refuse(h % k != 0 || w % k != 0, "blocks must divide the extents");
    const Value split = n.reshaped(n.x(), {b, c, h / k, k, w / k, k});
    return {n.reshaped(n.one("transpose", {split}, {{"permutation", Integers{0, 3, 5, 1, 2, 4}}}), {b, c * k * k, h / k, w / k})};
  }
  const std::string mode = n.text("mode", "DCR");
  const bool is_depth_first = mode == "DCR";
  refuse(!is_depth_first && mode != "CRD", "the mode \"" + mode + "\" is not offered");
  refuse(c % (k * k) != 0, "blocks must divide the channels");
  const Integers parts = is_depth_first ? Integers{b, k, k, c / (k * k), h, w} : Integers{b, c / (k * k), k, k, h, w};
  const Integers permutation = is_depth_first ? Integers{0, 3, 4, 1, 5, 2} : Integers{0, 1, 4, 2, 5, 3};
  const Value moved = n.one("transpose", {n.reshaped(n.x(), parts)}, {{"permutation", permutation}});
  return {n.reshaped(moved, {b, c / (k * k), h * k, w * k})};
}

constexpr Row rows[] = {
    {"Concat", concat, "concat", true, {{{"axis", "axis"}}}},
    {"DepthToSpace", depth_and_space},
    {"Expand", expand},
    {"Flatten", flatten},
    {"Pad", pad},
    {"Reshape", reshape},
    {"Shape", shape_of},
    {"Size", size_of_all},
    {"Slice", slice},
    {"SpaceToDepth", depth_and_space},
    {"Split", split},
    {"Squeeze", squeeze},
    {"Tile", tile},
    {"Transpose", transpose, "transpose", true, {{{"permutation", "perm"}}}},
    {"Trilu", triangle},
    {"Unsqueeze", unsqueeze},
};

}  // namespace

std::span<const Row> shape_rows() { return rows; }

}  // namespace etalon::conformance::onnx
