// Attributes of a call, and the table of all operations.
#include <cmath>
#include "lower.h"

namespace adze {

double number(const json& j) {
  if (j.is_string()) {
    const std::string s = j.get<std::string>();
    if (s == "nan") return std::nan("");
    if (s == "inf") return HUGE_VAL;
    if (s == "-inf") return -HUGE_VAL;
    return double(std::stold(s));
  }
  return j.get<double>();
}

DT dtype_of(const std::string& s) {
  if (s == "f32") return DT::F32;
  if (s == "f64") return DT::F64;
  if (s == "i32") return DT::I32;
  if (s == "i64") return DT::I64;
  if (s == "bool") return DT::Bool;
  throw Unsupported("dtype", s + " is not offered");
}

static I integer(const json& j) { return j.is_string() ? I(std::stoll(j.get<std::string>())) : j.get<I>(); }

double Call::fixed(const char* key, double otherwise) const {
  if (!has(key)) return otherwise;
  const json& j = (*attributes)[key];
  if (j.is_object()) throw Unsupported("attribute", std::string(key) + " as a value of the program");
  return number(j);
}

T Call::num(const char* key, double otherwise) const {
  if (!has(key)) return K(otherwise);
  const json& j = (*attributes)[key];
  if (!j.is_object()) return K(number(j));
  auto it = values->find(j.at("value").get<std::string>());
  if (it == values->end()) throw Rejected("no such value");
  if (bug("running_attribute_has_no_gradient")) return detach(it->second);
  return it->second;
}

I Call::whole(const char* key, I otherwise) const { return has(key) ? integer((*attributes)[key]) : otherwise; }
bool Call::flag(const char* key, bool otherwise) const { return has(key) ? (*attributes)[key].get<bool>() : otherwise; }
std::string Call::word(const char* key, const char* otherwise) const {
  return has(key) ? (*attributes)[key].get<std::string>() : otherwise;
}

Shape Call::list(const char* key, std::size_t n, I otherwise) const {
  if (!has(key)) return Shape(n, otherwise);
  const json& j = (*attributes)[key];
  if (!j.is_array()) return Shape(n, integer(j));
  Shape r;
  for (const json& e : j) r.push_back(integer(e));
  if (r.size() != n) throw Rejected(std::string(key) + " has another length");
  return r;
}

Shape Call::axes(int rank) const {
  Shape r;
  if (!has("axes") || !(*attributes)["axes"].is_array()) {
    if (has("axes") && (*attributes)["axes"].is_number()) return {(integer((*attributes)["axes"]) % rank + rank) % rank};
    for (int k = 0; k < rank; ++k) r.push_back(k);
    return r;
  }
  for (const json& e : (*attributes)["axes"]) {
    const I k = integer(e);
    if (k < -rank || k >= rank) throw Rejected("axis out of range");
    r.push_back(k < 0 ? k + rank : k);
  }
  return r;
}

int Call::axis(const char* key, int rank, I otherwise) const {
  const I k = whole(key, otherwise);
  if (k < -rank || k >= rank) throw Rejected("axis out of range");
  return int(k < 0 ? k + rank : k);
}

DT Call::dtype(DT otherwise) const {
  return has("dtype") ? dtype_of((*attributes)["dtype"].get<std::string>()) : otherwise;
}

}  // namespace adze
