#include "conformance/signature.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace etalon::conformance {
namespace {

using spec::Definition;
using spec::NodeForm;
using spec::NodeId;
using spec::Primitive;

template <class T>
void add_once(std::vector<T>& to, T value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(std::move(value));
}

class NameReader {
 public:
  explicit NameReader(const Definition& d) : d_(d) {}

  Names read() {
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      if (d_.operands[i].pack) add_once(names_.operand_packs, std::string(d_.at(d_.operands[i].name)));
      axes(d_.operands[i].axes, true);
      ordered(d_.operands[i].axes);
    }
    for (std::size_t i = 0; i < d_.result_count; ++i) axes(d_.results[i].axes, false);
    for (NodeId id = 0; id < static_cast<NodeId>(d_.node_count); ++id) {
      if (d_[id].form == NodeForm::join) join(id);
    }
    return names_;
  }

 private:
  void axes(NodeId first, bool bind) {
    for (NodeId item = first; item >= 0; item = d_[item].next) axis(item, bind);
  }
  void ordered(NodeId only) {
    if (only < 0 || d_[only].next >= 0 || d_[only].form != NodeForm::placed) return;
    if (d_[d_[only].first].form == NodeForm::row) add_once(names_.ordered_rows, row_key(d_.at(d_[only].first)));
  }
  void axis(NodeId item, bool bind) {
    switch (d_[item].form) {
      case NodeForm::placed: {
        const NodeId inner = d_[item].first;
        std::optional<std::string> row;
        if (d_[inner].form == NodeForm::row) row = row_key(d_.at(inner));
        if (bind || d_[inner].form != NodeForm::row) add_once(names_.placed, std::pair{std::string(d_.at(item)), row});
        axis(inner, bind);
        break;
      }
      case NodeForm::row:
        if (bind) add_once(names_.rows, row_key(d_.at(item)));
        if (bind && d_[item].flag) add_once(names_.single_rows, row_key(d_.at(item)));
        break;
      case NodeForm::name:
        if (bind && d_.attribute_named(d_.at(item)) < 0) add_once(names_.extents, std::string(d_.at(item)));
        break;
      case NodeForm::pack_name:
        if (bind && d_.attribute_named(pack_key(d_.at(item))) < 0) {
          add_once(d_[item].op == 1 ? names_.pack_rows : names_.pack_extents, pack_key(d_.at(item)));
        }
        break;
      default:
        for (NodeId c = d_[item].first; c >= 0; c = d_[c].next) axis(c, bind);
    }
  }
  void join(NodeId id) {
    std::vector<std::string> members;
    for (const NodeId sub : below(d_, id)) {
      if (d_[sub].form == NodeForm::row || d_[sub].form == NodeForm::name) members.push_back(row_key(d_.at(sub)));
    }
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t k = i + 1; k < members.size(); ++k) add_once(names_.joined, std::pair{members[i], members[k]});
    }
  }

  const Definition& d_;
  Names names_;
};

std::optional<std::int64_t> lookup(const Definition& d, std::string_view name, const Assignment& a,
                                   std::size_t member) {
  const std::string key(name);
  if (const auto found = a.extents.find(key); found != a.extents.end()) return found->second;
  if (const auto found = a.extents.find(member_key(name, member)); found != a.extents.end()) return found->second;
  if (const auto found = a.attributes.find(key); found != a.attributes.end()) {
    if (const auto* v = std::get_if<std::int64_t>(&found->second)) return *v;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) {
      if (member < list->size()) return (*list)[member];
    }
    return std::nullopt;
  }
  const int attribute = d.attribute_named(name);
  if (attribute < 0) return std::nullopt;
  const std::string_view text = d.at(d.attributes[attribute].value);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> combined(Primitive op, std::int64_t x, std::int64_t y) {
  switch (op) {
    case Primitive::add:
      return x + y;
    case Primitive::sub:
      return x - y;
    case Primitive::mul:
      return x * y;
    case Primitive::maximum:
      return std::max(x, y);
    case Primitive::minimum:
      return std::min(x, y);
    case Primitive::floor_div:
      if (y <= 0) return std::nullopt;
      return x / y - (x % y < 0 ? 1 : 0);
    case Primitive::modulo:
      if (y <= 0) return std::nullopt;
      return ((x % y) + y) % y;
    default:
      return std::nullopt;
  }
}

const std::vector<std::int64_t>* row_of(const Definition& d, NodeId item, const Assignment& a, std::size_t member) {
  const bool pack = d[item].form == NodeForm::pack_name;
  const auto found = a.rows.find(pack ? member_key(pack_key(d.at(item)), member) : row_key(d.at(item)));
  return found == a.rows.end() ? nullptr : &found->second;
}

