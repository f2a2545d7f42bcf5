/// \file
/// Several definitions in one text, told apart. It resolves no names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/located.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// One definition with the text that it refers to.
struct OwnedDefinition {
  std::string text;
  Definition definition;   ///< of `text`; its diagnosis says what is wrong with it
  std::uint32_t line = 1;  ///< where `text` begins in the whole, from 1
};

/// The definitions of a text in order, each with the comments before it. Total: a definition that cannot be read is the
/// last one, and its diagnosis says why.
[[nodiscard]] std::vector<std::shared_ptr<const OwnedDefinition>> split_definitions(std::string_view text);

/// `file:line:column: what is wrong`, the place counted in the text that the definition was taken from.
[[nodiscard]] LocatedViolation located(const OwnedDefinition& definition, const Diagnosis& diagnosis, std::string_view file);

}  // namespace etalon::spec
