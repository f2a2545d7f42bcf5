// Backends that are right about single calls on dense tensors, and wrong about the rest.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "conformance/asking.hpp"
#include "conformance/check_program.hpp"
#include "conformance/conform.hpp"
#include "conformance/values.hpp"
#include "reference/backend.hpp"
#include "spec/program/analysis.hpp"
#include "tests/conformance/backends.hpp"

using namespace etalon;
using conformance::Check;
using spec::Answer;
using spec::Mode;
using spec::Numbers;
using spec::Placement;
using spec::Request;

namespace {

/// Answers with the reference's numbers for what it took the request to be.
class Mistaken final : public spec::Backend {
 public:
  using Reads = std::function<void(Request&)>;
  using Spoils = std::function<void(const Request&, Numbers&)>;
  Mistaken(Reads reads, Spoils spoils, bool fuses = false)
      : inner_(reference::make_reference_backend()), reads_(std::move(reads)), spoils_(std::move(spoils)), fuses_(fuses) {}

  [[nodiscard]] spec::Description describe() const override {
    spec::Description d = inner_->describe();
    d.layouts = true;
    d.fuses = fuses_;
    return d;
  }
  [[nodiscard]] Answer run(const Request& request) override {
    Request read = request;
    if (reads_) reads_(read);
    Answer answer = !fuses_ && read.mode == Mode::forward ? by_calls(read) : inner_->run(read);
    if (auto* numbers = std::get_if<Numbers>(&answer); numbers != nullptr && spoils_) spoils_(request, *numbers);
    return answer;
  }

 private:
  /// The reference rounds only what it answers; here each call reads what the one before it gave.
  [[nodiscard]] Answer by_calls(const Request& request) {
    std::map<std::string, HostTensor> values;
    for (std::size_t i = 0; i < request.inputs.size(); ++i) values[request.program.inputs[i].name] = request.inputs[i];
    for (const auto& step : request.program.steps) {
      const auto& call = std::get<spec::Call>(step);
      Request one;
      one.program.outputs = call.results;
      one.program.steps = {step};
      const std::vector<std::string> read = spec::values_read(call);  // attributes may be values, too
      for (const std::string& name : std::set<std::string>(read.begin(), read.end())) {
        spec::Input input;
        input.name = name;
        input.dtype = values.at(name).dtype;
        input.dims = values.at(name).dims;
        one.program.inputs.push_back(input);
        one.inputs.push_back(values.at(name));
      }
      Answer answer = inner_->run(one);
      auto* numbers = std::get_if<Numbers>(&answer);
      if (numbers == nullptr) return answer;
      for (std::size_t r = 0; r < call.results.size(); ++r) values[call.results[r]] = numbers->outputs[r];
    }
    Numbers all;
    for (const std::string& name : request.program.outputs) all.outputs.push_back(values.at(name));
    return all;
  }

  std::unique_ptr<spec::Backend> inner_;
  Reads reads_;
  Spoils spoils_;
  bool fuses_;
};

struct Result {
  int code = -1;
  std::string console;
};

Result held(spec::Backend& backend, std::vector<std::string> operations, Check check) {
  conformance::ConformOptions options;
  options.backend_name = "test";
  options.operations = std::move(operations);
  options.checks = {check};
  options.shrink_attempts = 150;
  std::ostringstream console;
  Result result;
  result.code = run_conform(options, backend, console);
  result.console = console.str();
  return result;
}

/// Replaces every tensor that came with a layout by what a misreading makes of its buffer.
void misread(Request& request, const std::function<HostTensor(const HostTensor& buffer, const Placement&, const Dims&)>& how) {
  const auto all = [&](auto& tensors, const auto& places) {
    for (std::size_t i = 0; i < tensors.size() && i < places.size(); ++i) {
      if (!places[i]) continue;
      std::optional<HostTensor> t = tensors[i];
      if (t && t->dims.count() > 0) tensors[i] = how(spec::buffer_of(*t, *places[i]), *places[i], t->dims);
    }
  };
  all(request.inputs, request.placements.inputs);
  all(request.tangents, request.placements.tangents);
  all(request.cotangents, request.placements.cotangents);
}

/// What lies at the places that are inside, and the first element elsewhere.
HostTensor read(const HostTensor& buffer, Placement placement, const Dims& dims) {
  HostTensor t(buffer.dtype, dims);
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims.count()); ++i) {
    std::int64_t at = placement.offset, rest = static_cast<std::int64_t>(i);
    for (std::size_t axis = dims.rank; axis-- > 0;) {
      at += rest % dims[axis] * placement.strides[axis];
      rest /= dims[axis];
    }
    const bool inside = at >= 0 && at < buffer.dims[0];
    conformance::set_element(t, i, conformance::element(buffer, inside ? static_cast<std::size_t>(at) : 0));
  }
  return t;
}

Placement dense(const Dims& dims) {
  Placement p;
  p.strides.assign(dims.rank, 1);
  for (std::size_t axis = dims.rank; axis-- > 1;) p.strides[axis - 1] = p.strides[axis] * dims[axis];
  return p;
}

