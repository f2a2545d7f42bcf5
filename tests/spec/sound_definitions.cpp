// No definition reads beyond its tensors or leaves an element of a result out, from whatever door it comes: what is
// verified, what is refused and how, and what data does to indices.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include "reference/evaluate.hpp"
#include "spec/error.hpp"
#include "spec/library/defined.hpp"
#include "spec/library/library.hpp"
#include "spec/library/trial.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/program/program.hpp"
#include "spec/system/ranges.hpp"
#include "spec/system/simplify.hpp"
#include "tests/spec/notation_call.hpp"
#include "tests/spec/notation_samples.hpp"

namespace etalon::spec {
namespace {

using P = Primitive;

/// The message with which the last definition of the text refuses a call; empty when it is accepted.
std::string refusal(const std::string& text, const Operands& operands, const Attributes& attributes = {}) {
  const Library library = Library().with(text, "mine.etalon");
  try {
    (void)instantiate(library.named(library.added().back()), operands, {}, attributes);
  } catch (const Unsound& error) {
    return error.what();
  }
  return "";
}

const std::string shifted = "f(x[n]) -> y[n]\n  y[i] = x[i + 1]\n";

TEST_CASE("a read beyond a tensor is refused with name, line and index", "[sound]") {
  const Operands five{f32({5})};
  CHECK(refusal(shifted, five) == "mine.etalon:2:10: f reads x[i + 1] at 5, but axis n has 5 elements (0 to 4)");
  CHECK(refusal("-- A comment.\n\n" + shifted, five).starts_with("mine.etalon:4:10: f reads x[i + 1] at 5,"));
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i] = x[i+100000000]\n", five) ==
        "mine.etalon:2:10: f reads x[i+100000000] at 100000000, but axis n has 5 elements (0 to 4)");
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i] = x[i - 1]\n", five).find("reads x[i - 1] at -1,") != std::string::npos);
  CHECK(refusal("f(x[n]) -> y\n  y = x[0]\n", {f32({0})}) == "mine.etalon:2:7: f reads x[0] at 0, but axis n has no elements");
  CHECK(refusal("f(x[..r, 3]) -> y[..r]\n  y[..i] = x[..i, 3]\n", {f32({2, 3})}) ==
        "mine.etalon:2:12: f reads x[..i, 3] at 3, but axis 1 has 3 elements (0 to 2)");
  CHECK(refusal("f(x[n]) {by : int} -> y[n]\n  y[i] = x[i + by]\n", five, {{"by", std::int64_t{-2}}}).find("reads x[i + by] at -2,") !=
        std::string::npos);
  CHECK(refusal("f(x[n]) {by : int} -> y[n]\n  y[i] = x[i + by]\n", five, {{"by", std::int64_t{0}}}).empty());
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i] = x[i*i % n]\n", five).empty());
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i] = x[i*i]\n", five).find("reads x[i*i] at 9,") != std::string::npos);
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i] = if i*i < n then x[i*i] else 0\n", five).empty());
  CHECK(refusal("f(x[n]) -> y\n  y = sum[k < n + 1] x[k]\n", five).find("reads x[k] at 5,") != std::string::npos);
}

TEST_CASE("an element given twice, never or elsewhere is refused with its indices", "[sound]") {
  const Operands five{f32({5})};
  CHECK(refusal("f(x[n]) -> y[n]\n  y[0] = x[0]\n", five) ==
        "mine.etalon:1:12: f gives y[1] no value; each element of a result is given by exactly one equation");
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i] = x[i]\n  y[0] = x[0]\n", five) ==
        "mine.etalon:3:3: f gives y[0] a second time; each element of a result is given by exactly one equation");
  CHECK(refusal("f(x[n]) -> y[n]\n  y[i + 1] = x[i]\n", five) == "mine.etalon:2:3: f gives y[5], but axis n has 5 elements (0 to 4)");
  CHECK(refusal("f(x[n]) -> y[n]\n  y[n - 1 - i] = x[i]\n", five).empty());
  CHECK(refusal("f(x[n]) -> y\n  y = x[0]\n  y = x[1]\n", five).starts_with("mine.etalon:3:3: f gives y a second time"));
  CHECK(refusal("f(x[n]) -> y[2*n]\n  y[2*i] = x[i]\n  y[2*i + 1] = x[i]\n", five).empty());
  CHECK(refusal("f(x[n]) -> y[2*n]\n  y[2*i] = x[i]\n  y[2*i] = x[i]\n", five).starts_with("mine.etalon:3:3: f gives y[0] a second time"));
}

