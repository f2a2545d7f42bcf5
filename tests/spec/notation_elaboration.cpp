// Clauses E1 to E16 of docs/notation.md.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "spec/library/library.hpp"
#include "tests/spec/notation_call.hpp"

using namespace etalon;
using namespace etalon::spec;
using Catch::Contains;

TEST_CASE("E1 left sides bind indices over the extents of the result", "[notation][E1]") {
  CHECK(equations_of("f(x[n]) -> y[n, 2]\n y[i, j] = x[i]", {f32({3})}) == "y[i < 3, j < 2] = x[i]\n");
  CHECK(equations_of("f(x[n]) -> y[2*n]\n y[2*i] = x[i]\n y[2*i + 1] = -x[i]", {f32({3})}) ==
        "y[2 * i] = x[i]\ny[2 * i + 1] = -x[i]\n");
  CHECK_THROWS_WITH(equations_of("f(x[n]) -> y[n]\n y[i, j] = x[i]", {f32({3})}), Contains("written with 2 indices, it has rank 1"));
}

TEST_CASE("E2 ranges are those of the axes where an index is read bare", "[notation][E2]") {
  CHECK(equations_of("f(x[a, b]) -> y\n t[i] = sum[k] x[i, k]\n y = sum[i] t[i]", {f32({2, 3})}) ==
        "t[i < 2] = sum[k < 3] x[i, k]\ny = sum[i < 2] t[i]\n");
  CHECK_THROWS_WITH(equations_of("f(x[a], z[b]) -> y\n y = sum[k] x[k]*z[k]", {f32({2}), f32({3})}),
                    Contains("index k ranges over [2] in x, [3] in z"));
  CHECK_THROWS_WITH(equations_of("f(x[a]) -> y\n y = sum[k] x[k + 1]", {f32({2})}), Contains("no read gives the range of k"));
  CHECK_THROWS_WITH(equations_of("f(x[a]) -> y\n y = sum[k] (x[k] else 0)", {f32({2})}), Contains("no read gives the range of k"));
  CHECK(equations_of("f(x[a], z[b]) -> y\n y = sum[k] x[k]*(z[k] else 0)", {f32({3}), f32({2})}) ==
        "y = sum[k < 3] x[k] * (if k < 2 then z[k] else 0)\n");
}

TEST_CASE("E3 stated ranges", "[notation][E3]") {
  CHECK(equations_of("f(x[n]) -> y\n t[i < n // 2] = x[2*i]\n y = sum[k < 2] t[k]", {f32({4})}) ==
        "t[i < 2] = x[2 * i]\ny = sum[k < 2] t[k]\n");
  CHECK(equations_of("f(x[..s]) {w[..s]} -> y\n y = sum[..k < ..w] x[..k]", {f32({4, 5})}, {{"w", std::int64_t{2}}}) ==
        "y = sum[k0 < 2, k1 < 2] x[k0, k1]\n");
}

TEST_CASE("E4 an index hides no other name", "[notation][E4]") {
  CHECK_THROWS_WITH(equations_of("conv(x[c]) -> y\n y = sum[c] x[c]", {f32({2})}), "conv: index c hides an extent (at 2:10)");
  CHECK_THROWS_WITH(equations_of("f(x[n]) -> y\n y = sum[x] x", {f32({2})}), Contains("index x hides a tensor"));
  CHECK_THROWS_WITH(equations_of("f(x[n]) {lr} -> y\n y = sum[lr < 2] 1.0", {f32({2})}, {{"lr", 0.5}}), Contains("index lr hides an attribute"));
  CHECK_THROWS_WITH(equations_of("f(x[n]) -> y[n]\n y[i] = sum[i < 2] x[i]", {f32({2})}), Contains("index i hides another index"));
}

