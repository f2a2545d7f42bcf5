#include "spec/contract/contract.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "spec/contract/fields.hpp"
#include "spec/contract/shape.hpp"
#include "spec/error.hpp"
#include "spec/json_depth.hpp"
#include "spec/json_fault.hpp"
#include "spec/nearest.hpp"

namespace etalon::spec {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 3> tie_names{"first", "last", "even"};
constexpr std::array<std::string_view, 3> nan_names{"free", "propagate", "ignore"};
constexpr std::array<std::string_view, 2> rounding_names{"nearest", "toward_zero"};

template <class Enum, std::size_t n>
void read_choice(const json& j, const char* key, const std::array<std::string_view, n>& names, Enum& into) {
  if (!j.contains(key)) return;
  const auto text = j.at(key).get<std::string>();
  into = static_cast<Enum>(std::find(names.begin(), names.end(), text) - names.begin());
}

template <class T>
void read_value(const json& j, const char* key, T& into) {
  if (j.contains(key)) into = j.at(key).get<T>();
}

Primitive function_named(std::string_view name) {
  if (name == "pow") return Primitive::pow;
  return name == "div" ? Primitive::div : *primitive_named(name);
}

std::string function_name(Primitive p) {
  if (p == Primitive::pow) return "pow";
  return p == Primitive::div ? "div" : std::string(info(p).name);
}

void read_function(const json& j, FunctionBound& b) {
  read_value(j, "k0", b.k0);
  read_value(j, "k1", b.k1);
  read_value(j, "absolute", b.absolute);
  read_value(j, "exact_points", b.exact_points);
}

void read_tree(const json& j, const char* key, SumTree& tree) {
  if (!j.contains(key)) return;
  const json& t = j.at(key);
  tree = {};
  if (t.contains("block") && !t.at("block").is_null()) tree.block = t.at("block").get<std::int64_t>();
  read_value(t, "lanes", tree.lanes);
}

void read_halves(const json& j, Contract& c) {
  if (!j.contains("halves")) return;
  for (const auto& [type, rows] : j.at("halves").items()) {
    HalfArithmetic half;
    half.own_temporaries = rows.value("temporaries", "f32") == type;
    half.own_accumulators = rows.value("accumulators", "f32") == type;
    c.halves[*dtype_named(type)] = half;
  }
}

/// From JSON without errors. \param c what holds where nothing is said
Contract contract_from(const json& j, Contract c) {
  read_value(j, "name", c.name);
  if (j.contains("functions")) {
    for (const auto& [type, table] : j.at("functions").items()) {
      auto& rows = c.functions[*dtype_named(type)];
      for (const auto& [name, row] : table.items()) {
        FunctionBound bound;
        read_function(row, bound);
        rows[function_named(name)] = bound;
      }
    }
  }
  if (j.contains("default_function")) {
    c.default_function = {};
    read_function(j.at("default_function"), c.default_function);
  }
  read_tree(j, "sums", c.sums);
  read_tree(j, "contractions", c.contractions);
  read_choice(j, "accumulation", rounding_names, c.accumulation);
  read_halves(j, c);
  read_value(j, "flush_results", c.flush_results);
  read_value(j, "flush_operands", c.flush_operands);
  read_value(j, "reciprocal_division", c.reciprocal_division);
  read_value(j, "product_operand_precision", c.product_operand_precision);
  read_choice(j, "product_operand_rounding", rounding_names, c.product_operand_rounding);
  read_choice(j, "ties", tie_names, c.ties);
  read_choice(j, "nan_of_extrema", nan_names, c.nan_of_extrema);
  return c;
}

json to_object(Primitive p, const FunctionBound& b) {
  if (p == Primitive::div) return {{"k0", b.k0}};
  return {{"k0", b.k0}, {"k1", b.k1}, {"absolute", b.absolute}, {"exact_points", b.exact_points}};
}

json to_object(const SumTree& t) {
  return {{"block", t.block ? json(*t.block) : json(nullptr)}, {"lanes", t.lanes}};
}

/// The JSON value; a key that stands twice in an object is an error, since one of the two would be lost.
json parsed(std::string_view text, std::vector<std::string>& errors) {
  if (is_too_deep(text)) {
    errors.push_back("contract: more than " + std::to_string(deepest_json) + " arrays and objects in each other");
    return {};
  }
  std::vector<std::set<std::string>> keys;
  const auto watch = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second) {
      errors.push_back("contract: the key '" + value.get<std::string>() + "' stands twice in one object");
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::parse_error& e) {
    errors.push_back("contract: " + malformed_json(text, e.byte, e.what()));
  } catch (const json::exception&) {
    errors.push_back("contract: malformed JSON");
  }
  return {};
}

