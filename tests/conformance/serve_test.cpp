#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/serve.hpp"
#include "reference/backend.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"

using namespace etalon;
using spec::Json;

namespace {

/// What the server answers to these lines.
[[nodiscard]] std::vector<Json> ask(const std::vector<std::string>& lines, bool offers_bounds = true) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  std::istringstream requests(all);
  std::ostringstream answers;
  const std::unique_ptr<spec::Backend> backend = reference::make_reference_backend();
  conformance::serve(requests, answers, *backend, {.offers_bounds = offers_bounds});
  std::vector<Json> result;
  std::istringstream replies(answers.str());
  for (std::string line; std::getline(replies, line);) result.push_back(Json::parse(line));
  return result;
}

[[nodiscard]] spec::Request request(const std::string& program, std::vector<HostTensor> inputs, spec::Mode mode = spec::Mode::forward) {
  spec::Request r;
  r.id = "7";
  r.mode = mode;
  r.program = spec::parse_program(program);
  r.inputs = std::move(inputs);
  return r;
}

[[nodiscard]] std::string with_bounds(const spec::Request& r, const std::string& contract = "{}") {
  const std::string line = encode(r);
  return line.substr(0, line.size() - 1) + ",\"bounds\":" + contract + "}";
}

[[nodiscard]] HostTensor tensor(const Json& json) { return spec::tensor_from_json(json, "t"); }

const std::string exponential = "input x : f32[2]\ny = exp(x)\noutput y\n";

}  // namespace

TEST_CASE("the server describes its backend", "[serve]") {
  const std::vector<Json> answers = ask({R"({"etalon":1,"request":"describe"})"});
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]["etalon"] == 1);
  CHECK(answers[0]["name"] == "reference");
  CHECK(answers[0]["operations"] == "all");
  CHECK(answers[0]["modes"] == Json{"forward", "jvp", "vjp", "jvp_of_vjp"});
  CHECK(answers[0]["contract"].is_object());
}

TEST_CASE("values, tangents and cotangents travel in every mode", "[serve]") {
  // y = x²: y' = 2 x dx, x~ = 2 x y~, and the tangent of x~ is 2 dx y~ + 2 x dy~.
  const std::string square = "input x : f64[]\ny = mul(x, x)\noutput y\n";
  const auto scalar = [](double v) { return HostTensor::of<double>({}, {v}); };
  spec::Request jvp = request(square, {scalar(3)}, spec::Mode::jvp), vjp = jvp, second = jvp;
  jvp.wrt = vjp.wrt = second.wrt = {true};
  vjp.mode = spec::Mode::vjp;
  second.mode = spec::Mode::jvp_of_vjp;
  jvp.tangents = second.tangents = {scalar(10)};
  vjp.cotangents = second.cotangents = {scalar(100)};
  second.cotangent_tangents = {scalar(1)};
  const std::vector<Json> answers = ask({encode(request(square, {scalar(3)})), encode(jvp), encode(vjp), encode(second)});
  REQUIRE(answers.size() == 4);
  for (const Json& answer : answers) {
    CHECK(answer["id"] == "7");
    CHECK(tensor(answer["outputs"][0]) == scalar(9));
  }
  CHECK_FALSE(answers[0].contains("tangents"));
  CHECK(tensor(answers[1]["tangents"][0]) == scalar(60));
  CHECK(tensor(answers[2]["cotangents"][0]) == scalar(600));
  CHECK(tensor(answers[3]["cotangents"][0]) == scalar(600));
  CHECK(tensor(answers[3]["cotangent_tangents"][0]) == scalar(2006));
}

TEST_CASE("a bad request gets an error reply and the next one is served", "[serve]") {
  const std::string good = encode(request(exponential, {HostTensor::of<float>({2}, {0, 0})}));
  const std::vector<Json> answers =
      ask({"{", "[]", "\"run\"", R"({"request":"run","id":"3"})", R"({"request":"dance","id":"4"})",
           R"({"request":"run","id":"5","mode":"sideways"})", R"({"request":"run","id":6,"mode":"forward"})", "", good});
  REQUIRE(answers.size() == 8);
  CHECK(answers[0]["id"].is_null());
  CHECK(answers[0]["error"] == "request: malformed JSON at line 1, column 2: unexpected end of input; expected string literal");
  CHECK(answers[1]["error"] == "request: expected an object, found []");
  CHECK(answers[2]["error"] == "request: expected an object, found \"run\"");
  CHECK(answers[3]["id"] == "3");
  CHECK(answers[3]["error"] == "mode: the field is missing");
  CHECK(answers[4]["unsupported"]["why"] == "request: 'dance' is not offered; there are describe and run");
  CHECK(answers[5]["unsupported"]["what"] == "mode");
  CHECK(answers[6]["error"] == "id: expected a string, found 6");
  CHECK(tensor(answers[7]["outputs"][0]) == HostTensor::of<float>({2}, {1, 1}));
}

