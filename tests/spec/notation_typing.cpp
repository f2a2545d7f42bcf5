// Clauses T1 to T15 of docs/notation.md.
#include <catch2/catch.hpp>

#include <array>

#include "spec/library/operations.hpp"
#include "tests/spec/notation_call.hpp"

using namespace etalon;
using namespace etalon::spec;
using Catch::Contains;

namespace {

constexpr const char* matmul_text = "matmul(a[..p, m, k], b[..q, k, n]) -> y[..(p & q), m, n]\n y[..i, r, c] = sum[j] a[..i, r, j]*b[..i, j, c]";
constexpr const char* reduce_text = "total(x[..kept, ..gone @ axes]) {axes = all, keepdims = false} -> y[..kept, keep(..gone, keepdims) @ axes]\n y[..i, ..u @ axes] = sum[..k] x[..i, ..k @ axes]";
constexpr const char* along_text = "along(x[..rest, n @ axis]) {axis = -1} -> y[..rest, n @ axis]\n y[..i, j @ axis] = x[..i, j @ axis]";
constexpr const char* window_text = "window(x[..s]) {width[..s], stride[..s] = 1} -> y[..((s - width) // stride + 1)]\n y[..i] = x[..(i*stride)]";

}  // namespace

TEST_CASE("T1 count of operands", "[notation][T1]") {
  CHECK(type_error("f(a, b?) -> y\n y = a", {f32({})}) == "");
  CHECK(type_error("f(a, b?) -> y\n y = a", {f32({}), std::nullopt}) == "");
  CHECK(type_error("f(a, b?) -> y\n y = a", {}) == "f: takes 1 operand (a, b?), got 0 (at 1:1)");
  CHECK(type_error("f(a, b) -> y\n y = a", {f32({}), f32({}), f32({})}) == "f: takes 2 operands (a, b), got 3 (at 1:1)");
  CHECK(type_error("f(a, b) -> y\n y = a", {std::nullopt, f32({})}) == "f: operand a is missing (at 1:3)");
  const char* two = "f(a#[n], b#[n]) -> y\n y = 0*total(n#)";
  CHECK_THAT(type_error(two, {f32({1}), f32({1})}), Contains("the lengths of its packs are not stated"));
  const char* open = "f(a[..p, n], b[..q, m]?) -> y[..(p & q), n]\n requires m == n or m == 1\n y[..i, j] = a[..i, j] * (b[..i, (if m == n then j else 0)] else 2)";
  CHECK(type_of(open, {f32({2, 3}), std::nullopt}) == std::vector<ValueType>{f32({2, 3})});
  CHECK(type_of(open, {f32({2, 3}), f32({4, 1, 1})}) == std::vector<ValueType>{f32({4, 2, 3})});
  CHECK_THAT(type_error(open, {f32({2, 3}), f32({2})}), Contains("violated: requires m == n or m == 1"));
  CHECK_NOTHROW(verify(instance_of(open, {f32({2, 3}), std::nullopt}).system));
}

TEST_CASE("T2 element types: T is shared, nothing is promoted", "[notation][T2]") {
  CHECK(type_error("add(a, b) -> y\n y = a + b", {f32({}), f64({})}) == "add: a is f32, b is f64; use cast (at 1:8)");
  CHECK(type_error("f(a) -> y\n y = a", {i64({})}) == "f: a is i64, want a real type; use cast (at 1:3)");
  CHECK(type_error("f(a : number) -> y\n y = a", {i64({})}) == "");
  CHECK_THAT(type_error("f(a : number) -> y\n y = a", {flag({})}), Contains("want a real or integer type"));
  CHECK(type_error("f(a : any, c : bool, t : int) -> y\n y = a", {f64({}), flag({}), {{DType::i32, {}}}}) == "");
  CHECK_THAT(type_error("f(c : bool) -> y : bool\n y = c", {f32({})}), Contains("c is f32, want bool"));
}