TEST_CASE("an index from data needs a guard", "[sound]") {
  const Operands types{f32({5}), i64({3})};
  CHECK(refusal("f(x[n], t[m] : int) -> y[m]\n  y[i] = x[t[i]]\n", types) ==
        "mine.etalon:2:10: f reads x[t[i]] at an index that is not proved to be within axis n, which has 5 elements (0 to 4); a read "
        "that may leave its tensor has an else");
  CHECK(refusal("f(x[n], t[m] : int) -> y[m]\n  y[i] = x[t[i]] else 0\n", types).empty());
  CHECK(refusal("f(x[n], t[m] : int) -> y[m]\n  y[i] = x[t[i] % n]\n", types).empty());
  CHECK(refusal("f(x[n], t[m] : int) -> y[m]\n  y[i] = x[t[i] + 1] else 0\n", types).empty());
}

/// The fault may stand in any one of the equations: a verifier that passes over one of them finds too few.
TEST_CASE("a fault in any one of several equations is found", "[sound]") {
  const std::vector<std::string> equations{"t[i] = x[i]", "u[i] = 2*x[i]", "y[i] = t[i] + u[i]", "z[i] = sum[k < n] x[k]"};
  const std::vector<std::string> faulty{"t[i < n] = x[i + 1]", "u[i < n] = 2*x[i - 1]", "y[i] = t[i] + u[n]", "z[i] = sum[k < n + 1] x[k]"};
  std::size_t found = 0;
  for (std::size_t wrong = 0; wrong <= equations.size(); ++wrong) {
    std::string text = "f(x[n]) -> y[n], z[n]\n";
    for (std::size_t e = 0; e < equations.size(); ++e) text += "  " + (e == wrong ? faulty[e] : equations[e]) + "\n";
    const std::string message = refusal(text, {f32({4})});
    CAPTURE(text, message);
    if (wrong == equations.size()) CHECK(message.empty());
    else found += message.starts_with("mine.etalon:" + std::to_string(wrong + 2) + ":") ? 1U : 0U;
  }
  CHECK(found == equations.size());
}

TEST_CASE("what is called is refused at its own line", "[sound]") {
  CHECK(refusal(shifted + "g(x[n]) -> y[n]\n  y = f(x)\n", {f32({5})}).find("mine.etalon:2:10: f reads x[i + 1] at 5,") != std::string::npos);
  CHECK(refusal("g(x[n]) -> y[n]\n  t = relu(x)\n  y[i] = t[i + 1]\n", {f32({5})}).starts_with("mine.etalon:3:10: g reads t[i + 1] at 5,"));
}

TEST_CASE("parts are verified like the meaning", "[sound]") {
  const Library library = Library().with("f(x[n]) -> y[n]\n  y[i] = x[i]\n  also\n  y[i] = x[i + 1]\n", "mine.etalon");
  const Operands five{f32({5})};
  CHECK_NOTHROW(instantiate(library.named("f"), five, {}, {}));
  CHECK_THROWS_WITH(instantiate_part(library.named("f"), 1, five, {}, {}), Catch::StartsWith("mine.etalon:4:10: f reads x[i + 1] at 5,"));
}

TEST_CASE("programs with unsound definitions of their own are refused", "[sound]") {
  const std::string program = "definitions\n" + shifted + "end definitions\ninput x : f32[5]\ny = f(x)\noutput y\n";
  for (const bool lowered : {false, true}) {
    CHECK_THROWS_WITH(lowered ? (void)lower(parse_program(program)) : verify(parse_program(program)),
                      Catch::Contains("f reads x[i + 1] at 5, but axis n has 5 elements (0 to 4)") && Catch::Contains("step y = f(x)"));
  }
  CHECK_THROWS_WITH(verify(parse_program("input x : f32[5]\ninput b : f32[5]\nbuffer c[i] = x[i + 1] + b[i]\noutput c\n")), Catch::Contains("5"));
}

