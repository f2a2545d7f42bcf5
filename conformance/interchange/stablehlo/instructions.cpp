#include "conformance/interchange/stablehlo/instructions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "conformance/number_text.hpp"
#include "spec/half.hpp"

namespace etalon::conformance::stablehlo {
namespace {

[[nodiscard]] std::string list(const Extents& numbers) { return fmt::format("[{}]", fmt::join(numbers, ", ")); }

[[nodiscard]] std::string names(std::span<const Tensor> tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += (text.empty() ? "" : ", ") + t.name;
  return text;
}

[[nodiscard]] std::string types(std::span<const Tensor> tensors) {
  std::string text;
  for (const Tensor& t : tensors) text += (text.empty() ? "" : ", ") + to_text(t.type);
  return text;
}

/// `(tensor<…>, …) -> tensor<…>`
[[nodiscard]] std::string signature(std::span<const Tensor> operands, const TensorType& result) {
  return fmt::format("({}) -> {}", types(operands), to_text(result));
}

/// Reals have a point; what is no number is written by its bits.
[[nodiscard]] std::string real_text(double value, DType dtype) {
  if (!std::isfinite(value)) {
    const bool is_negative = std::signbit(value), is_nan = std::isnan(value);
    switch (dtype) {
      case DType::f16:
        return is_nan ? "0x7E00" : is_negative ? "0xFC00" : "0x7C00";
      case DType::bf16:
        return is_nan ? "0x7FC0" : is_negative ? "0xFF80" : "0x7F80";
      case DType::f32:
        return is_nan ? "0x7FC00000" : is_negative ? "0xFF800000" : "0x7F800000";
      default:
        return is_nan ? "0x7FF8000000000000" : is_negative ? "0xFFF0000000000000" : "0x7FF0000000000000";
    }
  }
  std::string digits = shortest(value, dtype);
  if (digits.find('.') != std::string::npos) return digits;
  const std::size_t exponent = std::min(digits.find('e'), digits.size());
  return digits.insert(exponent, ".0");
}

/// The bytes of elements from the highest to the lowest, as hexadecimal numbers of MLIR that stand for a list have
/// them: in the order of memory.
[[nodiscard]] std::string hexadecimal(const HostTensor& numbers) {
  std::string text = "\"0x";
  for (const std::byte byte : numbers.bytes) text += fmt::format("{:02X}", static_cast<unsigned>(byte));
  return text + "\"";
}

[[nodiscard]] std::string truths(const HostTensor& numbers, std::size_t axis, std::size_t& next) {
  if (axis == numbers.dims.rank) return numbers.bytes[next++] == std::byte{0} ? "false" : "true";
  std::string text = "[";
  for (std::int64_t i = 0; i < numbers.dims[axis]; ++i) text += (i == 0 ? "" : ", ") + truths(numbers, axis + 1, next);
  return text + "]";
}

[[nodiscard]] Extents extents_of(const Dims& dims) { return {dims.begin(), dims.end()}; }

}  // namespace

Tensor Instructions::value(const std::string& text, TensorType type) {
  const auto at = known_.find(text);
  if (at != known_.end()) return at->second;
  Tensor made{fmt::format("%{}", written_++), std::move(type)};
  line(fmt::format("{} = {}", made.name, text));
  return known_.emplace(text, std::move(made)).first->second;
}

Tensor Instructions::argument(const TensorType& type) {
  arguments_.push_back({fmt::format("%arg{}", arguments_.size()), type});
  return arguments_.back();
}

Tensor Instructions::real(double value_of, DType dtype) {
  const TensorType type{dtype, {}};
  return value(fmt::format("stablehlo.constant dense<{}> : {}", real_text(value_of, dtype), to_text(type)), type);
}

Tensor Instructions::integer(std::int64_t value_of, DType dtype) {
  const TensorType type{dtype, {}};
  return value(fmt::format("stablehlo.constant dense<{}> : {}", value_of, to_text(type)), type);
}

Tensor Instructions::truth(bool value_of) {
  const TensorType type{DType::boolean, {}};
  return value(fmt::format("stablehlo.constant dense<{}> : {}", value_of, to_text(type)), type);
}

Tensor Instructions::constant(const HostTensor& numbers) {
  const TensorType type{numbers.dtype, extents_of(numbers.dims)};
  std::size_t next = 0;
  const std::string text = numbers.dims.count() == 0         ? ""
                           : numbers.dtype == DType::boolean ? truths(numbers, 0, next)
                                                             : hexadecimal(numbers);
  return value(fmt::format("stablehlo.constant dense<{}> : {}", text, to_text(type)), type);
}

Tensor Instructions::iota(std::int64_t extent) {
  const TensorType type{DType::i64, {extent}};
  return value(fmt::format("stablehlo.iota dim = 0 : {}", to_text(type)), type);
}

Tensor Instructions::elementwise(std::string_view operation, std::span<const Tensor> operands) {
  const TensorType type = operands.front().type;
  return value(fmt::format("{}{} {} : {}", operation.find('.') == std::string_view::npos ? "stablehlo." : "", operation,
                           names(operands),
                           operation.find('.') == std::string_view::npos
                               ? to_text(type)
                               : fmt::format("{} -> {}", to_text(type), to_text(type))),
               type);
}

Tensor Instructions::binary(std::string_view operation, const Tensor& a, const Tensor& b) {
  const Tensor both[] = {a, b};
  return elementwise(operation, both);
}

Tensor Instructions::compare(std::string_view direction, const Tensor& a, const Tensor& b) {
  const Tensor both[] = {a, b};
  const Kind kind = kind_of(a.type.dtype);
  const TensorType type{DType::boolean, a.type.extents};
  return value(fmt::format("stablehlo.compare {}, {}, {} : {}", direction, names(both),
                           kind == Kind::real      ? "FLOAT"
                           : kind == Kind::integer ? "SIGNED"
                                                   : "UNSIGNED",
                           signature(both, type)),
               type);
}

Tensor Instructions::is_finite(const Tensor& a) {
  const TensorType type{DType::boolean, a.type.extents};
  return value(fmt::format("stablehlo.is_finite {} : {}", a.name, signature({&a, 1}, type)), type);
}

Tensor Instructions::select(const Tensor& condition, const Tensor& then, const Tensor& otherwise) {
  return value(fmt::format("stablehlo.select {}, {}, {} : {}, {}", condition.name, then.name, otherwise.name,
                           to_text(condition.type), to_text(then.type)),
               then.type);
}

Tensor Instructions::convert(const Tensor& a, DType dtype) {
  if (a.type.dtype == dtype) return a;
  const TensorType type{dtype, a.type.extents};
  return value(fmt::format("stablehlo.convert {} : {}", a.name, signature({&a, 1}, type)), type);
}

Tensor Instructions::broadcast(const Tensor& a, const Extents& axes, const Extents& extents) {
  if (a.type.extents == extents) return a;
  const TensorType type{a.type.dtype, extents};
  return value(
      fmt::format("stablehlo.broadcast_in_dim {}, dims = {} : {}", a.name, list(axes), signature({&a, 1}, type)), type);
}

Tensor Instructions::transpose(const Tensor& a, const Extents& permutation) {
  if (std::is_sorted(permutation.begin(), permutation.end())) return a;
  TensorType type{a.type.dtype, {}};
  for (const std::int64_t axis : permutation) type.extents.push_back(a.type.extents[static_cast<std::size_t>(axis)]);
  return value(
      fmt::format("stablehlo.transpose {}, dims = {} : {}", a.name, list(permutation), signature({&a, 1}, type)), type);
}

Tensor Instructions::reshape(const Tensor& a, const Extents& extents) {
  if (a.type.extents == extents) return a;
  const TensorType type{a.type.dtype, extents};
  return value(fmt::format("stablehlo.reshape {} : {}", a.name, signature({&a, 1}, type)), type);
}

Tensor Instructions::reverse(const Tensor& a, const Extents& axes) {
  if (axes.empty()) return a;
  return value(fmt::format("stablehlo.reverse {}, dims = {} : {}", a.name, list(axes), to_text(a.type)), a.type);
}

Tensor Instructions::slice(const Tensor& a, const Extents& start, const Extents& limit, const Extents& step) {
  TensorType type{a.type.dtype, {}};
  std::string ranges;
  for (std::size_t i = 0; i < start.size(); ++i) {
    type.extents.push_back((limit[i] - start[i] + step[i] - 1) / step[i]);
    ranges += fmt::format("{}{}:{}", i == 0 ? "" : ", ", start[i], limit[i]);
    if (step[i] != 1) ranges += fmt::format(":{}", step[i]);
  }
  if (type == a.type) return a;
  return value(fmt::format("stablehlo.slice {} [{}] : {}", a.name, ranges, signature({&a, 1}, type)), type);
}

Tensor Instructions::pad(const Tensor& a, const Tensor& padding, const Extents& low, const Extents& high,
                         const Extents& interior) {
  TensorType type{a.type.dtype, {}};
  for (std::size_t i = 0; i < low.size(); ++i) {
    const std::int64_t extent = a.type.extents[i];
    type.extents.push_back(low[i] + extent + std::max<std::int64_t>(0, extent - 1) * interior[i] + high[i]);
  }
  if (type == a.type && std::all_of(low.begin(), low.end(), [](std::int64_t n) { return n == 0; })) return a;
  const Tensor both[] = {a, padding};
  return value(fmt::format("stablehlo.pad {}, low = {}, high = {}, interior = {} : {}", names(both), list(low),
                           list(high), list(interior), signature(both, type)),
               type);
}

Tensor Instructions::concatenate(std::span<const Tensor> parts, std::int64_t axis) {
  if (parts.size() == 1) return parts.front();
  TensorType type = parts.front().type;
  std::int64_t& extent = type.extents[static_cast<std::size_t>(axis)];
  extent = 0;
  for (const Tensor& part : parts) extent += part.type.extents[static_cast<std::size_t>(axis)];
  return value(fmt::format("stablehlo.concatenate {}, dim = {} : {}", names(parts), axis, signature(parts, type)),
               type);
}

Tensor Instructions::gather_elements(const Tensor& a, const Tensor& places) {
  Extents axes(a.type.extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  const Extents ones(axes.size(), 1);
  TensorType type{a.type.dtype, places.type.extents};
  type.extents.pop_back();
  const Tensor both[] = {a, places};
  return value(fmt::format("\"stablehlo.gather\"({}) <{{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = "
                           "{}, start_index_map = {}, "
                           "index_vector_dim = {}>, indices_are_sorted = false, slice_sizes = array<i64: {}>}}> : {}",
                           names(both), list(axes), list(axes), type.extents.size(), fmt::join(ones, ", "),
                           signature(both, type)),
               type);
}

Tensor Instructions::reduce(std::string_view operation, const Tensor& a, const Tensor& identity, const Extents& axes) {
  TensorType type{a.type.dtype, {}};
  for (std::size_t i = 0; i < a.type.extents.size(); ++i) {
    if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) == axes.end())
      type.extents.push_back(a.type.extents[i]);
  }
  const Tensor both[] = {a, identity};
  return value(fmt::format("stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = {} : {}", a.name,
                           identity.name, operation, list(axes), signature(both, type)),
               type);
}

