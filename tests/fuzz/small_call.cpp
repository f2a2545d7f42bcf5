#include "tests/fuzz/small_call.hpp"

#include <string>

#include "spec/notation/layout.hpp"

namespace etalon::fuzz {
namespace {

using spec::Definition;
using spec::ValueType;

[[nodiscard]] DType type_of(spec::Range range) {
  if (range == spec::Range::integer) return DType::i64;
  return range == spec::Range::boolean ? DType::boolean : DType::f32;
}

/// As many axes as the operand has items, rows counting `row` axes, all of one extent.
[[nodiscard]] ValueType operand_type(const Definition& d, const spec::OperandText& o, std::size_t row, std::int64_t extent) {
  ValueType type{type_of(o.range), {}};
  const spec::Layout layout = spec::notation::layout_of(d, o.axes);
  for (std::size_t i = 0; i < layout.count; ++i) {
    for (std::size_t k = 0; k < (layout.items[i].row ? row : 1) && type.dims.rank < Dims::max_rank; ++k) type.dims.push_back(extent);
  }
  return type;
}

[[nodiscard]] spec::Attributes attributes_of(const Definition& d, std::int64_t value) {
  spec::Attributes attributes;
  for (std::size_t a = 0; a < d.attribute_count; ++a) {
    const spec::AttributeText& text = d.attributes[a];
    const std::string name(d.at(text.name));
    if (text.has_default) continue;
    if (text.kind == spec::AttributeKind::boolean) attributes[name] = value != 0;
    else if (text.kind == spec::AttributeKind::real) attributes[name] = static_cast<double>(value) / 2;
    else if (text.kind == spec::AttributeKind::dtype) attributes[name] = std::string("f32");
    else if (text.pack) attributes[name] = std::vector<std::int64_t>{value, value};
    else attributes[name] = value;
  }
  return attributes;
}

}  // namespace

SmallCall small_call(const Definition& d, const Smallness& size) {
  SmallCall call;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    if (d.operands[i].pack) call.packs.push_back(size.members);
    for (std::size_t m = 0; m < (d.operands[i].pack ? size.members : 1); ++m) {
      const bool absent = d.operands[i].optional && size.value == 0;
      call.operands.push_back(absent ? std::nullopt : std::optional(operand_type(d, d.operands[i], size.row, size.extent)));
    }
  }
  call.attributes = attributes_of(d, size.value);
  return call;
}

std::vector<Smallness> small_sizes() { return {{1, 2, 1, 1}, {2, 3, 0, 2}, {0, 0, 2, 0}}; }

}  // namespace etalon::fuzz
