// Which classes of questions the quick tier meets, for every definition and at two seeds. What a definition can have at all is
// learned from many free draws.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "conformance/attribute_levels.hpp"
#include "conformance/cases.hpp"
#include "conformance/plan.hpp"
#include "conformance/shapes.hpp"
#include "conformance/signature.hpp"
#include "conformance/thresholds.hpp"
#include "conformance/values.hpp"
#include "spec/notation/attributes.hpp"
#include "spec/notation/parse.hpp"
#include "spec/notation/typing.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance::ConformOptions;

namespace {

using Classes = std::set<std::string>;

/// What the quick tier asks of one operation and check, of both element types.
std::vector<Case> asked(const std::string& operation, Check check, std::uint64_t seed) {
  ConformOptions options;
  options.operations = {operation};
  options.checks = {check};
  options.seed = seed;
  std::vector<Case> found;
  for (const conformance::Unit& unit : conformance::plan(options)) {
    conformance::Cases cases(unit, options);
    while (auto next = cases.next()) {
      if (next->made) found.push_back(std::move(*next->made));
    }
  }
  return found;
}

bool holds_elements(const spec::Definition& d, const conformance::CallTypes& call) {
  const auto typing = spec::type_call(d, call.operands, call.packs, spec::bind_attributes(d, call.attributes));
  for (std::size_t r = 0; r < typing.result_count; ++r) {
    if (typing.results[r].dims.count() == 0) return false;
  }
  return true;
}

bool is_cycle(const std::vector<std::int64_t>& list, std::size_t rank) {
  if (list.size() != rank || rank < 3) return false;
  std::vector<std::size_t> to;
  for (const std::int64_t k : list) to.push_back(static_cast<std::size_t>(k < 0 ? k + static_cast<std::int64_t>(rank) : k));
  for (std::size_t k = 0; k < rank; ++k) {
    if (to[k] >= rank) return false;
    if (to[to[k]] != k) return true;
  }
  return false;
}

void add_attributes(const spec::Definition& d, const conformance::CallTypes& call, Classes& to) {
  const spec::Attributes complete = spec::to_attributes(d, spec::bind_attributes(d, call.attributes));
  for (std::size_t i = 0; i < d.attribute_count; ++i) {
    const std::string name(d.at(d.attributes[i].name));
    const auto found = complete.find(name);
    if (found == complete.end()) continue;
    for (const auto& level : conformance::levels_of(d, d.attributes[i])) {
      if (level.value == found->second) to.insert(name + " = " + level.name);
    }
    const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second);
    if (list == nullptr) continue;
    if (d.attributes[i].row.length != 0 && std::any_of(list->begin(), list->end(), [](std::int64_t k) { return k < 0; })) to.insert(name + " < 0");
    const bool orders = !conformance::names_of(d).ordered_rows.empty();
    if (orders && call.operands.size() == 1 && call.operands[0] && is_cycle(*list, call.operands[0]->dims.rank)) to.insert(name + " is no inverse of itself");
  }
}

void add_rows(const spec::Definition& d, const conformance::Assignment& a, Classes& to) {
  for (const auto& [one, other] : conformance::names_of(d).joined) {
    const auto p = a.rows.find(one), q = a.rows.find(other);
    if (p == a.rows.end() || q == a.rows.end()) continue;
    std::size_t left = 0, right = 0;
    for (std::size_t k = 1; k <= std::min(p->second.size(), q->second.size()); ++k) {
      const std::int64_t x = p->second[p->second.size() - k], y = q->second[q->second.size() - k];
      if (x == 1 && y > 1) ++left;
      if (y == 1 && x > 1) ++right;
    }
    const std::string pair = one + " & " + other;
    if (left > 0 && right == 0) to.insert(pair + ": the first is repeated");
    if (right > 0 && left == 0) to.insert(pair + ": the second is repeated");
    if (left > 0 && right > 0) to.insert(pair + ": both are repeated");
    if (left + right > 1) to.insert(pair + ": several axes are repeated");
    if (p->second.size() != q->second.size()) to.insert(pair + ": one is shorter");
  }
}

