// Mutators make what they claim; what is proved equivalent is, and what a case must kill is killed.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "conformance/check.hpp"
#include "reference/backend.hpp"
#include "tests/adequacy/answers.hpp"
#include "tests/adequacy/equivalence.hpp"
#include "tests/adequacy/floors.hpp"
#include "tests/adequacy/implementations/defect.hpp"
#include "tests/adequacy/implementations/showing.hpp"
#include "tests/adequacy/number_changes.hpp"
#include "tests/adequacy/question.hpp"
#include "tests/adequacy/score.hpp"

using namespace etalon;
using adequacy::Alternative;
using adequacy::Change;
using adequacy::Fate;
using adequacy::Sort;

namespace {

constexpr std::int64_t n = 4;

// y[i] = sum[k where k <= i and k < limit] x[k] over four elements.
struct Prefix {
  spec::System system;
  spec::TensorId x = -1, y = -1;

  explicit Prefix(std::int64_t limit, DType dtype = DType::f64) {
    x = system.add_tensor("x", dtype, {n});
    y = system.add_tensor("y", dtype, {n});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder i = system.bind("i", n), k = system.bind("k", n);
    const auto le = spec::apply(spec::Primitive::le, {spec::variable(k), spec::variable(i)});
    const auto lt = spec::apply(spec::Primitive::lt, {spec::variable(k), spec::integer(limit)});
    system.define(y, {i}, spec::reduce(spec::Reduction::sum, {k}, le && lt, system.at(x, {spec::variable(k)})));
  }
};

struct Found {
  adequacy::Site site;
  Alternative alternative;
};

// The one alternative of that text at a place that ends so.
Found found(const spec::System& system, const std::string& place, const std::string& text) {
  std::vector<Found> all;
  for (const adequacy::Site& site : adequacy::sites_of(system, std::vector<bool>(system.equations.size(), true))) {
    if (!site.place.ends_with(place)) continue;
    for (const Alternative& a : adequacy::equation_alternatives(system, site, true)) {
      if (a.text == text) all.push_back({site, a});
    }
  }
  INFO(place << ": " << text);
  REQUIRE(all.size() == 1);
  return all.front();
}

std::vector<double> values(const spec::System& system, const Change& change, const std::vector<double>& given) {
  const std::vector<HostTensor> inputs{HostTensor::of<double>({n}, given)};
  adequacy::Answers answers(system, inputs);
  const auto got = answers.exact(change, reference::everything(system));
  REQUIRE(got);
  // What doubles say of these numbers is exact too.
  CHECK(answers.quick(change).value_or(answers.sound()) == *got);
  const auto view = got->front().view<double>();
  return {view.begin(), view.end()};
}

std::vector<double> mutated(const Prefix& p, const std::string& place, const std::string& text) {
  const Found f = found(p.system, place, text);
  Change change;
  change.equation.emplace(0, adequacy::replaced(p.system.equations[0].value, f.site.path, f.alternative.node));
  return values(p.system, change, {1, 10, 100, 1000});
}

using Numbers = std::vector<double>;

adequacy::Options quick() {
  adequacy::Options o;
  o.contract = spec::contract_named("cpu");
  o.conform.dtypes = {DType::f32};
  o.most_cases = 8;
  return o;
}

}  // namespace

TEST_CASE("changes of an equation do what their text says", "[adequacy]") {
  const Prefix p(3);
  CHECK(values(p.system, {}, {1, 10, 100, 1000}) == Numbers{1, 11, 111, 111});
  CHECK(mutated(p, "sum.of", "index k of x + 1") == Numbers{10, 110, 1110, 1110});
  CHECK(mutated(p, "sum.of", "index k of x - 1") == Numbers{1, 2, 12, 12});
  CHECK(mutated(p, "y:", "guard 1 dropped") == Numbers{111, 111, 111, 111});
  CHECK(mutated(p, "y:", "guard 2 dropped") == Numbers{1, 11, 111, 1111});
  CHECK(mutated(p, "and.0", "< for <=") == Numbers{0, 1, 11, 111});
  CHECK(mutated(p, "and.1", "<= for <") == Numbers{1, 11, 111, 1111});
  CHECK(mutated(p, "y:", "the first of binder 1 left out") == Numbers{0, 10, 110, 110});
  CHECK(mutated(p, "y:", "binder 1 not summed over") == Numbers{1, 1, 1, 1});
  CHECK(mutated(p, "y:", "prod for sum") == Numbers{1, 10, 1000, 1000});
}

