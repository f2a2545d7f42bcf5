// Every part of every definition of the library against what the definition means: the same number where both are exact,
// and a number wherever the definition means one, at zero and ones too.
#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conformance/schemas.hpp"
#include "conformance/values.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance::Draw;
using conformance::Schema;
using reference::Array;
using reference::Rational;
using reference::Real100;
using reference::Real50;

namespace {

using Drawn = std::function<double(Draw&)>;

// Elements of a case: a hundred digits and literal loops are slow, and a part is wrong in the small too.
constexpr std::size_t largest = 200;

template <class T>
std::vector<Array<T>> values_of(const Schema& schema) {
  std::vector<Array<T>> inputs;
  for (const HostTensor& t : schema.inputs) inputs.push_back(reference::from_host<T>(t));
  return reference::evaluate<T>(schema.system, inputs);
}

bool is_finite(const Rational&) { return true; }
template <class T>
bool is_finite(const T& v) { return boost::multiprecision::isfinite(v); }

std::vector<Check> checks_of(spec::PartForm part) {
  return part == spec::PartForm::also  ? std::vector{Check::value}
         : part == spec::PartForm::jvp ? std::vector{Check::jvp}
                                       : std::vector{Check::vjp, Check::second};
}

void fill(Case& c, Draw& draw, const Drawn& next) {
  for (auto* tensors : {&c.operands, &c.tangents, &c.cotangents, &c.cotangent_tangents}) {
    for (auto& t : *tensors) {
      if (!t || t->dtype != DType::f64) continue;
      for (double& v : t->view<double>()) v = next(draw);
    }
  }
}

/// Calls `visit` for every part of a definition with cases of `next`'s numbers.
template <class Visit>
void for_each_case(const spec::Library& library, const std::string& name, std::uint64_t points, const Drawn& next, const Visit& visit) {
  const spec::Definition& d = library.named(name);
  for (std::size_t p = 1; p <= d.part_count; ++p) {
    for (const Check check : checks_of(d.parts[p - 1])) {
      for (std::uint64_t i = 0; i < points; ++i) {
        auto c = conformance::make_case({name, check, DType::f64, 4 * i, 1, library});
        if (!c || conformance::elements_of(*c) > largest) continue;
        Draw draw(fmt::format("meaning of {} {} {}", name, p, i));
        fill(*c, draw, next);
        visit(*c, p);
      }
    }
  }
}

/// The outputs to compare: what a derivative is beside a result that is no number is nobody's to say.
template <class T>
std::size_t comparable(const Case& c, const std::vector<Array<T>>& meant) {
  const std::size_t results = conformance::instance_of(c).results.size();
  for (std::size_t o = 0; o < results; ++o) {
    for (const T& v : meant[o].real) {
      if (!is_finite(v)) return results;
    }
  }
  return meant.size();
}

/// The first element that differs, as text.
template <class T, class Same>
std::string difference(const Case& c, std::size_t part, const Same& same, std::size_t& compared) {
  const Schema schema = conformance::stated_by(c, part);
  const auto stated = values_of<T>(schema), meant = values_of<T>(conformance::meaning_of(c));
  for (std::size_t o = 0; o < comparable(c, meant); ++o) {
    if (stated[o].integer != meant[o].integer) return "integers differ";
    for (std::size_t i = 0; i < stated[o].real.size(); ++i) {
      const T& a = stated[o].real[i];
      const T& b = meant[o].real[i];
      if (!is_finite(b)) continue;
      ++compared;
      if (same(a, b)) continue;
      std::string text = fmt::format("part {}, {}, case {}", part, name_of(c.key.check), c.key.index);
      for (const auto& [name, value] : c.call.attributes) {
        if (const auto* real = std::get_if<double>(&value)) text += fmt::format(", {} = {}", name, *real);
      }
      return fmt::format("{}: {}[{}] is {}, means {}", text, schema.system[schema.system.outputs[o]].name, i, a.str(), b.str());
    }
  }
  return "";
}

struct Counts {
  std::size_t exact = 0, wide = 0, edges = 0;
};

/// Where a part is another number than its definition; the first such case.
std::string unequal(const spec::Library& library, const std::string& name, Counts& counts) {
  // Eighths, so that products of a few stay short; ties and kinks are unlikely.
  const auto eighths = [](Draw& draw) { return static_cast<double>(draw.integer(-2000, 2000)) / 8; };
  const auto equal = [](const Rational& a, const Rational& b) { return a == b; };
  // In every digit that the reference has, computed with as many more.
  const auto alike = [](const Real100& a, const Real100& b) { return abs(a - b) <= (1 + abs(a) + abs(b)) * Real100("1e-50"); };
  std::string found;
  for_each_case(library, name, 5, eighths, [&](const Case& c, std::size_t part) {
    if (!found.empty()) return;
    try {
      found = difference<Rational>(c, part, equal, counts.exact);
    } catch (const Unsupported&) {  // a root, an exponential: no rational number
      found = difference<Real100>(c, part, alike, counts.wide);
    }
  });
  return found;
}

/// Where a part is no number though its definition is one, among zeros and ones; the first such case.
std::string unbounded(const spec::Library& library, const std::string& name, Counts& counts) {
  const auto finite = [](const Real50& a, const Real50&) { return is_finite(a); };
  std::string found;
  const auto held = [&](const Case& c, std::size_t part) {
    if (found.empty()) found = difference<Real50>(c, part, finite, counts.edges);
  };
  const auto with_attributes = [&](Case& c, std::size_t part) {
    held(c, part);
    for (auto& [attribute, value] : c.call.attributes) {
      if (!std::holds_alternative<double>(value)) continue;
      const spec::AttributeValue drawn = value;
      for (const double edge : {-1.0, 0.0, 0.5, 1.0}) {
        value = edge;
        try {
          (void)conformance::instance_of(c);
        } catch (const SpecViolation&) {
          continue;
        }
        held(c, part);
      }
      value = drawn;
    }
  };
  for_each_case(library, name, 4, [](Draw& draw) { return static_cast<double>(draw.integer(-1, 1)); }, with_attributes);
  for_each_case(library, name, 2, [](Draw&) { return 0.0; }, with_attributes);
  for_each_case(library, name, 2, [](Draw&) { return 1.0; }, with_attributes);
  return found;
}

using Question = std::string (*)(const spec::Library&, const std::string&, Counts&);

std::string asked(Question question, const std::string& text) {
  Counts counts;
  return question(spec::Library().with(text), text.substr(0, text.find('(')), counts);
}

}  // namespace

