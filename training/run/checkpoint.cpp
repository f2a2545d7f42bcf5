#include "training/run/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "spec/error.hpp"
#include "spec/sha256.hpp"
#include "training/files/safetensors.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view fresh = ".new-", old = ".old-", prefix = "step-", state_file = "state.safetensors",
                           manifest_file = "manifest.json";
constexpr std::size_t digits = 16;  // of the manifest's digest, in a name
constexpr std::size_t last_kept = 3;

void write_new(Storage& storage, const std::filesystem::path& path, std::string_view text) {
  const auto file = storage.create(path);
  file->reserve(text.size());
  file->write(text);
  file->sync();
}

[[nodiscard]] std::string name_of(std::int64_t step, std::string_view manifest) {
  return fmt::format("{}{}-{}", prefix, step, sha256_of(manifest).substr(0, digits));
}

[[nodiscard]] std::vector<double> numbers_in(const StrictJson& list) {
  std::vector<double> numbers;
  for (const StrictJson& number : list.items()) numbers.push_back(number.number());
  return numbers;
}

[[nodiscard]] Position position_in(const StrictJson& manifest) {
  Position position{manifest.at("step").count(most_counted), manifest.at("epoch_loss").number(), numbers_in(manifest.at("losses")), {}, {}};
  if (manifest.has("validation")) position.validation = numbers_in(manifest.at("validation"));
  if (manifest.has("shadow")) position.shadow = shadow_results_of(manifest.at("shadow"));
  return position;
}

[[nodiscard]] std::vector<JournalLine> lines_in(const StrictJson& manifest) {
  std::vector<JournalLine> lines;
  for (const StrictJson& line : manifest.at("journal").items()) lines.push_back(journal_line_of(line));
  return lines;
}

}  // namespace

Checkpoints::Checkpoints(Storage& storage, std::filesystem::path folder, std::string run, std::int64_t kept)
    : storage_(&storage), folder_(std::move(folder)), run_(std::move(run)), kept_(kept) {}

std::vector<Checkpoints::Name> Checkpoints::names() const {
  std::vector<Name> found;
  for (const std::string& folder : storage_->list(folder_)) {
    std::string_view rest = folder;
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    std::int64_t step = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), step);
    if (error == std::errc{} && step >= 0) found.push_back({step, folder});
  }
  std::stable_sort(found.begin(), found.end(), [](const Name& a, const Name& b) { return a.step > b.step; });
  return found;
}

std::string Checkpoints::manifest_of(const Snapshot& snapshot) const {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const JournalLine& line : snapshot.lines) lines.push_back(nlohmann::ordered_json::parse(to_text(line)));
  const Position& at = snapshot.position;
  nlohmann::ordered_json manifest{{"run", run_},
                                        {"step", at.step},
                                        {"state", {{"bytes", snapshot.state.size()}, {"sha256", snapshot.digest}}},
                                        {"epoch_loss", at.epoch_loss},
                                        {"losses", at.losses},
                                        {"journal", lines}};
  if (!at.validation.empty()) manifest["validation"] = at.validation;
  if (!at.shadow.empty()) manifest["shadow"] = to_json(at.shadow);
  return manifest.dump(2) + "\n";
}

void Checkpoints::save(const Snapshot& snapshot) {
  const std::string manifest = manifest_of(snapshot), name = name_of(snapshot.position.step, manifest);
  const std::filesystem::path beside = folder_ / (std::string(fresh) + name), target = folder_ / name;
  discard(beside.filename().string());
  try {
    storage_->make_folder(beside);
    write_new(*storage_, beside / state_file, snapshot.state);
    write_new(*storage_, beside / manifest_file, manifest);
    storage_->sync_folder(beside);
    // What is there of this name has the same manifest, but need not hold.
    if (storage_->exists(target)) storage_->rename(target, folder_ / (std::string(old) + name));
    storage_->rename(beside, target);
  } catch (const IoError&) {
    try {
      discard(beside.filename().string());
    } catch (const IoError&) {  // why it was not saved is said, not why its remains are still there
    }
    throw;
  }
  storage_->sync_folder(folder_);
}

void Checkpoints::discard(const std::string& folder) {
  if (storage_->exists(folder_ / folder)) storage_->remove(folder_ / folder);
}

void Checkpoints::prune(const std::optional<std::int64_t>& best) {
  const std::vector<Name> all = names();
  for (std::size_t i = last_kept; i < all.size(); ++i) {
    if (all[i].step % kept_ == 0 || all[i].step == best) continue;
    const std::string aside = std::string(old) + all[i].folder;
    discard(aside);
    storage_->rename(folder_ / all[i].folder, folder_ / aside);
  }
  for (const std::string& folder : storage_->list(folder_)) {
    if (folder.starts_with(fresh) || folder.starts_with(old)) storage_->remove(folder_ / folder);
  }
}

Checkpoint Checkpoints::read(const Name& name) const {
  const std::filesystem::path folder = folder_ / name.folder;
  const std::string where = (folder / manifest_file).string(), text = storage_->read(folder / manifest_file);
  if (name_of(name.step, text) != name.folder) {
    throw IoError(fmt::format("{}: its SHA-256 begins with {}, the folder's name says otherwise", where,
                              sha256_of(text).substr(0, digits)));
  }
  const StrictJson manifest = StrictJson::parse(text, where), state = manifest.at("state");
  manifest.allow({"run", "step", "state", "epoch_loss", "losses", "validation", "journal", "shadow"});
  state.allow({"bytes", "sha256"});
  if (manifest.at("run").digest() != run_)
    throw IoError(fmt::format("{}: of run {}, expected {}", where, manifest.at("run").digest(), run_));
  if (manifest.at("step").count() != name.step)
    throw IoError(fmt::format("{}: step {}, expected {}", where, manifest.at("step").count(), name.step));
  const std::string bytes = storage_->read(folder / state_file), file = (folder / state_file).string();
  if (static_cast<std::int64_t>(bytes.size()) != state.at("bytes").count()) {
    throw IoError(fmt::format("{}: {} bytes, expected {}", file, bytes.size(), state.at("bytes").count()));
  }
  if (sha256_of(bytes) != state.at("sha256").digest())
    throw IoError(fmt::format("{}: its SHA-256 is {}, expected {}", file, sha256_of(bytes), state.at("sha256").digest()));
  return {position_in(manifest),
          read_safetensors(std::as_bytes(std::span(bytes)), file),
          state.at("sha256").digest(),
          lines_in(manifest)};
}

std::optional<std::pair<std::int64_t, std::string>> Checkpoints::newest_until(std::int64_t step) const {
  for (const Name& name : names()) {
    if (name.step <= step) return std::pair{name.step, name.folder};
  }
  return std::nullopt;
}

Checkpoint Checkpoints::at(std::int64_t step) const {
  for (const Name& name : names()) {
    if (name.step == step) return read(name);
  }
  throw IoError(fmt::format("{}: there is no checkpoint of step {}", folder_.string(), step));
}

Loaded Checkpoints::load() const {
  std::vector<std::string> refused;
  for (const Name& name : names()) {
    try {
      return {read(name), refused};
    } catch (const IoError& error) {
      refused.emplace_back(error.what());
    }
  }
  throw IoError(refused.empty() ? folder_.string() + ": there is no checkpoint"
                                : "no checkpoint holds: " + refused.front());
}

}  // namespace etalon::training
