/// \file
/// Attributes.
#include "call.hpp"

#include <limits>

namespace weft {

Type type_named(const std::string& name) {
  if (name == "f32") return Type::f32;
  if (name == "f64") return Type::f64;
  if (name == "i32") return Type::i32;
  if (name == "i64") return Type::i64;
  if (name == "bool") return Type::boolean;
  throw Unsupported("dtype", name + " is not offered");
}

Wide number_of(const Json& v) {
  if (v.is_boolean()) return v.get<bool>();
  if (v.is_number_unsigned()) return static_cast<Wide>(v.get<std::uint64_t>());
  if (v.is_number_integer()) return static_cast<Wide>(v.get<Int>());
  if (v.is_number()) return static_cast<Wide>(v.get<double>());
  if (v.is_string()) {
    const auto s = v.get<std::string>();
    if (s == "nan") return std::numeric_limits<Wide>::quiet_NaN();
    if (s == "inf") return std::numeric_limits<Wide>::infinity();
    if (s == "-inf") return -std::numeric_limits<Wide>::infinity();
    std::size_t read = 0;
    const Int n = std::stoll(s, &read);
    if (read == s.size()) return static_cast<Wide>(n);
  }
  throw Unsupported("attribute", "no number: " + v.dump());
}

const Json& Call::get(const char* name) const {
  const auto found = attributes_.find(name);
  if (found == attributes_.end()) throw Unsupported("attribute", std::string(name) + " is missing");
  return *found;
}

bool Call::flag(const char* name) const { return get(name).is_boolean() && get(name).get<bool>(); }

std::string Call::word(const char* name) const {
  if (!get(name).is_string()) throw Unsupported("attribute", std::string(name) + " is no symbol");
  return get(name).get<std::string>();
}

std::vector<Wide> Call::numbers(const char* name) const {
  std::vector<Wide> found;
  for (const Json& e : get(name)) found.push_back(number_of(e));
  return found;
}

std::vector<Int> Call::list(const char* name, std::size_t count) const {
  const Json& v = get(name);
  if (!v.is_array()) return std::vector<Int>(count, static_cast<Int>(number_of(v)));
  std::vector<Int> found;
  for (const Json& e : v) found.push_back(static_cast<Int>(number_of(e)));
  return found;
}

Int Call::axis(const char* name, std::size_t rank) const { return counted(whole(name), rank); }

std::vector<Int> Call::axes(const char* name, std::size_t rank) const {
  std::vector<Int> found;
  if (get(name).is_string() && get(name) == "all") {
    for (std::size_t d = 0; d < rank; ++d) found.push_back(static_cast<Int>(d));
    return found;
  }
  for (const Int a : list(name, 1)) found.push_back(counted(a, rank));
  return found;
}

V Call::scalar(const char* name, V x) const {
  const Json& v = get(name);
  if (!v.is_object()) return like(x, number_of(v));
  const V found = values_.at(v.at("value").get<std::string>());
  if (!found.shape().empty() || !is_real(found.type())) throw Unsupported("attribute", "only real scalars are taken");
  return found.type() == x.type() ? found : cast(found, x.type());
}

const Table& lowerings() {
  static const Table table = [] {
    Table t;
    add_elementwise(t);
    add_reductions(t);
    add_movement(t);
    add_linear(t);
    add_losses(t);
    add_optimizers(t);
    add_normalisation(t);
    add_windows(t);
    add_attention(t);
    add_cells(t);
    add_schedules(t);
    return t;
  }();
  return table;
}

}  // namespace weft
