#include "training/run/declaration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/library/standard.hpp"
#include "spec/quoted.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view format = "etalon run 1";
#ifdef __clang__
constexpr std::string_view compiler = "";  // its version begins with its name
#else
constexpr std::string_view compiler = "g++ ";
#endif

/// The first line in which two texts differ, of each.
struct Difference {
  std::size_t line = 1;
  std::string_view a, b;
};

[[nodiscard]] Difference first_difference(std::string_view a, std::string_view b) {
  Difference found;
  for (;; ++found.line) {
    found.a = a.substr(0, a.find('\n'));
    found.b = b.substr(0, b.find('\n'));
    if (found.a != found.b || (a.empty() && b.empty())) return found;
    a.remove_prefix(std::min(a.size(), found.a.size() + 1));
    b.remove_prefix(std::min(b.size(), found.b.size() + 1));
  }
}

[[nodiscard]] ShadowPolicy shadow_in(const StrictJson& json) {
  try {
    return shadow_policy_of(json.text(), json.place());
  } catch (const SpecViolation& error) {  // of a file
    throw IoError(error.what());
  }
}

[[nodiscard]] Imported imported_in(const StrictJson& json) {
  json.allow({"sha256", "maps"});
  Imported imported{json.at("sha256").digest(), {}};
  for (const StrictJson& map : json.at("maps").items()) imported.maps.push_back(map.text());
  return imported;
}

/// None is 0 that something is divided by, and a checkpoint is kept every `kept * interval` steps.
void require_counts(const Declaration& d, const std::string& where) {
  for (const std::int64_t least : {d.batch, d.grain, d.epochs, d.steps, d.interval, d.kept}) {
    if (least < 1) throw IoError(where + ": one of batch, grain, epochs, steps, interval and kept is 0, expected at least 1");
  }
  if (d.steps % d.epochs != 0) throw IoError(fmt::format("{}: {} steps, expected as many in each of {} epochs", where, d.steps, d.epochs));
  if (d.kept > most_counted / d.interval)
    throw IoError(fmt::format("{}: kept is {} intervals of {} steps, expected at most {} steps", where, d.kept, d.interval, most_counted));
}

}  // namespace

std::int64_t default_interval(std::int64_t steps) { return std::max<std::int64_t>(1, steps / 100); }

std::string this_build() {
  return fmt::format("etalon {}, {}{}, definitions {}", ETALON_VERSION, compiler, __VERSION__, spec::standard::hash());
}

std::string to_text(const Declaration& d) {
  nlohmann::ordered_json all{
      {"format", format}, {"task", d.task},       {"model", d.model},   {"seed", d.seed},   {"rows", d.rows},
      {"batch", d.batch}, {"grain", d.grain}, {"dropped", d.dropped}, {"epochs", d.epochs}, {"steps", d.steps}, {"interval", d.interval},
      {"kept", d.kept}};
  if (d.patience > 0) all["patience"] = d.patience;
  if (d.best) all["best"] = true;
  if (d.own) all["own"] = to_json(*d.own);
  else all["data"] = d.data;
  all["start"] = d.start;
  all["order"] = d.order;
  all["contract"] = d.contract;
  all["build"] = d.build;
  all["program"] = d.program;
  if (d.shadow.checks()) all["shadow"] = to_text(d.shadow);
  if (d.imported) all["imported"] = {{"sha256", d.imported->sha256}, {"maps", d.imported->maps}};
  try {
    return all.dump(2) + "\n";
  } catch (const nlohmann::json::type_error&) {
    throw SpecViolation("run.json: a name of a file, column or class is not UTF-8, expected one that is");
  }
}

Declaration declaration_of(std::string_view text, const std::string& where) {
  const StrictJson f = StrictJson::parse(text, where);
  f.allow({"format", "task", "model", "seed", "rows", "batch", "grain", "dropped", "epochs", "steps", "interval", "kept",
                  "patience", "best", "own", "data", "start", "order", "contract", "build", "program", "shadow", "imported"});
  if (const std::string found = f.at("format").text(); found != format)
    throw IoError(fmt::format("{}: format is '{}', expected '{}'", where, as_quoted(found), format));
  Declaration d;
  d.task = f.at("task").text();
  d.model = f.at("model").text();
  d.program = f.at("program").text();
  if (f.has("own") != (d.task == "own")) {
    throw IoError(fmt::format("{}: the task is '{}', expected own if and only if there is a field own", where, as_quoted(d.task)));
  }
  if (f.has("own")) d.own = own_task_of(f.at("own"));
  else d.data = f.at("data").digest();
  const auto count = [&](const char* name) { return f.at(name).count(most_counted); };
  if (f.has("patience")) d.patience = count("patience");
  if (f.has("best")) d.best = f.at("best").truth();
  d.seed = f.at("seed").whole();
  d.rows = count("rows");
  d.batch = count("batch");
  d.grain = count("grain");
  d.dropped = count("dropped");
  d.epochs = count("epochs");
  d.steps = count("steps");
  d.interval = count("interval");
  d.kept = count("kept");
  d.start = f.at("start").digest();
  d.order = f.at("order").text();
  d.contract = f.at("contract").text();
  d.build = f.at("build").text();
  if (f.has("shadow")) d.shadow = shadow_in(f.at("shadow"));
  if (f.has("imported")) d.imported = imported_in(f.at("imported"));
  require_counts(d, where);
  return d;
}

void require_same(const Declaration& run, const Declaration& now, std::string_view where) {
  const auto refuse = [&](std::string_view what, const auto& a, const auto& b) {
    throw SpecViolation(fmt::format("{}: {} is {}, now it is {}", where, what, a, b));
  };
  const auto require = [&](std::string_view what, const auto& a, const auto& b) {
    if (a != b) refuse(what, a, b);
  };
  const auto require_text = [&](std::string_view what, const std::string& a, const std::string& b) {
    if (a != b) refuse(what, as_quoted(a), as_quoted(b));
  };
  if (run.own && now.own) require_same(*run.own, *now.own, where);
  if (run.data != now.data) {
    throw SpecViolation(fmt::format("{}: the data has the SHA-256 {}, now it is {}; --data names the run's own file",
                                    where, run.data, now.data));
  }
  require_text("task", run.task, now.task);
  require_text("model", run.model, now.model);
  require("seed", run.seed, now.seed);
  require("rows", run.rows, now.rows);
  require("batch", run.batch, now.batch);
  require("grain", run.grain, now.grain);
  require("dropped", run.dropped, now.dropped);
  require("epochs", run.epochs, now.epochs);
  require("steps", run.steps, now.steps);
  require_text("order", run.order, now.order);
  if (run.program == now.program) return;
  const Difference d = first_difference(run.program, now.program);
  throw SpecViolation(fmt::format("{}: line {} of the step is '{}', this build's is '{}'", where, d.line,
                                  as_quoted(d.a), as_quoted(d.b)));
}

}  // namespace etalon::training