TEST_CASE("a guard that always holds is proved to be idle, one that does not is not", "[adequacy]") {
  for (const std::int64_t limit : {3, 4}) {
    const Prefix p(limit);
    adequacy::Reaches reaches(p.system);
    const auto why_equivalent = [&](const spec::System& system, const adequacy::Site& site, const Alternative& a) {
      return adequacy::why_equivalent(system, site, a, reaches);
    };
    const Found idle = found(p.system, "y:", "guard 2 dropped");
    CHECK(why_equivalent(p.system, idle.site, idle.alternative).empty() == (limit == 3));
    const Found last = found(p.system, "and.1", "<= for <");
    CHECK(why_equivalent(p.system, last.site, last.alternative).empty() == (limit == 3));
    const Found shifted = found(p.system, "sum.of", "index k of x + 1");
    CHECK(why_equivalent(p.system, shifted.site, shifted.alternative).empty());
  }
}

TEST_CASE("numbers change in the tensor that is named and nowhere else", "[adequacy]") {
  const Prefix p(4);
  std::vector<Change> changes;
  adequacy::add_number_changes(p.system, {true}, 0, std::make_shared<adequacy::Reaches>(p.system), changes);
  const auto change = [&](const std::string& place, const std::string& text) {
    const auto at = std::find_if(changes.begin(), changes.end(),
                                 [&](const Change& c) { return c.place == place && c.text == text; });
    REQUIRE(at != changes.end());
    return *at;
  };
  const double fine = 1 + 0x1p-30;
  CHECK(values(p.system, change("x", "through f32 (f64)"), {fine, fine, 0, 0}) == Numbers{1, 2, 2, 2});
  CHECK(values(p.system, change("y", "through f32 (f64)"), {fine, 0x1p-30, 0, 0}) == Numbers{1, 1, 1, 1});
  CHECK(values(p.system, change("x", "subnormal numbers are 0 (f64)"), {0x1p-1030, 1, 0, 0}) == Numbers{0, 1, 1, 1});
  // 256 is the last integer that bf16 can count to by ones.
  CHECK(values(p.system, change("y", "adds in bf16"), {255, 1, 1, 1}) == Numbers{255, 256, 256, 256});
  CHECK(values(p.system, change("y", "adds in f32"), {0x1p24, 1, 1, 1}) == Numbers{0x1p24, 0x1p24, 0x1p24, 0x1p24});
}

TEST_CASE("what must be killed is, what is equivalent is not counted", "[adequacy]") {
  const auto mutants = adequacy::score("cumsum", quick());
  REQUIRE(mutants.size() > 30);
  const auto count = [&](Fate fate) {
    return std::count_if(mutants.begin(), mutants.end(), [&](const auto& m) { return m.fate == fate; });
  };
  CHECK(count(Fate::killed) > 20);
  std::size_t indices_killed = 0;
  for (const adequacy::Mutant& m : mutants) {
    INFO(m.mode << " " << m.place << " " << m.text << ": " << m.by);
    if (m.sort == Sort::index) {
      // Where an axis has one place, all of them say so.
      if (m.fate == Fate::equivalent) CHECK(m.by == "the same at every value of the indices");
      if (m.fate == Fate::killed) ++indices_killed;
    }
    if (m.mode == "forward" && m.text == "prod for sum") CHECK(m.fate == Fate::killed);
    if (m.fate == Fate::equivalent) CHECK(!m.by.empty());
    if (m.fate == Fate::killed) CHECK(m.by.starts_with("cumsum."));
  }
  CHECK(indices_killed >= 8);
}

TEST_CASE("shares of the mutants are disjoint and together all of them", "[adequacy]") {
  adequacy::Options o = quick();
  o.most_cases = 2;
  const auto whole = adequacy::score("leaky_relu", o);
  std::set<std::string> seen;
  std::size_t parts = 0;
  o.of = 3;
  for (o.part = 1; o.part <= 3; ++o.part) {
    for (const adequacy::Mutant& m : adequacy::score("leaky_relu", o)) {
      ++parts;
      seen.insert(m.mode + m.place + m.text);
    }
  }
  CHECK(parts == whole.size());
  CHECK(seen.size() == whole.size());
}

namespace {

// top = max over the line of x, e[i, j] = exp(x[i, j] - top[i]) and y[i] = sum[j] e[i, j], over two lines of three.
struct Shifted {
  spec::System system;
  spec::TensorId x = -1, top = -1, e = -1, y = -1;

