/// \file
/// JSON objects of a run's files, with exactly the fields that are expected. It knows no file.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace etalon::training {

/// An object whose fields are read one by one. Every member throws IoError `WHERE: FIELD: …` for what is missing or of
/// another kind.
class Fields {
 public:
  /// \throws IoError for text that is no JSON object, or has one of the fields twice, not at all, or another one
  Fields(std::string_view text, std::string where, std::initializer_list<std::string_view> names);
  /// The object that a field is.
  [[nodiscard]] Fields object(std::string_view name, std::initializer_list<std::string_view> names) const;

  /// A whole number from 0 on.
  [[nodiscard]] std::int64_t count(std::string_view name) const;
  [[nodiscard]] std::uint64_t whole(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] std::string text(std::string_view name) const;
  /// SHA-256 in 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string digest(std::string_view name) const;
  /// The values of a list.
  [[nodiscard]] const std::vector<nlohmann::json>& list(std::string_view name) const;
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  Fields(nlohmann::json value, std::string where) : value_(std::move(value)), where_(std::move(where)) {}
  [[nodiscard]] const nlohmann::json& value(std::string_view name) const;
  void require_fields(std::initializer_list<std::string_view> names) const;
  [[noreturn]] void refuse(std::string_view name, std::string_view expected) const;

  nlohmann::json value_;
  std::string where_;
};

}  // namespace etalon::training