TEST_CASE("T3 attributes: unknown, missing, of the wrong kind", "[notation][T3]") {
  CHECK(type_error(along_text, {f32({2})}, "axes=0") == "along: no attribute axes; did you mean axis?");
  CHECK_THAT(type_error(along_text, {f32({2})}, "axis=0.5"), Contains("along: attribute axis wants an integer"));
  const char* rate = "f(x) {lr, r = mean | sum} -> y\n y = lr*x";
  CHECK_THAT(type_error(rate, {f32({})}), Contains("f: attribute lr is missing"));
  CHECK(type_error(rate, {f32({})}, "lr=1") == "");
  CHECK_THAT(type_error(rate, {f32({})}, "lr=1, r=total"), Contains("attribute r wants one of mean | sum"));
  CHECK_THAT(type_error(rate, {f32({})}, "lr=true"), Contains("attribute lr wants a real number"));
  CHECK_THAT(type_error(rate, {f32({})}, "lr 1"), Contains("written name=value"));
  const auto d = std::make_unique<Definition>(parse(rate));
  const Attributes at_run_time{{"lr", ValueName{"rate"}}};
  CHECK(bind_attributes(*d, at_run_time).diagnosis.message() == "");
  const auto e = std::make_unique<Definition>(parse(along_text));
  const Attributes axis_at_run_time{{"axis", ValueName{"a"}}};
  CHECK_THAT(std::string(bind_attributes(*e, axis_at_run_time).diagnosis.message()), Contains("axis wants an integer"));
}

TEST_CASE("T3 attributes: a value fits the element type", "[notation][T3]") {
  const char* fill = "f(x[n] : any) {v : value = 0} -> y[n]\n y[i] = x[i]";
  for (const DType t : {DType::f16, DType::f64, DType::i32, DType::boolean}) {
    CHECK(type_error(fill, {{{t, {2}}}}) == "");
    CHECK(type_error(fill, {{{t, {2}}}}, "v=1") == "");
  }
  CHECK(type_error(fill, {f32({2})}, "v=0.5") == "");
  CHECK(type_error(fill, {i64({2})}, "v=0.5") == "f: attribute v wants an integer beside i64 (at 1:16)");
  CHECK(type_error(fill, {i64({2})}, "v=true") == "f: attribute v wants an integer beside i64 (at 1:16)");
  CHECK(type_error(fill, {f32({2})}, "v=true") == "f: attribute v wants a real number beside f32 (at 1:16)");
  CHECK(type_error(fill, {flag({2})}, "v=true") == "");
  CHECK(type_error(fill, {flag({2})}, "v=2") == "f: attribute v wants true or false beside bool (at 1:16)");
  CHECK_THAT(type_error(fill, {f32({2})}, "v=some"), Contains("attribute v wants a number or a truth value"));
  CHECK(type_error("g() {v : value, to = f32} -> y : to\n y = v", {}, "v=0.5, to=i32") ==
        "g: attribute v wants an integer beside i32 (at 1:6)");
}

TEST_CASE("T4 extents: a disagreement names both operands and both numbers", "[notation][T4]") {
  CHECK(type_error(matmul_text, {f32({2, 3}), f32({4, 5})}) == "matmul: k is 3 in a, 4 in b (at 1:29)");
  CHECK(type_error("f(x[n, n]) -> y\n y = 0", {f32({2, 3})}) == "f: n is 2 in x, 3 in x (at 1:8)");
  CHECK(type_error("f(x[n], w[4*n]) -> y\n y = 0", {f32({2}), f32({7})}) == "f: 4*n is 8, w has 7 (at 1:11)");
  CHECK(type_of(matmul_text, {f32({0, 3}), f32({3, 0})}) == std::vector<ValueType>{f32({0, 0})});
}

