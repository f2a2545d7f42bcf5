/// \file
/// What is wrong with a program and where: at a place of its text, or in a part of it, so that whoever holds the text can
/// name the line. It knows no rule and no file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/located.hpp"

namespace etalon::spec {

struct Program;

/// A text that is no program; what() is `program: line 2, column 11: WHY`.
class TextViolation : public SpecViolation {
 public:
  TextViolation(Place place, const std::string& why);
  [[nodiscard]] Place place() const { return place_; }
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  Place place_;
  std::string why_;
};

/// What a rule objects to in the line of a part.
struct Culprit {
  std::string word;         ///< this word of it; empty: all of it
  bool is_made = false;     ///< the word stands before the `=`, as what is made is named
  std::size_t column = 0;   ///< in the line without its indentation, where an equation's own rule names a place
};

/// A rule about a word, before it is known in which part the word stands.
class WordViolation : public SpecViolation {
 public:
  WordViolation(const std::string& what, Culprit culprit) : SpecViolation(what), culprit_(std::move(culprit)) {}
  [[nodiscard]] const Culprit& culprit() const { return culprit_; }

 private:
  Culprit culprit_;
};

enum class Part : std::uint8_t { input, buffer, step, output, update, wish };
inline constexpr std::size_t part_count = 6;

/// A rule that a part of a program breaks.
class PartViolation : public SpecViolation {
 public:
  PartViolation(const std::string& what, Part part, std::size_t index, Culprit culprit)
      : SpecViolation(what), part_(part), index_(index), culprit_(std::move(culprit)) {}
  [[nodiscard]] Part part() const { return part_; }
  [[nodiscard]] std::size_t index() const { return index_; }  ///< among the parts of that kind
  [[nodiscard]] const Culprit& culprit() const { return culprit_; }

 private:
  Part part_;
  std::size_t index_;
  Culprit culprit_;
};

/// Runs `check`; what it throws becomes a violation of this part, of `all` where it names no word.
template <class Check>
void in_part(Part part, std::size_t index, const Culprit& all, const Check& check) {
  try {
    check();
  } catch (const PartViolation&) {
    throw;
  } catch (const WordViolation& error) {
    throw PartViolation(error.what(), part, index, error.culprit());
  } catch (const SpecViolation& error) {
    throw PartViolation(error.what(), part, index, all);
  }
}

/// Which line of a text states which part of the program; lines from 1, 0 where none does.
struct PartLines {
  std::array<std::vector<std::size_t>, part_count> lines;
  std::vector<std::size_t> definitions;  ///< lines inside of blocks of definitions

  [[nodiscard]] std::size_t line_of(Part part, std::size_t index) const;
};

/// As in program.hpp; `where` then says which line states which part. \throws TextViolation
[[nodiscard]] Program parse_program(std::string_view text, const std::string& file, PartLines& where);

/// Where the text of the program breaks the rule; line 0 where it does not state that part.
[[nodiscard]] Place place_of(const PartViolation& violation, const PartLines& lines, std::string_view text);

}  // namespace etalon::spec
