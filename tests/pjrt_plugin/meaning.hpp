/// \file
/// What a text of StableHLO means, to the fake plug-in.
#pragma once

#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

#include "spec/program/program.hpp"

namespace etalon::test {

/// The text as a program, whose inputs are constants and some of the text's arguments: those that are read.
struct Meaning {
  spec::Program program;
  std::size_t arguments = 0;
  std::map<std::string, std::size_t> argument_of;  ///< by the program's names of inputs
};

/// What Etalon's reader does not offer.
class NotOffered : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// \throws NotOffered, or another std::exception for what is no text
[[nodiscard]] Meaning meaning_of(const std::string& text);

}  // namespace etalon::test