  Shifted() {
    x = system.add_tensor("x", DType::f64, {2, 3});
    top = system.add_tensor("top", DType::f64, {2});
    e = system.add_tensor("e", DType::f64, {2, 3});
    y = system.add_tensor("y", DType::f64, {2});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder i = system.bind("i", 2), k = system.bind("k", 3), r = system.bind("r", 2),
                       j = system.bind("j", 3), s = system.bind("s", 2), l = system.bind("l", 3);
    const auto at = [&](spec::TensorId t, const spec::Binder& a, const spec::Binder& b) {
      return system.at(t, {spec::variable(a), spec::variable(b)});
    };
    system.define(top, {i}, spec::reduce(spec::Reduction::max, {k}, spec::boolean(true), at(x, i, k)));
    const spec::Expr shifted = at(x, r, j) - system.at(top, {spec::variable(r)});
    system.define(e, {r, j}, spec::apply(spec::Primitive::exp, {shifted}));
    system.define(y, {s}, spec::reduce(spec::Reduction::sum, {l}, spec::boolean(true), at(e, s, l)));
  }
};

}  // namespace

TEST_CASE("what numbers can be is known by form", "[adequacy]") {
  const Shifted s;
  adequacy::Reaches reaches(s.system);
  const adequacy::Reach shifted = reaches.of(s.system.equations[1].value->args[0], {}, {});
  CHECK(shifted.high == 0);
  CHECK(shifted.low < -1e300);
  CHECK(reaches.of(s.e).low == 0);
  CHECK(reaches.of(s.e).high == 1);
  CHECK(reaches.of(s.y).high == 3);
  CHECK(!reaches.of(s.y).whole);
  CHECK(reaches.of(s.x).high > 1e300);
  const Found early = [&] {
    for (const adequacy::Site& site : adequacy::sites_of(s.system, {false, true, false})) {
      for (const Alternative& a : adequacy::arithmetic_alternatives(s.system, site)) {
        if (a.text == "infinite above 80") return Found{site, a};
      }
    }
    FAIL("there is no such alternative");
    return Found{};
  }();
  CHECK(adequacy::why_equivalent(s.system, early.site, early.alternative, reaches) == "the numbers never come there");
  Found late = early;
  late.alternative.node = spec::select(spec::apply(spec::Primitive::lt, {late.site.node->args[0], spec::decimal(-80)}),
                                       spec::decimal(0), late.site.node);
  CHECK(adequacy::why_equivalent(s.system, late.site, late.alternative, reaches).empty());
}

TEST_CASE("reductions over the same places in another order are the same equations, others are not", "[adequacy]") {
  const auto summed = [](bool exchanged, bool transposed) {
    spec::System system;
    const spec::TensorId x = system.add_tensor("x", DType::f64, {2, 3}), y = system.add_tensor("y", DType::f64, {});
    system.inputs = {x};
    system.outputs = {y};
    const spec::Binder a = system.bind("a", transposed ? 3 : 2), b = system.bind("b", transposed ? 2 : 3);
    const auto read = transposed ? system.at(x, {spec::variable(b), spec::variable(a)})
                                 : system.at(x, {spec::variable(a), spec::variable(b)});
    std::vector<spec::Binder> binders{a, b};
    if (exchanged) std::swap(binders[0], binders[1]);
    system.define(y, {},
                  spec::reduce(transposed && exchanged ? spec::Reduction::prod : spec::Reduction::sum, binders,
                               spec::boolean(true), read));
    return system;
  };
  CHECK(!adequacy::why_equivalent(summed(false, false), summed(true, false)).empty());
  CHECK(!adequacy::why_equivalent(summed(false, false), summed(false, true)).empty());
  CHECK(adequacy::why_equivalent(summed(false, false), summed(true, true)).empty());
}

TEST_CASE("a shift that cancels is the same real numbers, and nothing that is killed is", "[adequacy]") {
  adequacy::Options o = quick();
  o.conform.dtypes = {DType::f64};
  o.most_cases = 24;
  o.sorts = {Sort::index, Sort::detach};
  const auto mutants = adequacy::score("softmax", o);
  std::size_t identical = 0;
  for (const adequacy::Mutant& m : mutants) {
    INFO(m.mode << " " << m.place << " " << m.text);
    if (m.fate == Fate::identical) {
      ++identical;
      // Only what shifts may be another: elements and sums of the wrong line show.
      CHECK((m.place.starts_with("top") || m.text.find("of top") != std::string::npos || m.text == "detach dropped"));
    }
  }
  CHECK(identical > 0);
}

TEST_CASE("defects of implementations are shown by cases, honest answers are not", "[adequacy]") {
  const auto honest = reference::make_reference_backend();
  conformance::ConformOptions o;
  o.dtypes = {DType::f32};
  const auto found = adequacy::score_implementations("transpose", *honest, o);
  const auto of = [&](const std::string& what) {
    const auto at = std::find_if(found.begin(), found.end(), [&](const auto& d) { return d.what == what; });
    REQUIRE(at != found.end());
    return *at;
  };
  CHECK(of("results are 0 behind the last whole 4").by.starts_with("transpose."));
  CHECK(of("a permutation is taken for its inverse").by.starts_with("transpose."));
  CHECK(of("offsets are ignored").by.starts_with("transpose.layout."));
  CHECK(of("results are added to those of the last run").by.starts_with("transpose."));
  CHECK(of("programs are found again without the lengths of packs").touched == 0);
}

