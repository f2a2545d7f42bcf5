#include "training/data/sequences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/error.hpp"
#include "training/data/random_streams.hpp"

namespace etalon::training {

namespace {

void require_ascii(std::string_view text, const std::string& where) {
  std::size_t line = 1, column = 1;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= ascii) {
      throw SpecViolation(fmt::format("{}: line {}, column {} has the byte {}, expected ASCII characters", where, line, column,
                                      static_cast<unsigned char>(c)));
    }
    line += c == '\n' ? 1 : 0;
    column = c == '\n' ? 1 : column + 1;
  }
}

std::int64_t letter(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a' + 1;
  return c >= 'A' && c <= 'Z' ? c - 'A' + 1 : 0;
}

/// One name's letters and its end.
void add_name(Dataset& data, std::string_view name) {
  std::vector<std::int64_t> before(static_cast<std::size_t>(data.features), 0);
  const auto add = [&](std::int64_t next) {
    for (auto at = before.end() - data.features; at != before.end(); ++at) data.inputs.push_back(static_cast<float>(*at));
    data.labels.push_back(next);
    before.push_back(next);
  };
  for (const char c : name) {
    if (const std::int64_t next = letter(c); next > 0) add(next);
  }
  if (before.size() > static_cast<std::size_t>(data.features)) add(0);
}

/// Labels of the last place of each row, or of all places: what comes after the symbol beside it.
template <class See>
void for_each_pair(const Dataset& data, See see) {
  const auto places = static_cast<std::size_t>(data.per_row);
  const auto symbols = static_cast<std::size_t>(data.features);
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const std::size_t at = i / places * symbols + symbols - places + i % places;
    see(static_cast<std::size_t>(data.inputs[at]), static_cast<std::size_t>(data.labels[i]));
  }
}

}  // namespace

Dataset windows_of(std::string_view text, std::int64_t length, const std::string& where) {
  require_ascii(text, where);
  const std::int64_t windows = (static_cast<std::int64_t>(text.size()) - 1) / length;
  if (text.empty() || windows < 1) {
    throw SpecViolation(fmt::format("{}: {} characters, expected at least {}", where, text.size(), length + 1));
  }
  Dataset data{length, ascii, {}};
  data.per_row = length;
  for (std::size_t i = 0; i < static_cast<std::size_t>(windows * length); ++i) {
    data.inputs.push_back(static_cast<float>(text[i]));
    data.labels.push_back(text[i + 1]);
  }
  return data;
}

Dataset letters_of(std::string_view names, std::int64_t context, const std::string& where) {
  Dataset data{context, alphabet, {}};
  for (std::size_t from = 0; from < names.size();) {
    const std::size_t end = std::min(names.find('\n', from), names.size());
    add_name(data, names.substr(from, end - from));
    from = end + 1;
  }
  if (data.labels.empty()) throw SpecViolation(where + ": no letter, expected a name in each line");
  return data;
}

Dataset register_strings(std::int64_t rows, std::int64_t length, std::int64_t values, std::uint64_t seed) {
  Dataset data{length, values, {}};
  data.per_row = length;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t kept = 0;
    for (std::int64_t place = 0; place < length; ++place) {
      const double drawn = uniform_draw(seed, 0, Stream::data, static_cast<std::uint64_t>(row * length + place));
      const auto symbol = static_cast<std::int64_t>(drawn * static_cast<double>(values + 1));
      if (symbol < values) kept = symbol;
      data.inputs.push_back(static_cast<float>(symbol));
      data.labels.push_back(kept);
    }
  }
  return data;
}

double bigram_perplexity(const Dataset& train, const Dataset& test) {
  const auto classes = static_cast<std::size_t>(train.classes);
  std::vector<double> pairs(classes * classes, 1), symbols(classes, static_cast<double>(classes));
  for_each_pair(train, [&](std::size_t before, std::size_t next) { pairs[before * classes + next] += 1, symbols[before] += 1; });
  double surprise = 0;
  for_each_pair(test, [&](std::size_t before, std::size_t next) {
    surprise -= std::log(pairs[before * classes + next] / symbols[before]);
  });
  return std::exp(surprise / static_cast<double>(test.labels.size()));
}

}  // namespace etalon::training