TEST_CASE("T5 rows: any number of axes, their rank must follow", "[notation][T5]") {
  CHECK(type_of("f(x[..., n]) -> y[n, ...]\n y[i, ...] = x[..., i]", {f32({2, 3, 4})}) == std::vector<ValueType>{f32({4, 2, 3})});
  CHECK(type_error("f(x[...], t[...]) -> y\n y = 0", {f32({2, 3}), f32({2})}) == "f: t has rank 1, want 2 (at 1:11)");
  CHECK(type_error("f(x[...], t[...]) -> y\n y = 0", {f32({2}), f32({3})}) == "f: ... is [2] in x, [3] in t (at 1:13)");
  CHECK(type_error("f(x[n, ...]) -> y\n y = 0", {f32({})}) == "f: x has rank 0, want at least 1 (at 1:3)");
  CHECK(type_error("f(x[n]) -> y\n y = 0", {f32({2, 3})}) == "f: x has rank 2, want 1 (at 1:3)");
  CHECK_THAT(type_error("f(x[..p, ..q]) -> y\n y = 0", {f32({2, 3})}), Contains("the rows of x cannot be told apart"));
  CHECK(type_error("f(x[..p, ..q], g[..q]) -> y[..p]\n y[..i] = 0", {f32({2, 3}), f32({3})}) == "");
  CHECK(type_of("f(x[..p], w[..q]?) -> y[..(p & q)]\n y[..i] = x[..i]*(w[..i] else 1)", {f32({2, 3})}) == std::vector<ValueType>{f32({2, 3})});
}

TEST_CASE("T5 rows of at most one axis", "[notation][T5]") {
  const char* product = "f(a[..p, ..m?, k], b[k, ..n?]) -> y[..p, ..m, ..n]\n y[..i, ..r, ..c] = sum[j] a[..i, ..r, j]*b[j, ..c]";
  CHECK(type_of(product, {f32({5, 4, 3, 2}), f32({2, 7})}) == std::vector<ValueType>{f32({5, 4, 3, 7})});
  CHECK(type_of(product, {f32({2}), f32({2, 7})}) == std::vector<ValueType>{f32({7})});
  CHECK(type_of(product, {f32({3, 2}), f32({2})}) == std::vector<ValueType>{f32({3})});
  CHECK(type_of(product, {f32({2}), f32({2})}) == std::vector<ValueType>{f32({})});
  CHECK(type_error(product, {f32({}), f32({2})}) == "f: a has rank 0, want at least 1 (at 1:3)");
  CHECK(type_error(product, {f32({2}), f32({2, 3, 4})}) == "f: b has rank 3, want 2 (at 1:20)");
  CHECK_FALSE(parse("f(a[n]) -> y[..n?]\n y[..i] = 0").ok());
}