json checked(std::string_view text, std::vector<std::string>& errors) {
  json j = parsed(text, errors);
  if (errors.empty()) find_errors(contract_shape(), j, "contract", errors);
  return j;
}

json sound(std::string_view text) {
  std::vector<std::string> errors;
  json j = checked(text, errors);
  if (!errors.empty()) throw SpecViolation(errors.front());
  return j;
}

}  // namespace

std::int64_t SumTree::height(std::int64_t n) const {
  const auto joins = [](std::int64_t parts) {
    return parts <= 1 ? std::int64_t{0} : static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(parts - 1)));
  };
  if (n <= 1) return 0;
  const std::int64_t own = (n + lanes - 1) / lanes;
  std::int64_t sequence = own - 1;
  if (block) sequence = std::min(sequence, *block + joins((own + *block - 1) / *block));
  return std::min(n - 1, sequence + joins(std::min(lanes, n)));
}

FunctionBound function_bound(const Contract& contract, DType dtype, Primitive function) {
  if (const auto table = contract.functions.find(dtype); table != contract.functions.end()) {
    if (const auto row = table->second.find(function); row != table->second.end()) return row->second;
  }
  if (function == Primitive::sqrt || function == Primitive::div) return {0.5, 0, 0, false};
  return contract.default_function;
}

HalfArithmetic half_arithmetic(const Contract& contract, DType dtype) {
  const auto row = contract.halves.find(dtype);
  return row == contract.halves.end() ? HalfArithmetic{} : row->second;
}

std::string to_json(const Contract& c) {
  json tables = json::object();
  for (const auto& [dtype, table] : c.functions) {
    json rows = json::object();
    for (const auto& [primitive, bound] : table) rows[function_name(primitive)] = to_object(primitive, bound);
    tables[std::string(name_of(dtype))] = rows;
  }
  json halves = json::object();
  for (const auto& [dtype, half] : c.halves) {
    const std::string own(name_of(dtype));
    halves[own] = {{"temporaries", half.own_temporaries ? own : "f32"}, {"accumulators", half.own_accumulators ? own : "f32"}};
  }
  const json j{{"name", c.name},
               {"functions", tables},
               {"default_function", to_object(Primitive::exp, c.default_function)},
               {"sums", to_object(c.sums)},
               {"contractions", to_object(c.contractions)},
               {"accumulation", rounding_names[static_cast<std::size_t>(c.accumulation)]},
               {"halves", halves},
               {"flush_results", c.flush_results},
               {"flush_operands", c.flush_operands},
               {"reciprocal_division", c.reciprocal_division},
               {"product_operand_precision", c.product_operand_precision},
               {"product_operand_rounding", rounding_names[static_cast<std::size_t>(c.product_operand_rounding)]},
               {"ties", tie_names[static_cast<std::size_t>(c.ties)]},
               {"nan_of_extrema", nan_names[static_cast<std::size_t>(c.nan_of_extrema)]}};
  return j.dump();
}

Contract parse_contract(std::string_view text) {
  const json j = sound(text);
  Contract like;
  if (j.contains("like")) {
    const std::string name = j.at("like");
    like = contract_named(name);
    like.name = "like " + name;
  }
  return contract_from(j, std::move(like));
}

Contract contract_on(Contract like, std::string_view text) { return contract_from(sound(text), std::move(like)); }

std::vector<std::string> contract_errors(std::string_view text) {
  std::vector<std::string> errors;
  (void)checked(text, errors);
  return errors;
}

std::string contract_schema() {
  nlohmann::ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Etalon contract"}};
  schema.update(schema_of(contract_shape()));
  return schema.dump(2) + "\n";
}

}  // namespace etalon::spec
