/// \file
/// Golden cases as text: what stands in tests/golden/<operation>.txt. The format is described in tests/golden/README.md.
#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reference/number.hpp"
#include "spec/value_type.hpp"

namespace etalon::golden {

/// A number as it is written. `approximate` ones end in `~` and stand for all within half a unit of the last digit.
struct Written {
  enum class Form { finite, infinite, nan } form = Form::finite;
  reference::Rational value;  ///< of an infinity: its sign
  bool approximate = false;
  reference::Rational half_unit;
};

/// `x = f64[2]: 1 2` or, where the type is known, `x~ = 1 2`.
struct Line {
  std::string name;  ///< with the marks: `x`, `x~`, `x'`, `x#0`
  bool absent = false;
  bool typed = false;
  spec::ValueType type;
  std::vector<Written> values;
  int number = 0;  ///< in the file
};

struct Case {
  std::string name;
  std::string attributes;
  std::string rejected;  ///< part of the message of an ill-typed case
  std::vector<Line> lines;
  [[nodiscard]] const Line* find(std::string_view line_name) const;
};

struct File {
  std::string operation;
  bool says_source = false;  ///< a comment begins with `# source:`
  std::vector<Case> cases;
};

/// \throws std::runtime_error with file and line on malformed text.
[[nodiscard]] File read_file(const std::string& path);
[[nodiscard]] File read_file(std::istream& in, const std::string& path);
[[nodiscard]] Written parse_number(std::string_view text);

}  // namespace etalon::golden