Tensor Instructions::dot_general(const Tensor& a, const Tensor& b, const Contraction& along) {
  TensorType type{a.type.dtype, {}};
  for (const std::int64_t axis : along.left_batch)
    type.extents.push_back(a.type.extents[static_cast<std::size_t>(axis)]);
  const auto add_others = [&](const Tensor& t, const Extents& batch, const Extents& summed) {
    for (std::size_t i = 0; i < t.type.extents.size(); ++i) {
      const auto is_it = [&](std::int64_t axis) { return axis == static_cast<std::int64_t>(i); };
      if (std::any_of(batch.begin(), batch.end(), is_it) || std::any_of(summed.begin(), summed.end(), is_it)) continue;
      type.extents.push_back(t.type.extents[i]);
    }
  };
  add_others(a, along.left_batch, along.left_summed);
  add_others(b, along.right_batch, along.right_summed);
  const std::string batch = along.left_batch.empty() ? ""
                                                     : fmt::format("batching_dims = {} x {}, ", list(along.left_batch),
                                                                   list(along.right_batch));
  const Tensor both[] = {a, b};
  return value(
      fmt::format("stablehlo.dot_general {}, {}contracting_dims = {} x {}, precision = [HIGHEST, HIGHEST] : {}",
                  names(both), batch, list(along.left_summed), list(along.right_summed), signature(both, type)),
      type);
}

std::string Instructions::function(std::string_view name, std::span<const Tensor> results) const {
  std::string arguments;
  for (const Tensor& argument : arguments_)
    arguments += fmt::format("{}{}: {}", arguments.empty() ? "" : ", ", argument.name, to_text(argument.type));
  const std::string answers = results.empty() ? "" : fmt::format(" -> ({})", types(results));
  const std::string end = results.empty() ? "return" : fmt::format("return {} : {}", names(results), types(results));
  return fmt::format("  func.func @{}({}){} {{\n{}    {}\n  }}\n", name, arguments, answers, body_, end);
}

}  // namespace etalon::conformance::stablehlo
