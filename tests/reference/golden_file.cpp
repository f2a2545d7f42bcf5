#include "golden_file.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace etalon::golden {

namespace {

using boost::multiprecision::cpp_int;
using reference::Rational;

Rational power_of_ten(int e) {
  const Rational p(boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(std::abs(e))));
  return e < 0 ? Rational(1) / p : p;
}

/// Digits before and after the point as an integer; `places` counts those after it.
cpp_int digits_of(std::string_view text, int& places) {
  cpp_int v = 0;
  bool after = false;
  places = 0;
  if (text.empty()) throw std::runtime_error("a number is missing");
  for (const char c : text) {
    if (c == '.' && !after) {
      after = true;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      v = v * 10 + (c - '0');
      places += after ? 1 : 0;
    } else {
      throw std::runtime_error("not a number: " + std::string(text));
    }
  }
  return v;
}

Rational decimal_value(std::string_view text, Rational& unit) {
  const std::size_t e = text.find('e');
  const int exponent = e == std::string_view::npos ? 0 : std::stoi(std::string(text.substr(e + 1)));
  if (std::abs(exponent) > 5000) throw std::runtime_error("an exponent beyond 5000: " + std::string(text));
  int places = 0;
  const cpp_int digits = digits_of(text.substr(0, e), places);
  unit = power_of_ten(exponent - places);
  return Rational(digits) * unit;
}

std::string trimmed(std::string_view s) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!s.empty() && space(s.front())) s.remove_prefix(1);
  while (!s.empty() && space(s.back())) s.remove_suffix(1);
  return std::string(s);
}

spec::ValueType parse_type(std::string_view text) {
  const std::size_t bracket = text.find('[');
  const auto dtype = dtype_named(text.substr(0, bracket));
  if (!dtype) throw std::runtime_error("no element type: " + std::string(text));
  spec::ValueType type{*dtype, {}};
  if (bracket == std::string_view::npos) return type;
  std::string extents(text.substr(bracket + 1, text.find(']') - bracket - 1));
  std::replace(extents.begin(), extents.end(), ',', ' ');
  std::istringstream in(extents);
  for (std::int64_t e = 0; in >> e;) type.dims.push_back(e);
  return type;
}

Line parse_line(const std::string& text, std::size_t equals) {
  Line line;
  line.name = trimmed(std::string_view(text).substr(0, equals));
  std::string right = trimmed(std::string_view(text).substr(equals + 1));
  if (right == "absent") {
    line.absent = true;
    return line;
  }
  const std::size_t colon = right.find(':');
  if (colon != std::string::npos) {
    line.typed = true;
    line.type = parse_type(trimmed(std::string_view(right).substr(0, colon)));
    right = right.substr(colon + 1);
  }
  std::istringstream in(right);
  for (std::string word; in >> word;) line.values.push_back(parse_number(word));
  return line;
}

void add(File& file, const std::string& text, int number) {
  const auto starts = [&](std::string_view word) { return text.rfind(word, 0) == 0; };
  if (starts("# source:")) file.says_source = true;
  if (text.empty() || starts("#")) return;
  if (starts("case ")) {
    file.cases.push_back({trimmed(std::string_view(text).substr(5)), {}, {}, {}});
    return;
  }
  if (file.cases.empty()) throw std::runtime_error("a line before the first case");
  Case& c = file.cases.back();
  if (starts("attributes ")) {
    c.attributes = trimmed(std::string_view(text).substr(11));
  } else if (starts("rejected ")) {
    c.rejected = trimmed(std::string_view(text).substr(9));
  } else if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    c.lines.push_back(parse_line(text, equals));
    c.lines.back().number = number;
  } else {
    throw std::runtime_error("neither case, attributes, rejected nor name = values");
  }
}

}  // namespace

Written parse_number(std::string_view text) {
  Written w;
  if (text == "true" || text == "false") {
    w.value = text == "true" ? 1 : 0;
    return w;
  }
  if (!text.empty() && text.back() == '~') {
    w.approximate = true;
    text.remove_suffix(1);
  }
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text == "nan") {
    w.form = Written::Form::nan;
    return w;
  }
  if (text == "inf") {
    w.form = Written::Form::infinite;
    w.value = 1;
  } else if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    int places = 0;
    w.value = Rational(digits_of(text.substr(0, slash), places), digits_of(text.substr(slash + 1), places));
  } else {
    Rational unit;
    w.value = decimal_value(text, unit);
    w.half_unit = w.approximate ? unit / 2 : Rational(0);
  }
  if (negative) w.value = -w.value;
  return w;
}

const Line* Case::find(std::string_view line_name) const {
  for (const Line& l : lines) {
    if (l.name == line_name) return &l;
  }
  return nullptr;
}

File read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error(path + ": cannot be read");
  return read_file(in, path);
}

File read_file(std::istream& in, const std::string& path) {
  File file;
  const std::size_t slash = path.rfind('/');
  file.operation = path.substr(slash + 1, path.rfind('.') - slash - 1);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      add(file, trimmed(line), number);
    } catch (const std::exception& e) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  return file;
}

}  // namespace etalon::golden
