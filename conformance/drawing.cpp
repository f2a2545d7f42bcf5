#include "conformance/drawing.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "conformance/attribute_levels.hpp"
#include "conformance/broadcasting.hpp"

namespace etalon::conformance {
namespace {

using spec::AttributeKind;
using spec::Definition;
using spec::NodeForm;
using spec::NodeId;
using spec::Primitive;

std::string text_of(const Definition& d, spec::Slice s) { return std::string(d.at(s)); }

// One draw of an assignment; most draws of a constrained definition are refused by typing and drawn again.
class Drawing {
 public:
  Drawing(const Definition& d, const Names& names, const TurnLevels& levels, Draw& draw, const SizeWish& wish)
      : d_(d), names_(names), levels_(levels), draw_(draw), wish_(wish) {}

  Assignment run() {
    packs();
    apart_ = draw_.chance(0.6);
    signed_ = wish_.turn ? wants_backwards(wish_) && wish_.insistence >= 1 : draw_.chance(0.25);
    ranks();
    limit_ = axis_limit();
    rows_and_extents();
    if (wish_.longest > 0) lengthen();
    joins();
    for (std::size_t i = 0; i < d_.attribute_count; ++i) attribute(d_.attributes[i]);
    if (d_.operand_count == 0 && draw_.chance(0.3)) shift();
    exact_types();
    places();
    if (wish_.fit) fit();
    for (std::size_t i = 0; i < d_.attribute_count; ++i) list_attribute(d_.attributes[i]);
    for (std::size_t i = 0; i < d_.clause_count; ++i) {
      if (d_.clauses[i].form == spec::ClauseText::Form::require) satisfy(d_.clauses[i].value);
    }
    optional_operands();
    return a_;
  }

 private:
  void packs() {
    const std::size_t count = static_cast<std::size_t>(draw_.integer(1, 4));
    for (const std::string& name : names_.operand_packs) a_.packs[name] = count;
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      if (d_.attributes[i].pack) members_ = static_cast<std::size_t>(draw_.integer(1, 3));
    }
    if (!names_.operand_packs.empty()) members_ = count;
  }

  void ranks() {
    for (const std::string& row : names_.rows) rank_[row] = static_cast<std::size_t>(draw_.integer(0, 3));
    for (const std::string& row : names_.single_rows) rank_[row] = draw_.chance(0.7) ? 1 : 0;
    // Numbers of either sign for each of many axes seldom leave anything.
    if (signed_) for (const std::string& row : listed_rows()) rank_[row] = static_cast<std::size_t>(draw_.integer(1, 2));
    // Orders of one axis or two say little.
    for (const std::string& row : names_.ordered_rows) {
      if (draw_.chance(0.7)) rank_[row] = static_cast<std::size_t>(draw_.integer(3, 4));
    }
    for (const auto& [one, other] : names_.joined) {
      if (draw_.chance(0.5) && rank_.contains(one) && rank_.contains(other)) rank_[other] = rank_[one];
    }
    rank_joined();
    reach_axes();
    if (is_deep() && !names_.rows.empty()) rank_[names_.rows.front()] = static_cast<std::size_t>(draw_.integer(4, 5));
    if (wish_.fit) fit_ranks(d_, *wish_.fit, rank_);
    if (d_.family_rank >= 0) {
      rank_[row_key(text_of(d_, d_.family_row))] = static_cast<std::size_t>(d_.family_rank);
    }
    // A list attribute with one number per axis of two rows ties their ranks; rows of windows follow the family.
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      const std::string row = row_key(text_of(d_, d_.attributes[i].row));
      if (!row.empty() && !rank_.contains(row)) free_rows_.push_back(row);
    }
  }