TEST_CASE("every defect of an implementation has a name of its own", "[adequacy]") {
  std::set<std::string> names;
  for (const adequacy::Defect& d : adequacy::defects("transpose")) CHECK(names.insert(d.what).second);
  CHECK(names.size() > 90);
}

namespace {

// A backend that answers one request with these tensors: results, then derivatives in the order of what has any.
class Answering final : public conformance::Asked {
 public:
  Answering(const conformance::Case& c, const spec::Instance& instance, const std::vector<HostTensor>& tensors) {
    const auto results = static_cast<std::ptrdiff_t>(instance.results.size());
    numbers_.outputs.assign(tensors.begin(), tensors.begin() + results);
    auto next = tensors.begin() + results;
    if (c.mode == spec::Mode::jvp) {
      for (const spec::ValueType& r : instance.results)
        numbers_.tangents.push_back(kind_of(r.dtype) == Kind::real ? std::optional(*next++) : std::nullopt);
    } else if (c.mode == spec::Mode::vjp) {
      for (const bool asked : c.wrt) numbers_.cotangents.push_back(asked ? std::optional(*next++) : std::nullopt);
    }
  }
  spec::Answer run(const spec::Request&) override { return numbers_; }

 private:
  spec::Numbers numbers_;
};

// What the suite itself says of the mutant's exact answer.
std::optional<bool> convicted(const conformance::Case& c, const adequacy::Question& question, const Change& change,
                              const spec::Contract& contract) {
  const spec::Instance instance = instance_of(c);
  adequacy::Answers answers(question.system(), question.inputs());
  const auto all = reference::everything(question.system());
  auto got = answers.exact(change, all);
  const auto sound = answers.exact({}, all);
  if (!got || !sound) return std::nullopt;
  if (c.mode != spec::Mode::forward) std::copy_n(sound->begin(), instance.results.size(), got->begin());
  Answering backend(c, instance, *got);
  const auto verdict = conformance::check(c, backend, contract).verdict;
  if (verdict == conformance::Verdict::crashed) return std::nullopt;
  return verdict == conformance::Verdict::fail;
}

}  // namespace

TEST_CASE("the verdict on a mutant is that of the suite on its exact answer", "[adequacy]") {
  const spec::Contract contract = spec::contract_named("cpu");
  std::size_t compared = 0, killed = 0, made = 0;
  for (const char* operation : {"cumsum", "log_softmax", "leaky_relu", "std"}) {
    for (const conformance::Check check :
         {conformance::Check::value, conformance::Check::jvp, conformance::Check::vjp}) {
      for (std::uint64_t index = 0; index < 8; ++index) {
        const auto c = conformance::make_case({operation, check, DType::f32, index});
        if (!c || conformance::elements_of(*c) > 200) continue;
        adequacy::Question question(*c, contract);
        for (Change& change : question.changes([&](Sort, const auto&, const auto&) { return ++made % 5 == 0; })) {
          const adequacy::Effect effect = question.effect(change);
          if (effect == adequacy::Effect::undefined) continue;
          const auto whole = convicted(*c, question, change, contract);
          if (!whole) continue;
          INFO(conformance::id_of(c->key) << " " << change.place << " " << change.text);
          CHECK((effect == adequacy::Effect::killed) == *whole);
          ++compared;
          killed += *whole ? 1 : 0;
        }
      }
    }
  }
  CHECK(compared > 200);
  CHECK(killed > 100);
  CHECK(killed < compared);
}

TEST_CASE("a floor is lost where chance would hardly leave as few", "[adequacy]") {
  // (1/2)^9 is more than a thousandth, (1/2)^10 is less.
  CHECK_FALSE(adequacy::falls_below(0, 9, 0.5));
  CHECK(adequacy::falls_below(0, 10, 0.5));
  CHECK_FALSE(adequacy::falls_below(97, 100, 0.97));
  CHECK(adequacy::falls_below(90, 100, 0.97));
  CHECK(adequacy::falls_below(9, 10, 1));
  CHECK_FALSE(adequacy::falls_below(10, 10, 1));
  CHECK(adequacy::falls_below(0, 0, 0.5));
  CHECK_FALSE(adequacy::falls_below(0, 0, 0));
}
