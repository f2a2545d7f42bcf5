#include "conformance/interchange/stablehlo/windows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/interchange/stablehlo/definition_text.hpp"

namespace etalon::conformance::stablehlo {

std::string index_text(char letter, std::size_t axis) { return letter + std::to_string(axis); }

void Windows::set_padding(const Integers& pairs) {
  for (std::size_t i = 0; i < pairs.size(); i += 2) low.push_back(pairs[i]), high.push_back(pairs[i + 1]);
}

void Windows::require_valid() const {
  for (const Integers* numbers : {&sizes, &strides, &base_gaps, &window_gaps})
    refuse(std::any_of(numbers->begin(), numbers->end(), [](std::int64_t n) { return n < 1; }),
           "sizes, strides and dilations must be positive");
  constexpr std::int64_t most = std::int64_t{1} << 40U;
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    refuse(size > most / elements, "windows of so many elements are not offered");
    elements *= size;
  }
}

std::int64_t Windows::number(std::size_t axis, std::int64_t extent) const {
  const std::int64_t base = low[axis] + (extent == 0 ? 0 : (extent - 1) * base_gaps[axis] + 1) + high[axis];
  const std::int64_t window = (sizes[axis] - 1) * window_gaps[axis] + 1;
  return base < window ? 0 : (base - window) / strides[axis] + 1;
}

Integers Windows::numbers(const Integers& extents) const {
  Integers all;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) all.push_back(number(axis, extents[axis]));
  refuse(!fits(all), too_large);
  return all;
}

std::string Windows::wide_place(std::size_t axis, std::string_view i, std::string_view k) const {
  return fmt::format("{}*{} + {}*{} - ({})", i, strides[axis], k, window_gaps[axis], low[axis]);
}

std::string Windows::place(std::size_t axis, std::string_view i, std::string_view k) const {
  return base_gaps[axis] == 1 ? wide_place(axis, i, k)
                              : fmt::format("({}) // {}", wide_place(axis, i, k), base_gaps[axis]);
}

std::string Windows::places() const {
  return items_text(sizes.size(),
                    [&](std::size_t axis) { return place(axis, index_text('i', axis), index_text('k', axis)); });
}

std::string Windows::meets(std::size_t axis, std::string_view i, std::string_view k) const {
  return base_gaps[axis] == 1 ? "" : fmt::format("({}) % {} == 0", wide_place(axis, i, k), base_gaps[axis]);
}

std::vector<std::string> Windows::all_meet() const {
  std::vector<std::string> all;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis)
    all.push_back(meets(axis, index_text('i', axis), index_text('k', axis)));
  return all;
}

Windows windows_of_reduction(Translation& t) {
  const std::size_t rank = t.rank();
  Windows w{t.integers("window_dimensions", rank, 1), t.integers("window_strides", rank, 1),  {}, {},
            t.integers("base_dilations", rank, 1),    t.integers("window_dilations", rank, 1)};
  w.set_padding(t.integers("padding", 2 * rank, 0));
  w.require_valid();
  return w;
}

}  // namespace etalon::conformance::stablehlo
