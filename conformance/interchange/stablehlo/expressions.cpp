#include "conformance/interchange/stablehlo/expressions.hpp"

#include <algorithm>
#include <cstdlib>

#include "conformance/interchange/stablehlo/primitives.hpp"
#include "spec/system/ranges.hpp"

namespace etalon::conformance::stablehlo {
namespace {

using spec::Affine, spec::Expr, spec::Form, spec::Node;

[[nodiscard]] double rounded(const spec::Number& number, DType dtype) {
  if (number.is_binary)
    return dtype == DType::f32 ? static_cast<double>(static_cast<float>(number.binary)) : number.binary;
  const std::string digits = exponential_text(number);
  return dtype == DType::f32 ? static_cast<double>(std::strtof(digits.c_str(), nullptr))
                             : std::strtod(digits.c_str(), nullptr);
}

/// Whether each index is a constant, or a multiple of one variable that no other index has, and a constant.
[[nodiscard]] bool are_plain(std::span<const Affine> indices) {
  std::vector<spec::VariableId> seen;
  for (const Affine& index : indices) {
    if (index.is_constant()) continue;
    if (index.terms.size() != 1 || index.terms[0].atom.form() != Form::variable) return false;
    const spec::VariableId variable = index.terms[0].atom->variable;
    if (std::find(seen.begin(), seen.end(), variable) != seen.end()) return false;
    seen.push_back(variable);
  }
  return true;
}

}  // namespace

Spread Expressions::value(const Expr& e) {
  const Node& node = *e;
  switch (node.form) {
    case Form::number:
      if (node.kind == Kind::integer) return {out_.integer(node.number.mantissa), {}};
      if (node.kind == Kind::boolean) return {out_.truth(node.number.mantissa != 0), {}};
      return {out_.real(rounded(node.number, real_), real_), {}};
    case Form::variable:
      return {out_.iota(scope_.extent(node.variable)), {node.variable}};
    case Form::read:
      return read(node);
    case Form::apply:
      return apply(node);
    case Form::select:
      return select(node.args[0], value(node.args[1]), value(node.args[2]));
    case Form::reduce:
      return reduce(node);
    case Form::detach:
      return value(node.args[0]);
  }
  return {};
}

Spread Expressions::apply(const Node& node) {
  std::vector<Spread> operands;
  for (const Expr& arg : node.args) operands.push_back(value(arg));
  const std::vector<spec::VariableId> over = scope_.joined(operands);
  std::vector<Tensor> tensors;
  for (const Spread& operand : operands) tensors.push_back(scope_.spread(out_, operand, over));
  return {primitive(out_, node.primitive, tensors, real_), over};
}

Spread Expressions::select(const Expr& condition, const Spread& then, const Spread& otherwise) {
  const Spread all[] = {value(condition), then, otherwise};
  const std::vector<spec::VariableId> over = scope_.joined(all);
  const auto wide = [&](const Spread& value) { return scope_.spread(out_, value, over); };
  return {out_.select(wide(all[0]), wide(all[1]), wide(all[2])), over};
}

Spread Expressions::read(const Node& node) {
  const Tensor stored = tensors_(node.tensor);
  const DType dtype = node.kind == Kind::real ? real_ : node.kind == Kind::integer ? DType::i64 : DType::boolean;
  std::vector<Affine> indices;
  for (const Expr& index : node.args) indices.push_back(spec::exact_affine(index));
  Spread found;
  if (are_plain(indices))
    found = sliced(stored, indices);
  else
    found = elements_at(stored, node.args);
  return {out_.convert(found.tensor, dtype), found.over};
}

/// What an index reaches beyond the tensor, where the read does not count, is padded.
Spread Expressions::sliced(const Tensor& tensor, std::span<const Affine> indices) {
  Extents low, high, start, limit, step, kept, turned;
  std::vector<spec::VariableId> over;
  bool is_empty = false;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    const Affine& index = indices[axis];
    const bool varies = !index.is_constant();
    const std::int64_t extent = varies ? scope_.extent(index.terms[0].atom->variable) : 1;
    const std::int64_t factor = varies ? index.terms[0].coefficient : 1;
    const std::int64_t first = std::min(index.constant, index.constant + factor * (extent - 1));
    const std::int64_t last = std::max(index.constant, index.constant + factor * (extent - 1));
    low.push_back(std::max<std::int64_t>(0, -first));
    high.push_back(std::max<std::int64_t>(0, last - tensor.type.extents[axis] + 1));
    start.push_back(first + low.back());
    limit.push_back(last + low.back() + 1);
    step.push_back(std::abs(factor));
    is_empty = is_empty || extent == 0;
    if (!varies) continue;
    over.push_back(index.terms[0].atom->variable);
    if (factor < 0) turned.push_back(static_cast<std::int64_t>(kept.size()));
    kept.push_back(extent);
  }
  const Tensor zero = out_.convert(out_.integer(0), tensor.type.dtype);
  if (is_empty) return scope_.ordered(out_, out_.filled(zero, kept), over);
  const Tensor padded = out_.pad(tensor, zero, low, high, Extents(low.size(), 0));
  const Tensor plain = out_.reshape(out_.slice(padded, start, limit, step), kept);
  return scope_.ordered(out_, out_.reverse(plain, turned), over);
}

/// Indices beyond the tensor, where the read does not count, are drawn in by what gather means.
Spread Expressions::elements_at(const Tensor& tensor, std::span<const Expr> indices) {
  std::vector<Spread> values;
  for (const Expr& index : indices) values.push_back(value(index));
  const std::vector<spec::VariableId> over = scope_.joined(values);
  Extents extents = scope_.extents(over);
  if (count(tensor.type.extents) == 0 || count(extents) == 0)
    return {out_.filled(out_.convert(out_.integer(0), tensor.type.dtype), extents), over};
  extents.push_back(1);
  std::vector<Tensor> columns;
  for (const Spread& index : values) columns.push_back(out_.reshape(scope_.spread(out_, index, over), extents));
  return {out_.gather_elements(tensor, out_.concatenate(columns, static_cast<std::int64_t>(over.size()))), over};
}

}  // namespace etalon::conformance::stablehlo
