#include "conformance/roles/reading.hpp"

#include <algorithm>
#include <utility>

namespace etalon::conformance {
namespace {

/// What an operand is to be so that it can read a result that it may, or has the extents wished for; and the type that operands share.
/// Results of several elements come first.
std::optional<std::pair<Fit, DType>> some_read(Composition& c, const spec::Definition& d, const Window& window) {
  if (c.draft.empty() && !c.wish.extents.empty()) return std::pair(Fit{0, c.wish.extents}, c.wish.dtype);
  std::vector<std::pair<Fit, DType>> readings, few;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const spec::Range range = d.operands[i].range;
    for (const Result& r : c.draft.results(window)) {
      if (!may_hold(range, r.type.dtype, c.wish.dtype)) continue;
      (r.type.dims.count() < telling ? few : readings).emplace_back(Fit{i, extents_of(r.type)}, shares_type(range) ? r.type.dtype : c.wish.dtype);
    }
  }
  if (readings.empty()) readings = std::move(few);
  return readings.empty() ? std::nullopt : std::optional(c.draw.pick(readings));
}

/// To another element type first, and then to the program's.
void convert(Composition& c, const spec::Definition& d, bool returns, Assignment& choices) {
  static const std::vector<DType> away{DType::i32, DType::i64, DType::f32, DType::i32, DType::boolean};
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    if (d.attributes[i].kind != spec::AttributeKind::dtype) continue;
    const DType to = returns && c.draw.chance(0.6) ? c.wish.dtype : c.draw.pick(away);
    choices.attributes[std::string(d.at(d.attributes[i].name))] = std::string(name_of(to));
  }
}

std::optional<DrawnCall> drawn_to_read(Composition& c, const spec::Definition& d, const ReadingWish& wish) {
  const auto read = some_read(c, d, wish.window);
  SizeWish size = c.calls.size_wish();
  size.defaults = size.defaults && wish.defaults;
  if (read) size.fit = read->first;
  return c.calls.drawn(d, size, [&](Assignment& choices) {
    if (read && read->second != c.wish.dtype) choices.shared_type = read->second;
    if (c.wish.there_and_back) convert(c, d, wish.returns, choices);
  });
}

std::vector<std::string> names_of_type(std::span<const Result> results, const std::optional<spec::ValueType>& type, bool of_subject) {
  std::vector<std::string> names;
  for (const Result& r : results) {
    if (type == r.type && (r.of_subject || !of_subject)) names.push_back(r.name);
  }
  return names;
}

/// Per operand a value that a call of the program's definition read or gave: all alike, or different ones.
Taken around_the_first(Composition& c, const DrawnCall& call, const Window& window) {
  Taken taken(call.types.operands.size());
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto& type = call.types.operands[i];
    std::vector<std::string> fitting = names_of_type(c.draft.results(window), type, true);
    // Who alone reads a value mostly joins it with others.
    if (window.first > 0 && c.draw.chance(i > 0 ? 0.7 : 0.1)) fitting.clear();
    // The first operand reads a result for sure, others mostly.
    if (window.first == 0 && i > 0 && (fitting.empty() || c.draw.chance(0.3)) && type) {
      const std::vector<std::string> inputs = c.draft.inputs_of(*type);
      fitting.insert(fitting.end(), inputs.begin(), inputs.end());
    }
    if (!fitting.empty()) taken[i] = c.draw.pick(fitting);
  }
  return taken;
}

Window last_result(const Composition& c) { return {.first = std::max<std::size_t>(c.draft.results().size(), 1) - 1}; }

const spec::Definition* one_of(Composition& c, const Definitions& from) { return from.empty() ? nullptr : c.draw.pick(from); }

}  // namespace

bool add_reading(Composition& c, const spec::Definition* d, const ReadingWish& wish) {
  auto call = d == nullptr ? std::nullopt : drawn_to_read(c, *d, wish);
  if (!call) return false;
  Taken taken = wish.around ? around_the_first(c, *call, wish.window) : results_for(c, *call, wish.window, 0.8);
  const bool joined = std::any_of(taken.begin(), taken.end(), [](const auto& name) { return name.has_value(); });
  return (c.draft.empty() || joined) && c.draft.add(std::move(*call), std::move(taken));
}

Taken results_for(Composition& c, const DrawnCall& call, const Window& window, double taking) {
  const std::span<const Result> readable = c.draft.results(window);
  Taken taken(call.types.operands.size());
  bool any = false;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const std::vector<std::string> fitting = names_of_type(readable, call.types.operands[i], false);
    // Who may read little reads other things besides.
    const bool enough = any && readable.size() < c.draft.results().size();
    if (!fitting.empty() && c.draw.chance(enough ? 0.4 : taking)) taken[i] = c.draw.pick(fitting), any = true;
  }
  return taken;
}

void add_about(Composition& c) { add_reading(c, c.wish.about); }
void add_same(Composition& c) { add_reading(c, c.wish.about, {.returns = true}); }
void add_any(Composition& c) { add_reading(c, one_of(c, c.catalogue.all)); }
void add_elementwise(Composition& c) { add_reading(c, one_of(c, c.catalogue.elementwise)); }
void add_fed(Composition& c) { add_reading(c, c.wish.about, {.window = last_result(c)}); }

void add_move(Composition& c) {
  const Composition::View view{.call = c.draft.calls().size(), .result = c.draft.results().size()};
  if (add_reading(c, one_of(c, c.catalogue.moves), {.window = last_result(c)}) && !c.view) c.view = view;
}

void add_on_view(Composition& c) {
  const Window window = c.view ? Window{c.view->result, c.view->result + 1} : Window{};
  add_reading(c, c.wish.about, {.window = window});
}

void add_beside(Composition& c) {
  // What the first move read stands before what it gave.
  const Window window = c.view ? Window{std::max<std::size_t>(c.view->result, 1) - 1, c.view->result + 1} : Window{};
  add_reading(c, one_of(c, c.catalogue.elementwise), {.window = window});
}

}  // namespace etalon::conformance