  /// The rows for whose axes a list has numbers.
  std::vector<std::string> listed_rows() const {
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      std::string row = row_key(text_of(d_, d_.attributes[i].row));
      if (rank_.contains(row)) rows.push_back(std::move(row));
    }
    return rows;
  }

  // In each turn one pair of rows that broadcast has its pattern, as attributes have their levels.
  void rank_joined() {
    if (!wish_.turn || wish_.edges || names_.joined.empty() || !draw_.chance(wish_.insistence)) return;
    const auto turn = broadcast_in_turn(*wish_.turn, names_.joined.size());
    if (!turn) return;
    const auto& [one, other] = names_.joined[turn->pair];
    if (!rank_.contains(one) || !rank_.contains(other)) return;
    broadcast_ = turn;
    std::tie(rank_[one], rank_[other]) = draw_ranks(turn->repeats, draw_);
  }

  /// The attribute that has its level surely; where it cannot, another one in its place.
  [[nodiscard]] bool is_first(std::size_t attribute) const {
    return wish_.insistence > 0 && attribute == (*wish_.turn + wish_.passed_over) % d_.attribute_count;
  }

  // An axis far behind is there: behind as many axes of each row or, where those leave a tensor no room, of one row, or the last
  // of that row's.
  void reach_axes() {
    if (!wish_.turn || names_.rows.empty()) return;
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      if (d_.attributes[i].kind != AttributeKind::integer) continue;
      const auto* axis = levels_[i] ? std::get_if<std::int64_t>(&*levels_[i]) : nullptr;
      if (axis == nullptr || *axis < 2 || *axis > 3 || (!is_first(i) && draw_.chance(0.3))) continue;
      const bool all = wish_.insistence >= 1;
      const std::vector<std::string> rows = all ? names_.rows : std::vector{draw_.pick(names_.rows)};
      const auto least = static_cast<std::size_t>(all ? *axis : *axis + draw_.integer(0, 1));
      for (const std::string& row : rows) rank_[row] = std::max(rank_[row], least);
    }
  }

  // Extents up to the root of the wished size leave room for several axes.
  std::int64_t axis_limit() {
    std::size_t most = 1;
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      std::size_t rank = 0;
      for (NodeId item = d_.operands[i].axes; item >= 0; item = d_[item].next) {
        const NodeId inner = d_[item].form == NodeForm::placed ? d_[item].first : item;
        const bool row = d_[inner].form == NodeForm::row;
        rank += row ? rank_[row_key(d_.at(inner))] : 1;
      }
      most = std::max(most, rank);
    }
    const double root = std::pow(static_cast<double>(wish_.elements), 1.0 / static_cast<double>(most));
    return std::max<std::int64_t>(2, static_cast<std::int64_t>(root * 1.7));
  }

  std::int64_t extent() {
    if (wish_.elements == 1) return 1;
    if (wish_.empty && draw_.chance(0.3)) return 0;
    if (wish_.edges && draw_.chance(0.35)) return draw_.integer(0, 1);
    if (draw_.chance(0.1)) return 1;
    if (limit_ > 4 && draw_.chance(0.4)) return beside_width();
    if (limit_ > 4 && draw_.chance(0.4)) return draw_.integer(limit_ / 2, limit_);
    return draw_.integer(2, limit_);
  }

  // Around what vectors and tiles hold.
  std::int64_t beside_width() {
    std::vector<std::int64_t> widths;
    for (const std::int64_t width : {3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
      if (width <= limit_) widths.push_back(width);
    }
    return draw_.pick(widths);
  }

  /// Of some turns the first row has more axes than loops are written by hand for.
  [[nodiscard]] bool is_deep() const { return wish_.turn && !wish_.edges && wish_.elements > 1 && wish_.longest == 0 && wish_.insistence >= 1 && *wish_.turn % 7 == 5; }

  [[nodiscard]] bool cube() const { return wish_.turn && !wish_.edges && wish_.elements > 1 && *wish_.turn % 4 == 1; }

  void rows_and_extents() {
    // Equal extents on purpose: exchanged indices show only where they stay in range.
    const bool square = cube() || draw_.chance(0.3);
    const std::int64_t side = cube() ? std::max<std::int64_t>(extent(), 2) : extent();
    const auto one = [&] { return cube() || (square && draw_.chance(0.8)) ? side : extent(); };
    for (const std::string& row : names_.rows) {
      // A window is smaller than what it slides over.
      const bool narrow = row != names_.rows.front() && draw_.chance(0.4);
      auto& extents = a_.rows[row];
      for (std::size_t k = 0; k < rank_[row]; ++k) extents.push_back(narrow ? draw_.integer(1, 3) : one());
    }
    // Of many axes one of a name that has a single element leaves little to compare.
    const std::int64_t least = is_deep() ? 2 : 0;
    for (const std::string& name : names_.extents) a_.extents[name] = std::max(least, one());
    for (const std::string& row : names_.pack_rows) {
      for (std::size_t m = 0; m < members_; ++m) {
        auto& extents = a_.rows[member_key(row, m)];
        for (std::int64_t k = draw_.integer(0, 2); k > 0; --k) extents.push_back(one());
      }
    }
    for (const std::string& name : names_.pack_extents) {
      for (std::size_t m = 0; m < members_; ++m) a_.extents[member_key(name, m)] = one();
    }
  }

  // One axis is longer than sums are kept in one piece, or than a tile; few terms are left over behind the last whole one.
  std::int64_t long_extent() {
    constexpr std::int64_t in_one_piece = 1024;
    if (wish_.longest < in_one_piece) {
      static const std::vector<std::int64_t> extents{17, 33, 129, 31, 67, 257, 40, 131, 65, 200, 18, 259, 63, 127, 20};
      constexpr std::uint64_t step = 7;
      return wish_.turn ? extents[static_cast<std::size_t>(step * *wish_.turn % extents.size())] : draw_.pick(extents);
    }
    return in_one_piece + 128 * draw_.integer(0, 2) + (draw_.chance(0.5) ? draw_.integer(1, 3) : draw_.integer(4, 127));
  }

  void lengthen() {
    std::vector<std::int64_t*> all;
    for (auto& [row, extents] : a_.rows) {
      for (std::int64_t& e : extents) all.push_back(&e);
    }
    for (auto& [name, e] : a_.extents) all.push_back(&e);
    for (std::int64_t* e : all) *e = std::min<std::int64_t>(*e, 2);
    if (!all.empty()) *draw_.pick(all) = long_extent();
  }

  // Joined rows broadcast: they agree from the right, and any of them may be 1 or shorter.
  void joins() {
    for (const auto& [one, other] : names_.joined) {
      if (!a_.rows.contains(one) || !a_.rows.contains(other)) continue;
      auto& p = a_.rows[one];
      auto& q = a_.rows[other];
      const std::size_t shared = std::min(p.size(), q.size());
      const bool several = draw_.chance(0.3);  // axes that are broadcast at once
      for (std::size_t k = 1; k <= shared; ++k) {
        std::int64_t& x = p[p.size() - k];
        std::int64_t& y = q[q.size() - k];
        y = x;
        if (draw_.chance(several ? 0.6 : 0.15)) (draw_.chance(0.5) ? x : y) = 1;
      }
    }
    if (!broadcast_) return;
    const auto& [one, other] = names_.joined[broadcast_->pair];
    repeat(broadcast_->repeats, a_.rows[one], a_.rows[other], draw_);
  }

  // What broadcasts with the operand follows it.
  void fit() {
    fit_extents(d_, *wish_.fit, a_);
    joins();
    fit_extents(d_, *wish_.fit, a_);
  }

  // Who reads nothing has its numbers from attributes: two far from 0 lie no further apart.
  void shift() {
    std::vector<std::int64_t*> all;
    for (auto& [name, value] : a_.attributes) {
      if (auto* number = std::get_if<std::int64_t>(&value)) all.push_back(number);
    }
    if (all.size() < 2) return;
    const std::int64_t by = draw_.pick(std::vector<std::int64_t>{(1 << 24) - 2, (std::int64_t{1} << 31) - 2, (std::int64_t{1} << 53) - 1, -(1 << 24) - 2, (std::int64_t{1} << 53) + 6});
    const auto one = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(all.size()) - 1));
    const std::size_t other = (one + 1) % all.size();
    *all[one] += by;
    *all[other] += by;
  }

  // Integers that no double holds are of the type that holds them.
  void exact_types() {
    const bool wide = std::any_of(a_.attributes.begin(), a_.attributes.end(), [](const auto& named) {
      const auto* value = std::get_if<std::int64_t>(&named.second);
      return value != nullptr && *value > std::int64_t{1} << 53;
    });
    for (std::size_t i = 0; wide && i < d_.attribute_count; ++i) {
      if (d_.attributes[i].kind == AttributeKind::dtype) a_.attributes[text_of(d_, d_.attributes[i].name)] = std::string(name_of(DType::i64));
    }
  }

  bool at_level(const spec::AttributeText& attribute) {
    if (!wish_.turn) return false;
    const auto place = static_cast<std::size_t>(&attribute - d_.attributes);
    const auto& level = levels_[place];
    if (!level) return false;
    if (!is_first(place) && !draw_.chance(wish_.insistence)) return false;
    a_.attributes[text_of(d_, attribute.name)] = *level;
    return true;
  }

  void attribute(const spec::AttributeText& attribute) {
    if (at_level(attribute)) return;
    const std::string name = text_of(d_, attribute.name);
    if (!attribute.row.length && !attribute.pack && attribute.has_default && wish_.defaults && draw_.chance(0.35)) return;
    switch (attribute.kind) {
      case AttributeKind::boolean:
      case AttributeKind::symbol:
      case AttributeKind::dtype:  // their levels are all that they can be
        if (const auto levels = levels_of(d_, attribute); !levels.empty()) a_.attributes[name] = draw_.pick(levels).value;
        break;
      case AttributeKind::real:
        a_.attributes[name] = real_attribute(attribute);
        break;
      case AttributeKind::value:  // 0 and 1 suit every element type
        if (draw_.chance(0.6)) a_.attributes[name] = draw_.integer(0, 1);
        else a_.attributes[name] = real_attribute(attribute);
        break;
      case AttributeKind::integer:
        if (!attribute.pack && !attribute.row.length) a_.attributes[name] = integer_attribute(attribute);
        break;
      default:
        break;
    }
  }

  double real_attribute(const spec::AttributeText& attribute) {
    double usual = 0;
    const bool known = attribute.has_default && parse(d_.at(attribute.value), usual);
    const double u = std::ldexp(std::floor(draw_.uniform() * 1024), -10);
    if (!known) return draw_.pick(std::vector<double>{0.1, 0.01, 0.001, 0.5, u});
    if (usual == 0) return draw_.pick(std::vector<double>{0.0, 0.1, 0.01, u});
    if (usual > 0 && usual < 1)
      return draw_.pick(std::vector<double>{usual, usual * usual, std::sqrt(usual), u / 2, 0.1});
    return draw_.pick(std::vector<double>{usual, usual * (0.5 + u), 1.0, usual / 4});
  }

  std::int64_t integer_attribute(const spec::AttributeText& attribute) {
    double usual = 0;
    if (attribute.has_default && parse(d_.at(attribute.value), usual) && draw_.chance(0.3)) {
      return static_cast<std::int64_t>(usual);
    }
    // Nothing but such numbers says how many elements there are.
    if (d_.operand_count == 0 && apart_) return draw_.integer(-9, 9);
    if (draw_.chance(0.15)) return draw_.integer(-2, 0);
    return draw_.integer(1, 4);
  }

  static bool parse(std::string_view text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  }

  // Attributes that place axes: positions in the operand (or result) that they stand in.
  void places() {
    for (const auto& [attribute, row] : names_.placed) {
      if (placed_.contains(attribute)) continue;
      for (std::size_t i = 0; i < d_.operand_count + d_.result_count && !placed_.contains(attribute); ++i) {
        place(i < d_.operand_count ? d_.operands[i].axes : d_.results[i - d_.operand_count].axes, attribute);
      }
    }
  }

  void place(NodeId axes, const std::string& attribute) {
    NodeId placed = -1;
    bool alone = true;
    for (NodeId item = axes; item >= 0; item = d_[item].next) {
      if (d_[item].form == NodeForm::placed && d_.at(item) == attribute) {
        placed = d_[item].first;
      } else {
        alone = false;
      }
    }
    const auto rank = rank_of_axes(d_, axes, a_);
    if (placed < 0 || !rank) return;
    placed_.insert(attribute);
    const bool is_row = d_[placed].form == NodeForm::row;
    if (!is_row && placed_at_level(attribute, static_cast<std::int64_t>(*rank))) return;
    const std::size_t wanted = is_row ? a_.rows[row_key(d_.at(placed))].size() : 1;
    std::vector<std::int64_t> all;
    for (std::size_t k = 0; k < *rank; ++k) all.push_back(static_cast<std::int64_t>(k));
    std::vector<std::int64_t> chosen;
    while (chosen.size() < wanted && !all.empty()) {
      const auto at = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(all.size()) - 1));
      chosen.push_back(all[at]);
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    }
    // Where extents agree nothing but the numbers tells that axes are out of order.
    if (!alone && cube()) std::sort(chosen.rbegin(), chosen.rend());
    else if (!alone && draw_.chance(0.7)) std::sort(chosen.begin(), chosen.end());
    // An order of all axes that is not its own inverse; in turns, which do not change places with it.
    if (alone && wanted >= 3 && draw_.chance(wish_.defaults ? 0.8 : 0.5)) {
      std::sort(chosen.begin(), chosen.end());
      const std::int64_t by = draw_.integer(1, static_cast<std::int64_t>(wanted) - 1);
      std::rotate(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(2 * by == static_cast<std::int64_t>(wanted) ? 1 : by), chosen.end());
    }
    for (std::int64_t& position : chosen) {
      if (draw_.chance(0.3)) position -= static_cast<std::int64_t>(*rank);
    }
    if (is_row) {
      a_.attributes[attribute] = chosen;
    } else if (!chosen.empty()) {
      a_.attributes[attribute] = chosen.front();
    }
  }

  /// Where an axis has a level in this turn, and there is one.
  bool placed_at_level(const std::string& name, std::int64_t rank) {
    for (std::size_t i = 0; i < d_.attribute_count; ++i) {
      if (d_.at(d_.attributes[i].name) != name || !at_level(d_.attributes[i])) continue;
      const auto* axis = std::get_if<std::int64_t>(&a_.attributes[name]);
      return axis != nullptr && *axis >= -rank && *axis < rank;
    }
    return false;
  }

  void list_attribute(const spec::AttributeText& attribute) {
    const std::string name = text_of(d_, attribute.name);
    if (placed_.contains(name)) return;
    if (attribute.pack) {
      std::vector<std::int64_t> list;
      for (std::size_t m = 0; m < members_; ++m) list.push_back(draw_.integer(wish_.edges ? 0 : 1, 3));
      a_.attributes[name] = list;
      return;
    }
    const bool lists = attribute.kind == AttributeKind::integers || attribute.row.length != 0;
    if (!lists) return;
    if (attribute.has_default && wish_.defaults && draw_.chance(0.35)) return;
    const std::string row = row_key(text_of(d_, attribute.row));
    const auto known = a_.rows.find(row);
    if (known == a_.rows.end() || attribute.row.length == 0) {
      a_.attributes[name] = reshaped();
      return;
    }
    std::vector<std::int64_t> list;
    for (std::size_t k = 0; k < known->second.size(); ++k)
      list.push_back(window_number(known->second[k], !attribute.has_default));
    a_.attributes[name] = list;
  }

  // A stride, a window, a padding, or the bound of a slice.
  std::int64_t window_number(std::int64_t extent, bool required) {
    if (draw_.chance(signed_ ? 0.8 : 0.15)) return draw_.integer(signed_ ? -3 : -extent - 1, extent + 1);
    if (required && draw_.chance(0.4)) return extent;
    if (draw_.chance(0.3)) return draw_.integer(0, std::max<std::int64_t>(extent, 1));
    return draw_.integer(0, 3);
  }

  // A shape that holds as many elements as the first operand, or one that it broadcasts to.
  std::vector<std::int64_t> reshaped() {
    const auto first = d_.operand_count > 0 ? extents_of_axes(d_, d_.operands[0].axes, a_) : std::nullopt;
    std::vector<std::int64_t> shape = first.value_or(std::vector<std::int64_t>{});
    if (!first || d_.operands[0].range == spec::Range::integer) {
      const std::int64_t axes = draw_.integer(0, 3);
      limit_ = static_cast<std::int64_t>(
          1.5 * std::pow(static_cast<double>(wish_.elements), 1.0 / static_cast<double>(axes + 1)));
      limit_ = std::max<std::int64_t>(limit_, 2);
      for (std::int64_t k = 0; k < axes; ++k) shape.push_back(extent());
      return shape;
    }
    if (draw_.chance(0.4)) {
      for (std::int64_t& e : shape) e = e == 1 && draw_.chance(0.7) ? draw_.integer(1, 4) : e;
      for (std::int64_t k = draw_.integer(0, 2); k > 0; --k) shape.insert(shape.begin(), draw_.integer(1, 3));
      return shape;
    }
    while (shape.size() > 1 && draw_.chance(0.6)) {
      const auto at = static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(shape.size()) - 2));
      shape[at] *= shape[at + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    for (std::size_t at = 0; at < shape.size() && shape.size() < 4; ++at) {
      for (const std::int64_t factor : {2, 3, 5}) {
        if (shape[at] > factor && shape[at] % factor == 0 && draw_.chance(0.5)) {
          shape[at] /= factor;
          shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), factor);
          break;
        }
      }
    }
    if (draw_.chance(0.2)) shape.insert(shape.begin(), 1);
    if (!shape.empty() && draw_.chance(0.2)) {
      shape[static_cast<std::size_t>(draw_.integer(0, static_cast<std::int64_t>(shape.size()) - 1))] = -1;
    }
    return shape;
  }

  // Constraints that chance rarely meets: an equation for a free extent, a divisibility.
  void satisfy(NodeId condition) {
    if (condition < 0 || d_[condition].form != NodeForm::apply) return;
    const auto op = static_cast<Primitive>(d_[condition].op);
    const NodeId left = d_[condition].first;
    const NodeId right = left >= 0 ? d_[left].next : -1;
    if (op == Primitive::logical_and) {
      satisfy(left);
      satisfy(right);
    }
    if (op != Primitive::eq || right < 0) return;
    if (divisible(left, right)) return;
    if (!assign(left, right)) (void)assign(right, left);
  }

  bool assign(NodeId to, NodeId from) {
    if (d_[to].form != NodeForm::name) return false;
    const auto found = a_.extents.find(std::string(d_.at(to)));
    const auto value = integer_value(d_, from, a_);
    if (found == a_.extents.end() || !value) return false;
    found->second = *value;
    return true;
  }

  // `n % g == 0`
  bool divisible(NodeId left, NodeId right) {
    if (d_[left].form != NodeForm::apply || static_cast<Primitive>(d_[left].op) != Primitive::modulo) return false;
    if (integer_value(d_, right, a_) != 0) return false;
    const NodeId dividend = d_[left].first;
    const auto divisor = integer_value(d_, d_[dividend].next, a_);
    if (!divisor || *divisor <= 0 || d_[dividend].form != NodeForm::name) return true;
    const auto found = a_.extents.find(std::string(d_.at(dividend)));
    if (found != a_.extents.end())
      found->second = std::max<std::int64_t>(1, (found->second + *divisor - 1) / *divisor) * *divisor;
    return true;
  }

  void optional_operands() {
    for (std::size_t i = 0; i < d_.operand_count; ++i) {
      const bool fits = wish_.fit && wish_.fit->operand == i;
      if (d_.operands[i].optional && !fits && draw_.chance(0.4)) a_.absent.insert(text_of(d_, d_.operands[i].name));
    }
  }

  const Definition& d_;
  const Names& names_;
  const TurnLevels& levels_;
  Draw& draw_;
  const SizeWish& wish_;
  Assignment a_;
  std::map<std::string, std::size_t> rank_;
  std::vector<std::string> free_rows_;
  std::set<std::string> placed_;
  std::size_t members_ = 1;
  std::int64_t limit_ = 4;
  std::optional<BroadcastTurn> broadcast_;
  bool apart_ = false;   // integers that say how many elements there are lie far from each other
  bool signed_ = false;  // steps and bounds are often negative
};

}  // namespace

Assignment draw_once(const Definition& definition, const Names& names, const TurnLevels& levels, Draw& draw, const SizeWish& wish) {
  return Drawing(definition, names, levels, draw, wish).run();
}

}  // namespace etalon::conformance