// The extents of one item, without regard to its place.
std::optional<std::vector<std::int64_t>> item_extents(const Definition& d, NodeId item, const Assignment& a,
                                                      std::size_t member) {
  const spec::NodeText& node = d[item];
  if (node.form == NodeForm::placed) return item_extents(d, node.first, a, member);
  if (node.form == NodeForm::row || (node.form == NodeForm::pack_name && node.op == 1)) {
    const auto* row = row_of(d, item, a, member);
    if (row == nullptr) return std::nullopt;
    return *row;
  }
  const auto value = integer_value(d, item, a, member);
  if (!value) return std::nullopt;
  return std::vector{*value};
}

std::optional<std::vector<std::int64_t>> positions(const Assignment& a, std::string_view attribute) {
  const auto found = a.attributes.find(std::string(attribute));
  if (found == a.attributes.end()) return std::nullopt;
  if (const auto* one = std::get_if<std::int64_t>(&found->second)) return std::vector{*one};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) return *list;
  return std::nullopt;
}

}  // namespace

std::string row_key(std::string_view text) {
  while (!text.empty() && text.front() == '.') text.remove_prefix(1);
  return std::string(text);
}

std::string pack_key(std::string_view text) {
  std::string key = row_key(text);
  if (const auto hash = key.find('#'); hash != std::string::npos) key.resize(hash);
  return key;
}

std::string member_key(std::string_view name, std::size_t member) {
  return std::string(name) + "#" + std::to_string(member);
}

std::vector<std::string> choices_of(std::string_view text) {
  std::vector<std::string> found;
  std::string word;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (letter) word += c;
    if (!letter && !word.empty()) found.push_back(std::exchange(word, {}));
  }
  if (!word.empty()) found.push_back(word);
  return found;
}

Names names_of(const Definition& definition) { return NameReader(definition).read(); }

bool takes_integers(const Definition& d) {
  return std::any_of(d.operands, d.operands + d.operand_count, [](const spec::OperandText& operand) {
    return operand.range == spec::Range::number || operand.range == spec::Range::any;
  });
}

bool takes_reals(const Definition& d) {
  return std::any_of(d.operands, d.operands + d.operand_count, [](const spec::OperandText& operand) {
    return operand.range != spec::Range::integer && operand.range != spec::Range::boolean;
  });
}

bool is_elementwise(const Definition& d) {
  if (d.result_count != 1 || d.operand_count == 0) return false;
  // Where an attribute says which axes there are, elements are repeated.
  for (NodeId item = d.results[0].axes; item >= 0; item = d[item].next) {
    const std::vector<NodeId> all = below(d, item);
    if (std::any_of(all.begin(), all.end(), [&](NodeId n) { return d.attribute_named(row_key(d.at(n))) >= 0; })) return false;
  }
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const NodeId axes = d.operands[i].axes;
    if (d.operands[i].pack || axes < 0 || d[axes].next >= 0 || d[axes].form != NodeForm::row) return false;
  }
  for (NodeId id = 0; id < static_cast<NodeId>(d.node_count); ++id) {
    if (d[id].form == NodeForm::reduce) return false;
    // Elements elsewhere are read by other indices than one row.
    if (d[id].form == NodeForm::read && (d[id].first < 0 || d[d[id].first].form != NodeForm::row || d[d[id].first].next >= 0)) return false;
  }
  return true;
}

namespace {

/// \param reads whether an element is read somewhere
bool moves(const Definition& d, NodeId value, bool& reads) {
  switch (d[value].form) {
    case NodeForm::read:
      reads = true;
      return true;
    case NodeForm::number:
      return true;
    case NodeForm::name:  // of an attribute, which pads
      return d.attribute_named(d.at(value)) >= 0;
    case NodeForm::select:
    case NodeForm::otherwise: {
      const NodeId first = d[value].form == NodeForm::select ? d[d[value].first].next : d[value].first;
      return moves(d, first, reads) && moves(d, d[first].next, reads);
    }
    default:
      return false;
  }
}

}  // namespace

bool is_move(const Definition& d) {
  if (d.operand_count == 0 || is_elementwise(d)) return false;
  bool reads = false;
  for (std::size_t i = 0; i < d.clause_count; ++i) {
    const spec::ClauseText& clause = d.clauses[i];
    if (clause.part != 0 || clause.form == spec::ClauseText::Form::require || clause.form == spec::ClauseText::Form::let) continue;
    if (clause.form != spec::ClauseText::Form::equation || !moves(d, clause.value, reads)) return false;
  }
  return reads;
}