TEST_CASE("E5 projection: only through a named join", "[notation][E5]") {
  const char* text = "add(a[..p], b[..q]) -> y[..(p & q)]\n y[..i] = a[..i] + b[..i]";
  CHECK(equations_of(text, {f32({2, 1, 4}), f32({3, 1})}) ==
        "y[i0 < 2, i1 < 3, i2 < 4] = a[i0, 0, i2] + b[i1, 0]\n");
  CHECK(equations_of(text, {f32({1}), f32({1})}) == "y[i0 < 1] = a[i0] + b[i0]\n");
  const char* by_let = "f(a[..p], b[..q]) -> y[..o]\n let ..o = p & q\n t[..i < ..o] = a[..i]*b[..i]\n y[..i] = t[..i] + b[..i]";
  CHECK(equations_of(by_let, {f32({2, 1}), f32({3})}) ==
        "t[i0 < 2, i1 < 3] = a[i0, 0] * b[i1]\ny[i0 < 2, i1 < 3] = t[i0, i1] + b[i1]\n");
  CHECK_THROWS_WITH(equations_of("f(a[..p], b[..q]) -> y[..p]\n y[..i] = a[..i] + b[..i]", {f32({2, 3}), f32({3})}),
                    Contains("ranges over another row"));
}

TEST_CASE("E6 else is a condition on indices", "[notation][E6]") {
  CHECK(equations_of("f(x[n]) -> y[n + 2]\n y[i] = x[i - 1] else 7", {f32({3})}) ==
        "y[i < 5] = if 0 <= i - 1 and i - 1 < 3 then x[i - 1] else 7\n");
  CHECK(equations_of("f(x[n]) -> y[n]\n y[i] = x[i] else 7", {f32({3})}) == "y[i < 3] = x[i]\n");
  CHECK(equations_of("f(x[n]) -> y[n]\n y[i] = x[i + n] else 7", {f32({3})}) == "y[i < 3] = 7\n");
  CHECK(equations_of("f(x[n], t[m] : int) -> y[m]\n y[i] = x[t[i]] else 0", {f32({3}), i64({2})}) ==
        "y[i < 2] = if 0 <= t[i] and t[i] < 3 then x[t[i]] else 0\n");
  CHECK(equations_of("f(x[n]) -> y\n y = sum[k < n + 1 where inside(x[k])] x[k]", {f32({3})}) ==
        "y = sum[k < 4 where k < 3] x[k]\n");
}

TEST_CASE("E7 absence: out of range everywhere", "[notation][E7]") {
  const char* text = "f(x[n], b[n]?) -> y[n]\n y[i] = x[i] * (b[i] else 2)";
  CHECK(equations_of(text, {f32({3}), f32({3})}) == "y[i < 3] = x[i] * b[i]\n");
  CHECK(equations_of(text, {f32({3})}) == "y[i < 3] = x[i] * 2\n");
  CHECK(equations_of("f(x[n], b[n]?) -> y[n]\n y[i] = if inside(b[i]) then 1 else 2", {f32({3})}) == "y[i < 3] = 2\n");
  CHECK_THROWS_WITH(equations_of("f(x[n], b[n]?) -> y[n]\n y[i] = b[i]", {f32({3})}), Contains("b is absent, and its read has no else"));
}

TEST_CASE("E8 members of packs", "[notation][E8]") {
  const char* text = "cat(x#[n#]) -> y[total(n#)]\n y[before(n#t) + j] = x#t[j]";
  CHECK(equations_of(text, {f32({2}), f32({0}), f32({3})}) == "y[j < 2] = x#0[j]\ny[2 + j] = x#2[j]\n");
  CHECK(equations_of("s(x#[n]) -> y[count(x#), n]\n y[t, i] = x#t[i]", {f32({2}), f32({2})}) ==
        "y[0, i < 2] = x#0[i]\ny[1, i < 2] = x#1[i]\n");
  CHECK(equations_of("d(x#[..r#]) -> y\n y = sum[t] sum[..i] x#t[..i]", {f32({2}), f32({})}) == "y = sum[i0 < 2] x#0[i0] + x#1\n");
}

