/// \file
/// Evaluates expressions literally, each operation rounded to an equation's arithmetic type. It shares no code with the
/// reference or the code generator.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "spec/system/system.hpp"
#include "tests/compiled/element.hpp"

namespace etalon::test {

/// The values of the indices in sight.
using Environment = std::unordered_map<spec::VariableId, std::int64_t>;
/// An element of a tensor.
using Reader = std::function<Scalar(spec::TensorId, const std::vector<std::int64_t>&)>;

/// Evaluates the expressions of one equation.
class Evaluation {
 public:
  Evaluation(DType arithmetic, Reader reader) : single_(arithmetic == DType::f32), reader_(std::move(reader)) {}

  [[nodiscard]] Scalar operator()(const spec::Expr& e, Environment& at);

 private:
  double rounded(double x) const;
  Scalar number(const spec::Expr& e) const;
  Scalar read(const spec::Expr& e, Environment& at);
  double real_result(spec::Primitive p, double a, double b) const;
  Scalar apply(const spec::Expr& e, Environment& at);
  Scalar reduce(const spec::Expr& e, Environment& at);
  void combine(const spec::Expr& e, Scalar& value, const Scalar& x, bool first, std::int64_t position) const;

  bool single_;
  Reader reader_;
};

}  // namespace etalon::test
