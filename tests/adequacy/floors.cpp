#include "tests/adequacy/floors.hpp"

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>

namespace etalon::adequacy {

bool falls_below(std::size_t killed, std::size_t counted, double share) {
  if (counted == 0) return share > 0;
  constexpr double by_chance = 1e-3;
  // Of a kind that was killed whole no more is known than that the next one would be, too, by the rule of succession.
  const auto n = static_cast<double>(counted);
  const double known = std::min(share, (n + 1) / (n + 2));
  return boost::math::cdf(boost::math::binomial(n, known), static_cast<double>(killed)) < by_chance;
}

}  // namespace etalon::adequacy
