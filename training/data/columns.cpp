#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/quoted.hpp"
#include "training/data/examples.hpp"
#include "training/data/targets.hpp"
#include "training/files/csv.hpp"

namespace etalon::training {

namespace {

constexpr std::size_t most_columns = 1'000'000;

/// Which column is for what.
struct Columns {
  std::vector<std::string> names;
  std::vector<bool> ignored;
  std::size_t target = 0;
};

[[nodiscard]] char separator_of(const DataChoice& choice) {
  if (choice.separator.empty()) return ',';
  const char byte = choice.separator.front();
  const bool usable = choice.separator.size() == 1 && byte != '"' && byte != '\n' && byte != '\r';
  if (!usable) throw SpecViolation(fmt::format("--separator is '{}', expected one byte such as ;", as_quoted(choice.separator)));
  return byte;
}

[[nodiscard]] std::vector<std::string> all_quoted(std::vector<std::string> names) {
  for (std::string& name : names) name = as_quoted(name);
  return names;
}

[[nodiscard]] std::size_t column_named(const std::string& name, const std::vector<std::string>& names, const std::string& where) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) throw SpecViolation(where + ": " + unknown_name("column", as_quoted(name), all_quoted(names)));
  return static_cast<std::size_t>(at - names.begin());
}

void require_distinct(std::vector<std::string> names, const std::string& place) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw IoError(fmt::format("{}: two columns are named '{}'", place, as_quoted(*twice)));
}

/// What the first record says.
[[nodiscard]] Columns columns_of(const std::vector<std::string>& first, const DataChoice& choice, const std::string& where,
                                 const std::string& place) {
  Columns columns;
  float number = 0;
  if (first.size() > most_columns) throw IoError(fmt::format("{}: {} columns, expected at most {}", place, first.size(), most_columns));
  if (choice.header && std::all_of(first.begin(), first.end(), [&](const std::string& word) { return read_number(word, number); })) {
    throw IoError(fmt::format("{}: numbers only, expected the names of columns; --no-header calls them 1, 2, …", place));
  }
  for (std::size_t i = 0; i < first.size(); ++i) columns.names.push_back(choice.header ? first[i] : fmt::format("{}", i + 1));
  require_distinct(columns.names, place);
  if (choice.target.empty()) {
    throw SpecViolation(fmt::format("{}: --target names the column that is to be answered, expected one of '{}'", where,
                                    as_quoted(fmt::format("{}", fmt::join(columns.names, "', '")))));
  }
  columns.target = column_named(choice.target, columns.names, where);
  columns.ignored.resize(first.size());
  for (const std::string& name : choice.ignored) columns.ignored[column_named(name, columns.names, where)] = true;
  if (columns.ignored[columns.target]) throw SpecViolation(fmt::format("{}: the target '{}' is ignored", where, as_quoted(choice.target)));
  return columns;
}

void take(const std::vector<std::string>& fields, const Columns& columns, const std::string& place, Dataset& data, Targets& targets) {
  if (fields.size() != columns.names.size()) {
    throw IoError(fmt::format("{}: {} columns, expected {}", place, fields.size(), columns.names.size()));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (columns.ignored[i]) continue;
    float number = 0;
    std::string expected;
    if (i == columns.target)
      expected = targets.take(fields[i]);
    else if (!read_number(fields[i], number))
      expected = "a finite number; --ignore leaves a column out";
    if (!expected.empty()) {
      throw IoError(fmt::format("{}: column {}, '{}', is '{}', expected {}", place, i + 1, as_quoted(columns.names[i]),
                                as_quoted(fields[i]), expected));
    }
    if (i != columns.target) data.inputs.push_back(number);
  }
}

}  // namespace

Examples csv_examples(std::string_view text, const std::string& where, const DataChoice& choice) {
  CsvReader reader(text, separator_of(choice), where);
  std::vector<std::string> fields;
  if (!reader.next(fields)) throw IoError(where + ": the file is empty, expected rows of columns");
  const Columns columns = columns_of(fields, choice, where, reader.place());
  Examples examples;
  for (std::size_t i = 0; i < columns.names.size(); ++i) {
    if (i != columns.target && !columns.ignored[i]) examples.columns.push_back(columns.names[i]);
  }
  examples.data.features = static_cast<std::int64_t>(examples.columns.size());
  if (examples.columns.empty()) throw IoError(where + ": no column but the target is left, expected at least one");
  Targets targets(choice.regression, choice.classes);
  if (!choice.header) take(fields, columns, reader.place(), examples.data, targets);
  while (reader.next(fields)) take(fields, columns, reader.place(), examples.data, targets);
  if (targets.rows() == 0) throw IoError(where + ": no rows behind the names of the columns");
  examples.classes = targets.finish(examples.data, where);
  return examples;
}

}  // namespace etalon::training
