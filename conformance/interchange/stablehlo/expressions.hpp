/// \file
/// Expressions of one equation as instructions: each is a value for all index variables that it depends on.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "conformance/interchange/stablehlo/spread.hpp"
#include "spec/system/affine.hpp"
#include "spec/system/expr.hpp"

namespace etalon::conformance::stablehlo {

class Expressions {
 public:
  /// \param tensors the value of a tensor of the system, as it is stored
  /// \param real the type of reals between reading and storing
  Expressions(Instructions& out, std::function<Tensor(spec::TensorId)> tensors, DType real)
      : out_(out), tensors_(std::move(tensors)), real_(real) {}

  [[nodiscard]] Scope& scope() { return scope_; }
  [[nodiscard]] Spread value(const spec::Expr& e);

 private:
  [[nodiscard]] Spread apply(const spec::Node& node);
  [[nodiscard]] Spread select(const spec::Expr& condition, const Spread& then, const Spread& otherwise);
  [[nodiscard]] Spread read(const spec::Node& node);
  [[nodiscard]] Spread sliced(const Tensor& tensor, std::span<const spec::Affine> indices);
  [[nodiscard]] Spread elements_at(const Tensor& tensor, std::span<const spec::Expr> indices);
  [[nodiscard]] Spread reduce(const spec::Node& node);
  [[nodiscard]] Spread reduced(const char* operation, const Spread& body, const Tensor& identity,
                               std::span<const spec::Binder> binders);
  [[nodiscard]] Spread position_of_extremum(const spec::Node& node, const Spread& body);
  [[nodiscard]] bool is_contraction(const spec::Node& node) const;
  [[nodiscard]] Spread contracted(const spec::Node& node);
  [[nodiscard]] Spread or_otherwise(const spec::Node& node, const Spread& found);
  [[nodiscard]] Tensor identity(spec::Reduction reduction, DType dtype);
  [[nodiscard]] Spread guarded(const spec::Expr& guard, const Spread& body, const Tensor& otherwise);

  Instructions& out_;
  std::function<Tensor(spec::TensorId)> tensors_;
  DType real_;
  Scope scope_;
};

}  // namespace etalon::conformance::stablehlo
