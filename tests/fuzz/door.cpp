#include "conformance/door/door.hpp"

#include <chrono>
#include <nlohmann/json.hpp>

#include "spec/protocol/json.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {
namespace {

using spec::Json;

[[nodiscard]] std::string request(const char* kind, const char* key, const std::string& text) {
  return spec::to_line(Json{{"kind", kind}, {key, text}});
}

}  // namespace

void read_door(std::string_view text) {
  const std::string answered = conformance::door(text, std::chrono::seconds(1));
  if (answered.find('\n') != std::string::npos) broken("an answer is one line", answered);
  const Json answer = Json::parse(answered, nullptr, false);
  if (answer.is_discarded() || !answer.is_object() || !answer.contains("ok")) broken("an answer is an object that says ok", answered);
  if (answer.at("ok").get<bool>()) return;
  const Json& error = answer.at("error");
  check_message(error.at("message").get<std::string>());
  if (error.contains("line") != error.contains("excerpt")) broken("a place has its line of the text", answered);
}

std::vector<std::string> door_seeds() {
  std::vector<std::string> seeds{R"({"kind": "explain", "operation": "softmax"})", R"({"kind": "derive", "operation": "matmul", "dtype": "f64", "sample": 1})"};
  std::size_t number = 0;
  for (const std::string& text : program_seeds()) {
    if (number++ % 4 == 0) seeds.push_back(request("check", "program", text));
  }
  for (const std::string& text : notation_seeds()) {
    constexpr const char* kinds[] = {"check", "derive", "explain"};
    if (number++ % 4 == 0) seeds.push_back(request(kinds[number % 3], "definitions", text));
  }
  return seeds;
}

}  // namespace etalon::fuzz
