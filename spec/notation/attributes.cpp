#include "spec/notation/attributes.hpp"

#include <charconv>
#include <cmath>
#include <string>

#include "spec/error.hpp"

namespace etalon::spec {

namespace notation {

double nearest_binary64(std::string_view text) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) return std::strtod(std::string(text).c_str(), nullptr);
  return value;
}

}  // namespace notation

namespace {

using Bound = AttributeBinding::Form;

struct AttributeBinder {
  AttributeBinding& to;
  bool fits = true;

  void operator()(std::int64_t v) {
    to.form = Bound::integer;
    to.integer = v;
  }
  void operator()(double v) {
    to.form = Bound::real;
    to.real = v;
  }
  void operator()(bool v) {
    to.form = Bound::boolean;
    to.truth = v;
  }
  void operator()(const std::string& v) {
    to.form = v == "all" ? Bound::all : v == "reversed" ? Bound::reversed : Bound::symbol;
    to.symbol = v;
    if (v == "inf" || v == "-inf" || v == "nan") (void)notation::read_value(v, 0, to);
  }
  void operator()(const std::vector<std::int64_t>& v) {
    to.form = Bound::list;
    fits = v.size() <= AttributeBinding::capacity;
    for (std::size_t i = 0; fits && i < v.size(); ++i) to.list[to.size++] = v[i];
  }
  void operator()(const std::vector<double>& v) {
    to.form = Bound::list;
    fits = v.empty();
  }
  void operator()(const ValueName& v) {
    to.form = Bound::runtime;
    to.symbol = v.name;
  }
};

AttributeValue value_of(const AttributeText& a, const AttributeBinding& v) {
  switch (v.form) {
    case Bound::integer: return v.integer;
    case Bound::real: return v.real;
    case Bound::boolean: return v.truth;
    case Bound::list: return std::vector<std::int64_t>(v.list, v.list + v.size);
    case Bound::runtime: return ValueName{std::string(v.symbol)};
    case Bound::all:
    case Bound::reversed:
    case Bound::symbol: return std::string(v.symbol);
    case Bound::missing: break;
  }
  throw InternalError("attribute " + std::to_string(a.name.begin) + " has no value");
}

}  // namespace

Bindings bind_attributes(const Definition& d, const Attributes& attributes) {
  Bindings b;
  b.diagnosis = d.diagnosis;
  for (const auto& [name, value] : attributes) {
    if (!b.diagnosis.ok()) return b;
    const int which = d.attribute_named(name);
    if (which < 0) {
      notation::complain_of_name(d, name, b);
      return b;
    }
    AttributeBinder binder{b.of[which]};
    std::visit(binder, value);
    if (!binder.fits) notation::complain_of_kind(d, d.attributes[which], b);
  }
  if (b.diagnosis.ok()) notation::complete(d, b);
  return b;
}

Attributes to_attributes(const Definition& d, const Bindings& b) {
  Attributes map;
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    if (b.of[i].form == Bound::missing) continue;
    map.emplace(d.at(d.attributes[i].name), value_of(d.attributes[i], b.of[i]));
  }
  return map;
}

Attributes attributes_from_text(const Definition& d, std::string_view text) {
  Attributes map;
  std::size_t at = 0;
  for (Token name = lexer::next(text, at); name.form != TokenForm::end; name = lexer::next(text, at)) {
    const Token sign = lexer::next(text, name.begin + name.text.size());
    const int which = d.attribute_named(name.text);
    AttributeBinding v;
    at = notation::read_value(text, sign.begin + 1, v);
    if (which < 0 || !sign.is("=") || v.form == Bound::missing) break;
    if (!notation::fit(d, d.attributes[which], v)) break;
    map.insert_or_assign(std::string(name.text), value_of(d.attributes[which], v));
    const Token comma = lexer::next(text, at);
    if (comma.form == TokenForm::end) return map;
    if (!comma.is(",")) break;
    at = comma.begin + 1;
  }
  if (lexer::next(text, 0).form == TokenForm::end) return map;
  const Bindings b = bind_attributes(d, text);
  throw SpecViolation(b.diagnosis.ok() ? std::string(d.name) + ": attributes are written name=value; found " +
                                             std::string(text)
                                       : std::string(b.diagnosis.message()));
}

}  // namespace etalon::spec
