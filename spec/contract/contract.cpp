#include "spec/contract/contract.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "spec/error.hpp"

namespace etalon::spec {
namespace {

using nlohmann::json;

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

std::string nearest(std::string_view wanted, std::span<const std::string_view> known) {
  return std::string(*std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(wanted, a) < edit_distance(wanted, b);
  }));
}

[[noreturn]] void unknown(const std::string& where, std::string_view found, std::span<const std::string_view> known) {
  throw SpecViolation(where + ": unknown key '" + std::string(found) + "', nearest is '" + nearest(found, known) + "'");
}

[[noreturn]] void wrong_kind(const std::string& where, std::string_view key, std::string_view want, const json& found) {
  throw SpecViolation(where + ": " + std::string(key) + " must be " + std::string(want) + ", found " + found.dump());
}

const json& object(const std::string& where, std::string_view key, const json& j) {
  if (!j.is_object()) wrong_kind(where, key, "an object", j);
  return j;
}

bool boolean(std::string_view key, const json& j) {
  if (!j.is_boolean()) wrong_kind("contract", key, "true or false", j);
  return j.get<bool>();
}

double real(const std::string& where, std::string_view key, const json& j) {
  if (!j.is_number()) wrong_kind(where, key, "a number >= 0", j);
  const double value = j.get<double>();
  if (!(value >= 0) || !std::isfinite(value)) wrong_kind(where, key, "a number >= 0", j);
  return value;
}

std::int64_t integer(std::string_view key, const json& j, std::int64_t low, std::int64_t high) {
  const std::string want = "an integer in [" + std::to_string(low) + ", " + std::to_string(high) + "]";
  if (!j.is_number_integer()) wrong_kind("contract", key, want, j);
  const auto value = j.get<std::int64_t>();
  if (value < low || value > high) wrong_kind("contract", key, want, j);
  return value;
}

FunctionBound function_from(const std::string& where, const json& j) {
  static constexpr std::array<std::string_view, 4> keys{"k0", "k1", "absolute", "exact_points"};
  FunctionBound bound;
  for (const auto& [key, value] : object("contract", where, j).items()) {
    if (key == "k0") bound.k0 = real(where, key, value);
    else if (key == "k1") bound.k1 = real(where, key, value);
    else if (key == "absolute") bound.absolute = real(where, key, value);
    else if (key == "exact_points") bound.exact_points = boolean(key, value);
    else unknown(where, key, keys);
  }
  if (bound.k0 < 0.5) wrong_kind(where, "k0", "at least 0.5", j.at("k0"));
  return bound;
}

constexpr std::array<std::string_view, 16> functions{"exp",  "exp2", "log",  "log2", "sqrt",  "sin",   "cos", "tan",  "sinh",
                                                     "cosh", "tanh", "erf",  "expm1", "log1p", "atan2", "pow"};

std::map<Primitive, FunctionBound> functions_from(const std::string& where, const json& j) {
  std::map<Primitive, FunctionBound> table;
  const std::span<const std::string_view> known(functions);
  for (const auto& [key, value] : object("contract", where, j).items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) unknown(where, key, known);
    const Primitive p = key == "pow" ? Primitive::pow : *primitive_named(key);
    table[p] = function_from(where + "." + key, value);
  }
  return table;
}

std::string function_name(Primitive p) { return p == Primitive::pow ? "pow" : std::string(info(p).name); }

constexpr std::array<std::string_view, 3> tie_names{"first", "last", "even"};

TiePolicy ties_from(const json& j) {
  if (!j.is_string()) wrong_kind("contract", "ties", "first, last or even", j);
  const auto text = j.get<std::string>();
  const auto at = std::find(tie_names.begin(), tie_names.end(), text);
  if (at == tie_names.end()) wrong_kind("contract", "ties", "first, last or even", j);
  return static_cast<TiePolicy>(at - tie_names.begin());
}

