#include "tools/bench/entrant.hpp"

#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace etalon::bench {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::seconds start_limit{120};
constexpr std::size_t longest_line = 1U << 20U;

Bytes contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": the file is missing");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

/// What a line of the competitor says; `read` takes what is meant for the caller from it.
template <class T>
Answer<T> understood(const Answer<std::string>& line, const std::function<T(const Json&)>& read) {
  if (line.end != End::done) return {line.end, line.why, {}};
  try {
    const Json j = Json::parse(line.value);
    if (j.contains("not_offered")) return {End::not_offered, j.at("not_offered"), {}};
    if (j.contains("failed")) return {End::failed, j.at("failed"), {}};
    return {End::done, "", read(j)};
  } catch (const std::exception& error) {
    return {End::failed, std::string("not understood: ") + error.what(), {}};
  }
}

}  // namespace

Answer<std::string> Entrant::ask(const std::string& line, std::chrono::milliseconds limit) {
  using Exchange = conformance::Exchange;
  if (!process_) process_ = std::make_unique<conformance::ChildProcess>(seat_.command, 0);
  const Exchange exchange = process_->ask(line, limit, longest_line);
  if (exchange.end == Exchange::End::answered) return {End::done, "", exchange.line};
  const bool late = exchange.end == Exchange::End::late;
  const double seconds = std::chrono::duration<double>(limit).count();
  std::string why = late ? fmt::format("no answer within {:.0f} s", seconds) : process_->fate();
  if (!late && !process_->last_words().empty()) why += ": " + process_->last_words();
  end();
  return {late ? End::late : End::failed, why, {}};
}

Answer<std::string> Entrant::hello() {
  return understood<std::string>(ask(R"({"do": "hello"})", start_limit),
                                 [](const Json& j) { return j.at("version").get<std::string>(); });
}

Answer<bool> Entrant::load() {
  return understood<bool>(ask(R"({"do": "load"})", start_limit), [](const Json&) { return true; });
}

Answer<Prepared> Entrant::prepare(const Task& task, std::chrono::milliseconds limit) {
  const Json request{{"do", "prepare"},       {"workload", task.workload}, {"recipe", task.recipe},
                     {"sizes", task.sizes},   {"threads", task.threads},   {"wide", task.wide},
                     {"inputs", task.inputs}, {"outputs", task.outputs}};
  return understood<Prepared>(ask(request.dump(), limit), [](const Json& j) {
    Prepared prepared;
    for (const std::string path : j.at("outputs")) prepared.outputs.push_back(contents(path));
    prepared.setting = j.value("setting", "");
    prepared.first_seconds = j.at("first_seconds");
    prepared.roundings = j.value("roundings", std::vector<double>{});
    return prepared;
  });
}

Answer<double> Entrant::sample(std::int64_t runs, bool warm, std::chrono::milliseconds limit) {
  const Json request{{"do", "sample"}, {"runs", runs}, {"warm", warm}};
  return understood<double>(ask(request.dump(), limit), [](const Json& j) {
    const double seconds = j.at("seconds");
    if (!(seconds >= 0)) throw std::runtime_error("a time below 0");
    return seconds;
  });
}

Answer<Memory> Entrant::memory() {
  return understood<Memory>(ask(R"({"do": "memory"})", start_limit), [](const Json& j) {
    return Memory{j.at("before"), j.at("peak")};
  });
}

}  // namespace etalon::bench
