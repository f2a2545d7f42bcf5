#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <fmt/format.h>

#include "conformance/adapter/check.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

using conformance::Remark;
using spec::Json;

constexpr const char* adapter_examples = R"(
Examples
  etalon adapter check 'python3 adapter.py'             what it gets wrong of Protocol 1, message by message
  etalon adapter check plugin:build/mine.so --json      the same for a plug-in, for programs to read
  etalon adapter message --kind answer < answers.jsonl  what the suite's reader says of each line
Exit status: 0 nothing is wrong, 1 something is, 2 usage or set-up error.)";

[[nodiscard]] Json to_json(const std::string& command, const std::vector<Remark>& remarks, bool wrong) {
  Json json = {{"schema", 1}, {"command", command}, {"ok", !wrong}, {"remarks", Json::array()}};
  for (const Remark& r : remarks) {
    Json one = {{"mark", name_of(r.mark)}, {"part", r.part}, {"what", r.what}, {"times", r.times}};
    for (const auto& [name, text] : {std::pair("advice", &r.advice), std::pair("request", &r.request), std::pair("answer", &r.answer)}) {
      if (!text->empty()) one[name] = *text;
    }
    json["remarks"].push_back(std::move(one));
  }
  return json;
}

void print(const std::vector<Remark>& remarks, bool wrong) {
  for (const Remark& r : remarks) {
    std::cout << fmt::format("{:<6}{:<18}{}", name_of(r.mark), r.part, r.what);
    if (r.times > 1) std::cout << fmt::format(" ({} times)", r.times);
    std::cout << '\n';
    for (const auto& [label, text] : {std::pair("advice:  ", &r.advice), std::pair("request: ", &r.request), std::pair("answer:  ", &r.answer)}) {
      if (!text->empty()) std::cout << fmt::format("{:24}{}{}\n", "", label, *text);
    }
  }
  std::cout << (wrong ? "this is not yet Protocol 1\n" : "speaks Protocol 1; `etalon conform` asks whether its numbers are right\n");
}

[[nodiscard]] int check_adapter(const std::string& command, double seconds, std::uint64_t memory, bool as_json) {
  conformance::Limits limits;
  limits.answer = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  limits.start = std::max(limits.start, limits.answer);
  limits.memory = memory << 20U;
  const std::vector<Remark> remarks = conformance::check_adapter(command_of(command), limits);
  const bool wrong = std::any_of(remarks.begin(), remarks.end(), [](const Remark& r) { return r.mark == Remark::Mark::wrong; });
  if (as_json) std::cout << spec::to_line(to_json(command, remarks, wrong)) << '\n';
  else print(remarks, wrong);
  return wrong ? 1 : 0;
}

/// What the suite's reader says of the line; nothing where it reads it.
[[nodiscard]] std::string error_in(const std::string& line, const std::string& kind) {
  try {
    if (kind == "answer") (void)spec::decode_reply(line);
    if (kind == "description") (void)spec::decode_description(line);
    if (kind != "request") return "";
    const Json json = spec::parse_json(line, "request");
    const std::string& request = spec::fields::string(spec::fields::member(json, "request", ""), "request");
    if (request == "run") (void)spec::decode_request(line);
    else if (request != "describe") return "request: expected describe or run, found " + request;
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

[[nodiscard]] int read_messages(const std::string& kind) {
  const std::vector<std::string> kinds{"request", "description", "answer"};
  if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) throw SpecViolation(unknown_name("kind", kind, kinds));
  bool wrong = false;
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string error = error_in(line, kind);
    wrong = wrong || !error.empty();
    std::cout << spec::to_line(error.empty() ? Json{{"valid", true}} : Json{{"valid", false}, {"error", error}}) << '\n';
  }
  return wrong ? 1 : 0;
}

struct AdapterWords {
  std::string command, kind = "answer";
  double timeout = 20;
  std::uint64_t memory = 8192;
  bool json = false;
};

}  // namespace

void add_adapter(Command app, Outcome& outcome) {
  Command adapter = app.command("adapter", "What an adapter gets wrong of Protocol 1");
  adapter.footer(adapter_examples);
  auto words = std::make_shared<AdapterWords>();
  Command checked = adapter.command("check", "Talk with an adapter and say what is wrong, message by message");
  checked.option("COMMAND", words->command, "What starts it, as one word: 'python3 adapter.py', plugin:PATH.so or pjrt:PATH.so").required();
  checked.option("--timeout", words->timeout, "Seconds for one answer; the first has at least a minute").between(0.001, 86400.0).with_default();
  checked.option("--memory", words->memory, "MiB of data that it may have; 0 is no limit").with_default();
  checked.flag("--json", words->json, "One JSON object instead of text");
  checked.callback([words, &outcome] { outcome.status = check_adapter(words->command, words->timeout, words->memory, words->json); });
  Command message = adapter.command("message", "Say of each line of standard input what the suite's reader says");
  message.option("--kind", words->kind, "What the lines are: request, description or answer").with_default();
  message.callback([words, &outcome] { outcome.status = read_messages(words->kind); });
  adapter.alone([] { throw SpecViolation("adapter: a command is missing; etalon adapter --help lists them"); });
}

}  // namespace etalon::command
