// How the calls of drawn programs hang together: chains, fans, pairs, moves before and behind, views.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/case_file.hpp"
#include "conformance/program_case.hpp"
#include "conformance/signature.hpp"
#include "conformance/smaller_program.hpp"
#include "conformance/values.hpp"
#include "spec/library/library.hpp"
#include "spec/program/analysis.hpp"
#include "spec/protocol/message.hpp"
#include "tests/conformance/drawn_case.hpp"

using namespace etalon;
using conformance::Case;
using conformance::Check;
using conformance_test::drawn;

TEST_CASE("a program is a function of its key, feeds calls from calls and is written and read back", "[cases]") {
  std::size_t found = 0, derivatives = 0;
  std::set<std::size_t> sizes;
  for (const char* operation : {"exp", "matmul", "max", "softmax", "gather", "sum"}) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      const auto c = drawn(operation, Check::program, i);
      if (!c) continue;
      ++found;
      const auto again = drawn(operation, Check::program, i);
      REQUIRE(again);
      CHECK(spec::encode(request_of(*again)) == spec::encode(request_of(*c)));
      const std::vector<std::string> called = conformance::operations_of(*c->program);
      CHECK(std::count(called.begin(), called.end(), operation) > 0);
      const std::size_t calls = c->program->steps.size();
      sizes.insert(calls);
      CHECK(calls >= (i == 0 ? 1U : 2U));  // one call with one value for two operands
      CHECK(c->assignments.size() == calls);
      REQUIRE_NOTHROW(spec::verify(*c->program));
      derivatives += c->mode == spec::Mode::forward ? 0 : 1;
      const Case back = conformance::case_from_json(conformance::to_json(*c));
      CHECK(spec::encode(request_of(back)) == spec::encode(request_of(*c)));
    }
  }
  CHECK(found >= 40);
  CHECK(derivatives >= 10);
  CHECK(sizes.size() >= 3);
}

TEST_CASE("in a fan each call around a result is an output, and fans of one operation differ", "[cases]") {
  std::set<std::string> consumers;
  std::size_t shared = 0;
  for (const std::uint64_t i : {2U, 14U, 26U, 38U}) {
    const auto c = drawn("softmax", Check::program, i, DType::f64);
    REQUIRE(c);
    const std::vector<std::string> called = conformance::operations_of(*c->program);
    REQUIRE(called.size() >= 6);
    CHECK(called[1] == "softmax");
    const auto& before = std::get<spec::Call>(c->program->steps[0]);
    const auto& about = std::get<spec::Call>(c->program->steps[1]);
    shared += about.operands[0] == before.operands[0];
    for (std::size_t k = 0; k < c->wrt.size(); ++k) CHECK(c->wrt[k] == (kind_of(c->operands[k]->dtype) == Kind::real));
    CHECK(c->program->outputs.size() >= called.size());
    consumers.insert(called.begin() + 2, called.end());
  }
  CHECK(consumers.size() >= 13);
  CHECK(shared >= 3);
}

namespace {

/// Who reads a value of a program.
std::vector<const spec::Call*> readers_of(const spec::Program& program, const std::string& name) {
  std::vector<const spec::Call*> readers;
  for (const auto& step : program.steps) {
    const auto& call = std::get<spec::Call>(step);
    const std::vector<std::string> read = spec::values_read(call);
    if (std::find(read.begin(), read.end(), name) != read.end()) readers.push_back(&call);
  }
  return readers;
}

}  // namespace

TEST_CASE("in pairs each result is read by one call and seen by nobody, and a few cases meet nearly all who may read it", "[cases]") {
  std::set<std::string> readers;
  std::size_t pairs = 0, special = 0;
  for (const auto& [dtype, i] : {std::pair{DType::f32, 2U}, std::pair{DType::f32, 3U}, std::pair{DType::f64, 2U}}) {
    const auto c = drawn("neg", Check::program, i, dtype);
    REQUIRE(c);
    const std::set<std::string> outputs(c->program->outputs.begin(), c->program->outputs.end());
    for (const auto& step : c->program->steps) {
      const auto& call = std::get<spec::Call>(step);
      if (call.operation != "neg" || outputs.contains(call.results.front())) continue;
      const auto reading = readers_of(*c->program, call.results.front());
      REQUIRE(reading.size() == 1);
      readers.insert(reading.front()->operation);
      ++pairs;
    }
    for (const auto& t : c->operands) {
      bool any = false;
      for (std::size_t e = 0; kind_of(t->dtype) == Kind::real && e < static_cast<std::size_t>(t->dims.count()); ++e) any = any || std::isnan(conformance::element(*t, e));
      special += any;
    }
  }
  CHECK(pairs >= 60);
  CHECK(readers.size() >= 50);
  CHECK(special >= 20);
}

