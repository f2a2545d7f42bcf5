#include "tools/bench/record.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <ostream>

#include "spec/error.hpp"

namespace etalon::bench {
namespace {

using Json = nlohmann::json;

constexpr std::array verdict_names{"agrees", "disagrees", "limit", "not_offered", "late", "failed"};
constexpr const char* schema_name = "etalon-bench";

Verdict verdict_named(const std::string& name) {
  for (std::size_t i = 0; i < verdict_names.size(); ++i) {
    if (name == verdict_names[i]) return static_cast<Verdict>(i);
  }
  throw std::runtime_error("unknown verdict '" + name + "'");
}

// Pairs of functions, so that what is written and what is read stand side by side.

Json to_json(const Machine& m) {
  return {{"processor", m.processor}, {"vectors", m.vectors},         {"cores", m.cores},
          {"caches", m.caches},       {"governor", m.governor},       {"system", m.system},
          {"compiler", m.compiler},   {"load_before", m.load_before}, {"load_after", m.load_after}};
}

Machine machine_of(const Json& j) {
  return {j.at("processor"), j.at("vectors"), j.at("cores"),    j.at("caches").get<std::vector<std::string>>(),
          j.at("governor"),  j.at("system"),  j.at("compiler"), j.at("load_before"),
          j.at("load_after")};
}

Json to_json(const Participant& p) { return {{"name", p.name}, {"version", p.version}, {"absent", p.absent}}; }

Participant participant_of(const Json& j) { return {j.at("name"), j.at("version"), j.at("absent")}; }

Json to_json(const Measurement& m) {
  return {{"competitor", m.competitor},
          {"verdict", name_of(m.verdict)},
          {"note", m.note},
          {"seconds", m.seconds},
          {"error", m.error},
          {"first_seconds", m.first_seconds},
          {"peak_bytes", m.peak_bytes},
          {"process_bytes", m.process_bytes},
          {"loaded_peak_bytes", m.loaded_peak_bytes}};
}

Measurement measurement_of(const Json& j) {
  return {j.at("competitor"),
          verdict_named(j.at("verdict")),
          j.at("note"),
          j.at("seconds").get<std::vector<double>>(),
          j.at("error"),
          j.at("first_seconds"),
          j.at("peak_bytes"),
          j.at("process_bytes"),
          j.value("loaded_peak_bytes", std::uint64_t{0})};
}

Json to_json(const Cell& c) {
  Json measurements = Json::array();
  for (const Measurement& m : c.measurements) measurements.push_back(to_json(m));
  return {{"workload", c.workload}, {"group", c.group},     {"what", c.what}, {"is_first_call", c.is_first_call},
          {"flops", c.flops},       {"threads", c.threads}, {"size", c.size}, {"bytes", c.bytes}, {"measurements", measurements}};
}

Cell cell_of(const Json& j) {
  Cell c{j.at("workload"), j.at("group"), j.at("what"), j.at("is_first_call"), j.at("flops"), j.at("threads"), {}, 0};
  c.size = j.value("size", 0.0);  // records before there was scale have none
  c.bytes = j.value("bytes", 0.0);
  for (const Json& m : j.at("measurements")) c.measurements.push_back(measurement_of(m));
  return c;
}

}  // namespace

const char* name_of(Verdict verdict) { return verdict_names.at(static_cast<std::size_t>(verdict)); }

void write_json(std::ostream& out, const Run& run) {
  Json j{{"schema", schema_name},
         {"schema_version", schema_version},
         {"version", run.version},
         {"date", run.date},
         {"seed", run.seed},
         {"seconds_per_workload", run.seconds_per_workload},
         {"machine", to_json(run.machine)},
         {"participants", Json::array()},
         {"cells", Json::array()}};
  for (const Participant& p : run.participants) j["participants"].push_back(to_json(p));
  for (const Cell& c : run.cells) j["cells"].push_back(to_json(c));
  out << j.dump(1) << '\n';
}

Run read_json(const std::string& text, const std::string& path) {
  try {
    const Json j = Json::parse(text, nullptr, false);
    if (!j.is_object() || j.value("schema", "") != schema_name) throw std::runtime_error("not a run of etalon bench");
    const int version = j.at("schema_version");
    if (version != schema_version) {
      throw std::runtime_error(
          fmt::format("written in version {} of the form, this reads version {}", version, schema_version));
    }
    Run run{
        j.at("version"), j.at("date"), j.at("seed"), j.at("seconds_per_workload"), machine_of(j.at("machine")), {}, {}};
    for (const Json& p : j.at("participants")) run.participants.push_back(participant_of(p));
    for (const Json& c : j.at("cells")) run.cells.push_back(cell_of(c));
    return run;
  } catch (const std::exception& error) {
    throw IoError(path + ": " + error.what());
  }
}

}  // namespace etalon::bench
