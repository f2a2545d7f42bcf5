#include "compiled/rewrite/parts.hpp"

#include <bit>
#include <utility>

namespace etalon::compiled {

using spec::Expr;

namespace {

Expr sum_between(const spec::System& system, spec::TensorId parts, const std::vector<Expr>& place, std::int64_t begin, std::int64_t end) {
  if (end - begin == 1) {
    std::vector<Expr> at{spec::integer(begin)};
    at.insert(at.end(), place.begin(), place.end());
    return system.at(parts, std::move(at));
  }
  const std::int64_t middle = begin + static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(end - begin))) / 2;
  return sum_between(system, parts, place, begin, middle) + sum_between(system, parts, place, middle, end);
}

}  // namespace

Expr sum_of_parts(const spec::System& system, spec::TensorId parts, const std::vector<Expr>& place, std::int64_t count) {
  return sum_between(system, parts, place, 0, count);
}

}  // namespace etalon::compiled
