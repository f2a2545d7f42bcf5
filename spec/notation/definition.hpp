/// \file
/// A definition in the notation, parsed: a flat tree of fixed capacity that also works at compile time. It holds no
/// extents: what they are is the business of typing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/notation/diagnosis.hpp"
#include "spec/scalar.hpp"

namespace etalon::spec {

/// A piece of the definition's text.
struct Slice {
  std::uint16_t begin = 0;
  std::uint16_t length = 0;
};

/// Index of a node; -1 where there is none.
using NodeId = std::int16_t;

/// The forms of the notation. Children in brackets.
enum class NodeForm : std::uint8_t {
  number,       ///< a literal
  truth,        ///< `true` or `false` (op 1 or 0)
  name,         ///< an index, extent, attribute, or scalar
  row,          ///< `..name` or `...` (then the text is `...`)
  row_of,       ///< `..(e)` [e]
  pack_name,    ///< `n#`, `..r#` (op 1), `x#`: a pack as a whole
  pack_member,  ///< `n#t`, `..r#t` (op 1) [t]
  apply,        ///< primitive (op) applied [arguments]
  join,         ///< `p & q` [p, q]
  builtin,      ///< a function of rows or packs (op is a Builtin) [arguments]
  select,       ///< `if c then a else b` [c, a, b]
  otherwise,    ///< `a else b` [a, b]
  read,         ///< `x[i, …]`; with a pack's member tag as first child where op is 1 [tag?, items…]
  placed,       ///< `item @ attribute` [item]; the text is the attribute
  reduce,       ///< reduction (op) [binders…, guard if flag, body]
  binder,       ///< `k` or `k < e` [name or row, extent?]
  detach,       ///< `detach(e)` [e]
  call,         ///< `f(x, …) {a = e, …}`, the right side of a call clause [operands…, settings…]; the text is `f`
  setting,      ///< `a = e` in a call [e]; the text is `a`
  list,         ///< `[e, …]` in a setting [items…]
};

/// Functions of rows, packs and reads.
enum class Builtin : std::uint8_t { size, flat, unflat, keep, only, before, total, count, inside, rank, part, completed };

struct NodeText {
  NodeForm form = NodeForm::number;
  std::uint8_t op = 0;
  bool flag = false;      ///< of a reduction: it has a guard; of a row in an operand: `..m?`, at most one axis
  NodeId first = -1;  ///< first child
  NodeId next = -1;   ///< next sibling
  Slice text;
};

/// What an operand or a result may hold: real (the default), integer or truth values; `number` is real or integer,
/// `any` everything. Unmarked, `number` and `any` operands share one element type, called T.
enum class Range : std::uint8_t { real, integer, boolean, number, any, attribute };

struct OperandText {
  Slice name;
  bool pack = false;
  bool optional = false;
  Range range = Range::real;
  Slice dtype;         ///< of a result whose element type an attribute names
  NodeId axes = -1;    ///< first axis item
};

/// What values an attribute takes.
enum class AttributeKind : std::uint8_t { integer, real, boolean, symbol, dtype, integers, axes, value };

struct AttributeText {
  Slice name;
  AttributeKind kind = AttributeKind::real;
  bool pack = false;        ///< `sizes#`: one integer per member
  bool has_default = false;
  Slice row;                ///< the row whose rank the list has; empty when there is none
  Slice value;              ///< text of the default
  Slice choices;            ///< `a | b | c` of a symbol
  std::int8_t same_as = -1; ///< the earlier attribute whose value is the default
};

struct ClauseText {
  enum class Form : std::uint8_t { equation, let, require, call };
  Form form = Form::equation;
  Slice text;
  Slice target;         ///< of an equation; the first one of a call
  NodeId tag = -1;      ///< `#t` of the target
  NodeId target_row = -1;  ///< of a let: the name or row
  NodeId places = -1;   ///< first index item of the target; the further targets of a call
  NodeId when = -1;
  NodeId value = -1;    ///< right side, or the condition of `requires`
  std::uint8_t part = 0;  ///< 0 for what the definition means, else the number of its part, from 1
};

/// What a part of a definition states beside its meaning: another algorithm for results, or one for its derivative.
enum class PartForm : std::uint8_t { also, jvp, vjp };

[[nodiscard]] constexpr std::string_view name_of(PartForm form) {
  constexpr std::string_view names[] = {"also", "jvp", "vjp"};
  return names[static_cast<std::size_t>(form)];
}

/// A name of the family that a text defines, with the rank of the row that tells its members apart.
struct FamilyMember {
  Slice name;
  std::uint8_t rank = 0;
};

/// A parsed definition. It refers to its text, which must outlive it.
struct Definition {
  static constexpr std::size_t max_nodes = 1024, max_operands = 12, max_attributes = 12, max_results = 6,
                               max_clauses = 40, max_family = 4, max_callees = 8, max_parts = 6;

  std::string_view text;
  std::string_view name;   ///< of the definition, or of the chosen member of its family
  std::string_view doc;    ///< the comment before the signature
  std::string_view file;   ///< that the text was read from, for messages; empty where there is none
  std::uint32_t first_line = 1;  ///< where the text begins in the file
  NodeText nodes[max_nodes] = {};
  OperandText operands[max_operands] = {};
  AttributeText attributes[max_attributes] = {};
  OperandText results[max_results] = {};
  ClauseText clauses[max_clauses] = {};
  FamilyMember family[max_family] = {};
  PartForm parts[max_parts] = {};
  std::uint16_t node_count = 0;
  std::uint8_t operand_count = 0, attribute_count = 0, result_count = 0, clause_count = 0, family_count = 0,
               part_count = 0;
  const Definition* callees[max_callees] = {};  ///< that calls name, once they are linked
  std::uint8_t callee_count = 0;
  Slice family_row;             ///< the row whose rank tells the members apart
  std::int8_t family_rank = -1; ///< its rank for the chosen member
  Diagnosis diagnosis;          ///< what is wrong with the text, if anything

  [[nodiscard]] constexpr bool ok() const { return diagnosis.ok(); }
  [[nodiscard]] constexpr std::string_view at(Slice s) const { return text.substr(s.begin, s.length); }
  [[nodiscard]] constexpr const NodeText& operator[](NodeId id) const { return nodes[id]; }
  [[nodiscard]] constexpr std::string_view at(NodeId id) const { return at(nodes[id].text); }
  [[nodiscard]] constexpr std::size_t children(NodeId id) const {
    std::size_t n = 0;
    for (NodeId c = nodes[id].first; c >= 0; c = nodes[c].next) ++n;
    return n;
  }
  [[nodiscard]] constexpr NodeId child(NodeId id, std::size_t n) const {
    NodeId c = nodes[id].first;
    for (; n > 0 && c >= 0; --n) c = nodes[c].next;
    return c;
  }
  /// The linked definition that a call names, or nullptr.
  [[nodiscard]] constexpr const Definition* callee(NodeId call) const {
    for (std::size_t i = 0; i < callee_count; ++i) {
      if (callees[i]->name == at(call)) return callees[i];
    }
    return nullptr;
  }
  /// Position of the attribute of that name, or -1.
  [[nodiscard]] constexpr int attribute_named(std::string_view wanted) const {
    for (int i = 0; i < attribute_count; ++i) {
      if (at(attributes[i].name) == wanted) return i;
    }
    return -1;
  }
  /// Position of the operand of that name, or -1.
  [[nodiscard]] constexpr int operand_named(std::string_view wanted) const {
    for (int i = 0; i < operand_count; ++i) {
      if (at(operands[i].name) == wanted) return i;
    }
    return -1;
  }
};

}  // namespace etalon::spec
