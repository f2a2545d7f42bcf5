#include "reference/bounds/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace etalon::reference::bounds {
namespace {

constexpr std::size_t most_pieces = 48;
constexpr double fine_enough = 0x1p-20;  // of the width of the values

/// Where a point stands, and what the function may be there.
using Point = std::pair<double, double>;

bool is_finite(const Interval& i) { return std::isfinite(i.lower) && std::isfinite(i.upper); }

Interval both(const Interval& a, const Interval& b) { return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)}; }

bool is_smooth(const Branch& w) { return is_finite(w.slope) && is_finite(w.base) && std::isfinite(w.error); }

/// What value - slope · (argument - origin) may be.
Interval above_line(const Piece& piece, const Branch& w, double slope, double origin) {
  const Interval s = just(slope);
  const Interval by_values = w.values - s * (piece.domain - just(origin));
  if (!is_smooth(w)) return by_values;
  const Interval turned = (w.slope - s) * (piece.domain - just(piece.middle)) - s * (just(piece.middle) - just(origin));
  return both(by_values, widened(w.base + turned, w.error));
}

Interval above_line(const Piece& piece, double slope, double origin) {
  Interval all = above_line(piece, piece.branches.front(), slope, origin);
  for (const Branch& w : piece.branches) all = hull(all, above_line(piece, w, slope, origin));
  return all;
}

bool is_bounded(const Piece& piece) {
  return std::all_of(piece.branches.begin(), piece.branches.end(), [](const Branch& w) { return w.bounded && is_finite(w.values); });
}

Interval values(const Piece& piece) { return above_line(piece, 0, piece.middle); }

/// How much the piece leaves open beyond roundings.
double gap(const Piece& piece) {
  if (!is_bounded(piece)) return infinity;
  if (piece.branches.size() > 1 || !is_smooth(piece.branches.front())) {
    const Interval v = values(piece);
    return v.upper - v.lower;
  }
  const Interval& s = piece.branches.front().slope;
  return (s.upper - s.lower) / 2 * (piece.domain.upper - piece.domain.lower);
}

/// Kinks are at 0 more often than elsewhere.
double cut(const Interval& domain) {
  return domain.lower < 0 && domain.upper > 0 ? 0 : domain.lower + (domain.upper - domain.lower) / 2;
}

class Pieces {
 public:
  Pieces(const Interval& domain, const std::function<Piece(const Interval&)>& at) : at_(at) {
    add(domain);
    while (all_.size() < most_pieces && split_worst()) {}
  }

  [[nodiscard]] const std::vector<Piece>& all() const { return all_; }

 private:
  void add(const Interval& domain) {
    all_.push_back(at_(domain));
    gaps_.push_back(gap(all_.back()));
  }

  [[nodiscard]] double width() const {
    Interval v = values(all_.front());
    for (const Piece& p : all_) v = hull(v, values(p));
    return v.upper - v.lower;
  }

  [[nodiscard]] bool split_worst() {
    const auto worst = static_cast<std::size_t>(std::max_element(gaps_.begin(), gaps_.end()) - gaps_.begin());
    const Interval domain = all_[worst].domain;
    const double middle = cut(domain);
    if (!(gaps_[worst] > 0) || !(middle > domain.lower && middle < domain.upper)) return false;
    if (std::isfinite(gaps_[worst]) && !(gaps_[worst] > fine_enough * width())) return false;
    all_[worst] = at_({domain.lower, middle});
    gaps_[worst] = gap(all_[worst]);
    add({middle, domain.upper});
    return true;
  }

  const std::function<Piece(const Interval&)>& at_;
  std::vector<Piece> all_;
  std::vector<double> gaps_;
};

/// Points of the function, by argument.
std::vector<Point> samples(const Interval& domain, const std::vector<Piece>& pieces, const std::function<Piece(const Interval&)>& at) {
  std::vector<Point> points;
  const auto note = [&](const Piece& p) {
    const Interval v = is_smooth(p.branches.front()) ? p.branches.front().base : p.branches.front().values;
    const double y = v.lower + (v.upper - v.lower) / 2;
    if (std::isfinite(y)) points.emplace_back(p.middle, y);
  };
  note(at(just(domain.lower)));
  for (const Piece& p : pieces) note(p);
  note(at(just(domain.upper)));
  std::sort(points.begin(), points.end());
  return points;
}

/// The slope, at `centre`, of the lower convex hull of the points: of all lines below them that one is the highest there.
double supporting_slope(const std::vector<Point>& points, double centre) {
  std::vector<Point> corners;
  for (const Point& p : points) {
    while (corners.size() >= 2) {
      const Point& a = corners[corners.size() - 2];
      const Point& b = corners.back();
      if ((b.second - a.second) * (p.first - a.first) < (p.second - a.second) * (b.first - a.first)) break;
      corners.pop_back();
    }
    if (corners.empty() || p.first > corners.back().first) corners.push_back(p);
  }
  double slope = 0;
  for (std::size_t i = 1; i < corners.size(); ++i) {
    slope = (corners[i].second - corners[i - 1].second) / (corners[i].first - corners[i - 1].first);
    if (corners[i].first >= centre) break;
  }
  return std::isfinite(slope) ? slope : 0;
}

/// With the offset that the pieces prove, `side` -1 below and 1 above.
Line line(const std::vector<Piece>& pieces, std::vector<Point> points, double centre, double origin, int side) {
  if (side > 0) {
    for (Point& p : points) p.second = -p.second;
  }
  const double slope = -side * supporting_slope(points, centre);
  Interval rest = above_line(pieces.front(), slope, origin);
  for (const Piece& p : pieces) rest = hull(rest, above_line(p, slope, origin));
  return {slope, side < 0 ? rest.lower : rest.upper};
}

/// Range and slopes. Between two arguments the value changes by slopes where the function has some, and elsewhere by no more
/// than its values leave open.
void take_ranges(Relaxation& r, const std::vector<Piece>& pieces, double known) {
  double error = 0;
  double jumps = 0;
  double torn = 0;  // width of all pieces without a slope
  bool any = false;
  for (const Piece& p : pieces) {
    const Interval v = values(p);
    r.values = &p == &pieces.front() ? v : hull(r.values, v);
    if (p.branches.size() > 1 || !is_smooth(p.branches.front())) {
      jumps = add_up(jumps, sub_up(v.upper, v.lower));
      torn = add_up(torn, sub_up(p.domain.upper, p.domain.lower));
      continue;
    }
    r.slope = any ? hull(r.slope, p.branches.front().slope) : p.branches.front().slope;
    error = std::max(error, p.branches.front().error);
    any = true;
  }
  jumps = add_up(jumps, mul_up(r.slope.magnitude(), torn));
  r.error = add_up(add_up(error, jumps), known);
}

}  // namespace

Relaxation relaxed(const Interval& domain, double origin, double known, const std::function<Piece(const Interval&)>& at) {
  const Pieces found(domain, at);
  const std::vector<Piece>& pieces = found.all();
  Relaxation r;
  r.bounded = std::all_of(pieces.begin(), pieces.end(), is_bounded);
  if (!r.bounded) return r;
  take_ranges(r, pieces, known);
  const std::vector<Point> points = samples(domain, pieces, at);
  const double centre = domain.lower + (domain.upper - domain.lower) / 2;
  r.below = line(pieces, points, centre, origin, -1);
  r.above = line(pieces, points, centre, origin, 1);
  return r;
}

}  // namespace etalon::reference::bounds