Classes classes_of_call(const spec::Definition& d, const conformance::Assignment& a, const conformance::CallTypes& call) {
  Classes found;
  if (!holds_elements(d, call)) return found;
  add_attributes(d, call, found);
  add_rows(d, a, found);
  return found;
}

/// What calls of the definition can have: every turn of the attributes, and more.
Classes possible(const spec::Definition& d) {
  Classes found;
  conformance::Draw draw(std::string(d.name) + " possible classes");
  for (std::uint64_t turn = 0; turn < 40; ++turn) {
    const auto a = conformance::draw_assignment(d, draw, {.elements = 60, .turn = turn}, DType::f32);
    if (a) found.merge(classes_of_call(d, *a, *conformance::call_of(d, *a, DType::f32)));
  }
  return found;
}

std::string list_of(const Classes& classes) {
  std::string text;
  for (const std::string& name : classes) text += "\n  " + name;
  return text;
}

}  // namespace

TEST_CASE("levels of an attribute are its default, what it is compared with, and ordinary numbers", "[classes]") {
  const spec::Definition d = spec::parse(
      "f(x[n]) {p = 4.0, k = 7, s = one | two, b = false} -> y[n]\n  requires -5 <= k\n"
      "  y[i] = if p == 0.75 then x[i] else k*x[i]\n");
  REQUIRE(d.ok());
  const auto names = [&](std::size_t attribute) {
    std::vector<std::string> found;
    for (const auto& level : conformance::levels_of(d, d.attributes[attribute])) found.push_back(level.name);
    return found;
  };
  CHECK(names(0) == std::vector<std::string>{"default", "0.75", "0.5", "1", "0", "-1", "2", "3", "1000"});
  CHECK(names(1) == std::vector<std::string>{"default", "-5", "1", "0", "2", "-1", "3"});
  CHECK(names(2) == std::vector<std::string>{"one", "two"});
  CHECK(names(3) == std::vector<std::string>{"default", "true"});
}

TEST_CASE("every level has its turn, and pairs of levels meet", "[classes]") {
  for (std::size_t levels = 1; levels < 20; ++levels) {
    for (std::size_t place = 0; place < 12; ++place) {
      std::set<std::size_t> met;
      for (std::size_t turn = 5; turn < 5 + conformance::turns_of(levels); ++turn) met.insert(conformance::level_in_turn(turn, place, levels));
      met.erase(levels);
      CHECK(met.size() == levels);
    }
  }
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (std::uint64_t turn = 0; turn < 1000; ++turn) pairs.emplace(conformance::level_in_turn(turn, 0, 8), conformance::level_in_turn(turn, 1, 5));
  CHECK(pairs.size() == 9 * 6);
}

TEST_CASE("the quick tier meets every class of every definition's calls that a call can have", "[classes]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    std::size_t all = 0;
    Classes missing;
    for (const spec::Definition* d : spec::Library().definitions()) {
      Classes met;
      for (const Check check : {Check::value, Check::jvp, Check::vjp}) {
        for (const Case& c : asked(std::string(d->name), check, seed)) met.merge(classes_of_call(*d, c.assignment, c.call));
      }
      for (const std::string& name : possible(*d)) {
        ++all;
        if (!met.contains(name)) missing.insert(std::string(d->name) + ": " + name);
      }
    }
    INFO("seed " << seed << ": of " << all << " classes these are missing:" << list_of(missing));
    CHECK(all > 1000);
    CHECK(400 * missing.size() <= all);  // a turn may fall on an instance that has no room for it
  }
}

TEST_CASE("the quick tier meets both sides of what every definition compares", "[classes]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    std::map<std::string, std::size_t> met;
    std::size_t whole = 0;
    Classes partly;
    for (const spec::Definition* d : spec::Library().definitions()) {
      Classes sides;
      for (const Check check : {Check::value, Check::jvp, Check::vjp}) {
        for (const Case& c : asked(std::string(d->name), check, seed)) {
          for (const std::string& name : c.classes) {
            if (name.ends_with("_threshold")) sides.insert(name);
          }
        }
      }
      for (const std::string& name : sides) ++met[name];
      // What is equal or not has no sides, and a spread none below.
      if (!sides.empty() && !sides.contains("at_threshold")) partly.insert(std::string(d->name) + list_of(sides));
      if (sides.size() == 3) ++whole;
    }
    INFO("seed " << seed << list_of(partly));
    CHECK(met["at_threshold"] >= 50);
    CHECK(whole >= 35);
    CHECK(partly.empty());
  }
}

