#include "conformance/interchange/stablehlo/read_attribute.hpp"

#include <fmt/format.h>

#include <charconv>

#include "spec/quoted.hpp"

namespace etalon::conformance::stablehlo {

/// One step into what stands in something else.
class AttributeReader::Deeper {
 public:
  explicit Deeper(AttributeReader& reader) : reader_(reader) {
    if (++reader_.depth_ > deepest) reader_.scan_.fail(fmt::format("nothing that stands more than {} deep", deepest));
  }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --reader_.depth_; }

 private:
  AttributeReader& reader_;
};

Type AttributeReader::type() {
  if (!scan_.takes("tensor")) {
    if (!scan_.takes("!") && scan_.sees("(")) scan_.fail("a type");
    const std::string name(scan_.word());
    if (name.empty()) scan_.fail("a type");
    if (scan_.sees("<")) scan_.pass_over_brackets();
    return fmt::format("values of type {} are not offered", as_quoted(name));
  }
  scan_.expect("<");
  TensorType type;
  std::string why;
  for (;;) {
    if (scan_.takes("?")) {
      why = "extents that are not known are not offered";
    } else if (scan_.word_begins() || scan_.takes("!")) {
      break;
    } else {
      type.extents.push_back(scan_.natural("an extent or an element type"));
    }
    scan_.expect_sign('x');
  }
  const std::string element(scan_.word());
  const std::optional<DType> dtype = element_named(element);
  if (!fits(type.extents)) why = too_large;
  if (!dtype) why = fmt::format("tensors of {} are not offered", as_quoted(element));
  if (element == "complex" && scan_.sees("<")) scan_.pass_over_brackets();
  if (scan_.takes(",")) {
    why = "encodings of tensors are not offered";
    while (!scan_.sees(">")) {
      if (scan_.sees("<"))
        scan_.pass_over_brackets();
      else
        (void)scan_.any();
    }
  }
  if (scan_.sees("<")) scan_.pass_over_brackets();  // what a quantised type says
  while (scan_.takes(":") || scan_.takes(".")) (void)scan_.word();
  scan_.expect(">");
  if (!why.empty()) return why;
  type.dtype = *dtype;
  return type;
}

std::vector<Type> AttributeReader::types() {
  std::vector<Type> all;
  if (!scan_.takes("(")) return {type()};
  while (!scan_.takes(")")) {
    if (!all.empty()) scan_.expect(",");
    all.push_back(type());
    if (scan_.sees("{")) (void)dictionary();
  }
  return all;
}

void AttributeReader::pass_over_type() {
  if (scan_.sees("(")) {
    scan_.pass_over_brackets();
    scan_.expect("->");
    if (scan_.sees("(")) return scan_.pass_over_brackets();
  }
  (void)type();
}

Attribute AttributeReader::attribute(bool is_typed) {
  const Deeper deeper(*this);
  if (scan_.sees("\"")) {
    std::string text = scan_.quoted();
    if (is_typed && scan_.takes(":")) pass_over_type();
    return {std::move(text)};
  }
  if (scan_.sees("@")) {
    std::string name = scan_.symbol();
    while (scan_.takes("::")) name += "::" + scan_.symbol();
    return {std::move(name)};
  }
  if (scan_.sees("[")) return {list()};
  if (scan_.sees("{")) return {dictionary()};
  if (scan_.takes("#")) return of_dialect();
  if (scan_.sees("dense")) {
    const Literal read = literal();
    scan_.expect(":");
    return {numbers(read, type())};
  }
  const std::string_view number = scan_.number();
  return number.empty() ? of_word(is_typed) : of_number(number, is_typed);
}

Attribute AttributeReader::of_number(std::string_view number, bool is_typed) {
  Attribute found;
  std::int64_t integer = 0;
  double real = 0;
  const std::string_view digits = number.front() == '+' ? number.substr(1) : number;
  const char* end = digits.data() + digits.size();
  if (const auto whole = std::from_chars(digits.data(), end, integer); whole.ec == std::errc() && whole.ptr == end)
    found.value = integer;
  else if (const auto part = std::from_chars(digits.data(), end, real); part.ec == std::errc() && part.ptr == end)
    found.value = real;
  else
    found.value = std::string(number);
  if (is_typed && scan_.takes(":")) pass_over_type();
  return found;
}

/// `true`, `unit`, `array<i64: 1, 2>`, an enumerator, or a type, of which nothing is kept.
Attribute AttributeReader::of_word(bool is_typed) {
  if (scan_.takes("array")) {
    scan_.expect("<");
    (void)scan_.word();
    AttributeList all;
    if (scan_.takes(":")) {
      do all.push_back(attribute(false));
      while (scan_.takes(","));
    }
    scan_.expect(">");
    return {std::move(all)};
  }
  if (scan_.sees("tensor") || scan_.sees("!") || scan_.sees("(")) {
    pass_over_type();
    return {};
  }
  const std::string word(scan_.word());
  if (word.empty()) scan_.fail("an attribute");
  if (scan_.sees("<") || (word == "loc" && scan_.sees("("))) scan_.pass_over_brackets();
  if (word == "true" || word == "false") return {word == "true"};
  if (word == "unit") return {};
  if (is_typed && scan_.takes(":")) pass_over_type();
  return {word};
}

AttributeList AttributeReader::list() {
  scan_.expect("[");
  AttributeList all;
  while (!scan_.takes("]")) {
    if (!all.empty()) scan_.expect(",");
    all.push_back(attribute(true));
  }
  return all;
}

Attributes AttributeReader::dictionary() {
  scan_.expect("{");
  return entries("}");
}

Attributes AttributeReader::entries(std::string_view end) {
  Attributes all;
  bool is_first = true;
  while (!scan_.takes(end)) {
    if (!is_first) scan_.expect(",");
    is_first = false;
    const std::string name = scan_.sees("\"") ? scan_.quoted() : std::string(scan_.word());
    if (name.empty()) scan_.fail("the name of an attribute");
    Attribute value;
    if (scan_.takes("=")) value = attribute(true);
    if (!all.emplace(name, std::move(value)).second)
      scan_.fail(fmt::format("each attribute once, and \"{}\" stands before", as_quoted(name)));
  }
  return all;
}

/// `#stablehlo.gather<offset_dims = [1], …>` as a dictionary, `#stablehlo<precision HIGH>` as the word, others as
/// nothing.
Attribute AttributeReader::of_dialect() {
  const std::string name(scan_.word());
  if (!scan_.takes("<")) return {};
  if (name == "stablehlo.conv") {
    Attribute value{dimension_numbers()};
    scan_.expect(">");
    return value;
  }
  if (name == "stablehlo" || name == "chlo") {
    (void)scan_.word();
    Attribute value = scan_.sees(">") ? Attribute{} : attribute(true);
    scan_.expect(">");
    return value;
  }
  return {entries(">")};
}

Attributes AttributeReader::dimension_numbers() {
  const auto side = [&] {
    AttributeList all;
    scan_.expect("[");
    while (!scan_.takes("]")) {
      if (!all.empty()) scan_.expect(",");
      const std::string_view number = scan_.number();
      all.push_back(number.empty() ? Attribute{std::string(scan_.word())} : of_number(number, false));
    }
    return Attribute{std::move(all)};
  };
  Attributes sides;
  sides["input"] = side();
  scan_.expect("x");
  sides["kernel"] = side();
  scan_.expect("->");
  sides["output"] = side();
  return sides;
}

}  // namespace etalon::conformance::stablehlo
