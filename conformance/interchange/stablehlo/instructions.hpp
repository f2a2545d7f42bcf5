/// \file
/// Instructions of StableHLO as text, one value each: the body of a function while it is written. It knows the form of
/// each instruction, and no equation. The same instruction on the same operands is written once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/interchange/stablehlo/tensor_type.hpp"
#include "spec/host_tensor.hpp"

namespace etalon::conformance::stablehlo {

/// A value of the function: `%4`, and its type.
struct Tensor {
  std::string name;
  TensorType type;
};

/// Which axes a product of two tensors goes along: pairs that stay, and pairs that are summed over.
struct Contraction {
  Extents left_batch, right_batch, left_summed, right_summed;
};

class Instructions {
 public:
  /// The next argument of the function.
  [[nodiscard]] Tensor argument(const TensorType& type);

  /// A scalar. A real is rounded to the type by who calls.
  [[nodiscard]] Tensor real(double value, DType dtype);
  [[nodiscard]] Tensor integer(std::int64_t value, DType dtype = DType::i64);
  [[nodiscard]] Tensor truth(bool value);
  /// All numbers of a tensor, bit for bit.
  [[nodiscard]] Tensor constant(const HostTensor& numbers);
  /// 0, 1, 2, … along the only axis.
  [[nodiscard]] Tensor iota(std::int64_t extent);

  /// An instruction of operands and a result of one type: `add`, `exponential`, …
  [[nodiscard]] Tensor elementwise(std::string_view operation, std::span<const Tensor> operands);
  [[nodiscard]] Tensor unary(std::string_view operation, const Tensor& a) { return elementwise(operation, {&a, 1}); }
  [[nodiscard]] Tensor binary(std::string_view operation, const Tensor& a, const Tensor& b);
  /// \param direction `EQ`, `NE`, `LT`, `LE`, `GT` or `GE`
  [[nodiscard]] Tensor compare(std::string_view direction, const Tensor& a, const Tensor& b);
  [[nodiscard]] Tensor is_finite(const Tensor& a);
  [[nodiscard]] Tensor select(const Tensor& condition, const Tensor& then, const Tensor& otherwise);
  [[nodiscard]] Tensor convert(const Tensor& a, DType dtype);

  /// Axis i of `a` becomes axis `axes[i]`; the others repeat. Nothing is written where nothing changes.
  [[nodiscard]] Tensor broadcast(const Tensor& a, const Extents& axes, const Extents& extents);
  [[nodiscard]] Tensor filled(const Tensor& scalar, const Extents& extents) { return broadcast(scalar, {}, extents); }
  [[nodiscard]] Tensor transpose(const Tensor& a, const Extents& permutation);
  [[nodiscard]] Tensor reshape(const Tensor& a, const Extents& extents);
  [[nodiscard]] Tensor reverse(const Tensor& a, const Extents& axes);
  [[nodiscard]] Tensor slice(const Tensor& a, const Extents& start, const Extents& limit, const Extents& step);
  /// Negative amounts crop.
  [[nodiscard]] Tensor pad(const Tensor& a, const Tensor& value, const Extents& low, const Extents& high,
                           const Extents& interior);
  [[nodiscard]] Tensor concatenate(std::span<const Tensor> parts, std::int64_t axis);
  /// Single elements: the last axis of `places` says where each stands, outermost first.
  [[nodiscard]] Tensor gather_elements(const Tensor& a, const Tensor& places);

  /// \param operation of two elements, with `identity` as its identity
  [[nodiscard]] Tensor reduce(std::string_view operation, const Tensor& a, const Tensor& identity, const Extents& axes);
  /// Batch axes, then the other ones of `a`, then those of `b`; in the precision of the type.
  [[nodiscard]] Tensor dot_general(const Tensor& a, const Tensor& b, const Contraction& along);

  /// A line that makes no value.
  void line(const std::string& text) { body_ += "    " + text + "\n"; }

  /// `func.func @name(…) -> … { … }` of what is written, answering these; where there are none, nothing.
  [[nodiscard]] std::string function(std::string_view name, std::span<const Tensor> results) const;

 private:
  /// The value of `%n = text`, written unless it stands there already.
  [[nodiscard]] Tensor value(const std::string& text, TensorType type);

  std::vector<Tensor> arguments_;
  std::string body_;
  std::size_t written_ = 0;
  std::map<std::string, Tensor, std::less<>> known_;
};

}  // namespace etalon::conformance::stablehlo