bool is_real(const std::optional<HostTensor>& t) { return t && kind_of(t->dtype) == Kind::real && t->dims.count() > 0; }

void double_first(HostTensor& t) { conformance::set_element(t, 0, 2 * conformance::element(t, 0) + 1); }

}  // namespace

TEST_CASE("a sound backend passes layouts, second derivatives and programs", "[wrong]") {
  for (const bool fuses : {false, true}) {
    Mistaken sound({}, {}, fuses);
    for (const Check check : {Check::layout, Check::second, Check::program}) {
      const Result result = held(sound, {"mul", "matmul", "exp"}, check);
      INFO(result.console);
      CHECK(result.code == 0);
    }
  }
}

TEST_CASE("backends that misread layouts are convicted", "[wrong]") {
  const std::vector<std::pair<std::string, std::function<HostTensor(const HostTensor&, const Placement&, const Dims&)>>> wrong{
      {"ignores strides",
       [](const HostTensor& b, const Placement& p, const Dims& d) {
         Placement q = dense(d);
         q.offset = p.offset;
         return read(b, q, d);
       }},
      {"ignores strides and offsets", [](const HostTensor& b, const Placement&, const Dims& d) { return read(b, dense(d), d); }},
      {"ignores offsets",
       [](const HostTensor& b, Placement p, const Dims& d) {
         p.offset = 0;
         return read(b, p, d);
       }},
      {"takes negative strides for positive ones",
       [](const HostTensor& b, Placement p, const Dims& d) {
         for (auto& s : p.strides) s = std::abs(s);
         return read(b, p, d);
       }},
      {"takes expanded axes for dense ones",
       [](const HostTensor& b, Placement p, const Dims& d) {
         for (auto& s : p.strides) s = s == 0 ? 1 : s;
         return read(b, p, d);
       }},
      {"takes the first axis for the fastest",
       [](const HostTensor& b, Placement p, const Dims& d) {
         std::reverse(p.strides.begin(), p.strides.end());
         return read(b, p, d);
       }},
  };
  for (const auto& [name, how] : wrong) {
    DYNAMIC_SECTION(name) {
      Mistaken backend([&how = how](Request& r) { misread(r, how); }, {});
      const Result result = held(backend, {"mul", "matmul"}, Check::layout);
      INFO(result.console);
      CHECK(result.code == 1);
      CHECK(result.console.find("has strides") != std::string::npos);
      CHECK(held(backend, {"mul"}, Check::value).code == 0);
    }
  }
}

TEST_CASE("a layout of the cotangent alone that is misread convicts", "[wrong]") {
  Mistaken backend(
      [](Request& r) {
        r.placements.inputs.clear();
        r.placements.tangents.clear();
        misread(r, [](const HostTensor& b, const Placement&, const Dims& d) { return read(b, dense(d), d); });
      },
      {});
  CHECK(held(backend, {"mul", "matmul"}, Check::layout).code == 1);
}

TEST_CASE("backends that answer another second derivative are convicted", "[wrong]") {
  const auto backwards = [](std::vector<std::optional<HostTensor>>& seeds) {
    for (auto& t : seeds) {
      for (std::size_t i = 0; is_real(t) && i < static_cast<std::size_t>(t->dims.count()); ++i)
        conformance::set_element(*t, i, -conformance::element(*t, i));
    }
  };
  const std::vector<std::pair<std::string, Mistaken::Reads>> wrong{
      {"along no motion of the cotangents", [](Request& r) { r.cotangent_tangents.clear(); }},
      {"along no motion of the operands", [](Request& r) { r.tangents.clear(); }},
      {"along the cotangent itself", [](Request& r) { r.cotangent_tangents = r.cotangents; }},
      {"against the tangents", [&](Request& r) { if (r.mode == Mode::jvp_of_vjp) backwards(r.tangents); }},
      {"of another cotangent", [&](Request& r) { if (r.mode == Mode::jvp_of_vjp) r.cotangents = r.cotangent_tangents; }},
  };
  for (const auto& [name, reads] : wrong) {
    DYNAMIC_SECTION(name) {
      Mistaken backend([&reads = reads](Request& r) { if (r.mode == Mode::jvp_of_vjp) reads(r); }, {});
      const Result result = held(backend, {"mul", "exp"}, Check::second);
      INFO(result.console);
      CHECK(result.code == 1);
      CHECK(held(backend, {"mul"}, Check::vjp).code == 0);
    }
  }
}

TEST_CASE("first derivatives in place of second ones, or none, are convicted", "[wrong]") {
  Mistaken first({}, [](const Request& r, Numbers& n) { if (r.mode == Mode::jvp_of_vjp) n.tangents = n.cotangents; });
  CHECK(held(first, {"mul", "exp"}, Check::second).code == 1);
  Mistaken none({}, [](const Request& r, Numbers& n) { if (r.mode == Mode::jvp_of_vjp) n.tangents.clear(); });
  CHECK(held(none, {"mul", "exp"}, Check::second).code == 1);
}

