#include "conformance/reports/json_lines.hpp"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string_view>

#include "conformance/reports/gaps.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/json_depth.hpp"
#include "spec/markup.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;

Json number(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return x;
}

Json parsed(const std::string& text) { return text.empty() ? Json(nullptr) : Json::parse(text); }

Json statistic_json(const reference::Statistic& s) {
  return {{"elements", s.elements}, {"rms", number(s.rms())}, {"squares", number(s.squares)}};
}

Json waived_json(const Waived& w) {
  return {{"reason", w.reason}, {"expires", w.expires}, {"verdict", name_of(w.verdict)}};
}

Json use_json(const WaiverUse& use) {
  Json json{{"operation", use.operation}};
  if (!use.mode.empty()) json["mode"] = use.mode;
  if (!use.check.empty()) json["check"] = use.check;
  if (!use.dtype.empty()) json["dtype"] = use.dtype;
  json["reason"] = use.reason;
  json["expires"] = use.expires;
  json["matched"] = use.matched;
  return json;
}

Json selection_json(const Selection& selection) {
  Json json = Json::object();
  if (!selection.operations.empty()) json["operations"] = selection.operations;
  if (!selection.modes.empty()) json["modes"] = selection.modes;
  if (!selection.dtypes.empty()) json["dtypes"] = selection.dtypes;
  if (!selection.checks.empty()) json["checks"] = selection.checks;
  if (!selection.shard.empty()) json["shard"] = selection.shard;
  if (!selection.profile.empty()) json["profile"] = selection.profile;
  return json;
}

Json offered_json(const Offered& offered) {
  Json json{{"operations", "all"}, {"dtypes", offered.dtypes}, {"modes", offered.modes}};
  if (offered.operations) json["operations"] = *offered.operations;
  return json;
}

Json reasons_json(const std::vector<Reason>& reasons) {
  Json json = Json::array();
  for (const Reason& r : reasons) json.push_back({{"why", r.why}, {"times", r.times}, {"operations", r.operations}});
  return json;
}

void add_coverage(Json& summary, const Report& report) {
  const Covered all = covered(report.records);
  summary["operations_compared"] = all.operations;
  summary["modes_compared"] = all.modes;
  if (all.profile) summary["profile"] = name_of(*all.profile);
  summary["never_compared"] = Json::array();
  for (const NeverCompared& gap : never_compared(report))
    summary["never_compared"].push_back({{"what", gap.what}, {"reasons", reasons_json(gap.reasons)}});
}

Json summary_json(const Report& report) {
  const Totals totals = totals_of(report.records);
  Json summary{{"kind", "summary"}, {"backend", report.header.backend}, {"contract", parsed(report.header.contract_json)}};
  for (std::size_t v = 0; v < verdict_count; ++v)
    summary[std::string(name_of(static_cast<Verdict>(v)))] = totals.verdicts[v];
  summary["comparisons"] = totals.comparisons;
  summary["undecided_elements"] = totals.undecided;
  summary["undecided_operations"] = undecided_operations(report.records);
  summary["statistical_warnings"] = Json::array();
  for (const Warning& w : statistical_warnings(report.records)) {
    summary["statistical_warnings"].push_back({{"operation", w.operation},
                                               {"mode", w.mode},
                                               {"dtype", w.dtype},
                                               {"elements", w.statistic.elements},
                                               {"rms", number(w.statistic.rms())}});
  }
  if (!report.waivers.empty()) {
    summary["waivers"] = Json::array();
    for (const WaiverUse& use : report.waivers) summary["waivers"].push_back(use_json(use));
    summary["waiver_errors"] = report.waiver_errors;
  }
  add_coverage(summary, report);
  summary["conforms"] = conclusion(report).conforms;
  summary["seed"] = report.header.seed;
  summary["seconds"] = report.seconds;
  return summary;
}

}  // namespace

Json to_json(const Offender& o) {
  Json json{{"tensor", o.tensor},         {"element", o.element},       {"dtype", name_of(o.dtype)},
            {"lower", number(o.lower)},   {"upper", number(o.upper)},   {"got", number(o.got)},
            {"admits", o.expected}};
  if (o.exact) json["exact"] = number(*o.exact);
  return json;
}