bool is_fold(const Definition& d) {
  if (d.operand_count == 0 || d.result_count != 1) return false;
  std::size_t equations = 0;
  bool reduces = false;
  for (std::size_t i = 0; i < d.clause_count; ++i) {
    if (d.clauses[i].part != 0 || d.clauses[i].form != spec::ClauseText::Form::equation) continue;
    ++equations;
    for (const NodeId node : below(d, d.clauses[i].value)) reduces = reduces || d[node].form == NodeForm::reduce;
  }
  return equations == 1 && reduces;
}

std::vector<NodeId> below(const Definition& definition, NodeId root) {
  std::vector<NodeId> nodes;
  if (root < 0) return nodes;
  nodes.push_back(root);
  for (NodeId c = definition[root].first; c >= 0; c = definition[c].next) {
    const auto inner = below(definition, c);
    nodes.insert(nodes.end(), inner.begin(), inner.end());
  }
  return nodes;
}

std::optional<std::int64_t> integer_value(const Definition& d, NodeId node, const Assignment& a, std::size_t member) {
  const spec::NodeText& n = d[node];
  if (n.form == NodeForm::number) {
    const std::string_view text = d.at(n.text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  if (n.form == NodeForm::name) return lookup(d, d.at(node), a, member);
  if (n.form == NodeForm::pack_name || n.form == NodeForm::pack_member)
    return lookup(d, pack_key(d.at(node)), a, member);
  if (n.form == NodeForm::builtin && n.op == static_cast<std::uint8_t>(spec::Builtin::total)) {
    const std::string name = pack_key(d.at(n.first));
    std::int64_t total = 0;
    for (std::size_t m = 0; lookup(d, name, a, m); ++m) total += *lookup(d, name, a, m);
    return total;
  }
  if (n.form != NodeForm::apply) return std::nullopt;
  const auto x = integer_value(d, n.first, a, member);
  const NodeId second = x ? d[n.first].next : -1;
  if (!x) return std::nullopt;
  if (second < 0) return static_cast<Primitive>(n.op) == Primitive::neg ? std::optional(-*x) : std::nullopt;
  const auto y = integer_value(d, second, a, member);
  return y ? combined(static_cast<Primitive>(n.op), *x, *y) : std::nullopt;
}

std::optional<std::size_t> rank_of_axes(const Definition& d, NodeId first, const Assignment& a, std::size_t member) {
  std::size_t rank = 0;
  for (NodeId item = first; item >= 0; item = d[item].next) {
    const NodeId inner = d[item].form == NodeForm::placed ? d[item].first : item;
    const bool row = d[inner].form == NodeForm::row || (d[inner].form == NodeForm::pack_name && d[inner].op == 1);
    if (!row) {
      ++rank;
    } else if (const auto* extents = row_of(d, inner, a, member)) {
      rank += extents->size();
    } else {
      return std::nullopt;
    }
  }
  return rank;
}

std::optional<std::vector<std::int64_t>> extents_of_axes(const Definition& d, NodeId first, const Assignment& a,
                                                         std::size_t member) {
  const auto rank = rank_of_axes(d, first, a, member);
  if (!rank) return std::nullopt;
  std::vector<std::int64_t> extents(*rank, -1);
  for (NodeId item = first; item >= 0; item = d[item].next) {
    if (d[item].form != NodeForm::placed) continue;
    const auto values = item_extents(d, item, a, member);
    const auto where = positions(a, d.at(item));
    if (!values || !where || where->size() != values->size()) return std::nullopt;
    for (std::size_t k = 0; k < values->size(); ++k) {
      const std::int64_t at = (*where)[k] < 0 ? (*where)[k] + static_cast<std::int64_t>(*rank) : (*where)[k];
      if (at < 0 || at >= static_cast<std::int64_t>(*rank) || extents[static_cast<std::size_t>(at)] != -1)
        return std::nullopt;
      extents[static_cast<std::size_t>(at)] = (*values)[k];
    }
  }
  std::size_t next = 0;
  for (NodeId item = first; item >= 0; item = d[item].next) {
    if (d[item].form == NodeForm::placed) continue;
    const auto values = item_extents(d, item, a, member);
    if (!values) return std::nullopt;
    for (const std::int64_t v : *values) {
      while (next < extents.size() && extents[next] != -1) ++next;
      if (next == extents.size() || v < 0) return std::nullopt;
      extents[next] = v;
    }
  }
  return extents;
}

}  // namespace etalon::conformance
