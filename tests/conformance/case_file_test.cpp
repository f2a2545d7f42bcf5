// Case files of strangers: what is no case is refused, whatever stands in it.
#include <catch2/catch.hpp>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/case_file.hpp"
#include "spec/error.hpp"

using namespace etalon;
using nlohmann::json;

TEST_CASE("a case file that is no case is refused", "[case_file]") {
  const auto c = conformance::make_case({"gather", conformance::Check::vjp, DType::f32, 1, 1, {}});
  REQUIRE(c.has_value());
  const json right = json::parse(conformance::to_json(*c));
  REQUIRE(conformance::to_json(conformance::case_from_json(right.dump())) == conformance::to_json(*c));
  const std::vector<std::function<void(json&)>> changes{
      [](json& j) { j["operands"][0]["shape"] = {-1}; },
      [](json& j) { j["operands"][0]["shape"] = {-9.22337e+19}; },
      [](json& j) { j["operands"][0]["shape"] = json::array({1, 1, 1, 1, 1, 1, 1, 1, 1}); },
      [](json& j) { j["operands"][0]["shape"] = {4294967296, 4294967296, 4294967296}; },
      [](json& j) { j["operands"][0]["values"] = json::array(); },
      [](json& j) { j["operands"][0]["values"][0] = "none"; },
      [](json& j) { j["operands"][1]["values"][0] = 0.5; },
      [](json& j) { j["operands"][1]["values"][0] = 1e300; },
      [](json& j) { j["operands"][0]["dtype"] = "f31"; },
      [](json& j) { j["check"] = "nothing"; },
      [](json& j) { j["mode"] = "nothing"; },
      [](json& j) { j["packs"] = {-1}; },
      [](json& j) { j["packs"] = {0.5}; },
      [](json& j) { j["steps"] = 1e10; },
      [](json& j) { j["steps"] = 2000000000; },
      [](json& j) { j["wrt"].push_back(true); },
      [](json& j) { j["tangents"] = json::array(); },
      [](json& j) { j["cotangents"][0]["shape"] = {1, 1, 1, 1, 1}; j["cotangents"][0]["values"] = {1}; },
      [](json& j) { j["id"] = "gather\n"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    json wrong = right;
    changes[i](wrong);
    INFO(i << ": " << wrong.dump());
    REQUIRE(wrong != right);
    CHECK_THROWS_AS(conformance::case_from_json(wrong.dump()), SpecViolation);
  }
  CHECK_THROWS_AS(conformance::case_from_json(std::string(100000, '[')), SpecViolation);
}
