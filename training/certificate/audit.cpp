#include "training/certificate/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "training/certificate/merkle.hpp"
#include "training/run/export.hpp"
#include "training/run/run.hpp"

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

/// Where lines of a journal are not at the ends of the declaration's intervals, the last at the end of the run.
std::vector<std::string> off_schedule(const Declaration& d, const std::vector<JournalLine>& lines) {
  std::vector<std::string> all;
  std::int64_t from = 0;
  for (const JournalLine& line : lines) {
    const std::int64_t due = std::min(from + d.interval, d.steps);
    const bool may_end = d.patience > 0 && line.step > from && line.step < due && line.step % steps_of_epoch(d) == 0 && &line == &lines.back();
    if (line.step != due && !may_end) {
      all.push_back(fmt::format("interval {} ends after step {}, expected {}", line.interval, line.step, due));
    }
    from = line.step;
  }
  if (from != d.steps && (d.patience == 0 || from % steps_of_epoch(d) != 0)) {
    all.push_back(fmt::format("the journal ends after step {} of {}", from, d.steps));
  }
  return all;
}

/// The digest of the model that the last state holds; nothing where that state is not there.
std::optional<std::string> model_digest(const Replay& run) {
  const RunContents contents = read_run(*file_system(), run.folder());
  if (contents.newest.checkpoint.digest != run.lines().back().state) return std::nullopt;
  return sha256_of(export_run(run.folder(), "safetensors", false).bytes);
}

/// Where the files that a certificate names are not what the run's last state holds.
std::vector<std::string> foreign_files(const Certificate& certificate, const Replay& run) {
  std::vector<std::string> all;
  if (run.lines().empty()) return all;
  for (const auto& [name, digest] : certificate.subjects) {
    std::optional<std::string> expected;
    if (name == "state.safetensors") expected = certificate.end;
    if (name == "model.safetensors" && certificate.level == Level::bitwise) expected = model_digest(run);
    if (!expected) all.push_back(fmt::format("{}: nothing in the folder shows that the run made it", as_quoted(name)));
    else if (*expected != digest) all.push_back(fmt::format("{} is certified as {}, the run's is {}", name, digest, *expected));
  }
  return all;
}

std::string text_of(const std::optional<Checked>& c) {
  return c ? fmt::format("{}: {} replayed, {} judged, {} transient", as_quoted(c->policy), c->replayed, c->judged, c->transient) : "none";
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
  c.environments = environments_in(*file_system(), run.folder());
  return c;
}

}  // namespace

Certificate certify(const std::filesystem::path& folder, const Replay& run, std::string device) {
  const TrainResult reached = run.reached();
  const Exported model = export_run(folder, "safetensors", false);
  Certificate c = of_folder(run);
  c.subjects.insert(c.subjects.begin(), {"model.safetensors", sha256_of(model.bytes)});
  if (c.environments.empty()) c.environments = {{0, std::move(device), this_build()}};
  c.metrics = {{"loss sum of the last epoch", reached.last_epoch_loss}};
  if (reached.mean_squared_error) c.metrics["mean squared error"] = *reached.mean_squared_error;
  else c.metrics["share of rows answered right"] = reached.test_accuracy;
  if (reached.test_perplexity) c.metrics["perplexity"] = *reached.test_perplexity;
  return c;
}

Certificate certify_explained(const Replay& run) {
  Certificate c = of_folder(run);
  c.level = Level::explained;
  if (c.environments.empty()) c.environments = {{0, run.declaration().contract, run.declaration().build}};
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
  if (certificate.level == Level::explained && run.declaration().patience > 0) {
    all.emplace_back("the run has patience, and no trace shows a validation loss");
  }
  if (!all.empty()) return all;
  for (const std::vector<std::string>& faults : {off_schedule(run.declaration(), run.lines()), foreign_files(certificate, run)}) {
    all.insert(all.end(), faults.begin(), faults.end());
  }
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
  const std::vector<std::int64_t> asked = nonce.challenge(certificate.leaves, count);
  if (!check) return {run.intervals(asked, after)};
  Audit audited;
  for (const std::int64_t at : asked) {
    audited.intervals.push_back(check(static_cast<std::size_t>(at)));
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
  const std::vector<std::int64_t> only{static_cast<std::int64_t>(*interval)};
  return Dispute{*interval, first.intervals(only).front().same, second.intervals(only).front().same};
}

}  // namespace etalon::training
