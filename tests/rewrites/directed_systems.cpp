#include "tests/rewrites/directed_systems.hpp"

#include <random>

#include "spec/half.hpp"

namespace etalon::test {

std::span<const Directed> directed_programs() {
  // Steps of a window share loads where its columns are one vector and leave registers beside the rows of a tile: 8 results of 40
  // places each are that in vectors of 32 bytes, of which there are 16, and in vectors of 64 bytes, of which there are 32.
  static const std::vector<Directed> all{
      {"input h : f16[8, 16, 42, 42]\ninput k : f32[8, 16, 3, 3]\ninput c : bf16[8, 8, 40, 40]\n"
       "x = cast(h) {dtype = f32}\nd = cast(c) {dtype = f32}\ny = conv2d(x, k, _)\na, b = vjp(y; x, k; d)\n"
       "f = cast(y) {dtype = f16}\noutput a, b, f, y\n",
       Sums::exact,
       {"lift", "share_loads", "pieces"}},
      {"input x : f64[8, 16, 40, 40]\ninput k : f64[16, 16, 3, 3]\ninput d : f64[8, 16, 38, 38]\ny = conv2d(x, k, _)\n"
       "a, b = vjp(y; x, k; d)\ne = cast(b) {dtype = f32}\noutput a, b, e, y\n",
       Sums::exact,
       {"lift"}},
      {"input h : f16[4, 8, 42, 42]\ninput k : f32[8, 8, 3, 3]\nx = cast(h) {dtype = f32}\ny = conv2d(x, k, _)\nr = relu(y)\n"
       "m = max_pool2d(r) {kernel = [2, 2]}\nf = cast(m) {dtype = f16}\ns = max(r) {axes = 3}\noutput m, f, s\n",
       Sums::exact,
       {"share_loads"}},
      {"input h : f16[512, 256]\ninput c : f32[512, 256]\nx = cast(h) {dtype = f32}\nz = mul(x, c)\nm = max(z) {axes = 1}\n"
       "s = sum(z) {axes = 0}\nd = cast(z) {dtype = f64}\nt = sum(d) {axes = 0}\noutput z, m, s, t\n",
       Sums::exact,
       {"passing", "merge_rows"}},
      {"input x : f64[512, 256]\ninput c : f64[512, 256]\nz = mul(x, c)\nm = max(z) {axes = 1}\ns = sum(z) {axes = 0}\noutput z, m, s\n",
       Sums::exact,
       {"passing"}},
      {"input x : f32[1024, 700]\nz = scale(x) {by = 0.1}\nf = flip(z) {axes = [0]}\ng = flip(z) {axes = [1]}\nc = neg(f)\nd = abs(g)\n"
       "output c, d\n",
       Sums::exact,
       {"recompute", "fetch_rows"}},
      {"input x : f32[1024, 700]\nz = scale(x) {by = 0.1}\nf = flip(z) {axes = [0]}\ng = flip(z) {axes = [1]}\n"
       "c = cast(f) {dtype = f64}\nd = cast(g) {dtype = f64}\noutput c, d\n",
       Sums::exact,
       {"fetch_rows"}},
      {"input h : f16[300, 4000]\ninput g : f32[300, 4000]\nx = cast(h) {dtype = f32}\nz = add(x, g)\ny = softmax(z) {axis = 1}\n"
       "f = cast(y) {dtype = f16}\noutput y, f\n",
       Sums::rounded,
       {"fetch_rows"}},
      {"input h : f16[300, 400]\ninput w : f32[500, 400]\ninput v : f32[100, 500]\ninput c : bf16[300, 100]\nx = cast(h) {dtype = f32}\n"
       "d = cast(c) {dtype = f32}\na = linear(x, w, _)\nb = relu(a)\ny = linear(b, v, _)\np, q = vjp(y; w, v; d)\n"
       "e = cast(q) {dtype = f64}\noutput y, p, q, e\n",
       Sums::exact,
       {"ask_results"}},
  };
  return all;
}

spec::System cut_to_half() {
  using namespace spec;
  System s;
  const TensorId x = s.add_tensor("x", DType::f32, {40, 16});
  const TensorId w = s.add_tensor("w", DType::f32, {24, 16});
  const TensorId d = s.add_tensor("d", DType::f16, {40, 24});
  const TensorId a = s.add_tensor("a", DType::f32, {40, 24});
  const TensorId y = s.add_tensor("y", DType::f16, {40, 24});
  const TensorId g = s.add_tensor("g", DType::f32, {40, 24});
  s.inputs = {x, w, d};
  const auto element = [&](TensorId t, const std::vector<Binder>& at) { return s.at(t, variables(at)); };
  const std::vector<Binder> of_a = s.bind_all(a), of_y = s.bind_all(y), of_g = s.bind_all(g);
  const Binder k = s.bind("k", 16);
  const Expr product = s.at(x, {variable(of_a[0]), variable(k)}) * s.at(w, {variable(of_a[1]), variable(k)}) * decimal(1, -9);
  s.define(a, of_a, reduce(Reduction::sum, {k}, boolean(true), product, {}));
  s.define(y, of_y, select(apply(Primitive::le, {element(a, of_y), decimal(0)}), decimal(0), element(a, of_y)));
  s.define(g, of_g, select(apply(Primitive::le, {element(a, of_g), decimal(0)}), decimal(0), element(d, of_g)));
  s.outputs = {y, g};
  return s;
}

std::vector<HostTensor> whole_inputs(const spec::System& system, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<HostTensor> inputs;
  for (const spec::TensorId id : system.inputs) {
    HostTensor t(system[id].dtype, system[id].dims);
    const int most = t.dtype == DType::f64 ? 1 << 13 : 4;
    for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
      const double x = static_cast<double>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most);
      if (t.dtype == DType::f64) t.view<double>()[i] = x;
      else if (t.dtype == DType::f32) t.view<float>()[i] = static_cast<float>(x);
      else t.view<std::uint16_t>()[i] = spec::nearest_half(x, t.dtype);
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

}  // namespace etalon::test