Json to_json(const Outcome& outcome) {
  Json json{{"verdict", name_of(outcome.verdict)},
            {"comparisons", outcome.comparisons},
            {"worst_ratio", number(outcome.worst_ratio)}};
  if (outcome.undecided > 0) json["undecided"] = outcome.undecided;
  if (outcome.statistic.elements > 0) json["statistical"] = statistic_json(outcome.statistic);
  if (!outcome.why.empty()) json["why"] = outcome.why;
  if (outcome.offender) json["offender"] = to_json(*outcome.offender);
  if (!outcome.cause.empty()) json["cause"] = outcome.cause;
  if ((is_bad(outcome.verdict) || outcome.verdict == Verdict::waived) && !outcome.calls.empty()) json["calls"] = outcome.calls;
  return json;
}

std::string header_line(const Header& h) {
  Json json{{"kind", "header"},
            {"schema", report_schema},
            {"spec", "sha256:" + h.specification},
            {"backend", h.backend},
            {"version", h.version},
            {"command", h.command},
            {"contract", parsed(h.contract_json)},
            {"contract_text", h.contract_text},
            {"tier", h.tier},
            {"seed", h.seed},
            {"operations_known", h.operations_known}};
  if (!h.replay.empty()) json["replay"] = h.replay;
  if (h.offered) json["offered"] = offered_json(*h.offered);
  if (Json selection = selection_json(h.selection); !selection.empty()) json["selection"] = std::move(selection);
  return spec::to_line(json);
}

std::string result_line(const Record& r) {
  Json line{{"kind", "result"}, {"id", r.id},       {"operation", r.operation},
            {"mode", r.mode},   {"dtype", r.dtype}, {"check", r.check}};
  line.update(to_json(r.outcome));
  if (r.waived) line["waived"] = waived_json(*r.waived);
  if (!r.classes.empty()) line["classes"] = r.classes;
  line["case"] = parsed(r.case_json);
  if (!r.reproduction.empty()) line["reproduction"] = r.reproduction;
  return spec::to_line(line);
}

void write_json_lines(std::ostream& out, const Report& report) {
  out << header_line(report.header) << '\n';
  for (const Equations& e : report.equations) {
    out << spec::to_line({{"kind", "equations"}, {"operation", e.operation}, {"operands", e.operands}, {"text", e.text}})
        << '\n';
  }
  for (const Record& r : report.records) out << result_line(r) << '\n';
  if (report.whole) out << spec::to_line(summary_json(report)) << '\n';
}

