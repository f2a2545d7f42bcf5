#include "spec/library/trial.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/notation/elaborate.hpp"
#include "spec/notation/layout.hpp"

namespace etalon::spec {
namespace {

/// The extents of a trial: as many axes for every row, and either one extent for all or another one for each name.
struct Extents {
  std::size_t row = 1;
  std::size_t members = 2;
  std::optional<std::int64_t> all{};
  bool optional_there = true;
};

class Trial {
 public:
  Trial(const Definition& definition, const Extents& extents) : d_(definition), extents_(extents) {}

  /// \param attributes beside those that have no default
  void run(Attributes attributes) {
    for (std::size_t a = 0; a < d_.attribute_count; ++a) {
      if (!d_.attributes[a].has_default) attributes.emplace(d_.at(d_.attributes[a].name), usual(d_.attributes[a]));
    }
    std::vector<std::optional<ValueType>> operands;
    std::vector<std::size_t> packs;
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      const OperandText& o = d_.operands[i];
      if (o.pack) packs.push_back(extents_.members);
      const bool there = extents_.optional_there || !o.optional;
      for (std::size_t m = 0; m < (o.pack ? extents_.members : 1); ++m)
        operands.push_back(there ? std::optional(type_of(o)) : std::nullopt);
    }
    try {
      (void)instantiate(d_, operands, packs, attributes);
    } catch (const Unsound&) {
      throw;
    } catch (const SpecViolation&) {  // no such call
    }
  }

 private:
  [[nodiscard]] AttributeValue usual(const AttributeText& a) const {
    switch (a.kind) {
      case AttributeKind::real: return 0.5;
      case AttributeKind::boolean: return true;
      case AttributeKind::dtype: return std::string("f32");
      case AttributeKind::integers: return std::vector<std::int64_t>(a.pack ? extents_.members : extents_.row, 1);
      case AttributeKind::axes: return std::vector<std::int64_t>{0};
      default: return std::int64_t{1};
    }
  }

  [[nodiscard]] ValueType type_of(const OperandText& o) {
    ValueType type{o.range == Range::integer ? DType::i64 : o.range == Range::boolean ? DType::boolean : DType::f32, {}};
    const Layout layout = notation::layout_of(d_, o.axes);
    for (std::size_t i = 0; i < layout.count; ++i) {
      const Layout::Item& item = layout.items[i];
      const std::size_t axes = item.single ? 1 : item.row ? extents_.row : 1;
      for (std::size_t k = 0; k < axes && type.dims.rank < Dims::max_rank; ++k) type.dims.push_back(extent_of(item.node, k));
    }
    return type;
  }

  /// Of names and what is computed from them; 2 for anything else.
  [[nodiscard]] std::int64_t extent_of(NodeId n, std::size_t axis) {
    const NodeText& t = d_[n];
    constexpr std::int64_t least = 2;
    if (t.form == NodeForm::number && t.text.length < 4) {
      std::int64_t value = 0;
      for (const char c : d_.at(n)) value = 10 * value + (c >= '0' && c <= '9' ? c - '0' : 0);
      return value;
    }
    if (t.form == NodeForm::apply && d_.children(n) == 2) {
      const std::int64_t a = extent_of(d_.child(n, 0), axis);
      const std::int64_t b = extent_of(d_.child(n, 1), axis);
      switch (static_cast<Primitive>(t.op)) {
        case Primitive::add: return a + b;
        case Primitive::sub: return a > b ? a - b : 0;
        case Primitive::mul: return a < 64 && b < 64 ? a * b : least;
        default: return least;
      }
    }
    if (extents_.all) return *extents_.all;
    const auto found = names_.emplace(std::pair(std::string(d_.at(n)), axis), least + static_cast<std::int64_t>(names_.size()));
    return found.first->second;
  }

  const Definition& d_;
  const Extents& extents_;
  std::map<std::pair<std::string, std::size_t>, std::int64_t> names_;
};

/// Values other than the default, each in turn.
std::vector<AttributeValue> others(const Definition& d, const AttributeText& a) {
  if (a.pack || a.row.length > 0) return {};
  if (a.kind == AttributeKind::integer) return {std::int64_t{-1}, std::int64_t{0}, std::int64_t{2}, std::int64_t{5}};
  if (a.kind == AttributeKind::boolean) return {false, true};
  std::vector<AttributeValue> words;
  if (a.kind != AttributeKind::symbol) return words;
  std::string choices(d.at(a.choices));
  for (std::size_t begin = 0; begin < choices.size();) {
    const std::size_t end = std::min(choices.find_first_of(" |", begin), choices.size());
    if (end > begin) words.emplace_back(choices.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

void try_out(const Definition& definition) {
  const Extents distinct{.row = 1};
  for (const Extents& extents : {distinct, Extents{.row = 2, .members = 1, .optional_there = false}, Extents{.row = 2, .all = 3}, Extents{.row = 1, .all = 1},
                                 Extents{.row = 0, .all = 2}, Extents{.row = 1, .all = 0}})
    Trial(definition, extents).run({});
  for (std::size_t a = 0; a < definition.attribute_count; ++a) {
    for (const AttributeValue& value : others(definition, definition.attributes[a]))
      Trial(definition, distinct).run({{std::string(definition.at(definition.attributes[a].name)), value}});
  }
}

Library tried_out(Library library, std::size_t first) {
  for (std::size_t i = first; i < library.added().size(); ++i) try_out(library.named(library.added()[i]));
  return library;
}

}  // namespace etalon::spec
