/// \file
/// Evaluates expressions literally, each operation rounded to the type in which it is done: that of the equation's arithmetic,
/// but f64 where no single precision enters. It shares no code with the reference or the code generator.
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
  /// \param wide whether a tensor holds f64
  Evaluation(DType arithmetic, Reader reader, std::function<bool(spec::TensorId)> wide)
      : single_(arithmetic == DType::f32), reader_(std::move(reader)), wide_(std::move(wide)) {}

  [[nodiscard]] Scalar operator()(const spec::Expr& e, Environment& at);

 private:
  /// Whether a real value is computed in single precision.
  bool single(const spec::Expr& e);
  bool meets_single(const spec::Expr& e);
  static Scalar number(const spec::Expr& e);
  Scalar read(const spec::Expr& e, Environment& at);
  static double real_result(spec::Primitive p, double a, double b, bool single);
  Scalar apply(const spec::Expr& e, Environment& at);
  Scalar reduce(const spec::Expr& e, Environment& at);
  void combine(const spec::Expr& e, Scalar& value, const Scalar& x, bool first, std::int64_t position);

  bool single_;
  Reader reader_;
  std::function<bool(spec::TensorId)> wide_;
  std::unordered_map<const spec::Node*, bool> known_;
};

}  // namespace etalon::test
