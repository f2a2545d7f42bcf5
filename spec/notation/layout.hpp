/// \file
/// Which axes of a tensor each index item stands for: placed items at the axes their attribute lists, the others in
/// order at the axes that are left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spec/dims.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/definition.hpp"

namespace etalon::spec {

/// The index items of one tensor.
struct Layout {
  static constexpr std::size_t capacity = 12;
  struct Item {
    NodeId node = -1;           ///< without its placement
    std::int16_t attribute = -1;  ///< of the placement, or -1
    bool row = false;
    bool single = false;        ///< a row of at most one axis
    std::int8_t width = -1;     ///< number of axes, -1 while unknown
    std::uint8_t axis[Dims::max_rank] = {};
  };
  Item items[capacity] = {};
  std::size_t count = 0;

  [[nodiscard]] constexpr bool complete() const {
    for (std::size_t i = 0; i < count; ++i) {
      if (items[i].width < 0) return false;
    }
    return true;
  }
  [[nodiscard]] constexpr std::size_t unknown() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n += items[i].width < 0 ? 1U : 0U;
    return n;
  }
  /// Axes of the items whose width is known.
  [[nodiscard]] constexpr std::size_t width() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < count; ++i) n += items[i].width > 0 ? static_cast<std::size_t>(items[i].width) : 0U;
    return n;
  }
};

namespace notation {

[[nodiscard]] constexpr bool is_row_item(const Definition& d, NodeId n) {
  const NodeText& t = d[n];
  switch (t.form) {
    case NodeForm::row:
    case NodeForm::row_of: return true;
    case NodeForm::pack_name:
    case NodeForm::pack_member: return t.op == 1;
    case NodeForm::binder: return is_row_item(d, t.first);
    case NodeForm::builtin: {
      const auto b = static_cast<Builtin>(t.op);
      return b == Builtin::keep || b == Builtin::only || b == Builtin::unflat || b == Builtin::part ||
             b == Builtin::completed;
    }
    default: return false;
  }
}

/// The items of a list of index or extent nodes, widths of rows still unknown.
[[nodiscard]] constexpr Layout layout_of(const Definition& d, NodeId first) {
  Layout l;
  for (NodeId n = first; n >= 0 && l.count < Layout::capacity; n = d[n].next) {
    Layout::Item& item = l.items[l.count++];
    item.node = n;
    if (d[n].form == NodeForm::placed) {
      item.node = d[n].first;
      item.attribute = static_cast<std::int16_t>(d.attribute_named(d.at(n)));
    }
    item.row = is_row_item(d, item.node);
    item.single = d[item.node].form == NodeForm::row && d[item.node].flag;
    if (!item.row) item.width = 1;
  }
  return l;
}

/// Gives every item its axes. Widths must be known and sum to `rank`; negative axes count from the end of this tensor.
constexpr void assign_axes(const Definition& d, std::string_view tensor, std::size_t rank, Layout& l,
                           const Bindings& b, Diagnosis& diagnosis) {
  bool taken[Dims::max_rank] = {};
  for (std::size_t i = 0; i < l.count; ++i) {
    Layout::Item& item = l.items[i];
    if (item.attribute < 0) continue;
    const AttributeBinding& v = b.of[item.attribute];
    const std::string_view name = d.at(d.attributes[item.attribute].name);
    for (int k = 0; k < item.width; ++k) {
      const std::int64_t given = v.form == AttributeBinding::Form::list ? v.list[k] : v.integer;
      const auto extent = static_cast<std::int64_t>(rank);
      const std::int64_t axis = given < 0 ? given + extent : given;
      if (axis < 0 || axis >= extent) {
        diagnosis = diagnose(d.name, ": ", name, " names axis ", given, ", ", tensor, " has rank ", extent)
                        .at(d.text, d[item.node].text.begin);
        return;
      }
      if (taken[axis]) {
        diagnosis = diagnose(d.name, ": ", name, " names axis ", axis, " of ", tensor, " twice")
                        .at(d.text, d[item.node].text.begin);
        return;
      }
      taken[axis] = true;
      item.axis[k] = static_cast<std::uint8_t>(axis);
    }
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < l.count; ++i) {
    Layout::Item& item = l.items[i];
    if (item.attribute >= 0) continue;
    for (int k = 0; k < item.width; ++k) {
      while (next < rank && taken[next]) ++next;
      if (next < rank) item.axis[k] = static_cast<std::uint8_t>(next++);
    }
  }
}

}  // namespace notation

}  // namespace etalon::spec
