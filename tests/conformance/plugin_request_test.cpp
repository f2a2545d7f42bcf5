// What a plug-in is handed: the tensors as they lie in the request, with the gaps between them.
#include <catch2/catch.hpp>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "conformance/isolation/plugin_request.hpp"
#include "conformance/values.hpp"
#include "spec/placement.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"
#include "spec/program/program.hpp"

using namespace etalon;

namespace {

HostTensor random_tensor(std::mt19937& random, const Dims& dims) {
  HostTensor t(DType::f32, dims);
  std::uniform_real_distribution<double> number(-2, 2);
  for (std::size_t i = 0; i < static_cast<std::size_t>(dims.count()); ++i) conformance::set_element(t, i, number(random));
  return t;
}

/// A VJP of x * y whose tensors lie turned, reversed and behind an offset.
spec::Request placed_request(std::mt19937& random) {
  const Dims dims{2, 3};
  spec::Request r;
  r.id = "placed";
  r.mode = spec::Mode::vjp;
  r.program = spec::parse_program("input x : f32[2, 3]\ninput y : f32[2, 3]\nz = mul(x, y)\noutput z\n");
  r.inputs = {random_tensor(random, dims), random_tensor(random, dims)};
  r.wrt = {true, true};
  r.cotangents = {random_tensor(random, dims)};
  r.placements.inputs = {spec::Placement{{1, 2}, 1, 8}, std::nullopt};
  r.placements.cotangents = {spec::Placement{{-4, 1}, 5, 9}};
  return r;
}

/// Compares what a plug-in reads with the tensor; returns the number of elements compared.
std::size_t compare(const etalon_tensor& seen, const HostTensor& expected) {
  std::size_t compared = 0;
  REQUIRE(seen.rank == 2);
  for (std::int64_t i = 0; i < seen.shape[0]; ++i) {
    for (std::int64_t j = 0; j < seen.shape[1]; ++j) {
      const float got = static_cast<const float*>(seen.data)[i * seen.strides[0] + j * seen.strides[1]];
      CHECK(static_cast<double>(got) == conformance::element(expected, static_cast<std::size_t>(i * seen.shape[1] + j)));
      ++compared;
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("a plug-in gets the strides and offsets that the request has", "[plugin][layouts]") {
  std::mt19937 random(3);
  const spec::Request sent = placed_request(random);
  // As the child process reads it.
  const spec::Request read = spec::request_from_json(spec::parse_json(spec::encode(sent), "request"));
  CHECK(read.placements == sent.placements);
  CHECK(read.inputs == sent.inputs);
  const conformance::PluginRequest plugin(read);
  const etalon_request& view = plugin.view();
  CHECK(std::vector<std::int64_t>(view.inputs[0].strides, view.inputs[0].strides + 2) == std::vector<std::int64_t>{1, 2});
  CHECK(std::vector<std::int64_t>(view.inputs[1].strides, view.inputs[1].strides + 2) == std::vector<std::int64_t>{3, 1});
  CHECK(std::vector<std::int64_t>(view.cotangents[0].strides, view.cotangents[0].strides + 2) == std::vector<std::int64_t>{-4, 1});
  CHECK(compare(view.inputs[0], sent.inputs[0]) + compare(view.inputs[1], sent.inputs[1]) + compare(view.cotangents[0], *sent.cotangents[0]) == 18);
  // What lies between the elements shows when it is read.
  CHECK(std::isnan(static_cast<const float*>(view.inputs[0].data)[-1]));
  CHECK(std::isnan(static_cast<const float*>(view.cotangents[0].data)[-1]));
}