TEST_CASE("a text is tried when it is read, and the place is the file's", "[sound]") {
  const auto tried = [](const std::string& text) { (void)tried_out(Library().with(text, "mine.etalon")); };
  CHECK_THROWS_WITH(tried(shifted), Catch::StartsWith("mine.etalon:2:10: f reads x[i + 1] at "));
  CHECK_THROWS_WITH(tried("f(x[n]) -> y[n]\n  y[0] = x[0]\n"), Catch::StartsWith("mine.etalon:"));
  CHECK_THROWS_WITH(tried("f(x[n]) -> y\n  y = x[0]\n"), Catch::Contains("axis n has no elements"));
  CHECK_NOTHROW(tried("f(x[n]) -> y\n  requires n > 0\n  y = x[0]\n"));
  CHECK_THROWS_WITH(tried("f(x[n]) {by = 0} -> y[n]\n  y[i] = x[i + by]\n"), Catch::Contains("reads x[i + by] at "));
  CHECK_THROWS_WITH(etalon::define(shifted, {}, {"net.cpp", 3}), Catch::StartsWith("definition:2:10: f reads") && Catch::EndsWith(" at net.cpp:3"));
}

TEST_CASE("nothing that comes with Etalon is refused", "[sound]") {
  std::size_t tried = 0;
  for (const Definition* d : library()) {
    INFO(d->name);
    CHECK_NOTHROW(try_out(*d));
    ++tried;
  }
  CHECK(tried >= 41);
  std::size_t parts = 0;
  for (const Sample& s : samples()) {
    INFO(s.operation);
    const Definition& d = definition_named(s.operation);
    CHECK_NOTHROW(instantiate(d, s.operands, s.packs, s.attributes));
    for (std::size_t part = 1; part <= d.part_count; ++part, ++parts) {
      INFO(part);
      CHECK_NOTHROW(instantiate_part(d, part, s.operands, s.packs, s.attributes));
    }
  }
  CHECK(parts > 20);
}

/// y = value of a scalar integer t and a tensor x of 5 elements.
struct OfData {
  System s;
  TensorId x = -1, t = -1, y = -1;

  explicit OfData(DType type = DType::i64) {
    x = s.add_tensor("x", DType::f64, {5});
    t = s.add_tensor("t", type, {});
    y = s.add_tensor("y", DType::f64, {});
    s.inputs = {x, t};
    s.outputs = {y};
  }
  Expr data() const { return s.at(t, {}); }
  System is(const Expr& value) const {
    System whole = s;
    whole.define(y, {}, value);
    return whole;
  }
};

Expr at_least(const Expr& e, std::int64_t n) { return apply(P::le, {integer(n), e}); }
Expr below(const Expr& e, std::int64_t n) { return apply(P::lt, {e, integer(n)}); }

TEST_CASE("integers of tensors wrap, and no condition is taken for granted that they may break", "[sound]") {
  const OfData a;
  const Expr t = a.data(), next = t + integer(1);
  // The greatest integer and 1 are the least one.
  CHECK_THROWS_AS(verify(a.is(select(at_least(t, 0) && below(next, 5), a.s.at(a.x, {next}), decimal(0)))), SpecViolation);
  CHECK_NOTHROW(verify(a.is(select(at_least(next, 0) && below(next, 5), a.s.at(a.x, {next}), decimal(0)))));
  // The absolute value of the least one is itself.
  const Expr size = apply(P::abs, {t});
  CHECK_THROWS_AS(verify(a.is(select(below(size, 5), a.s.at(a.x, {size}), decimal(0)))), SpecViolation);
  CHECK_THROWS_AS(verify(a.is(select(below(-t, 5) && below(t, 1), a.s.at(a.x, {-t}), decimal(0)))), SpecViolation);
  // Those of 32 bits are far from it.
  const OfData b(DType::i32);
  const Expr after = b.data() + integer(1);
  CHECK_NOTHROW(verify(b.is(select(at_least(b.data(), 0) && below(after, 5), b.s.at(b.x, {after}), decimal(0)))));
  // Clamped data is no longer any integer.
  const Expr clamped = apply(P::minimum, {apply(P::maximum, {t, integer(0)}), integer(3)}) + integer(1);
  CHECK_NOTHROW(verify(a.is(a.s.at(a.x, {clamped}))));
}