TEST_CASE("a pair that gives back what it read among ordinary numbers is asked for", "[cases]") {
  // Of the ways to read a difference and what it is the difference of, sums that add again.
  std::size_t back = 0, joined = 0;
  for (const char* operation : {"sub", "div", "exp", "log", "sqrt", "square", "mul", "add"}) {
    for (const auto& [dtype, i] : {std::pair{DType::f32, 2U}, std::pair{DType::f32, 3U}, std::pair{DType::f64, 2U}}) {
      const auto c = drawn(operation, Check::program, i, dtype);
      REQUIRE(c);
      std::map<std::string, const spec::Call*> makers;
      for (const auto& step : c->program->steps) makers[std::get<spec::Call>(step).results.front()] = &std::get<spec::Call>(step);
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        std::size_t made = 0;
        for (const auto& name : call.operands) {
          const auto maker = makers.find(name.value_or(""));
          if (maker == makers.end()) continue;
          ++made;
          for (const auto& other : call.operands) back += other != name && std::count(maker->second->operands.begin(), maker->second->operands.end(), other) > 0;
        }
        joined += made == 2 && call.operands[0] != call.operands[1];
      }
    }
  }
  CHECK(back >= 60);
  CHECK(joined >= 12);
}

TEST_CASE("what reductions read is made by moves, and what they give is moved, by calls that nobody else reads", "[cases]") {
  std::set<std::string> before, behind;
  for (const char* operation : {"sum", "matmul", "max", "mean", "cumsum", "prod"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 2, dtype);
      REQUIRE(c);
      std::map<std::string, const spec::Call*> makers;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        for (const std::string& name : spec::values_read(call)) {
          const auto maker = makers.find(name);
          if (maker == makers.end()) continue;
          if (call.operation == operation) before.insert(maker->second->operation);
          if (maker->second->operation == operation) behind.insert(call.operation);
        }
        for (const std::string& name : call.results) makers[name] = &call;
      }
    }
  }
  CHECK(before.size() >= 20);
  CHECK(behind.size() >= 20);
}

TEST_CASE("two views of one value are read by calls that are alike but for them", "[cases]") {
  std::size_t asked = 0, other = 0, beside = 0;
  for (const char* operation : {"matmul", "sum", "softmax", "linear", "max", "layer_norm", "neg", "exp", "mul", "log_softmax", "cumsum", "mean", "outer", "prod", "std", "logsumexp", "var", "flip", "tanh", "sigmoid", "min", "norm", "dot", "square"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 3, dtype);
      if (!c) continue;
      std::map<std::string, std::string> base;  // of views
      const spec::Call* earlier = nullptr;
      bool views = false;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        if (conformance::is_move(spec::definition_named(call.operation))) base[call.results.front()] = call.operands.front().value_or("");
        const bool reads_view = std::any_of(call.operands.begin(), call.operands.end(), [&](const auto& name) { return name && base.contains(*name); });
        const bool reads_base = std::any_of(call.operands.begin(), call.operands.end(), [&](const auto& name) {
          return name && std::any_of(base.begin(), base.end(), [&](const auto& b) { return b.second == *name; });
        });
        views = views || (call.operation == operation && reads_view);
        if (call.operation == operation && earlier != nullptr && (reads_view || reads_base) && call.operands != earlier->operands && call.attributes == earlier->attributes) ++other;
        if (call.operation == operation) earlier = &call;
        else if (reads_base && !base.contains(call.results.front())) ++beside;
      }
      asked += views;
    }
  }
  CHECK(asked >= 15);
  CHECK(other >= 4);
  CHECK(beside >= 5);
}

TEST_CASE("a chain comes once more on other numbers", "[cases]") {
  for (const char* operation : {"leaky_relu", "layer_norm", "matmul", "neg", "transpose"}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto c = drawn(operation, Check::program, 5, dtype), again = drawn(operation, Check::program, 7, dtype);
      REQUIRE(c);
      REQUIRE(again);
      CHECK(*c->program == *again->program);
      REQUIRE(c->operands.size() == again->operands.size());
      CHECK(c->operands != again->operands);
      CHECK(c->mode == again->mode);
      CHECK(std::count(c->wrt.begin(), c->wrt.end(), true) == std::count(again->wrt.begin(), again->wrt.end(), true));
    }
  }
}

TEST_CASE("operations read what was moved before", "[cases]") {
  std::size_t moved = 0, asked = 0;
  for (const char* operation : {"group_norm", "matmul", "softmax", "sum", "conv1d", "layer_norm", "mean", "linear", "max", "outer"}) {
    for (const std::uint64_t i : {3U, 10U}) {
      const auto c = drawn(operation, Check::program, i);
      if (!c) continue;
      ++asked;
      std::set<std::string> given;
      for (const auto& step : c->program->steps) {
        const auto& call = std::get<spec::Call>(step);
        const bool reads = std::any_of(call.operands.begin(), call.operands.end(), [&](const auto& name) { return name && given.contains(*name); });
        if (call.operation == operation && reads) ++moved;
        if (conformance::is_move(spec::definition_named(call.operation))) given.insert(call.results.begin(), call.results.end());
      }
    }
  }
  CHECK(asked >= 18);
  CHECK(moved >= 12);
}

TEST_CASE("smaller programs are well-typed and ask for something", "[cases]") {
  std::size_t offered = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const auto c = drawn("exp", Check::program, i);
    if (!c) continue;
    for (const Case& smaller : conformance::smaller_programs(*c)) {
      REQUIRE_NOTHROW(spec::verify(*smaller.program));
      CHECK(smaller.program->steps.size() + smaller.program->outputs.size() < c->program->steps.size() + c->program->outputs.size());
      CHECK(smaller.operands.size() == smaller.program->inputs.size());
      if (smaller.mode != spec::Mode::forward) CHECK(smaller.wrt.size() == smaller.operands.size());
      ++offered;
    }
  }
  CHECK(offered >= 12);
}
