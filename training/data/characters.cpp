#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "spec/error.hpp"
#include "training/data/examples.hpp"

namespace etalon::training {

namespace {

constexpr std::int64_t most_context = 4096;
constexpr unsigned first_printed = 33, last_printed = 126;

/// A printable character as it is, other bytes as `\x0a`.
[[nodiscard]] std::string name_of(unsigned byte) {
  return byte >= first_printed && byte <= last_printed && byte != '\\' ? std::string(1, static_cast<char>(byte))
                                                                       : fmt::format("\\x{:02x}", byte);
}

[[nodiscard]] unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

Examples text_examples(std::string_view text, const std::string& where, const DataChoice& choice) {
  if (choice.context < 1 || choice.context > most_context) {
    throw SpecViolation(fmt::format("{}: a context of {} bytes, expected 1 to {}", where, choice.context, most_context));
  }
  if (choice.regression || choice.classes > 0 || !choice.target.empty()) {
    throw SpecViolation(where + ": of text the next byte is answered; --target, --classes and --regression are of other formats");
  }
  const auto context = static_cast<std::size_t>(choice.context);
  if (text.size() <= context) throw IoError(fmt::format("{}: {} bytes, expected more than the context of {}", where, text.size(), context));
  std::array<bool, 256> there{};
  for (std::size_t i = 0; i < text.size(); ++i) there[byte_at(text, i)] = true;
  Examples examples;
  std::array<std::int64_t, 256> place{};
  for (unsigned byte = 0; byte < there.size(); ++byte) {
    if (!there[byte]) continue;
    place[byte] = static_cast<std::int64_t>(examples.classes.size());
    examples.classes.push_back(name_of(byte));
  }
  if (examples.classes.size() < 2) throw IoError(where + ": one byte, repeated, expected at least two different ones");
  examples.vocabulary = static_cast<std::int64_t>(examples.classes.size());
  Dataset& data = examples.data;
  data.features = choice.context;
  data.classes = examples.vocabulary;
  data.inputs.reserve((text.size() - context) * context);
  for (std::size_t at = context; at < text.size(); ++at) {
    for (std::size_t i = at - context; i < at; ++i) data.inputs.push_back(static_cast<float>(place[byte_at(text, i)]));
    data.labels.push_back(place[byte_at(text, at)]);
  }
  return examples;
}

}  // namespace etalon::training
