#include <cstdio>

#include "training/data/dataset.hpp"

int main() {
  const auto moons = etalon::training::half_moons(10, 0.1, 1);
  std::printf("%ld points\n", static_cast<long>(moons.rows()));
  return moons.rows() == 20 ? 0 : 1;
}
