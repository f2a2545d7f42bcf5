/// \file
/// A call of a program, as what lowers it to nodes sees it.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph.hpp"

namespace weft {

using Json = nlohmann::json;

Type type_named(const std::string& name);
Wide number_of(const Json& value);

class Call {
 public:
  Call(Graph& g, const Json& attributes, std::vector<V> operands, const std::map<std::string, V>& values)
      : g(g), attributes_(attributes), operands_(std::move(operands)), values_(values) {}

  Graph& g;

  [[nodiscard]] V x(std::size_t k = 0) const {
    if (k >= operands_.size() || !operands_[k]) throw Unsupported("request", "an operand is missing");
    return operands_[k];
  }
  [[nodiscard]] V maybe(std::size_t k) const { return k < operands_.size() ? operands_[k] : V{}; }
  [[nodiscard]] const std::vector<V>& all() const { return operands_; }

  [[nodiscard]] bool has(const char* name) const { return attributes_.contains(name) && !attributes_[name].is_null(); }
  [[nodiscard]] Wide real(const char* name) const { return number_of(get(name)); }
  [[nodiscard]] Int whole(const char* name) const { return static_cast<Int>(real(name)); }
  [[nodiscard]] bool flag(const char* name) const;
  [[nodiscard]] std::string word(const char* name) const;
  [[nodiscard]] std::vector<Wide> numbers(const char* name) const;
  [[nodiscard]] std::vector<Int> list(const char* name, std::size_t count) const;
  [[nodiscard]] Int axis(const char* name, std::size_t rank) const;
  [[nodiscard]] std::vector<Int> axes(const char* name, std::size_t rank) const;
  /// A real attribute as a scalar of x's type: a constant, or a value of the program.
  [[nodiscard]] V scalar(const char* name, V x) const;
  [[nodiscard]] bool is_value(const char* name) const { return get(name).is_object(); }

 private:
  [[nodiscard]] const Json& get(const char* name) const;

  const Json& attributes_;
  std::vector<V> operands_;
  const std::map<std::string, V>& values_;
};

using Results = std::vector<V>;
using Lowering = std::function<Results(const Call&)>;
using Table = std::map<std::string, Lowering>;

void add_elementwise(Table& table);
void add_reductions(Table& table);
void add_movement(Table& table);
void add_linear(Table& table);
void add_losses(Table& table);
void add_optimizers(Table& table);
void add_normalisation(Table& table);
void add_windows(Table& table);
void add_attention(Table& table);
void add_cells(Table& table);
void add_schedules(Table& table);
const Table& lowerings();

/// Axes by the protocol's rule or Python's.
inline Int counted(Int axis, std::size_t rank) { return axis < 0 ? axis + static_cast<Int>(rank) : axis; }

V logistic(V x);

}  // namespace weft
