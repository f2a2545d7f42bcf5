/// \file
/// Definitions by name: all that come with Etalon, and those that a user adds at run time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// The definitions that come with Etalon, and perhaps more. A value: copies share the definitions, which live as long as
/// any of them; adding some gives another library.
class Library {
 public:
  /// What comes with Etalon.
  Library() = default;

  /// Every definition, sorted by name.
  [[nodiscard]] std::span<const Definition* const> definitions() const;
  /// The definition of that name, or nullptr.
  [[nodiscard]] const Definition* find(std::string_view name) const;
  /// The definition of that name. \throws SpecViolation naming the nearest one.
  [[nodiscard]] const Definition& named(std::string_view name) const;

  /// This library and the definitions of the text, one after the other.
  /// \param file stands in messages
  /// \throws SpecViolation `file:line:column: what is wrong` for a text that is not in the notation, reads a tensor that
  /// is not there, leaves a result without an equation, or takes a name that this library or a program needs.
  [[nodiscard]] Library with(std::string_view text, std::string_view file = "definitions") const;

  /// The names of the added definitions, in the order in which they were added.
  [[nodiscard]] const std::vector<std::string>& added() const;
  /// The added texts without which a definition of that name cannot be read, in the order in which they were added.
  [[nodiscard]] std::vector<std::string> texts_for(std::string_view name) const;

  /// SHA-256 of all names and texts, in hexadecimal.
  [[nodiscard]] const std::string& hash() const;

 private:
  struct Contents;
  explicit Library(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;  ///< nothing for what comes with Etalon
};

/// Every definition that comes with Etalon, sorted by name.
[[nodiscard]] std::span<const Definition* const> library();

/// The definition of that name that comes with Etalon, or nullptr.
[[nodiscard]] const Definition* find_definition(std::string_view name);

/// The definition of that name that comes with Etalon. \throws SpecViolation naming the nearest one.
[[nodiscard]] const Definition& definition_named(std::string_view name);

}  // namespace etalon::spec