TEST_CASE("integers of the quick tier reach the ends of significands and of their type", "[classes]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    for (const spec::Definition* d : spec::Library().definitions()) {
      std::set<int> bits;
      std::size_t elements = 0;
      for (const Case& c : asked(std::string(d->name), Check::value, seed)) {
        if (!c.assignment.shared_type || *c.assignment.shared_type == DType::boolean) continue;
        for (const auto& t : c.operands) {
          if (!t || t->dtype != DType::i64) continue;
          elements += t->view<std::int64_t>().size();
          for (const std::int64_t x : t->view<std::int64_t>()) bits.insert(static_cast<int>(std::bit_width(x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x))));
        }
      }
      if (elements < 100) continue;
      INFO(d->name << " at seed " << seed);
      CHECK(*bits.rbegin() >= 63);
      CHECK(std::any_of(bits.begin(), bits.end(), [](int b) { return b >= 23 && b <= 25; }));
    }
  }
}

TEST_CASE("elements are solved for where both sides of a comparison meet", "[classes]") {
  const spec::Definition d = spec::parse("f(x[n], t[n]) {delta = 1.5} -> y[n]\n  d[i] = 3*x[i] - t[i]\n  y[i] = if abs(d[i]) > delta then 1 else d[i]*d[i]\n");
  REQUIRE(d.ok());
  const spec::ValueType type{DType::f32, {5}};
  const std::vector<std::optional<spec::ValueType>> operands(2, type);
  const spec::Instance instance = spec::instantiate(d, operands, {}, spec::Attributes{});
  conformance::Met met;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    conformance::Draw draw(seed);
    HostTensor x = conformance::draw_real(draw, conformance::Family::normal, DType::f32, {5});
    HostTensor t = conformance::draw_real(draw, conformance::Family::normal, DType::f32, {5});
    std::vector<HostTensor*> inputs{&x, &t};
    const auto one = conformance::meet_thresholds(instance.system, inputs, 3, conformance::Sides::any, draw);
    met.below += one.below, met.at += one.at, met.above += one.above;
  }
  CHECK(met.below + met.at + met.above == 90);
  CHECK(met.below > 15);
  CHECK(met.at > 15);
  CHECK(met.above > 15);
}

TEST_CASE("programs of the quick tier repeat calls, share inputs and give out what they read", "[classes]") {
  for (const std::uint64_t seed : {1U, 2U}) {
    std::map<std::string, std::size_t> met;
    for (const spec::Definition* d : spec::Library().definitions()) {
      for (const Case& c : asked(std::string(d->name), Check::program, seed)) {
        std::map<std::string, std::size_t> readers;
        const spec::Call* before = nullptr;
        for (const auto& step : c.program->steps) {
          const auto& call = std::get<spec::Call>(step);
          std::set<std::string> of_call;
          for (const auto& operand : call.operands) {
            if (!operand) continue;
            if (!of_call.insert(*operand).second) ++met["one value for two operands"];
          }
          for (const std::string& name : of_call) ++readers[name];
          if (before != nullptr && before->operation == call.operation && before->attributes == call.attributes) {
            const bool fed = std::any_of(before->results.begin(), before->results.end(), [&](const auto& r) { return of_call.contains(r); });
            ++met[fed ? "a result feeds its own operation" : "an operation twice on other numbers"];
          }
          before = &call;
        }
        for (const auto& input : c.program->inputs) met["an input of two calls"] += readers[input.name] > 1 ? 1 : 0;
        for (const auto& output : c.program->outputs) {
          if (readers[output] > 0) ++met[c.mode == spec::Mode::forward ? "an output is read" : "a cotangent of a value that is read"];
        }
      }
    }
    INFO("seed " << seed);
    for (const char* name : {"one value for two operands", "a result feeds its own operation", "an operation twice on other numbers",
                             "an input of two calls", "an output is read", "a cotangent of a value that is read"}) {
      INFO(name);
      CHECK(met[name] >= 10);
    }
  }
}
