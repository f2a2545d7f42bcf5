#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Windows over the axes behind batch and channels.
struct Windows {
  Integers extents, kernel, stride, dilation, low, high;

  [[nodiscard]] bool is_even() const { return low == high; }
  [[nodiscard]] std::size_t rank() const { return kernel.size(); }
};

[[nodiscard]] Integers of_rank(NodeTranslation& n, std::string_view name, std::size_t rank, std::int64_t otherwise) {
  const Integers list = n.integers(name, Integers(rank, otherwise));
  refuse(list.size() != rank, "attribute \"" + std::string(name) + "\" must have a number for each axis of the windows");
  return list;
}

/// So much padding that there is a window for every stride, the odd one at the side that is named.
void pad_to_same(Windows& windows, bool is_upper) {
  for (std::size_t i = 0; i < windows.rank(); ++i) {
    refuse(windows.stride[i] < 1, "a stride below 1");
    const std::int64_t count = (windows.extents[i] + windows.stride[i] - 1) / windows.stride[i];
    std::int64_t reach = 0, need = 0;
    refuse(__builtin_mul_overflow(windows.dilation[i], windows.kernel[i] - 1, &reach) ||
               __builtin_mul_overflow(count - 1, windows.stride[i], &need),
           "windows beyond what is offered");
    const std::int64_t all = std::max(std::int64_t{0}, need + reach + 1 - windows.extents[i]);
    windows.low[i] = is_upper ? all / 2 : all - all / 2;
    windows.high[i] = all - windows.low[i];
  }
}

[[nodiscard]] Windows windows_of(NodeTranslation& n, const Integers& kernel) {
  const std::size_t rank = kernel.size();
  refuse(n.dims().rank != rank + 2, "the operand must have an axis for batch, for channels, and for each of the windows'");
  const Integers shape = extents_of(n.dims());
  Windows windows{{shape.begin() + 2, shape.end()},
                  kernel,
                  of_rank(n, "strides", rank, 1),
                  of_rank(n, "dilations", rank, 1),
                  Integers(rank, 0),
                  Integers(rank, 0)};
  const Integers pads = of_rank(n, "pads", 2 * rank, 0);
  const std::string automatic = n.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_to_same(windows, automatic == "SAME_UPPER");
  } else if (automatic == "NOTSET" || automatic.empty()) {
    windows.low.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    windows.high.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  } else {
    refuse(automatic != "VALID", "auto_pad \"" + automatic + "\" is not offered");
  }
  return windows;
}

[[nodiscard]] Windows windows_of_kernel(NodeTranslation& n) {
  Integers shape = extents_of(n.dims(1));
  refuse(shape.size() < 3, "the kernel must have three axes or more");
  n.read_over({"kernel_shape"});  // it is the kernel's
  return windows_of(n, {shape.begin() + 2, shape.end()});
}

/// x between numbers around its windows' axes; the windows then need no padding.
[[nodiscard]] Value padded(NodeTranslation& n, Windows& windows, double value) {
  Integers low{0, 0}, high{0, 0};
  low.insert(low.end(), windows.low.begin(), windows.low.end());
  high.insert(high.end(), windows.high.begin(), windows.high.end());
  windows.low.assign(windows.rank(), 0);
  windows.high = windows.low;
  return n.one("pad", {n.x()}, {{"low", low}, {"high", high}, {"value", value}});
}

[[nodiscard]] Values conv(NodeTranslation& n) {
  Windows windows = windows_of_kernel(n);
  const Value x = windows.is_even() ? n.x() : padded(n, windows, 0);
  return {n.one("conv", {x, n.x(1), n.x_or_nothing(2)},
                {{"stride", windows.stride}, {"padding", windows.low}, {"dilation", windows.dilation}, {"groups", n.integer("group", 1)}})};
}

[[nodiscard]] Values conv_transpose(NodeTranslation& n) {
  refuse(n.says("output_shape"), "a stated output shape is not offered");
  const std::string automatic = n.text("auto_pad", "NOTSET");
  refuse(automatic != "NOTSET" && automatic != "VALID", "auto_pad \"" + automatic + "\" is not offered");
  const Windows windows = windows_of_kernel(n);
  refuse(!windows.is_even(), "padding that differs before and after is not offered");
  return {n.one("conv_transpose", {n.x(0), n.x(1), n.x_or_nothing(2)},
                {{"stride", windows.stride}, {"padding", windows.low}, {"output_padding", of_rank(n, "output_padding", windows.rank(), 0)},
                 {"dilation", windows.dilation}, {"groups", n.integer("group", 1)}})};
}

