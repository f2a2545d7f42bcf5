#include "training/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/error.hpp"

namespace etalon::training {

namespace {

void require_sizes(const Dataset& data, std::string_view name) {
  if (data.features < 1) throw SpecViolation(fmt::format("{}: {} features, expected at least 1", name, data.features));
  if (!data.labels.empty() && !data.numbers.empty()) {
    throw SpecViolation(fmt::format("{}: {} labels and {} numbers, expected one of the two", name, data.labels.size(),
                                    data.numbers.size()));
  }
  if (!data.labels.empty() && data.classes < 1) {
    throw SpecViolation(fmt::format("{}: {} classes, expected at least 1", name, data.classes));
  }
  if (data.per_row < 1 || static_cast<std::int64_t>(data.labels.size()) % data.per_row != 0) {
    throw SpecViolation(fmt::format("{}: {} labels, expected {} for each row", name, data.labels.size(), std::max<std::int64_t>(data.per_row, 1)));
  }
  const auto features = static_cast<std::size_t>(data.features);
  const auto rows = static_cast<std::size_t>(data.rows());
  if (data.inputs.size() % features == 0 && data.inputs.size() / features == rows) return;
  throw SpecViolation(fmt::format("{}: {} inputs, expected {} for each of {} rows", name, data.inputs.size(), features, rows));
}

}  // namespace

void require_sound(const Dataset& data, std::string_view name) {
  require_sizes(data, name);
  const auto infinite = [](float value) { return !std::isfinite(value); };
  if (const auto at = std::find_if(data.inputs.begin(), data.inputs.end(), infinite); at != data.inputs.end()) {
    const std::int64_t place = at - data.inputs.begin();
    throw SpecViolation(fmt::format("{}: row {}, column {} is {}, expected a finite number", name, place / data.features,
                                    place % data.features, *at));
  }
  if (const auto at = std::find_if(data.numbers.begin(), data.numbers.end(), infinite); at != data.numbers.end()) {
    throw SpecViolation(fmt::format("{}: row {} has the number {}, expected a finite one", name,
                                    at - data.numbers.begin(), *at));
  }
  const auto unknown = [&](std::int64_t label) { return label < 0 || label >= data.classes; };
  if (const auto at = std::find_if(data.labels.begin(), data.labels.end(), unknown); at != data.labels.end()) {
    throw SpecViolation(fmt::format("{}: row {} has the label {}, expected a class from 0 to {}", name,
                                    (at - data.labels.begin()) / data.per_row, *at, data.classes - 1));
  }
}

Dataset select_rows(const Dataset& from, const std::vector<std::int64_t>& positions) {
  require_sizes(from, "rows");
  Dataset out{from.features, from.classes, {}};
  out.per_row = from.per_row;
  for (const std::int64_t row : positions) {
    if (row < 0 || row >= from.rows()) throw SpecViolation(fmt::format("rows: {} is no row, expected 0 to {}", row, from.rows() - 1));
    const auto first = from.inputs.begin() + row * from.features;
    out.inputs.insert(out.inputs.end(), first, first + from.features);
    if (from.labels.empty()) {
      out.numbers.push_back(from.numbers[static_cast<std::size_t>(row)]);
      continue;
    }
    const auto label = from.labels.begin() + row * from.per_row;
    out.labels.insert(out.labels.end(), label, label + from.per_row);
  }
  return out;
}

}  // namespace etalon::training