TEST_CASE("a schema is the same number as its definition, exactly where numbers are rational", "[sound][schemas]") {
  Counts counts;
  std::size_t parts = 0;
  for (const spec::Definition* d : spec::library()) {
    INFO(d->name);
    CHECK(unequal({}, std::string(d->name), counts) == "");
    parts += d->part_count;
  }
  INFO(parts << " parts, " << counts.exact << " rational numbers and " << counts.wide << " of 100 digits compared");
  CHECK(parts > 40);
  CHECK(counts.exact > 1000);
  CHECK(counts.wide > 1000);
}

TEST_CASE("a schema gives a number wherever its definition does, at 0 and ±1 too", "[sound][schemas]") {
  Counts counts;
  for (const spec::Definition* d : spec::library()) {
    INFO(d->name);
    CHECK(unbounded({}, std::string(d->name), counts) == "");
  }
  INFO(counts.edges << " numbers compared");
  CHECK(counts.edges > 10000);
}

TEST_CASE("a schema that is another number, or none, is found", "[schemas]") {
  const std::string mean = "average(x[n]) -> y\n  requires n > 0\n  y = (sum[k] x[k]) / n\n  also\n";
  CHECK(asked(unequal, mean + "  y = sum[k] x[k]*(1/n)\n") == "");
  CHECK(asked(unequal, mean + "  y = sum[k] x[k]*(1/n + 1e-60)\n") != "");
  // Chunks that are joined without the distance of their means.
  const std::string spread = "spread(x[n]) -> y\n  requires n > 1\n  m = (sum[k] x[k]) / n\n  y = sum[k] (x[k] - m)*(x[k] - m)\n  also\n"
                             "  p = (sum[k < n // 2] x[k]) / (n // 2)\n  q = (sum[k < n - n // 2] x[n // 2 + k]) / (n - n // 2)\n"
                             "  y = (sum[k < n // 2] (x[k] - p)*(x[k] - p)) + sum[k < n - n // 2] (x[n // 2 + k] - q)*(x[n // 2 + k] - q)";
  CHECK(asked(unequal, spread + "\n") != "");
  CHECK(asked(unequal, spread + " + (p - q)*(p - q)*((n // 2)*(n - n // 2)/n)\n") == "");
  const std::string power = "raised(x[...]) {p : real} -> y[...]\n  y[...] = x[...] ^ p\n  vjp\n  x~[...] = ";
  CHECK(asked(unbounded, power + "p*x[...] ^ (p - 1)*y~[...]\n") != "");
  CHECK(asked(unbounded, power + "if p == 0 then 0 else p*x[...] ^ (p - 1)*y~[...]\n") == "");
}