TEST_CASE("E9 conditions that are known are decided", "[notation][E9]") {
  const char* text = "f(x[n]) {mode = plain | twice} -> y[n]\n y[i] when mode == plain = x[i]\n y[i] when mode == twice = 2*x[i]";
  CHECK(equations_of(text, {f32({3})}) == "y[i < 3] = x[i]\n");
  CHECK(equations_of(text, {f32({3})}, {{"mode", std::string("twice")}}) == "y[i < 3] = 2 * x[i]\n");
  CHECK(equations_of("f(x[n]) {m = 0.0} -> y[n]\n y[i] = if m == 0 then x[i] else x[i]/m", {f32({3})}) == "y[i < 3] = x[i]\n");
  CHECK(equations_of("f(x[n]) {c = false} -> y\n y = sum[k where not c or k < 1] x[k]", {f32({3})}) == "y = sum[k < 3] x[k]\n");
}

TEST_CASE("E10 attributes known at run time are scalar inputs", "[notation][E10]") {
  const Instance i = instance_of("f(x[n]) {b, a, c = 1.0} -> y[n]\n y[i] = a*x[i] + b*c", {f64({3})},
                                 {{"a", ValueName{"p"}}, {"b", ValueName{"q"}}});
  REQUIRE(i.system.inputs.size() == 3);
  CHECK(i.system[i.system.inputs[1]].name == "a");
  CHECK(i.system[i.system.inputs[2]].name == "b");
  CHECK(i.system[i.system.inputs[1]].dtype == DType::f64);
  CHECK(i.system[i.system.inputs[1]].dims == Dims{});
  CHECK(i.attributes.at("a") == AttributeValue(ValueName{"p"}));
  CHECK(i.attributes.at("c") == AttributeValue(1.0));
}

TEST_CASE("E11 locals: their types, and those nobody needs", "[notation][E11]") {
  const char* text = "f(x[n] : real) -> y[n]\n t[i] = 2*x[i]\n c[i] = x[i] < 0\n k[i < n] = i + 1\n dead[i] = exp(x[i])\n y[i] = if c[i] then t[i]*k[i] else 0";
  const Instance i = instance_of(text, {{{DType::f16, {3}}}});
  CHECK(i.system[i.system.find("t")].dtype == DType::f32);
  CHECK(i.system[i.system.find("c")].dtype == DType::boolean);
  CHECK(i.system[i.system.find("k")].dtype == DType::i64);
  CHECK(i.system.find("dead") == -1);
  CHECK(i.results == std::vector<ValueType>{{DType::f16, {3}}});
}

TEST_CASE("E12 positions: flat and unflat", "[notation][E12]") {
  CHECK(equations_of("f(x[..r]) {shape[..s]} -> y[..shape]\n y[..i] = x[..unflat(flat(..i, ..shape), ..r)]", {f32({2, 6})},
                     {{"shape", std::vector<std::int64_t>{3, 4}}}) ==
        "y[i0 < 3, i1 < 4] = x[(i0 * 4 + i1) // 6, (i0 * 4 + i1) % 6]\n");
  CHECK(equations_of("f(x[...]) -> y[...]\n y[...] = flat(...)", {f32({2, 3})}) == "y[i0 < 2, i1 < 3] = real(i0 * 3 + i1)\n");
}

TEST_CASE("E13 equations without elements", "[notation][E13]") {
  CHECK(equations_of("f(x[n]) -> y[n]\n y[i] = x[i] / (max[k] x[k])", {f32({0})}) == "y[i0 < 0] = 0\n");
  CHECK_THROWS_WITH(equations_of("f(x[n], z[m]) -> y[n]\n y[i] = x[i] + max[k] z[k]", {f32({2}), f32({0})}),
                    Contains("max is over an empty set and has no else"));
}