TEST_CASE("T6 placement: axes that attributes name", "[notation][T6]") {
  CHECK(type_of(along_text, {f32({2, 3, 4})}, "axis=-3") == std::vector<ValueType>{f32({2, 3, 4})});
  CHECK_THAT(type_error(along_text, {f32({2, 3})}, "axis=2"), Contains("axis names axis 2, x has rank 2"));
  CHECK_THAT(type_error(reduce_text, {f32({2, 3})}, "axes=[1, -1]"), Contains("axes names axis 1 of x twice"));
  CHECK(type_of(reduce_text, {f32({2, 3, 4})}, "axes=[2, 0]") == std::vector<ValueType>{f32({3})});
  CHECK(type_of(reduce_text, {f32({2, 3, 4})}, "axes=[2, 0], keepdims=true") == std::vector<ValueType>{f32({1, 3, 1})});
  CHECK(type_of(reduce_text, {f32({2, 3, 4})}, "axes=1") == std::vector<ValueType>{f32({2, 4})});
  CHECK(type_of(reduce_text, {f32({2, 3, 4})}) == std::vector<ValueType>{f32({})});
  const char* parted = "take(x[..l, n @ axis, ..r]) {axis = 0} -> y[..l], z[..r]\n y[..i] = 0\n z[..i] = 0";
  CHECK(type_of(parted, {f32({2, 3, 4})}, "axis=1") == std::vector<ValueType>{f32({2}), f32({4})});
  CHECK(type_of(parted, {f32({2, 3, 4})}, "axis=-1") == std::vector<ValueType>{f32({2, 3}), f32({})});
  const char* masked = "masked(x[..p, n @ axis], m[..q, n @ axis]) {axis = -1} -> y[..(p & q), n @ axis]\n y[..i, j @ axis] = x[..i, j @ axis]*m[..i, j @ axis]";
  CHECK(type_of(masked, {f32({2, 3, 4}), f32({3, 4})}) == std::vector<ValueType>{f32({2, 3, 4})});
  CHECK(type_of(masked, {f32({2, 3, 4}), f32({3, 1})}, "axis=-2") == std::vector<ValueType>{f32({2, 3, 4})});
  CHECK(type_error(masked, {f32({2, 3, 4}), f32({3, 4})}, "axis=2") == "masked: axis names axis 2, m has rank 2 (at 1:33)");
  CHECK(std::get<std::int64_t>(instance_of(masked, {f32({2, 3}), f32({3})}).attributes.at("axis")) == -1);
  CHECK(std::get<std::int64_t>(instance_of(masked, {f32({2, 3}), f32({1, 3})}).attributes.at("axis")) == 1);
  const char* turned = "turn(x[..s @ order, n]) {order = reversed} -> y[..s]\n y[..i] = 0";
  CHECK(type_of(turned, {f32({2, 3, 4})}) == std::vector<ValueType>{f32({3, 2})});
  CHECK(type_of(turned, {f32({2, 3, 4})}, "order=all") == std::vector<ValueType>{f32({2, 3})});
  const Instance normal = instance_of(reduce_text, {f32({2, 3})}, {{"axes", std::vector<std::int64_t>{-1}}});
  CHECK(std::get<std::vector<std::int64_t>>(normal.attributes.at("axes")) == std::vector<std::int64_t>{1});
}

TEST_CASE("T7 list attributes have the rank of their row", "[notation][T7]") {
  CHECK(type_of(window_text, {f32({5, 7})}, "width=3") == std::vector<ValueType>{f32({3, 5})});
  CHECK(type_of(window_text, {f32({5, 7})}, "width=[3, 1], stride=[1, 2]") == std::vector<ValueType>{f32({3, 4})});
  CHECK_THAT(type_error(window_text, {f32({5, 7})}, "width=[3]"), Contains("width has 1 items, row s has 2 axes"));
}

TEST_CASE("T8 joins of rows", "[notation][T8]") {
  CHECK(type_of(matmul_text, {f32({2, 1, 4, 3}), f32({5, 3, 7})}) == std::vector<ValueType>{f32({2, 5, 4, 7})});
  CHECK(type_error(matmul_text, {f32({3, 2, 3}), f32({2, 3, 5})}) ==
        "matmul: p is [3] and q is [2], which do not join (at 1:43)");
  CHECK(type_of("f(a[..p], b[..q]) -> y[..(p & q)]\n y[..i] = a[..i]", {f32({1}), f32({0})}) ==
        std::vector<ValueType>{f32({0})});
}

TEST_CASE("T9 row arithmetic is by axis", "[notation][T9]") {
  CHECK(type_of("f(x[..r], k[..w]) -> y[..(2*r - w + 1)]\n y[..i] = 0", {f32({5, 6}), f32({2, 3})}) ==
        std::vector<ValueType>{f32({9, 10})});
  CHECK_THAT(type_error("f(x[..r], k[..w]) -> y[..(r - w)]\n y[..i] = 0", {f32({5, 6}), f32({2})}),
             Contains("mixes rows of 2 and 1 axes"));
  CHECK_THAT(type_error("f(x[..r]) -> y\n requires ..r > 2\n y = 0", {f32({3, 2})}), Contains("violated: requires ..r > 2"));
  CHECK(type_error("f(x[..r]) -> y\n requires ..r > 2\n y = 0", {f32({3, 3})}) == "");
}

