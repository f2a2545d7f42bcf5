#include "conformance/one_drawing.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace etalon::conformance {

using spec::AttributeKind;
using spec::NodeForm;
using spec::NodeId;

void Drawing::ranks() {
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
    rank_[row_key(std::string(d_.at(d_.family_row)))] = static_cast<std::size_t>(d_.family_rank);
  }
  // A list attribute with one number per axis of two rows ties their ranks; rows of windows follow the family.
  for (std::size_t i = 0; i < d_.attribute_count; ++i) {
    const std::string row = row_key(std::string(d_.at(d_.attributes[i].row)));
    if (!row.empty() && !rank_.contains(row)) free_rows_.push_back(row);
  }
}

std::vector<std::string> Drawing::listed_rows() const {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < d_.attribute_count; ++i) {
    std::string row = row_key(std::string(d_.at(d_.attributes[i].row)));
    if (rank_.contains(row)) rows.push_back(std::move(row));
  }
  return rows;
}

// In each turn one pair of rows that broadcast has its pattern, as attributes have their levels.
void Drawing::rank_joined() {
  if (!wish_.turn || wish_.edges || names_.joined.empty() || !draw_.chance(wish_.insistence)) return;
  const auto turn = broadcast_in_turn(*wish_.turn, names_.joined.size());
  if (!turn) return;
  const auto& [one, other] = names_.joined[turn->pair];
  if (!rank_.contains(one) || !rank_.contains(other)) return;
  broadcast_ = turn;
  std::tie(rank_[one], rank_[other]) = draw_ranks(turn->repeats, draw_);
}

// An axis far behind is there: behind as many axes of each row or, where those leave a tensor no room, of one row, or the last
// of that row's.
void Drawing::reach_axes() {
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
std::int64_t Drawing::axis_limit() {
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

std::int64_t Drawing::extent() {
  if (wish_.elements == 1) return 1;
  if (wish_.empty && draw_.chance(0.3)) return 0;
  if (wish_.edges && draw_.chance(0.35)) return draw_.integer(0, 1);
  if (draw_.chance(0.1)) return 1;
  if (limit_ > 4 && draw_.chance(0.4)) return beside_width();
  if (limit_ > 4 && draw_.chance(0.4)) return draw_.integer(limit_ / 2, limit_);
  return draw_.integer(2, limit_);
}

// Around what vectors and tiles hold.
std::int64_t Drawing::beside_width() {
  std::vector<std::int64_t> widths;
  for (const std::int64_t width : {3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
    if (width <= limit_) widths.push_back(width);
  }
  return draw_.pick(widths);
}

void Drawing::rows_and_extents() {
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
std::int64_t Drawing::long_extent() {
  constexpr std::int64_t in_one_piece = 1024;
  if (wish_.longest < in_one_piece) {
    static const std::vector<std::int64_t> extents{17, 33, 129, 31, 67, 257, 40, 131, 65, 200, 18, 259, 63, 127, 20};
    constexpr std::uint64_t step = 7;
    return wish_.turn ? extents[static_cast<std::size_t>(step * *wish_.turn % extents.size())] : draw_.pick(extents);
  }
  const std::int64_t pieces = draw_.integer(0, 2);  // one draw a statement: operands are evaluated in any order
  return in_one_piece + 128 * pieces + (draw_.chance(0.5) ? draw_.integer(1, 3) : draw_.integer(4, 127));
}

void Drawing::lengthen() {
  std::vector<std::int64_t*> all;
  for (auto& [row, extents] : a_.rows) {
    for (std::int64_t& e : extents) all.push_back(&e);
  }
  for (auto& [name, e] : a_.extents) all.push_back(&e);
  for (std::int64_t* e : all) *e = std::min<std::int64_t>(*e, 2);
  if (!all.empty()) *draw_.pick(all) = long_extent();
}

// Joined rows broadcast: they agree from the right, and any of them may be 1 or shorter.
void Drawing::joins() {
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
void Drawing::fit() {
  fit_extents(d_, *wish_.fit, a_);
  joins();
  fit_extents(d_, *wish_.fit, a_);
}

}  // namespace etalon::conformance
