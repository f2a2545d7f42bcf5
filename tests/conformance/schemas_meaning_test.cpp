// Every part of every definition of the library against what the definition means: the same number where both are exact,
// and a number wherever the definition means one, at zero and ones too.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
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

template <class T>
std::vector<Array<T>> values_of(const Schema& schema) {
  std::vector<Array<T>> inputs;
  for (const HostTensor& t : schema.inputs) inputs.push_back(reference::from_host<T>(t));
  return reference::evaluate<T>(schema.system, inputs);
}

bool is_finite(const Rational&) { return true; }
template <class T>
bool is_finite(const T& v) { return boost::multiprecision::isfinite(v); }

struct Counts {
  std::size_t parts = 0, exact = 0, wide = 0, edges = 0, found = 0;
};

std::vector<Check> checks_of(spec::PartForm part) {
  return part == spec::PartForm::also  ? std::vector{Check::value}
         : part == spec::PartForm::jvp ? std::vector{Check::jvp}
                                       : std::vector{Check::vjp, Check::second};
}

using Numbers = std::function<double(Draw&)>;

void fill(Case& c, Draw& draw, const Numbers& next) {
  for (auto* tensors : {&c.operands, &c.tangents, &c.cotangents, &c.cotangent_tangents}) {
    for (auto& t : *tensors) {
      if (!t || t->dtype != DType::f64) continue;
      for (double& v : t->view<double>()) v = next(draw);
    }
  }
}

/// Calls `visit` for every part of the library with cases of `next`'s numbers.
template <class Visit>
void for_each_part(Counts& counts, std::uint64_t points, const Numbers& next, const Visit& visit) {
  for (const spec::Definition* d : spec::library()) {
    const std::string name(d->name);
    for (std::size_t p = 1; p <= d->part_count; ++p) {
      ++counts.parts;
      for (const Check check : checks_of(d->parts[p - 1])) {
        for (std::uint64_t i = 0; i < points; ++i) {
          auto c = conformance::make_case({name, check, DType::f64, 4 * i, 1, {}});
          if (!c) continue;
          Draw draw(fmt::format("meaning of {} {} {}", name, p, i));
          fill(*c, draw, next);
          visit(*c, p);
        }
      }
    }
  }
}

/// The first element that differs, as text.
template <class T, class Same>
std::string difference(const Case& c, std::size_t part, const Same& same, std::size_t& compared) {
  const Schema schema = conformance::stated_by(c, part);
  const auto stated = values_of<T>(schema), meant = values_of<T>(conformance::meaning_of(c));
  for (std::size_t o = 0; o < stated.size(); ++o) {
    if (stated[o].integer != meant[o].integer) return "integers differ";
    for (std::size_t i = 0; i < stated[o].real.size(); ++i) {
      const T& a = stated[o].real[i];
      const T& b = meant[o].real[i];
      if (!is_finite(b)) continue;
      ++compared;
      if (!same(a, b)) return fmt::format("{}[{}] is {}, means {}", schema.system[schema.system.outputs[o]].name, i, a.str(), b.str());
    }
  }
  return "";
}

std::string title(const Case& c, std::size_t part) {
  std::string text = fmt::format("{}, part {}, {}, case {}", c.key.operation, part, name_of(c.key.check), c.key.index);
  for (const auto& [name, value] : c.call.attributes) {
    if (const auto* real = std::get_if<double>(&value)) text += fmt::format(", {} = {}", name, *real);
  }
  return text;
}

/// Eighths, so that products of a few stay short; with 100 digits as with rationals no two are likely to tie.
double eighths(Draw& draw) { return static_cast<double>(draw.integer(-2000, 2000)) / 8; }

}  // namespace

TEST_CASE("sound: a schema is the same number as its definition, exactly where numbers are rational", "[sound][schemas]") {
  Counts counts;
  std::size_t exact_parts = 0;
  for_each_part(counts, 6, eighths, [&](Case& c, std::size_t part) {
    INFO(title(c, part));
    try {
      CHECK(difference<Rational>(c, part, [](const Rational& a, const Rational& b) { return a == b; }, counts.exact) == "");
      ++exact_parts;
      return;
    } catch (const Unsupported&) {  // a root, an exponential: no rational number
    }
    // In every digit that the reference has, computed with as many more.
    const auto same = [](const Real100& a, const Real100& b) {
      const Real100 scale = 1 + abs(a) + abs(b);
      return abs(a - b) <= scale * Real100("1e-50");
    };
    CHECK(difference<Real100>(c, part, same, counts.wide) == "");
  });
  CHECK(counts.parts > 50);
  CHECK(counts.exact > 1000);
  CHECK(counts.wide > 1000);
  CAPTURE(exact_parts, counts.exact, counts.wide);
  SUCCEED();
}

TEST_CASE("sound: a schema gives a number wherever its definition does, at 0 and ±1 too", "[sound][schemas]") {
  Counts counts;
  const auto edge = [](Draw& draw) { return static_cast<double>(draw.integer(-1, 1)); };
  const auto zero = [](Draw&) { return 0.0; };
  const auto one = [](Draw&) { return 1.0; };
  const auto finite = [](const Real50& a, const Real50&) { return is_finite(a); };
  const auto held = [&](Case& c, std::size_t part) {
    INFO(title(c, part));
    CHECK(difference<Real50>(c, part, finite, counts.edges) == "");
  };
  const auto with_attributes = [&](Case& c, std::size_t part) {
    held(c, part);
    for (auto& [name, value] : c.call.attributes) {
      if (!std::holds_alternative<double>(value)) continue;
      const spec::AttributeValue drawn = value;
      for (const double edge_value : {-1.0, 0.0, 0.5, 1.0, 2.0}) {
        value = edge_value;
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
  for_each_part(counts, 4, edge, with_attributes);
  for_each_part(counts, 2, zero, with_attributes);
  for_each_part(counts, 2, one, with_attributes);
  CHECK(counts.edges > 10000);
}
