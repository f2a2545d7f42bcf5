#include <cstdio>

#include "spec/program/program.hpp"

int main() {
  const auto program = etalon::spec::parse_program("input x : f32[2, 3]\ny = softmax(x) {axis = -1}\noutput y\n");
  const auto system = etalon::spec::lower(program);
  std::printf("%zu equations\n", system.equations.size());
  return system.equations.empty() ? 1 : 0;
}