TEST_CASE("ill-typed programs and values outside their type are rejected, unknown operations unsupported", "[serve]") {
  const HostTensor x = HostTensor::of<float>({2}, {0, 0});
  const std::vector<Json> answers = ask({
      encode(request("input x : f32[2]\ny = linear(x, x)\noutput y\n", {x})),
      encode(request("input x : f32[2]\ny = frobnicate(x)\noutput y\n", {x})),
      encode(request(exponential, {HostTensor::of<float>({1}, {0})})),
      encode(request("index n : i64[] in 0..3\noutput n\n", {HostTensor::of<std::int64_t>({}, {4})})),
  });
  REQUIRE(answers.size() == 4);
  CHECK(answers[0]["rejected"].get<std::string>().find("linear: ") == 0);
  CHECK(answers[1]["unsupported"]["what"] == "operation");
  CHECK(answers[2]["rejected"] == "input x: expected f32[2], found f32[1]");
  CHECK(answers[3]["rejected"] == "input n: expected a value in 0..3, found 4");
}

TEST_CASE("with a contract the reference answers what it admits", "[serve]") {
  const std::vector<Json> answers = ask({with_bounds(request(exponential, {HostTensor::of<float>({2}, {1, -INFINITY})}))});
  REQUIRE(answers.size() == 1);
  const HostTensor lower = tensor(answers[0]["lower"][0]);
  const HostTensor upper = tensor(answers[0]["upper"][0]);
  CHECK(lower.dtype == DType::f64);
  // e is 2.718281828…; the contract's function is within one ulp of f32, 2^-22 there.
  const double e = 2.718281828459045;
  CHECK(lower.view<double>()[0] < e);
  CHECK(upper.view<double>()[0] > e);
  CHECK(e - lower.view<double>()[0] < 3 * 0x1p-22);
  CHECK(upper.view<double>()[0] - e < 3 * 0x1p-22);
  REQUIRE(answers[0]["flags"].size() == 1);
}

TEST_CASE("bounds stand beside every list of the mode", "[serve]") {
  const std::string program = "input x : f32[2]\ninput k : i64[2]\ny = exp(x)\noutput y, k\n";
  spec::Request r = request(program, {HostTensor::of<float>({2}, {0.5F, 1.5F}), HostTensor::of<std::int64_t>({2}, {4, 5})}, spec::Mode::vjp);
  r.wrt = {true, false};
  r.cotangents = {HostTensor::of<float>({2}, {1, 2}), std::nullopt};
  spec::Request j = r, s = r;
  j.mode = spec::Mode::jvp;
  j.tangents = {HostTensor::of<float>({2}, {1, 2}), std::nullopt};
  s.mode = spec::Mode::jvp_of_vjp;
  s.tangents = j.tangents;
  const std::vector<Json> answers = ask({with_bounds(r), with_bounds(j), with_bounds(s)});
  REQUIRE(answers.size() == 3);
  const auto holds = [](const Json& answer, const std::string& prefix, const std::string& list, std::size_t i) {
    const HostTensor low = tensor(answer[prefix + "lower"][i]), high = tensor(answer[prefix + "upper"][i]), got = tensor(answer[list][i]);
    for (std::size_t k = 0; k < 2; ++k) {
      const double value = static_cast<double>(got.view<float>()[k]);
      if (!(low.view<double>()[k] <= value && value <= high.view<double>()[k])) return false;
      // exp may err by 2^-23 of its value, the products with what comes in and with its tangent by 2^-24 each, either way.
      if (!(high.view<double>()[k] - low.view<double>()[k] <= (1 + 0x1p-20) * 0x1p-21 * std::abs(value))) return false;
    }
    return true;
  };
  for (const Json& answer : answers) {
    CHECK(holds(answer, "", "outputs", 0));
    CHECK(tensor(answer["lower"][1]) == HostTensor::of<std::int64_t>({2}, {4, 5}));
    CHECK(tensor(answer["upper"][1]) == HostTensor::of<std::int64_t>({2}, {4, 5}));
  }
  CHECK(holds(answers[0], "cotangents_", "cotangents", 0));
  CHECK(answers[0]["cotangents_lower"][1].is_null());
  CHECK(holds(answers[1], "tangents_", "tangents", 0));
  CHECK(answers[1]["tangents_lower"][1].is_null());
  CHECK(holds(answers[2], "cotangents_", "cotangents", 0));
  CHECK(holds(answers[2], "cotangent_tangents_", "cotangent_tangents", 0));
}

TEST_CASE("calls whose parts state derivatives have bounds where nothing is marked", "[sound][serve]") {
  for (const std::string program : {"input x : i64[3]\ny = prod(x)\noutput y\n", "input x : i64[3]\ny = cumprod(x)\noutput y\n"}) {
    for (const spec::Mode mode : {spec::Mode::vjp, spec::Mode::jvp}) {
      spec::Request r = request(program, {HostTensor::of<std::int64_t>({3}, {1, 2, 3})}, mode);
      r.wrt = {false};
      (mode == spec::Mode::vjp ? r.cotangents : r.tangents) = {std::nullopt};
      const Json answer = ask({with_bounds(r)}).at(0);
      INFO(answer.dump());
      REQUIRE(answer.contains("lower"));
      CHECK(tensor(answer["lower"][0]) == tensor(answer["outputs"][0]));
      CHECK(tensor(answer["upper"][0]) == tensor(answer["outputs"][0]));
    }
  }
}

TEST_CASE("a malformed contract is named, and only the reference has bounds", "[serve]") {
  const spec::Request r = request(exponential, {HostTensor::of<float>({2}, {0, 0})});
  CHECK(ask({with_bounds(r, "{\"sum_blok\":3}")}).at(0).contains("error"));
  CHECK(ask({with_bounds(r)}, false).at(0)["unsupported"]["what"] == "bounds");
}