TEST_CASE("an error in one call of a program is convicted there, and shown as that call alone", "[wrong]") {
  Mistaken backend({}, [](const Request& r, Numbers& n) {
    for (const auto& step : r.program.steps) {
      const auto* call = std::get_if<spec::Call>(&step);
      if (call == nullptr || call->operation != "mul") continue;
      for (std::size_t o = 0; o < n.outputs.size(); ++o) {
        if (r.program.outputs[o] == call->results[0] && is_real(n.outputs[o])) double_first(n.outputs[o]);
      }
    }
  });
  const Result result = held(backend, {"mul"}, Check::program);
  INFO(result.console);
  CHECK(result.code == 1);
  CHECK(result.console.find(": expected") != std::string::npos);
  CHECK(result.console.find("mul(a[..p]") != std::string::npos);
}

TEST_CASE("an error that only programs show is convicted, shrunk to two calls and replayed", "[wrong]") {
  Mistaken backend({}, [](const Request& r, Numbers& n) {
    if (r.program.steps.size() > 1 && r.mode == Mode::forward && is_real(n.outputs.back())) double_first(n.outputs.back());
  });
  const Result result = held(backend, {"mul", "exp", "matmul"}, Check::program);
  INFO(result.console);
  REQUIRE(result.code == 1);
  const std::string mark = "--replay ";
  const std::size_t at = result.console.find(mark);
  REQUIRE(at != std::string::npos);
  const std::string id = result.console.substr(at + mark.size(), result.console.find('\n', at) - at - mark.size());
  CHECK(id.find(".program.") != std::string::npos);
  conformance::ConformOptions options;
  options.backend_name = "test";
  options.replay = id;
  std::ostringstream wrong, right;
  CHECK(run_conform(options, backend, wrong) == 1);
  CHECK(wrong.str().find("    output v") != std::string::npos);
  Mistaken sound({}, {});
  CHECK(run_conform(options, sound, right) == 0);
}

TEST_CASE("a wrong derivative of a program is convicted as a whole", "[wrong]") {
  Mistaken backend({}, [](const Request& r, Numbers& n) {
    if (r.program.steps.size() < 2) return;
    for (auto* list : {&n.tangents, &n.cotangents}) {
      for (auto& t : *list) {
        if (is_real(t)) double_first(*t);
      }
    }
  });
  CHECK(held(backend, {"mul", "exp", "square", "matmul", "add", "tanh", "sum", "transpose"}, Check::program).code == 1);
}

TEST_CASE("a failing derivative of a program is booked on the call that is wrong alone", "[wrong]") {
  for (const bool fuses : {false, true}) {
    std::map<Mode, std::size_t> booked;
    Mistaken backend([](Request& r) {
      for (auto& step : r.program.steps) {
        auto& call = std::get<spec::Call>(step);
        if (r.mode != Mode::forward && call.operation == "tanh") call.operation = "sin";
      }
    }, {}, fuses);
    conformance::Shared asked(backend);
    for (std::uint64_t index = 0; index < 48; ++index) {
      const auto c = conformance::make_case({"tanh", Check::program, DType::f32, index});
      if (!c || c->mode == Mode::forward) continue;
      const conformance::Outcome outcome = conformance::check(*c, asked, {});
      if (outcome.verdict != conformance::Verdict::fail) continue;
      INFO(conformance::id_of(c->key) << ": " << outcome.why);
      CHECK(outcome.calls == std::vector<std::string>{"tanh"});
      const auto alone = conformance::failing_call(*c, asked, {});
      REQUIRE(alone);
      CHECK(alone->call.operation == "tanh");
      CHECK(alone->mode == c->mode);
      CHECK(conformance::check(*alone, asked, {}).verdict == conformance::Verdict::fail);
      booked[c->mode] += c->program->steps.size() > 1 ? 1 : 0;
    }
    CHECK(booked[Mode::jvp] > 0);
    CHECK(booked[Mode::vjp] > 2);
  }
}

TEST_CASE("of a backend that does not fuse all results are asked, too", "[wrong]") {
  for (const bool fuses : {true, false}) {
    std::map<std::string, std::size_t> requests;
    std::size_t twice = 0, left_out = 0;
    Mistaken backend(
        [&](Request& r) {
          if (r.mode != Mode::forward) return;
          twice += ++requests[r.id] > 1 ? 1 : 0;
          const std::set<std::string> asked(r.program.outputs.begin(), r.program.outputs.end());
          for (const auto& step : r.program.steps) {
            for (const std::string& result : std::get<spec::Call>(step).results) left_out += asked.contains(result) ? 0 : 1;
          }
        },
        {}, fuses);
    CHECK(held(backend, {"mul", "exp", "matmul", "sum"}, Check::program).code == 0);
    CHECK(!requests.empty());
    CHECK(left_out > 0);
    CHECK((twice > 0) == !fuses);
  }
}
