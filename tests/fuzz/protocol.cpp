#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/judge.hpp"
#include "reference/backend.hpp"
#include "spec/program/binding.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/sample.hpp"

namespace etalon::fuzz {
namespace {

/// The same message after it was written and read; `write(read(line))` of what was written.
template <class Write>
void check_again(const std::string& written, const Write& write) {
  std::string again;
  if (!accepted([&] { again = write(written); })) broken("a message that is written can be read", written);
  if (again != written) broken("a message is the same after it was written", written);
}

/// What the answers that are judged answer: values and cotangents of two inputs.
[[nodiscard]] const spec::Request& question() {
  static const spec::Request request = [] {
    spec::Request r;
    r.id = "1";
    r.mode = spec::Mode::vjp;
    r.program = spec::parse_program("input a : f32[2]\ninput t : i64[1]\ny = gather(a, t) {axis = 0}\noutput y\n");
    r.inputs = {HostTensor::of<float>(Dims{2}, {1, 2}), HostTensor::of<std::int64_t>(Dims{1}, {1})};
    r.wrt = {true, false};
    r.cotangents = {HostTensor::of<float>(Dims{1}, {3})};
    return r;
  }();
  return request;
}

}  // namespace

void read_request(std::string_view text) {
  std::optional<spec::Request> request;
  if (!accepted([&] { request = spec::decode_request(text); })) return;
  check_again(spec::encode(*request), [](const std::string& line) { return spec::encode(spec::decode_request(line)); });
  (void)accepted([&] { spec::verify_inputs(request->program, request->inputs); });
}

void read_answer(std::string_view text) {
  std::optional<spec::Description> description;
  if (accepted([&] { description = spec::decode_description(text); })) {
    check_again(spec::encode(*description), [](const std::string& line) { return spec::encode(spec::decode_description(line)); });
  }
  std::optional<spec::Reply> reply;
  if (!accepted([&] { reply = spec::decode_reply(text); })) return;
  check_again(spec::encode(reply->id, reply->answer), [](const std::string& line) {
    const spec::Reply again = spec::decode_reply(line);
    return spec::encode(again.id, again.answer);
  });
  (void)conformance::judge(question(), reply->answer, spec::Contract{});
}

std::vector<std::string> request_seeds() {
  std::vector<std::string> seeds{
      R"({"request":"run","id":"1","mode":"jvp_of_vjp","program":{"inputs":[{"name":"x","dtype":"f32","shape":[]}],"calls":[{"operation":"exp","operands":["x"],"attributes":{},"results":["y"]}],"outputs":["y"]},"inputs":[{"dtype":"f32","shape":[],"data":"AACAPw=="}],"wrt":[0],"tangents":[null],"cotangents":[{"dtype":"f32","shape":[],"data":"AACAPw=="}],"cotangent_tangents":[null]})",
      R"({"request":"run","id":"2","mode":"forward","program":{"inputs":[{"name":"x","dtype":"i32","shape":[2,2],"role":"constant"}],"calls":[],"outputs":["x"]},"inputs":[{"dtype":"i32","shape":[2,2],"strides":[0,1],"offset":1,"data":"AQAAAAIAAAADAAAA"}],"wrt":[true]})"};
  for (const spec::Request& request : sample_requests()) seeds.push_back(spec::encode(request));
  return seeds;
}

std::vector<std::string> answer_seeds() {
  const auto backend = reference::make_reference_backend();
  std::vector<std::string> seeds{spec::encode("1", backend->run(question())), spec::encode(backend->describe()),
                                 R"({"id":"1","unsupported":{"what":"dtype","why":"no f16"}})",
                                 R"({"id":"1","rejected":"a has rank 2"})",
                                 R"({"id":"1","error":"out of memory"})",
                                 R"({"id":"1","outputs":[{"dtype":"bool","shape":[2],"data":"AQA="}],"cotangents":[null]})",
                                 R"({"etalon":1,"name":"b","dtypes":["f32"],"modes":["vjp"],"operations":[{"operation":"exp","dtypes":["f32"]}],"contract":{"name":"c"}})"};
  for (const spec::Request& request : sample_requests()) seeds.push_back(spec::encode(request.id, backend->run(request)));
  return seeds;
}

}  // namespace etalon::fuzz
