#include "spec/notation/json.hpp"

#include <nlohmann/json.hpp>

namespace etalon::spec {

namespace {

using Json = nlohmann::ordered_json;

std::string item_text(const Definition& d, NodeId n) {
  const NodeText& t = d[n];
  const std::string own(d.at(n));
  switch (t.form) {
    case NodeForm::row: return (own == "..." ? own : ".." + own) + (t.flag ? "?" : "");
    case NodeForm::pack_name: return (t.op == 1 ? ".." : "") + own + "#";
    case NodeForm::placed: return item_text(d, t.first) + " @ " + own;
    default: return own;
  }
}

Json axes(const Definition& d, NodeId first) {
  Json list = Json::array();
  for (NodeId n = first; n >= 0; n = d[n].next) list.push_back(item_text(d, n));
  return list;
}

const char* name_of(Range r) {
  switch (r) {
    case Range::real: return "real";
    case Range::integer: return "int";
    case Range::boolean: return "bool";
    case Range::number: return "number";
    case Range::any: return "any";
    case Range::attribute: return "attribute";
  }
  return "?";
}

const char* name_of(AttributeKind k) {
  switch (k) {
    case AttributeKind::integer: return "int";
    case AttributeKind::real: return "real";
    case AttributeKind::boolean: return "bool";
    case AttributeKind::symbol: return "symbol";
    case AttributeKind::dtype: return "dtype";
    case AttributeKind::integers: return "integers";
    case AttributeKind::axes: return "axes";
    case AttributeKind::value: return "value";
  }
  return "?";
}

Json operand(const Definition& d, const OperandText& o) {
  return {{"name", std::string(d.at(o.name))}, {"kind", name_of(o.range)}, {"pack", o.pack},
          {"optional", o.optional},            {"axes", axes(d, o.axes)}};
}

Json result(const Definition& d, const OperandText& r) {
  Json j{{"name", std::string(d.at(r.name))}, {"pack", r.pack}, {"axes", axes(d, r.axes)}};
  j["dtype"] = r.range == Range::any         ? "operands"
               : r.range == Range::attribute ? "attribute " + std::string(d.at(r.dtype))
                                             : std::string(name_of(r.range));
  return j;
}

Json attribute(const Definition& d, const AttributeText& a) {
  Json j{{"name", std::string(d.at(a.name))}, {"kind", name_of(a.kind)}, {"pack", a.pack}};
  if (a.row.length > 0) j["row"] = std::string(d.at(a.row));
  if (a.has_default) j["default"] = std::string(d.at(a.value));
  if (a.choices.length > 0) {
    Json choices = Json::array();
    std::string one;
    for (const char c : d.at(a.choices)) {
      if (c == '|') {
        choices.push_back(one);
        one.clear();
      } else if (c != ' ') {
        one += c;
      }
    }
    choices.push_back(one);
    j["choices"] = choices;
  }
  return j;
}

Json clause(const Definition& d, std::size_t n) {
  const ClauseText& c = d.clauses[n];
  constexpr const char* forms[] = {"equation", "let", "requires", "call"};
  const char* form = forms[static_cast<std::size_t>(c.form)];
  Json j{{"id", std::string(d.name) + "/C" + std::to_string(n + 1)}, {"form", form}, {"text", std::string(d.at(c.text))}};
  if (c.form == ClauseText::Form::equation) {
    j["target"] = std::string(d.at(c.target));
    bool is_result = false;
    for (std::size_t r = 0; r < d.result_count; ++r) is_result = is_result || d.at(d.results[r].name) == d.at(c.target);
    j["local"] = !is_result;
  }
  if (c.part > 0) {
    j["part"] = {{"number", static_cast<int>(c.part)}, {"form", std::string(name_of(d.parts[c.part - 1]))}};
  }
  if (c.form == ClauseText::Form::call) {
    j["operation"] = std::string(d.at(c.value));
    j["targets"] = Json::array({std::string(d.at(c.target))});
    for (NodeId t = c.places; t >= 0; t = d[t].next) j["targets"].push_back(std::string(d.at(t)));
  }
  return j;
}

Json json_of(const Definition& d) {
  Json j{{"name", std::string(d.name)}, {"doc", std::string(d.doc)}, {"text", std::string(d.text)}};
  if (d.family_rank >= 0) j["family"] = {{"row", std::string(d.at(d.family_row))}, {"rank", static_cast<int>(d.family_rank)}};
  j["operands"] = Json::array();
  for (std::size_t i = 0; i < d.operand_count; ++i) j["operands"].push_back(operand(d, d.operands[i]));
  j["attributes"] = Json::array();
  for (std::size_t i = 0; i < d.attribute_count; ++i) j["attributes"].push_back(attribute(d, d.attributes[i]));
  j["results"] = Json::array();
  for (std::size_t i = 0; i < d.result_count; ++i) j["results"].push_back(result(d, d.results[i]));
  j["clauses"] = Json::array();
  for (std::size_t i = 0; i < d.clause_count; ++i) j["clauses"].push_back(clause(d, i));
  return j;
}

}  // namespace

std::string to_json(const Definition& definition) { return json_of(definition).dump(2); }

}  // namespace etalon::spec