void set_field(Contract& c, const std::string& key, const json& value) {
  static constexpr std::array<std::string_view, 9> keys{
      "name",           "functions",           "default_function",          "sum_block", "flush_results",
      "flush_operands", "reciprocal_division", "product_operand_precision", "ties"};
  static constexpr std::array<std::string_view, 2> real_types{"f32", "f64"};  // f16 and bf16 are computed in f32
  if (key == "name") {
    if (!value.is_string()) wrong_kind("contract", key, "a string", value);
    c.name = value.get<std::string>();
  } else if (key == "functions") {
    for (const auto& [type, table] : object("contract", key, value).items()) {
      const auto dtype = dtype_named(type);
      if (dtype != DType::f32 && dtype != DType::f64) unknown("contract functions", type, real_types);
      c.functions[*dtype] = functions_from("functions." + type, table);
    }
  } else if (key == "default_function") {
    c.default_function = function_from(key, value);
  } else if (key == "sum_block") {
    c.sum_block = value.is_null() ? std::nullopt : std::optional(integer(key, value, 1, std::int64_t{1} << 40));
  } else if (key == "flush_results") {
    c.flush_results = boolean(key, value);
  } else if (key == "flush_operands") {
    c.flush_operands = boolean(key, value);
  } else if (key == "reciprocal_division") {
    c.reciprocal_division = boolean(key, value);
  } else if (key == "product_operand_precision") {
    c.product_operand_precision = static_cast<int>(integer(key, value, 0, 53));
  } else if (key == "ties") {
    c.ties = ties_from(value);
  } else {
    unknown("contract", key, keys);
  }
}

json to_object(const FunctionBound& b) {
  return {{"k0", b.k0}, {"k1", b.k1}, {"absolute", b.absolute}, {"exact_points", b.exact_points}};
}

struct Profile {
  std::string_view name;
  std::string_view text;
};

// SLEEF's _u10 functions promise 1.0 ulp, sinh and cosh are continued by exp to where they overflow; division and square
// root are the machine's.
constexpr std::array profiles{
    Profile{"ieee", R"({"name": "ieee"})"},
    Profile{"cpu", R"({"name": "cpu", "functions": {
      "f32": {"exp": {"k0": 1}, "log": {"k0": 1}, "sqrt": {"k0": 0.5}, "sin": {"k0": 1}, "cos": {"k0": 1},
              "tanh": {"k0": 1}, "erf": {"k0": 1}, "expm1": {"k0": 1}, "log1p": {"k0": 1}, "pow": {"k0": 1},
              "exp2": {"k0": 1}, "log2": {"k0": 1}, "tan": {"k0": 1}, "sinh": {"k0": 1.5}, "cosh": {"k0": 1.5},
              "atan2": {"k0": 1}},
      "f64": {"exp": {"k0": 1}, "log": {"k0": 1}, "sqrt": {"k0": 0.5}, "sin": {"k0": 1}, "cos": {"k0": 1},
              "tanh": {"k0": 1}, "erf": {"k0": 1}, "expm1": {"k0": 1}, "log1p": {"k0": 1}, "pow": {"k0": 1},
              "exp2": {"k0": 1}, "log2": {"k0": 1}, "tan": {"k0": 1}, "sinh": {"k0": 1.5}, "cosh": {"k0": 1.5},
              "atan2": {"k0": 1}}}})"}};

}  // namespace

FunctionBound function_bound(const Contract& contract, DType dtype, Primitive function) {
  if (const auto table = contract.functions.find(dtype); table != contract.functions.end()) {
    if (const auto row = table->second.find(function); row != table->second.end()) return row->second;
  }
  if (function == Primitive::sqrt) return {0.5, 0, 0, false};
  return contract.default_function;
}

std::string to_json(const Contract& c) {
  json tables = json::object();
  for (const auto& [dtype, table] : c.functions) {
    json rows = json::object();
    for (const auto& [primitive, bound] : table) rows[function_name(primitive)] = to_object(bound);
    tables[std::string(name_of(dtype))] = rows;
  }
  const json j{{"name", c.name},
               {"functions", tables},
               {"default_function", to_object(c.default_function)},
               {"sum_block", c.sum_block ? json(*c.sum_block) : json(nullptr)},
               {"flush_results", c.flush_results},
               {"flush_operands", c.flush_operands},
               {"reciprocal_division", c.reciprocal_division},
               {"product_operand_precision", c.product_operand_precision},
               {"ties", tie_names[static_cast<std::size_t>(c.ties)]}};
  return j.dump();
}

Contract parse_contract(std::string_view text) {
  const json j = json::parse(text, nullptr, false);
  if (j.is_discarded()) throw SpecViolation("contract: malformed JSON");
  Contract contract;
  for (const auto& [key, value] : object("contract", "it", j).items()) set_field(contract, key, value);
  return contract;
}

Contract contract_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Profile& profile : profiles) {
    if (profile.name == name) return parse_contract(profile.text);
    names.push_back(profile.name);
  }
  throw SpecViolation("contract: no profile '" + std::string(name) + "', nearest is '" + nearest(name, names) + "'");
}

}  // namespace etalon::spec
