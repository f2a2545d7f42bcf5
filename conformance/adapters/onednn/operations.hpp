/// \file
/// What oneDNN computes of one call: values, and cotangents of operands. It knows nothing of requests.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "conformance/adapters/onednn/execution.hpp"

namespace etalon::onednn {

/// A call with its operands; an optional one that is absent is nothing.
struct Call {
  const etalon_call* call;
  std::vector<std::optional<Tensor>> operands;
  std::vector<bool> wrt;  ///< per operand, in vjp
  Recording* recording = nullptr;  ///< to which what is computed is told

  [[nodiscard]] const Tensor& x(std::size_t i = 0) const { return *operands[i]; }
  [[nodiscard]] bool has(std::size_t i) const { return i < operands.size() && operands[i].has_value(); }
  [[nodiscard]] bool marked(std::size_t i) const { return i < wrt.size() && wrt[i]; }

  [[nodiscard]] const etalon_attribute& attribute(const char* name) const {
    for (int i = 0; i < call->attribute_count; ++i) {
      if (std::string(call->attributes[i].name) == name) return call->attributes[i];
    }
    throw std::runtime_error(std::string("the attribute ") + name + " is missing");
  }
  [[nodiscard]] float number(const char* name) const { return static_cast<float>(attribute(name).real); }
  [[nodiscard]] std::int64_t integer(const char* name) const { return attribute(name).integer; }
  [[nodiscard]] std::string symbol(const char* name) const { return attribute(name).symbol; }
  /// One number where a list is due stands for all.
  [[nodiscard]] Dims list(const char* name, std::size_t length) const {
    const etalon_attribute& a = attribute(name);
    if (a.kind == ETALON_INTEGER) return Dims(length, a.integer);
    return a.count == 0 ? Dims() : Dims(a.integers, a.integers + a.count);
  }
};

using Results = std::vector<std::optional<Tensor>>;

/// Values: one per result. Cotangents: one per operand, from those of the results.
struct Operation {
  std::function<Results(const Call&)> forward;
  std::function<Results(const Call&, const Results&)> backward{};
};

using Operations = std::map<std::string, Operation>;

void add_elementwise(Operations& into);
void add_reductions(Operations& into);
void add_products(Operations& into);
void add_windows(Operations& into);
void add_normalisation(Operations& into);

}  // namespace etalon::onednn
