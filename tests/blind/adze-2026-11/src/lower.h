// Calls of the library as nodes: each operation has one function that builds its body.
#pragma once
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include "build.h"

namespace adze {

using json = nlohmann::json;

struct Call {
  std::string name;
  std::vector<T> x;  // operands; an absent one has no value
  const json* attributes;
  const std::map<std::string, T>* values;
  DT dt = DT::F32;  // of the operands, or of the result where there are none

  T in(std::size_t k) const { return k < x.size() ? x[k] : T{}; }
  bool has(const char* key) const { return attributes->contains(key) && !(*attributes)[key].is_null(); }
  double fixed(const char* key, double otherwise) const;  // an attribute that must be known now
  T num(const char* key, double otherwise) const;         // one that may be a value of the program
  I whole(const char* key, I otherwise) const;
  bool flag(const char* key, bool otherwise) const;
  std::string word(const char* key, const char* otherwise) const;
  Shape list(const char* key, std::size_t n, I otherwise) const;
  Shape axes(int rank) const;          // "axes", all by default
  int axis(const char* key, int rank, I otherwise) const;
  DT dtype(DT otherwise) const;
};

double number(const json& j);
DT dtype_of(const std::string& s);
using Lower = std::function<std::vector<T>(const Call&)>;
using Table = std::map<std::string, Lower>;
void lower_elementwise(Table& t);
void lower_shape(Table& t);
void lower_reduce(Table& t);
void lower_windows(Table& t);
void lower_norm(Table& t);
void lower_loss(Table& t);
void lower_cells(Table& t);
void lower_optimizers(Table& t);

// Shared by several bodies.
T softmax_last(T x, T mask);
T linear_last(T x, T w, T b);
T relu(T x);

}  // namespace adze
