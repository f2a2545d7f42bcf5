#include "training/certificate/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/error.hpp"
#include "spec/sha256.hpp"
#include "training/certificate/merkle.hpp"
#include "training/run/export.hpp"

namespace etalon::training {
namespace {

std::string root_of(const std::vector<JournalLine>& lines) {
  std::vector<Digest> leaves;
  for (const JournalLine& line : lines) leaves.push_back(leaf_of(line));
  return hexadecimal(merkle_root(leaves));
}

/// What the journal says of checks; nothing where the declaration asks for none.
std::optional<Checked> checked_in(const Replay& run) {
  const ShadowPolicy& policy = run.declaration().shadow;
  if (!policy.checks()) return std::nullopt;
  ShadowResults all;
  for (const JournalLine& line : run.lines()) all += line.shadow;
  return Checked{to_text(policy), all.replayed, all.judged, static_cast<std::int64_t>(all.transient.size())};
}

std::string text_of(const std::optional<Checked>& c) {
  return c ? fmt::format("{}: {} replayed, {} judged, {} transient", c->policy, c->replayed, c->judged, c->transient) : "none";
}

}  // namespace

Digest leaf_of(const JournalLine& line) { return leaf_digest(to_text(line)); }

namespace {

/// What the folder of a run that is at its end says.
Certificate of_folder(const Replay& run) {
  run.require_ended();
  Certificate c;
  c.subjects = {{"state.safetensors", run.lines().back().state}};
  c.declaration = run.text();
  c.start = run.declaration().start;
  c.end = run.lines().back().state;
  c.leaves = static_cast<std::int64_t>(run.lines().size());
  c.root = root_of(run.lines());
  c.checked = checked_in(run);
  return c;
}

}  // namespace

Certificate certify(const std::filesystem::path& folder, const Replay& run, std::string device) {
  const TrainResult reached = run.reached();
  const Exported model = export_run(folder, "safetensors", false);
  Certificate c = of_folder(run);
  c.subjects.insert(c.subjects.begin(), {"model.safetensors", sha256_of(model.bytes)});
  c.environments = {{0, std::move(device), this_build()}};
  c.metrics = {{"loss sum of the last epoch", reached.last_epoch_loss}};
  if (reached.mean_squared_error) c.metrics["mean squared error"] = *reached.mean_squared_error;
  else c.metrics["share of rows answered right"] = reached.test_accuracy;
  return c;
}

Certificate certify_explained(const Replay& run) {
  Certificate c = of_folder(run);
  c.level = Level::explained;
  c.environments = {{0, run.declaration().contract, run.declaration().build}};
  return c;
}

std::vector<std::string> contradictions(const Certificate& certificate, const Replay& run) {
  std::vector<std::string> all;
  const auto compare = [&](std::string_view what, const std::string& found, const std::string& expected) {
    if (found != expected) all.push_back(fmt::format("{} is {}, certified is {}", what, found, expected));
  };
  compare("the run", sha256_of(run.text()), certificate.run());
  compare("the number of intervals", std::to_string(run.lines().size()), std::to_string(certificate.leaves));
  compare("the root of the intervals", root_of(run.lines()), certificate.root);
  compare("the state before the first step", run.declaration().start, certificate.start);
  compare("what was checked", text_of(checked_in(run)), text_of(certificate.checked));
  compare("the last state", run.lines().empty() ? "none" : run.lines().back().state, certificate.end);
  return all;
}

bool Audit::holds() const {
  return !intervals.empty() && std::all_of(intervals.begin(), intervals.end(), [](const Replayed& r) { return r.same; });
}

Audit audit(const Certificate& certificate, const Replay& run, const Nonce& nonce, std::int64_t count,
            const std::function<void(const Replayed&)>& after, const IntervalCheck& check) {
  if (const std::vector<std::string> faults = contradictions(certificate, run); !faults.empty()) {
    throw SpecViolation("the run is not the certificate's: " + faults.front());
  }
  Audit audited;
  for (const std::int64_t at : nonce.challenge(certificate.leaves, count)) {
    const auto interval = static_cast<std::size_t>(at);
    audited.intervals.push_back(check ? check(interval) : run.interval(interval));
    if (after) after(audited.intervals.back());
  }
  return audited;
}

std::optional<std::size_t> first_interval_apart(const Replay& first, const Replay& second) {
  if (first.text() != second.text()) throw SpecViolation("dispute: the folders hold two runs, expected one");
  const std::vector<JournalLine>&a = first.lines(), &b = second.lines();
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same_bits);
  if (at == a.end() || other == b.end()) return std::nullopt;
  return static_cast<std::size_t>(at - a.begin());
}

std::optional<Dispute> dispute(const Replay& first, const Replay& second) {
  const auto interval = first_interval_apart(first, second);
  if (!interval) return std::nullopt;
  return Dispute{*interval, first.interval(*interval).same, second.interval(*interval).same};
}

}  // namespace etalon::training