namespace {

using Strings = std::vector<std::string>;

double number(const Json& j) {
  if (!j.is_string()) return j.get<double>();
  if (j == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (j == "inf") return std::numeric_limits<double>::infinity();
  if (j == "-inf") return -std::numeric_limits<double>::infinity();
  throw SpecViolation(fmt::format("expected a number, found {}", j.dump()));
}

std::size_t count(const Json& j) {
  if (!j.is_number_unsigned()) throw SpecViolation(fmt::format("expected a count, found {}", j.dump()));
  return j.get<std::size_t>();
}

double number_at(const Json& j, const char* key) { return j.contains(key) ? number(j.at(key)) : 0; }

std::string word(const Json& j, const char* key) { return j.contains(key) ? j.at(key).get<std::string>() : ""; }

Strings words(const Json& j, const char* key) { return j.contains(key) ? j.at(key).get<Strings>() : Strings{}; }

Offender offender_in(const Json& j) {
  Offender o{word(j, "tensor"), count(j.at("element")), number_at(j, "lower"), number_at(j, "upper"),
             number_at(j, "got"), word(j, "admits")};
  o.dtype = dtype_named(j.value("dtype", "f64")).value_or(DType::f64);
  if (j.contains("exact")) o.exact = number(j.at("exact"));
  return o;
}

Outcome outcome_in(const Json& j) {
  Outcome outcome;
  outcome.verdict = enumerator_or_throw<Verdict>(verdict_names, j.at("verdict").get<std::string>(), "verdict");
  outcome.comparisons = count(j.at("comparisons"));
  outcome.worst_ratio = number_at(j, "worst_ratio");
  outcome.undecided = j.contains("undecided") ? count(j.at("undecided")) : 0;
  if (j.contains("statistical")) {
    const Json& s = j.at("statistical");
    outcome.statistic = {count(s.at("elements")), number_at(s, "squares")};
  }
  outcome.why = word(j, "why");
  if (j.contains("offender")) outcome.offender = offender_in(j.at("offender"));
  outcome.cause = word(j, "cause");
  outcome.calls = words(j, "calls");
  return outcome;
}

Record record_in(const Json& j) {
  Record r;
  r.id = j.at("id").get<std::string>();
  r.operation = j.at("operation").get<std::string>();
  r.mode = j.at("mode").get<std::string>();
  r.dtype = j.at("dtype").get<std::string>();
  r.check = j.at("check").get<std::string>();
  r.outcome = outcome_in(j);
  if (j.contains("waived")) {
    const Json& w = j.at("waived");
    r.waived = Waived{word(w, "reason"), word(w, "expires"), enumerator_or_throw<Verdict>(verdict_names, w.at("verdict").get<std::string>(), "verdict")};
  }
  r.classes = words(j, "classes");
  if (j.contains("case") && !j.at("case").is_null()) r.case_json = j.at("case").dump();
  r.reproduction = word(j, "reproduction");
  return r;
}

Header header_in(const Json& j) {
  if (word(j, "kind") != "header") throw SpecViolation("expected the header of a report");
  if (j.at("schema") != report_schema)
    throw SpecViolation(fmt::format("expected a report of schema {}, found {}", report_schema, j.at("schema").dump()));
  Header h;
  const std::string hash = j.at("spec").get<std::string>();
  constexpr std::string_view prefix = "sha256:";
  h.specification = hash.substr(hash.starts_with(prefix) ? prefix.size() : 0);
  h.backend = j.at("backend").get<std::string>();
  h.version = word(j, "version");
  h.command = word(j, "command");
  h.replay = word(j, "replay");
  h.contract_json = j.at("contract").dump();
  h.contract_text = word(j, "contract_text");
  h.tier = j.at("tier").get<std::string>();
  h.seed = count(j.at("seed"));
  h.operations_known = j.contains("operations_known") ? count(j.at("operations_known")) : 0;
  if (j.contains("selection")) {
    const Json& s = j.at("selection");
    h.selection = {words(s, "operations"), words(s, "modes"), words(s, "dtypes"), word(s, "shard"), words(s, "checks"), word(s, "profile")};
  }
  if (j.contains("offered")) {
    const Json& o = j.at("offered");
    h.offered = Offered{{}, words(o, "dtypes"), words(o, "modes")};
    if (o.at("operations").is_array()) h.offered->operations = words(o, "operations");
  }
  return h;
}

void take_summary(Report& report, const Json& j) {
  report.whole = true;
  report.seconds = number_at(j, "seconds");
  for (const Json& w : j.value("waivers", Json::array())) {
    report.waivers.push_back({word(w, "operation"), word(w, "mode"), word(w, "check"), word(w, "dtype"), word(w, "reason"),
                              word(w, "expires"), count(w.at("matched"))});
  }
  report.waiver_errors = words(j, "waiver_errors");
}

// Kinds that are not known are left out: a later suite may say more under the same schema.
void take(Report& report, const Json& j) {
  const std::string kind = word(j, "kind");
  if (kind == "result") {
    report.records.push_back(record_in(j));
  } else if (kind == "equations") {
    report.equations.push_back({word(j, "operation"), word(j, "text"), words(j, "operands")});
  } else if (kind == "summary") {
    take_summary(report, j);
  }
}

// One line in UTF-8, of which the library quotes bytes, without what it says of itself.
std::string plain(const std::string& text) {
  const auto end = text.starts_with('[') ? text.find("] ") : std::string::npos;
  std::string line = end == std::string::npos ? text : text.substr(end + 2);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  return well_formed(line);
}

}  // namespace

Report read_json_lines(std::istream& in, const std::string& name) {
  Report report;
  report.whole = false;
  std::size_t number_of_line = 0;
  std::string line;
  while (std::getline(in, line)) {
    ++number_of_line;
    const bool finished = !in.eof();
    try {
      if (spec::is_too_deep(line)) throw SpecViolation("too many arrays and objects in each other");
      const Json json = Json::parse(line);
      if (number_of_line == 1) report.header = header_in(json);
      else take(report, json);
    } catch (const std::exception& error) {
      if (!finished && number_of_line > 1) break;
      throw SpecViolation(fmt::format("{}:{}: {}", name, number_of_line, plain(error.what())));
    }
  }
  if (number_of_line == 0) throw SpecViolation(name + ":1: expected the header of a report, found nothing");
  return report;
}

Report read_report(const std::string& path) {
  std::istringstream lines(read_file(path));
  return read_json_lines(lines, path);
}

}  // namespace etalon::conformance
