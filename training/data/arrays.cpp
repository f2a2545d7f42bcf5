#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/value_type.hpp"
#include "training/data/examples.hpp"
#include "training/data/targets.hpp"

namespace etalon::training {

namespace {

template <class Take>
void for_each_element(const HostTensor& tensor, const std::string& where, const Take& take) {
  const auto all = [&](auto view) { std::for_each(view.begin(), view.end(), take); };
  switch (tensor.dtype) {
    case DType::f32:
      return all(tensor.view<float>());
    case DType::f64:
      return all(tensor.view<double>());
    case DType::i32:
      return all(tensor.view<std::int32_t>());
    case DType::i64:
      return all(tensor.view<std::int64_t>());
    case DType::boolean:
      return all(tensor.view<std::uint8_t>());
    default:
      throw Unsupported(fmt::format("{}: elements are {}, expected f32, f64, i32, i64 or bool", where, name_of(tensor.dtype)));
  }
}

void require_rows(const HostTensor& inputs, const HostTensor& targets, const std::string& where) {
  const auto text = [](const HostTensor& t) { return to_string(spec::ValueType{t.dtype, t.dims}); };
  if (inputs.dims.rank < 1 || inputs.dims.count() == 0)
    throw IoError(fmt::format("{}: inputs are {}, expected rows on the first axis", where, text(inputs)));
  const std::int64_t rows = inputs.dims[0];
  if (targets.dims.rank >= 1 && targets.dims[0] == rows && targets.dims.count() == rows) return;
  throw IoError(fmt::format("{}: targets are {}, expected one for each of {} rows", where, text(targets), rows));
}

/// The column that a word counts from 1, counted from 0.
[[nodiscard]] std::size_t column_in(const std::string& word, std::size_t columns, const std::string& where) {
  std::size_t column = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, column);
  if (error == std::errc{} && stop == end && column >= 1 && column <= columns) return column - 1;
  throw SpecViolation(fmt::format("{}: --target is '{}', expected a column from 1 to {}", where, as_quoted(word), columns));
}

}  // namespace

Examples tensor_examples(const HostTensor& inputs, const HostTensor& targets, const std::string& where, const DataChoice& choice) {
  require_rows(inputs, targets, where);
  Examples examples;
  Dataset& data = examples.data;
  examples.one_unit = true;
  data.features = inputs.dims.count() / inputs.dims[0];
  data.inputs.reserve(static_cast<std::size_t>(inputs.dims.count()));
  for_each_element(inputs, where, [&](auto element) {
    const auto number = static_cast<double>(element);
    if (!(std::abs(number) <= static_cast<double>(std::numeric_limits<float>::max()))) {
      const auto at = static_cast<std::int64_t>(data.inputs.size());
      throw IoError(fmt::format("{}: row {}, element {} is {}, expected a finite number of f32", where, at / data.features,
                                at % data.features, number));
    }
    data.inputs.push_back(static_cast<float>(number));
  });
  Targets words(choice.regression, choice.classes);
  for_each_element(targets, where, [&](auto element) {
    const std::string word = fmt::format("{}", element);
    if (const std::string expected = words.take(word); !expected.empty()) {
      throw IoError(fmt::format("{}: row {} has the target {}, expected {}", where, words.rows(), word, expected));
    }
  });
  examples.classes = words.finish(data, where);
  return examples;
}

Examples matrix_examples(const HostTensor& matrix, const std::string& where, const DataChoice& choice) {
  const auto text = [&] { return to_string(spec::ValueType{matrix.dtype, matrix.dims}); };
  if (matrix.dims.rank != 2) {
    throw SpecViolation(
        fmt::format("{}: {}, expected a matrix whose column --target is answered, or the targets in a file of their own, --labels", where,
                    text()));
  }
  // No bytes can have any number of columns.
  if (matrix.dims.count() == 0) throw IoError(fmt::format("{}: {}, expected rows of columns", where, text()));
  const auto columns = static_cast<std::size_t>(matrix.dims[1]), target = column_in(choice.target, columns, where);
  HostTensor inputs(DType::f64, {matrix.dims[0], matrix.dims[1] - 1}), targets(DType::f64, {matrix.dims[0]});
  std::size_t n = 0, in = 0;
  for_each_element(matrix, where, [&](auto element) {
    (n % columns == target ? targets.view<double>()[n / columns] : inputs.view<double>()[in++]) = static_cast<double>(element);
    ++n;
  });
  Examples examples = tensor_examples(inputs, targets, where, choice);
  examples.one_unit = false;
  return examples;
}

}  // namespace etalon::training