TEST_CASE("E14 recurrences: results and locals at other steps", "[notation][E14]") {
  const Instance product = instance_of("f(x[..r, n @ axis]) {axis = 0} -> y[..r, n @ axis]\n"
                                       " y[..i, j @ axis] = (y[..i, j - 1 @ axis] else 1) * x[..i, j @ axis]",
                                       {f32({3, 2})});
  CHECK_NOTHROW(verify(product.system));
  CHECK(equations_of("f(x[n]) -> y\n t[i] = (t[i - 1] else 0) + x[i]\n y = t[n - 1]", {f32({3})}) ==
        "t[i < 3] = (if 0 <= i - 1 then t[i - 1] else 0) + x[i]\ny = t[2]\n");
  // A local may read a result that stands after it; an equation between them that neither reads moves out.
  const Instance network = instance_of(
      "f(x[n, m], w[m, m]) -> h[n, m]\n"
      " a[s < n, k] = sum[j] w[k, j]*(h[s - 1, j] else 0)\n b[s, k] = exp(x[s, k])\n h[s, k] = tanh(a[s, k]) + b[s, k]",
      {f32({3, 2}), f32({2, 2})});
  CHECK_NOTHROW(verify(network.system));
  REQUIRE(network.system.equations.size() == 3);
  CHECK(network.system[network.system.equations[0].target].name == "b");
  CHECK_THROWS_WITH(verify(instance_of("f(x[n]) -> y[n]\n y[i] = y[i] * x[i]", {f32({3})}).system),
                    Contains("no axis along which every read of itself is proved to be at a smaller index"));
  CHECK_THROWS_WITH(equations_of("f(x[n]) -> y[n]\n y[i] = t[i]\n t[i] = x[i]", {f32({3})}), Contains("t is not a tensor that stands before"));
}

namespace {

/// The equations of a call of the last operation that the text defines.
std::string equations_of_last(const std::string& text, const Operands& operands, const Attributes& attributes = {}) {
  const Library library = Library().with(text);
  std::string all = to_text(instantiate(library.named(library.added().back()), operands, {}, attributes).system);
  std::string kept;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    const std::string line = all.substr(at, end - at);
    if (!line.starts_with("input ") && !line.starts_with("output ")) kept += line + "\n";
    at = end + 1;
  }
  return kept;
}

const std::string callees =
    "scaled(x[...]) {by = 2.0} -> y[...]\n t[...] = by*x[...]\n y[...] = t[...] + 1\n"
    "both(x[n]) -> low[n], high[n]\n low[i] = minimum(x[i], 0)\n high[i] = maximum(x[i], 0)\n"
    "weigh(a[n], b[n]?) -> y\n y = sum[i] a[i]*(b[i] else 1)\n"
    "total_of(x#[n]) {axis = 0} -> y[n]\n y[i] = sum[t] x#t[i]\n";

}  // namespace

TEST_CASE("E15 calls are written out", "[notation][E15]") {
  CHECK(equations_of_last(callees + "f(x[n]) -> y[n]\n z = scaled(x) {by = 3}\n y[i] = z[i]*z[i]", {f32({2})}) ==
        "z.t[i0 < 2] = 3 * x[i0]\nz[i0 < 2] = z.t[i0] + 1\ny[i < 2] = z[i] * z[i]\n");
  CHECK(equations_of_last(callees + "f(x[n]) {k = 1.5} -> y[n]\n y = scaled(x) {by = k}", {f32({2})}) ==
        "y.t[i0 < 2] = 1.5 * x[i0]\ny[i0 < 2] = y.t[i0] + 1\n");
  CHECK(equations_of_last(callees + "f(x[n]) {k} -> y[n]\n y = scaled(x) {by = k}", {f32({2})}, {{"k", ValueName{"rate"}}}) ==
        "y.t[i0 < 2] = k * x[i0]\ny[i0 < 2] = y.t[i0] + 1\n");
  CHECK(equations_of_last(callees + "f(x[n]) -> y[n]\n _, y = both(x)", {f32({2})}) == "y[i < 2] = maximum(x[i], 0)\n");
  CHECK(equations_of_last(callees + "f(x[n]) -> y[n]\n a, b = both(x)\n y[i] = b[i]", {f32({2})}) ==
        "b[i < 2] = maximum(x[i], 0)\ny[i < 2] = b[i]\n");
  CHECK(equations_of_last(callees + "f(a[n], b[n]?) -> y\n y = weigh(a, b)", {f32({2}), std::nullopt}) ==
        equations_of_last(callees + "f(a[n]) -> y\n y = weigh(a, _)", {f32({2})}));
  CHECK(equations_of_last(callees + "f(x#[n]) -> y[n]\n y = total_of(x#)", {f32({2}), f32({2})}) == "y[i < 2] = x#0[i] + x#1[i]\n");
  CHECK(equations_of_last(callees + "f(x[n]) {c = true} -> y[n]\n y when c = scaled(x)\n y when not c = total_of(x, x)", {f32({2})},
                          {{"c", false}}) == "y[i < 2] = x[i] + x[i]\n");
}

