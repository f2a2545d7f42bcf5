#include "tools/bench/worker.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/bench/process_memory.hpp"

namespace etalon::bench {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Bytes contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + ": the file cannot be read");
  file.seekg(0, std::ios::end);
  Bytes bytes(static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg())));
  file.seekg(0);
  if (!bytes.empty() && !file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    throw std::runtime_error(path + ": the file cannot be read");
  return bytes;
}

void write(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) throw std::runtime_error(path + ": the file cannot be written");
}

struct Session {
  Competitor& competitor;
  Job job{};  ///< what was prepared last
  std::uint64_t memory_before = 0;
};

Job job_of(const Json& request) {
  Job job;
  job.workload = request.at("workload");
  job.recipe = request.at("recipe");
  job.sizes = request.at("sizes").get<std::map<std::string, std::int64_t>>();
  job.threads = request.at("threads");
  job.wide = request.value("wide", false);
  for (const std::string path : request.at("inputs")) job.inputs.push_back(contents(path));
  return job;
}

Json prepare(Session& session, const Json& request) {
  const std::string folder = request.at("outputs");
  session.job = job_of(request);
  session.memory_before = resident_bytes();
  forget_peak();
  Json files = Json::array();
  const Beginning beginning = session.competitor.prepare(session.job, [&](std::span<const std::byte> output) {
    files.push_back(folder + "/" + std::to_string(files.size()));
    write(files.back(), output);
  });
  return {{"outputs", files},
          {"setting", beginning.setting},
          {"first_seconds", beginning.first_seconds},
          {"roundings", beginning.roundings}};
}

Json sample(Session& session, const Json& request) {
  const auto runs = request.at("runs").get<std::int64_t>();
  session.competitor.reset();
  if (request.at("warm").get<bool>()) session.competitor.run();
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < runs; ++i) session.competitor.run();
  return {{"seconds", seconds_since(start)}};
}

Json load(Session& session) {
  session.competitor.load();
  return Json::object();
}

Json answer(Session& session, const Json& request) {
  const std::string what = request.at("do");
  if (what == "hello") return {{"version", session.competitor.version()}};
  if (what == "load") return load(session);
  if (what == "prepare") return prepare(session, request);
  if (what == "sample") return sample(session, request);
  if (what == "memory") return {{"before", session.memory_before}, {"peak", peak_bytes()}};
  return {{"failed", "unknown request '" + what + "'"}};
}

/// Libraries may tell of every call on the way behind it.
std::string first_line(const std::string& what) { return what.substr(0, what.find('\n')); }

}  // namespace

void serve(Competitor& competitor, std::istream& in, std::ostream& out) {
  Session session{competitor};
  for (std::string line; std::getline(in, line);) {
    Json reply;
    try {
      reply = answer(session, Json::parse(line));
    } catch (const NotOffered& error) {
      reply = {{"not_offered", error.what()}};
    } catch (const std::exception& error) {
      reply = {{"failed", first_line(error.what())}};
    }
    out << reply.dump() << std::endl;
  }
}

std::size_t fastest(const Ways& ways) {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < ways.size(); ++i) {
    ways[i].second();
    for (int trial = 0; trial < 5; ++trial) {
      const auto start = Clock::now();
      ways[i].second();
      const double seconds = seconds_since(start);
      if (seconds >= least) continue;
      least = seconds;
      best = i;
    }
  }
  return best;
}

}  // namespace etalon::bench
