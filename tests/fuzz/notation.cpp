#include <optional>
#include <set>

#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/notation/layout.hpp"
#include "spec/notation/parse.hpp"
#include "spec/system/system.hpp"
#include "tests/fuzz/readers.hpp"

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

void call(const Definition& d, std::size_t row, std::int64_t extent, std::int64_t value, std::size_t members) {
  std::vector<std::optional<ValueType>> operands;
  std::vector<std::size_t> packs;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    if (d.operands[i].pack) packs.push_back(members);
    for (std::size_t m = 0; m < (d.operands[i].pack ? members : 1); ++m) {
      const bool absent = d.operands[i].optional && value == 0;
      operands.push_back(absent ? std::nullopt : std::optional(operand_type(d, d.operands[i], row, extent)));
    }
  }
  for (std::size_t part = 0; part <= d.part_count; ++part) {
    std::optional<spec::Instance> instance;
    if (!accepted([&] {
          const auto attributes = attributes_of(d, value);
          instance = part == 0 ? spec::instantiate(d, operands, packs, attributes)
                               : spec::instantiate_part(d, part, operands, packs, attributes);
        }))
      continue;
    (void)accepted([&] { verify(instance->system); });
    (void)to_text(instance->system);
  }
}

}  // namespace

void read_notation(std::string_view text) {
  const spec::Library standard;
  std::optional<spec::Library> library;
  if (!accepted([&] { library = standard.with(text); })) return;
  for (const std::string& name : library->added()) {
    const Definition& d = library->named(name);
    call(d, 1, 2, 1, 1);
    call(d, 2, 3, 0, 2);
    call(d, 0, 0, 2, 0);
  }
}

std::vector<std::string> notation_seeds() {
  std::vector<std::string> seeds;
  std::set<std::string_view> seen;
  for (const Definition* d : spec::library()) {
    if (!seen.insert(d->text).second) continue;
    const Definition whole = spec::parse(d->text);
    std::vector<std::size_t> names;  // where those stand that are taken
    for (std::size_t f = whole.family_count; f-- > 0;) names.push_back(whole.family[f].name.begin);
    names.push_back(static_cast<std::size_t>(whole.name.data() - whole.text.data()));
    std::string text(d->text);
    for (const std::size_t at : names) text.insert(at, "my_");
    seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace etalon::fuzz