TEST_CASE("E15 what a call breaks is an error of the call", "[notation][E15]") {
  const auto refused = [](const std::string& text, const std::string& message) {
    CHECK_THROWS_WITH(equations_of_last(callees + text, {f32({2}), f32({3})}), Contains(message));
  };
  refused("f(x[n], z[m]) -> y\n y = weigh(x, z)", "f: weigh: n is 2 in a, 3 in b");
  refused("f(x[n], z[m]) -> y\n y, w = weigh(x)", "weigh gives 1 results, 2 are named");
  refused("f(x[n], z[m]) -> y\n y = scaled(x)", "y has extents [], scaled gives [2]");
  refused("f(x[n], z[m]) -> y\n y = scaled(x) {be = 2}", "scaled has no attribute be");
  refused("f(x[n], z[m]) -> y\n y = scaled(x) {by = x}", "x does not follow from extents and attributes");
  refused("f(x[n], z[m]) -> y[n]\n t = scaled(x)\n t = scaled(x)\n y[i] = t[i]", "t is defined twice");
}

TEST_CASE("E15 a local of halves is handed on as the halves that it stands for", "[notation][E15]") {
  const Library library = Library().with(callees + "f(x[n]) -> y\n t[i] = x[i]*x[i]\n y = weigh(x, t)");
  const auto instance = instantiate(library.named("f"), Operands{ValueType{DType::f16, Dims{2}}}, {}, {});
  CHECK(instance.results[0].dtype == DType::f16);
  CHECK(instance.system[instance.system.equations[0].target].dtype == DType::f32);
}

TEST_CASE("E16 a part takes the place of the equations that give the same tensors", "[notation][E16]") {
  const auto d = std::make_unique<Definition>(
      parse("f(x[n], k[n] : int, b[n]?) -> y[n]\n s[i] = x[i]*x[i]\n y[i] = s[i] + (b[i] else 0)\n also\n y[i] = x[i]^2 + (b[i] else 0)\n"
            " vjp\n x~[i] = 2*x[i]*y~[i]\n b~[i] = y~[i]\n jvp\n y'[i] = 2*x[i]*x'[i] + (b'[i] else 0)"));
  REQUIRE(d->ok());
  const Operands operands{f32({2}), i64({2}), std::nullopt};
  const auto text = [&](std::size_t part) { return to_text(instantiate_part(*d, part, operands, {}, {}).system); };
  CHECK_THAT(text(1), Contains("y[i < 2] = x[i] ^ 2") && !Contains("s["));
  CHECK_THAT(text(2), Contains("y[i < 2] = s[i]") && Contains("x~[i < 2] = 2 * x[i] * y~[i]") && Contains("input y~[2]") && !Contains("b~"));
  CHECK_THAT(text(3), Contains("y'[i < 2] = 2 * x[i] * x'[i]") && Contains("input x'[2]") && !Contains("b'"));
  CHECK(instantiate(*d, operands, {}, {}).system.outputs.size() == 1);
}
