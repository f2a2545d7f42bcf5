// The calls that docs/einsum.md shows.
#include <cstdio>

#include "reference/tensor.hpp"
#include "reference/typed_call.hpp"
#include "spec/einsum/einsum.hpp"
#include "spec/library/einsum.hpp"
#include "spec/program/trace.hpp"
using etalon::DType;
using etalon::Shape;

int main() {
  etalon::Tracer t;
  const etalon::Traced x = t.input("x", DType::f32, {2, 3}), z = t.input("z", DType::f32, {3, 2});
  const etalon::reference::Tensor<double, Shape<2, 3>> a({1, 2, 3, 4, 5, 6});
  const etalon::reference::Tensor<double, Shape<3, 2>> b({1, 0, 0, 1, 1, 1});
  auto product = etalon::einsum("ij;jk=>ik");                          // at run time: host tensors, traced values
  auto best = etalon::einsum("ij;jk=>ik", {.semiring = "max_plus"});
  auto [sums, n] = etalon::einsum<2>("ij=>i", {.captures = "j"})(x);   // n is the extent of j
  auto y = etalon::ops::einsum<"ij,jk->ik">(a, b);                     // at compile time: typed tensors, traced values
  t.output("product", product(x, z));
  t.output("best", best(x, z));
  t.output("sums", sums);
  t.output("n", n);
  const bool right = t.finish().outputs.size() == 4 && y.array().real[0] == 4 && y.array().real[3] == 11;
  std::puts(right ? "einsum.md: as shown" : "einsum.md: not as shown");
  return right ? 0 : 1;
}
