/// \file
/// JSON from strangers, read field by field: a key may stand once, nesting has an end, and a field of another kind is
/// named with its place. It knows no document.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace etalon::training {

/// 2^53: every reader of JSON takes whole numbers up to it exactly, and sums of some and small multiples are numbers of 64 bits.
inline constexpr std::int64_t most_counted = std::int64_t{1} << 53U;

/// A value within a document; copies share it. Members throw IoError, one line with the document's name, the value's place
/// in it, what was expected and what was found.
class StrictJson {
 public:
  /// \param source what the document is called in errors
  /// \throws IoError also for what is no JSON, a key that stands twice in one object, or deeper nesting than anybody writes
  static StrictJson parse(std::string_view text, const std::string& source);

  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] StrictJson at(const std::string& key) const;
  /// The elements of an array.
  [[nodiscard]] std::vector<StrictJson> items() const;
  /// The keys of an object, sorted.
  [[nodiscard]] std::vector<std::string> keys() const;
  /// Refuses an object with other keys than these. An optional one is among them.
  void allow(const std::vector<std::string>& keys) const;

  [[nodiscard]] std::string text() const;
  /// An integer of at least 0, below 2^63.
  [[nodiscard]] std::int64_t count() const;
  /// The same up to `most`.
  [[nodiscard]] std::int64_t count(std::int64_t most) const;
  /// The same below 2^64.
  [[nodiscard]] std::uint64_t whole() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool truth() const;
  /// A text of 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string digest() const;

  /// What an error of this place begins with, as in `run.json: leaves: count`.
  [[nodiscard]] std::string place() const;

 private:
  StrictJson(std::shared_ptr<const nlohmann::json> document, const nlohmann::json* value, std::string place);
  [[noreturn]] void refuse(std::string_view expected) const;

  std::shared_ptr<const nlohmann::json> document_;
  const nlohmann::json* value_;
  std::string place_;
};

}  // namespace etalon::training
