#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "tests/spec/program_generator.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

[[nodiscard]] std::vector<std::optional<HostTensor>> some_tensors() {
  std::vector<std::optional<HostTensor>> tensors;
  for (int n = *rc::gen::inRange(0, 3); n > 0; --n)
    tensors.push_back(*rc::gen::arbitrary<bool>() ? std::optional(spec::test::any_tensor(spec::test::any_dtype(), spec::test::any_dims())) : std::nullopt);
  return tensors;
}

}  // namespace

TEST_CASE("requests read back", "[protocol]") {
  REQUIRE(rc::check("decode_request(encode(r)) == r", [] {
    Request request;
    request.id = spec::test::any_text();
    request.mode = *rc::gen::element(Mode::jvp, Mode::vjp, Mode::jvp_of_vjp);
    request.program = spec::test::any_program();
    for (const Input& input : request.program.inputs) {
      request.inputs.push_back(spec::test::any_tensor(input.dtype, input.dims));
      request.wrt.push_back(*rc::gen::arbitrary<bool>());
    }
    request.tangents = some_tensors();
    request.cotangents = some_tensors();
    request.cotangent_tangents = some_tensors();
    const Request back = decode_request(encode(request));
    RC_ASSERT(back.id == request.id);
    RC_ASSERT(back.mode == request.mode);
    RC_ASSERT(back.program == request.program);
    RC_ASSERT(back.inputs == request.inputs);
    RC_ASSERT(back.wrt == request.wrt);
    RC_ASSERT(back.tangents == request.tangents);
    RC_ASSERT(back.cotangents == request.cotangents);
    RC_ASSERT(back.cotangent_tangents == request.cotangent_tangents);
  }));
}

TEST_CASE("answers read back", "[protocol]") {
  const HostTensor t = HostTensor::of<double>({2}, {1.0, -0.0});
  const Numbers numbers{{t, t}, {std::nullopt, t}, {t, std::nullopt, t}};
  const Reply back = decode_reply(encode("7", numbers));
  CHECK(back.id == "7");
  CHECK(std::get<Numbers>(back.answer).outputs == numbers.outputs);
  CHECK(std::get<Numbers>(back.answer).tangents == numbers.tangents);
  CHECK(std::get<Numbers>(back.answer).cotangents == numbers.cotangents);
}

TEST_CASE("refusals travel in the three fields of the protocol", "[protocol]") {
  CHECK(encode("1", Refusal{Refusal::Kind::unsupported, "no f16", "dtype"}) == R"({"id":"1","unsupported":{"what":"dtype","why":"no f16"}})");
  CHECK(encode("1", Refusal{Refusal::Kind::rejected, "matmul: k is 3 in a, 4 in b", ""}) == R"({"id":"1","rejected":"matmul: k is 3 in a, 4 in b"})");
  CHECK(encode("1", Refusal{Refusal::Kind::error, "out of memory", ""}) == R"({"id":"1","error":"out of memory"})");
  const Refusal plain = std::get<Refusal>(decode_reply(R"({"id":"1","unsupported":"no"})").answer);
  CHECK(plain.kind == Refusal::Kind::unsupported);
  CHECK(plain.why == "no");
}

TEST_CASE("wrt is read as positions and as truth values", "[protocol]") {
  const auto wrt = [](const std::string& list) {
    return decode_request(R"({"mode":"vjp","program":{"inputs":[{"name":"a","dtype":"f32","shape":[]},{"name":"b","dtype":"f32","shape":[]}],)"
                          R"("calls":[],"outputs":[]},"inputs":[],"wrt":)" + list + "}").wrt;
  };
  CHECK(wrt("[1]") == std::vector<bool>{false, true});
  CHECK(wrt("[true, false]") == std::vector<bool>{true, false});
  CHECK(wrt("[]") == std::vector<bool>{false, false});
  CHECK_THROWS_WITH(wrt("[2]"), "wrt[0]: expected the position of an input, found 2");
  CHECK_THROWS_WITH(wrt("[true]"), "wrt: expected one truth value per input, found 1");
}

TEST_CASE("descriptions read back, and say little of a stranger by default", "[protocol]") {
  Description d;
  d.name = "mine";
  d.version = "2";
  d.dtypes = {DType::f32, DType::i64};
  d.modes = {Mode::forward, Mode::vjp};
  d.contract.sums.block = 16;
  d.operations = {"relu", "matmul"};
  d.generator = "philox4x32-10";
  const Description back = decode_description(encode(d));
  CHECK(back.name == d.name);
  CHECK(back.version == d.version);
  CHECK(back.dtypes == d.dtypes);
  CHECK(back.modes == d.modes);
  CHECK(back.contract == d.contract);
  CHECK(back.operations == d.operations);
  CHECK(back.generator == d.generator);
  CHECK_FALSE(back.fuses);
  CHECK(back.rejects);
  const Description stranger = decode_description(R"({"etalon":1,"name":"s","operations":[{"name":"relu"},{"operation":"add"}],"dtypes":["f32","u8"],"modes":["forward"]})");
  CHECK(stranger.fuses);
  CHECK_FALSE(stranger.rejects);
  CHECK(stranger.operations == std::vector<std::string>{"relu", "add"});
  CHECK(stranger.dtypes == std::vector<DType>{DType::f32});
  CHECK_THROWS_WITH(decode_description(R"({"etalon":2,"name":"s"})"), "etalon: expected protocol 1, found 2");
}

TEST_CASE("decoding is total on damaged lines", "[protocol]") {
  Request request;
  request.program = parse_program("input x : f32[2]\ny = f(x) {a = [1, 2], b = 0.5}\ng = vjp(y; x; x)\noutput y, g\n");
  request.inputs = {HostTensor::of<float>({2}, {1.0F, 2.0F})};
  request.wrt = {true};
  const std::string line = encode(request);
  int refused = 0;
  REQUIRE(rc::check("a damaged line is a request or a refusal", [&] {
    std::string damaged = line;
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
      const std::size_t at = *rc::gen::inRange<std::size_t>(0, damaged.size());
      damaged[at] = *rc::gen::element('"', '{', '[', ',', '0', '-', 'x', '\0', '\xff');
    }
    try {
      (void)decode_request(damaged);
    } catch (const SpecViolation&) {
      ++refused;
    } catch (const Unsupported&) {
      ++refused;
    }
  }));
  CHECK(refused > 10);
}