TEST_CASE("T10 packs", "[notation][T10]") {
  const char* text = "cat(x#[..rest, n# @ axis]) {axis = 0} -> y[..rest, total(n#) @ axis], c[count(x#)]\n y[..i, before(n#t) + j @ axis] = x#t[..i, j @ axis]\n c[i] = 0";
  CHECK(type_of(text, {f32({2, 3}), f32({2, 0}), f32({2, 4})}, "axis=1") == std::vector<ValueType>{f32({2, 7}), f32({3})});
  CHECK(type_error(text, {f32({2, 3}), f32({3, 3})}, "axis=1") == "cat: ..rest is [2] in x, [3] in x (at 1:10)");
}

TEST_CASE("T11 functions of rows: size, keep, only", "[notation][T11]") {
  CHECK(type_of("f(x[..r]) -> y[size(..r)]\n y[i] = 0", {f32({2, 3})}) == std::vector<ValueType>{f32({6})});
  CHECK(type_of("f(x[...]) {whole = true} -> y[only(..., whole)]\n y[...] = 0", {f32({2, 3})}) ==
        std::vector<ValueType>{f32({2, 3})});
  CHECK(type_of("f(x[...]) {whole = true} -> y[only(..., whole)]\n y[...] = 0", {f32({2, 3})}, "whole=false") ==
        std::vector<ValueType>{f32({})});
  const char* first = "f(x[b, ..s]) {whole = true} -> y[only(b, whole), ..s]\n y[n, ..k] when whole = x[n, ..k]\n y[..k] when not whole = sum[n] x[n, ..k]";
  CHECK(type_of(first, {f32({2, 3})}) == std::vector<ValueType>{f32({2, 3})});
  CHECK(type_of(first, {f32({2, 3})}, "whole=false") == std::vector<ValueType>{f32({3})});
}

TEST_CASE("T11 functions of rows: rank, part, completed", "[notation][T11]") {
  CHECK(type_of("f(x[..r]) -> y[rank(..r)]\n y[i] = 0", {f32({2, 3})}) == std::vector<ValueType>{f32({2})});
  const char* some = "f(x[..r]) {a = 0, b = 2} -> y[..part(..r, a, b)]\n y[..i] = 0";
  CHECK(type_of(some, {f32({2, 3, 4})}) == std::vector<ValueType>{f32({2, 3})});
  CHECK(type_of(some, {f32({2, 3, 4})}, "a=2, b=9") == std::vector<ValueType>{f32({4})});
  CHECK(type_of(some, {f32({2, 3, 4})}, "a=2, b=1") == std::vector<ValueType>{f32({})});
  const char* whole = "f(x[..r]) {to[..s]} -> y[..completed(..to, size(..r))]\n y[..i] = 0";
  CHECK(type_of(whole, {f32({2, 3})}, "to=[3, -1]") == std::vector<ValueType>{f32({3, 2})});
  CHECK(type_of(whole, {f32({2, 0})}, "to=[3, -1]") == std::vector<ValueType>{f32({3, 0})});
  CHECK(type_of(whole, {f32({2, 3})}, "to=[5]") == std::vector<ValueType>{f32({5})});
  CHECK_THAT(type_error(whole, {f32({2, 3})}, "to=[-1, 6, -1]"), Contains("f: to is [-1, 6, -1], at most one of them may be -1"));
  CHECK_THAT(type_error(whole, {f32({2, 3})}, "to=[4, -1]"), Contains("no one extent for its -1 where the size is 6"));
  CHECK_THAT(type_error(whole, {f32({0})}, "to=[0, -1]"), Contains("no one extent for its -1 where the size is 0"));
}