/// The windows of a pooling operator, which must all begin inside.
[[nodiscard]] Windows pooling_windows(NodeTranslation& n) {
  refuse(n.integer("ceil_mode", 0) != 0, "ceil_mode is not offered");
  const std::optional<Integers> kernel = n.integers("kernel_shape");
  refuse(!kernel || kernel->empty(), "attribute \"kernel_shape\" is missing");
  refuse(std::any_of(kernel->begin(), kernel->end(), [](std::int64_t k) { return k < 1; }), "a kernel without elements");
  return windows_of(n, *kernel);
}

/// Whether half of the kernel covers the padding, so that each window has an element of x in it.
[[nodiscard]] bool is_covered(const Windows& windows) {
  for (std::size_t i = 0; i < windows.rank(); ++i) {
    if (2 * windows.low[i] > windows.kernel[i] || (windows.low[i] > 0 && windows.dilation[i] > windows.extents[i])) return false;
  }
  return windows.is_even();
}

[[nodiscard]] Values max_pool(NodeTranslation& n) {
  n.read_over({"storage_order"});  // of the places
  Windows windows = pooling_windows(n);
  const Value x = is_covered(windows) ? n.x() : padded(n, windows, -std::numeric_limits<double>::infinity());
  return {n.one("max_pool", {x},
                {{"kernel", windows.kernel}, {"stride", windows.stride}, {"padding", windows.low}, {"dilation", windows.dilation}})};
}

[[nodiscard]] Values average_pool(NodeTranslation& n) {
  const bool counts = n.integer("count_include_pad", 0) != 0;
  Windows windows = pooling_windows(n);
  refuse(windows.dilation != Integers(windows.rank(), 1), "averages of windows with gaps are not offered");
  refuse(!counts && !is_covered(windows), "averages over padding beyond half of the kernel, or different before and after");
  const Value x = is_covered(windows) ? n.x() : padded(n, windows, 0);
  return {n.one("avg_pool", {x},
                {{"kernel", windows.kernel}, {"stride", windows.stride}, {"padding", windows.low}, {"count_include_pad", counts}})};
}

[[nodiscard]] Values global_pool(NodeTranslation& n) {
  Integers axes;
  for (std::int64_t i = 2; i < n.rank(); ++i) axes.push_back(i);
  return {n.one(n.meaning(), {n.x()}, {{"axes", axes}, {"keepdims", true}})};
}

/// By whole factors, and by those rules for the nearest element that then repeat each one as often.
[[nodiscard]] Values resize(NodeTranslation& n) {
  const bool is_old = n.operation() == "Upsample" || n.opset() < 11;
  const std::string mode = n.text("mode", "nearest"), rule = n.text("nearest_mode", "round_prefer_floor"),
                    places = n.text("coordinate_transformation_mode", "half_pixel");
  n.read_over({"cubic_coeff_a", "exclude_outside", "extrapolation_value", "antialias"});
  refuse(mode != "nearest", "resizing by \"" + mode + "\" is not offered");
  const bool is_centred = places == "half_pixel" && rule == "round_prefer_floor", is_cornered = places == "asymmetric" && rule == "floor";
  refuse(!is_old && !is_centred && !is_cornered, "another rule for the nearest element");
  refuse(n.says("axes") || n.has(3), "resizing to stated extents is not offered");
  std::vector<double> scales;
  if (const auto stated = n.reals("scales")) scales = *stated;
  else {
    const HostTensor& given = n.known(is_old ? 1 : 2);
    refuse(given.dtype != DType::f32, "factors must be f32");
    for (const float factor : given.view<float>()) scales.push_back(static_cast<double>(factor));
  }
  refuse(scales.size() != n.dims().rank || scales.size() < 3 || scales[0] != 1 || scales[1] != 1,
         "only axes behind batch and channels are resized");
  Integers whole;
  for (std::size_t i = 2; i < scales.size(); ++i) {
    refuse(!(scales[i] >= 1 && scales[i] < 1 << 20) || scales[i] != std::floor(scales[i]),
           "resizing other than by whole factors is not offered");
    whole.push_back(static_cast<std::int64_t>(scales[i]));
  }
  return {n.one("upsample_nearest", {n.x()}, {{"scale", whole}})};
}

constexpr Row rows[] = {
    {"AveragePool", average_pool},
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"GlobalAveragePool", global_pool, "mean"},
    {"GlobalMaxPool", global_pool, "max"},
    {"MaxPool", max_pool},
    {"Resize", resize},
    {"Upsample", resize},
};

}  // namespace

std::span<const Row> window_rows() { return rows; }

}  // namespace etalon::conformance::onnx