TEST_CASE("solving guards keeps those that keep data within a tensor", "[sound]") {
  const OfData a;
  const Expr t = a.data(), next = t + integer(1);
  System s = a.is(select(at_least(t, 0), select(at_least(next, 0) && below(next, 5), a.s.at(a.x, {next}), decimal(-1)), decimal(-2)));
  solve_guards(s);
  verify(s);
  for (const std::int64_t index : {std::numeric_limits<std::int64_t>::max(), std::int64_t{3}, std::int64_t{4}}) {
    reference::Array<double> x(Kind::real, {5}), data(Kind::integer, {});
    x.real = {0, 1, 2, 3, 4};
    data.integer = {index};
    const auto results = reference::evaluate<double>(s, std::vector{x, data});
    REQUIRE(results.size() == 1);
    CHECK(results[0].real[0] == (index == 3 ? 4 : -1));
  }
}

TEST_CASE("what an i32 holds after it wrapped is any i32", "[sound]") {
  System s;
  const TensorId x = s.add_tensor("x", DType::f64, {5});
  const TensorId u = s.add_tensor("u", DType::i32, {4});
  const TensorId y = s.add_tensor("y", DType::f64, {4});
  s.inputs = {x};
  s.outputs = {y};
  const Binder i = s.bind("i", 4), k = s.bind("k", 4);
  s.define(u, {i}, variable(i) * integer(std::int64_t{1} << 30));  // the third is the least i32
  const Expr at = s.at(u, {variable(k)});
  s.define(y, {k}, select(below(at, 5), s.at(x, {at}), decimal(0)));
  CHECK_THROWS_AS(verify(s), SpecViolation);
  s.equations.back().value = select(at_least(at, 0) && below(at, 5), s.at(x, {at}), decimal(0));
  CHECK_NOTHROW(verify(s));
}

TEST_CASE("extents and attributes at the ends of 64 bits are refused or kept in range, never wrapped", "[sound]") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::string> texts{
      "f(x[n]) {by : int} -> y[n]\n  y[i] = x[i + by]\n", "f(x[n]) {by : int} -> y[n]\n  y[i] = x[i * by]\n",
      "f(x[n]) {by : int} -> y[n]\n  y[i] = x[by*(i + by) + by] else 0\n", "f(x[n]) {by : int} -> y[n]\n  y[i] = sum[k] (x[i*by - k] else x[k])\n",
      "f(x[n]) {by : int} -> y[n]\n  y[i] = if i*by < 3 then x[i*by] else 0\n", "f(x[n]) {by : int} -> y[n]\n  y[i] = x[(i*by) // by] else 0\n",
      "f(x[n]) {by : int} -> y[n]\n  y[i] = x[(i + by) % n]\n", "f(x[n]) {by : int} -> y[n]\n  y[i*by] = x[i]\n"};
  std::size_t calls = 0;
  for (const std::string& text : texts) {
    for (const std::int64_t by : {most, least, most / 2, least / 2, std::int64_t{1} << 31, std::int64_t{-1} << 31, std::int64_t{1} << 60}) {
      for (const std::int64_t n : {std::int64_t{5}, std::int64_t{1} << 40, std::int64_t{0}}) {
        CAPTURE(text, by, n);
        try {
          const Instance made = instance_of(text, {f32({n})}, {{"by", by}});
          CHECK_NOTHROW(verify(made.system));
        } catch (const SpecViolation&) {
        }
        ++calls;
      }
    }
  }
  CHECK(calls == texts.size() * 7 * 3);
  CHECK(refusal(texts[0], {f32({5})}, {{"by", most}}).find("f reads x[i + by] at 9223372036854775807,") != std::string::npos);
}

TEST_CASE("facts about forms with the largest coefficients are left alone", "[sound]") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  System s;
  const Binder i = s.bind("i", 8);
  Ranges known;
  known.bind({i});
  known.assume(at_least(variable(i), 3));
  Affine form;
  form.add(variable(i), 1);
  CHECK(interval(form, known).low == 3);
  form.constant = most;  // a proof that multiplies it would leave 64 bits
  CHECK(interval(form, known).high >= Interval::unbounded);
  known.nonnegative.push_back(form);
  Affine other;
  other.add(variable(i), -1);
  CHECK(interval(other, known).low <= -7);
}

}  // namespace
}  // namespace etalon::spec