TEST_CASE("T12 a violated condition is quoted", "[notation][T12]") {
  CHECK(type_error("f(x[n]) {groups = 1} -> y\n requires n % groups == 0\n y = 0", {f32({5})}, "groups=2") ==
        "f: violated: requires n % groups == 0 (at 2:2)");
}

TEST_CASE("T13 extents of results: never negative, floor division by positive numbers", "[notation][T13]") {
  CHECK_THAT(type_error(window_text, {f32({2})}, "width=4"), Contains("extent ..((s - width) // stride + 1) is -1"));
  CHECK(type_of(window_text, {f32({2})}, "width=3, stride=2") == std::vector<ValueType>{f32({0})});
  CHECK_THAT(type_error(window_text, {f32({2})}, "width=1, stride=0"), Contains("stride is 0") && Contains("want a positive number"));
  const char* square = "f(x[..r] : any) -> y[size(..r), size(..r)]\n y[i, j] = 0";
  const std::int64_t many = std::int64_t{1} << 31;
  CHECK(type_error(square, {f32({many})}) == "f: y would be f32[2147483648, 2147483648], more than 64 bits can address (at 1:20)");
  CHECK(type_error(square, {flag({many})}) == "");
  CHECK(type_error(square, {f32({many, many})}) == "f: x is f32[2147483648, 2147483648], more than 64 bits can address (at 1:3)");
  CHECK_THAT(type_error(square, {f32({many, many, 0})}), Contains("more than 64 bits can address"));
  CHECK_THAT(type_error("f(x[..r] : any) -> y[size(..(r*r))]\n y[i] = 0", {flag({many, many})}), Contains("size(..(r*r)) does not fit 64 bits"));
  CHECK_THAT(type_error("f(x[n]) -> y[n/2]\n y[i] = 0", {f32({2})}), Contains("n/2 is not an integer known"));
}

TEST_CASE("T14 families fix a rank", "[notation][T14]") {
  using Conv1d = decltype(ops::conv1d)::operation;
  using Conv2d = decltype(ops::conv2d)::operation;
  CHECK(definition_of<Conv2d>.name == "conv2d");
  const Operands three{f32({1, 1, 4}), f32({1, 1, 2})};
  const Typing t = type_call(definition_of<Conv2d>, three, {}, bind_attributes(definition_of<Conv2d>, ""));
  CHECK(std::string(t.diagnosis.message()) == "conv2d: x has rank 3, want 4 (at 2:6)");
  CHECK(type_call(definition_of<Conv1d>, three, {}, bind_attributes(definition_of<Conv1d>, "")).ok());
}

namespace {

constexpr std::array<std::optional<ValueType>, 2> constant_call(const Dims& a, const Dims& b) {
  return {ValueType{DType::f32, a}, ValueType{DType::f32, b}};
}
constexpr auto good = constant_call({2, 1, 4, 3}, {5, 3, 7});
constexpr auto bad = constant_call({2, 3}, {4, 5});
constexpr Typing good_typing = type_call(definition_of<ops::MatmulText>, good, {}, bind_attributes(definition_of<ops::MatmulText>, ""));
constexpr Typing bad_typing = type_call(definition_of<ops::MatmulText>, bad, {}, bind_attributes(definition_of<ops::MatmulText>, ""));
static_assert(good_typing.ok() && good_typing.results[0].dims == Dims{2, 5, 4, 7});
static_assert(!bad_typing.ok());

}  // namespace

TEST_CASE("T15 one code: compile time and run time give the same message", "[notation][T15]") {
  CHECK(std::string(bad_typing.diagnosis.message()) == "matmul: k is 3 in a, 4 in b (at 2:41)");
  const Operands operands(bad.begin(), bad.end());
  const Typing t = type_call(definition_of<ops::MatmulText>, operands, {}, bind_attributes(definition_of<ops::MatmulText>, Attributes{}));
  CHECK(t.diagnosis.message() == bad_typing.diagnosis.message());
}
