#include "conformance/kernel/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "conformance/case_file.hpp"
#include "conformance/reports/console.hpp"
#include "conformance/reports/json_lines.hpp"
#include "spec/markup.hpp"
#include "spec/sha256.hpp"

namespace etalon::conformance {
namespace {

using Json = nlohmann::ordered_json;

[[nodiscard]] std::vector<std::string> names_of(const std::vector<DType>& dtypes) {
  std::vector<std::string> names;
  for (const DType dtype : dtypes) names.emplace_back(name_of(dtype));
  return names;
}

[[nodiscard]] std::string reason_of(const KernelVerdict& verdict) {
  if (verdict.finding == KernelFinding::not_built) return verdict.complaint;
  if (verdict.finding == KernelFinding::undecided)
    return fmt::format("nothing was compared that says what is computed in {}{}", fmt::join(names_of(verdict.trial.open), ", "),
                       verdict.trial.declined > 0 ? fmt::format("; it declined {} questions", verdict.trial.declined) : "");
  return verdict.trial.convicted() ? finding(verdict.trial.outcome) : "";
}

/// What may be behind it, where that is known.
[[nodiscard]] std::string hint_of(const KernelVerdict& verdict) {
  const Outcome& outcome = verdict.trial.outcome;
  if (!outcome.cause.empty()) return outcome.cause;
  const auto says = [&](const char* words) { return outcome.why.find(words) != std::string::npos; };
  if (says("(Bad system call)"))
    return "it made a system call that kernels may not make: network, processes, signals, other processes' memory";
  if (says("exit status")) return "it ended its own process";
  if (says("Permission denied") || says("PermissionError") || says("Operation not permitted"))
    return "it asked for a file, a library or a process that kernels may not reach; --may-read PATH allows a file";
  if (says("reached past the end of") || says("wrote outside of")) return "an index is beyond the extents that the call gives";
  if (says("was not written")) return "some iterations are missing: often the last, partial block";
  return "";
}

[[nodiscard]] std::string counterexample_text(const KernelVerdict& verdict) {
  std::ostringstream lines;
  write_counterexample(lines, verdict.again, verdict.trial.id, *verdict.trial.smallest, verdict.trial.outcome);
  return lines.str();
}

[[nodiscard]] Json counterexample_of(const KernelVerdict& verdict) {
  const Trial& trial = verdict.trial;
  if (!trial.convicted()) return nullptr;
  Json found{{"id", trial.id}, {"case", Json::parse(to_json(*trial.smallest))}, {"element", nullptr}};
  if (trial.outcome.offender) found["element"] = to_json(*trial.outcome.offender);
  found["text"] = counterexample_text(verdict);
  return found;
}

[[nodiscard]] Json guarantees_of(bool confined) {
  return {{"confined", confined}, {"files", confined}, {"network", confined}, {"processes", confined}, {"memory_of_others", confined}};
}

}  // namespace

KernelFinding finding_of(const Trial& trial) {
  if (!trial.convicted()) return trial.decided() ? KernelFinding::conforms : KernelFinding::undecided;
  switch (trial.outcome.verdict) {
    case Verdict::crashed:
      return KernelFinding::crashed;
    case Verdict::timeout:
      return KernelFinding::timeout;
    default:
      return KernelFinding::wrong;
  }
}

int exit_status(const KernelVerdict& verdict) { return verdict.finding == KernelFinding::conforms ? 0 : 1; }

void write_json(std::ostream& out, const KernelVerdict& v) {
  const TrialOptions& o = v.options;
  Json json{{"etalon_kernel_verdict", 1},
            {"verdict", name_of(v.finding)},
            {"exit_status", exit_status(v)},
            {"reason", reason_of(v)},
            {"hint", hint_of(v)}};
  json["kernel"] = {{"file", well_formed(v.source.file)},
                    {"sha256", sha256_of(v.text)},
                    {"language", name_of(language_of(v.source.file))},
                    {"function", well_formed(v.source.function)},
                    {"made_by", well_formed(v.made_by)}};
  json["held_to"] = {
      {"operation", o.operation}, {"dtypes", names_of(o.dtypes)}, {"contract", v.contract}, {"specification", o.library.hash()}};
  json["asked"] = {{"tier", name_of(o.tier)},
                   {"seed", o.seed},
                   {"questions", v.trial.asked},
                   {"declined", v.trial.declined},
                   {"comparisons", v.trial.comparisons},
                   {"undecided", v.trial.undecided}};
  json["counterexample"] = counterexample_of(v);
  json["seconds"] = {{"build", v.build_seconds}, {"answers", v.answer_seconds}, {"all", v.seconds}};
  json["limits"] = {{"seconds", static_cast<double>(v.limits.answer.count()) / 1000}, {"bytes", v.limits.memory}};
  json["isolation"] = guarantees_of(v.source.confined);
  json["again"] = well_formed(v.again);
  out << json.dump() << '\n';
}

void write_text(std::ostream& out, const KernelVerdict& v) {
  const TrialOptions& o = v.options;
  const std::string reason = reason_of(v), hint = hint_of(v);
  out << fmt::format("{}: {}{}{}\n", v.source.file, name_of(v.finding), reason.empty() ? "" : ": ", reason);
  if (!hint.empty()) out << "  hint: " << hint << '\n';
  if (v.trial.convicted()) out << counterexample_text(v);
  out << fmt::format("  held to {} in {} by contract {}, specification {}\n", o.operation, fmt::join(names_of(o.dtypes), ", "), v.contract,
                     o.library.hash());
  out << fmt::format(
      "  {} questions, {} declined, {} comparisons, {} of them undecided; built in {:.2f} s, answered in {:.2f} s, {:.2f} s in all\n",
      v.trial.asked, v.trial.declined, v.trial.comparisons, v.trial.undecided, v.build_seconds, v.answer_seconds, v.seconds);
  if (!v.source.confined) out << "  not confined: files, network and other processes were within its reach\n";
  if (!v.trial.convicted()) out << "  again: " << v.again << '\n';
}

}  // namespace etalon::conformance
