#include "tests/adequacy/floors.hpp"

#include <boost/math/distributions/binomial.hpp>

namespace etalon::adequacy {

bool falls_below(std::size_t killed, std::size_t counted, double share) {
  if (counted == 0) return share > 0;
  constexpr double by_chance = 1e-3;
  return boost::math::cdf(boost::math::binomial(static_cast<double>(counted), share), static_cast<double>(killed)) < by_chance;
}

}  // namespace etalon::adequacy
