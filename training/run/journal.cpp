#include "training/run/journal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "spec/error.hpp"
#include "spec/sha256.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {

namespace {

std::string text_of(std::span<const JournalLine> lines) {
  std::string text;
  for (const JournalLine& line : lines) text += to_text(line) + '\n';
  return text;
}

}  // namespace

std::string to_text(const JournalLine& line) {
  nlohmann::ordered_json json{{"interval", line.interval}, {"step", line.step}, {"state", line.state}, {"losses", line.losses}};
  if (!line.validation.empty()) json["validation"] = line.validation;
  if (!line.shadow.empty()) json["shadow"] = to_json(line.shadow);
  return json.dump();
}

bool same_bits(const JournalLine& a, const JournalLine& b) {
  return a.interval == b.interval && a.step == b.step && a.state == b.state && a.losses == b.losses && a.validation == b.validation;
}

JournalLine journal_line_of(std::string_view text, const std::string& where) {
  return journal_line_of(StrictJson::parse(text, where));
}

JournalLine journal_line_of(const StrictJson& line) {
  line.allow({"interval", "step", "state", "losses", "validation", "shadow"});
  JournalLine read{line.at("interval").count(most_counted), line.at("step").count(most_counted), line.at("state").digest(),
                   line.at("losses").digest()};
  if (line.has("validation")) read.validation = line.at("validation").digest();
  if (line.has("shadow")) read.shadow = shadow_results_of(line.at("shadow"));
  return read;
}

std::string digest_of_losses(std::span<const double> losses) {
  return Sha256().add(std::as_bytes(losses)).hexadecimal();
}

Journal::Journal(Storage& storage, std::filesystem::path path) : storage_(&storage), path_(std::move(path)) {
  const std::string text = storage_->read(path_);
  std::size_t at = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
    const std::string where = fmt::format("{}:{}", path_.string(), lines_.size() + 1);
    JournalLine line = journal_line_of(std::string_view(text).substr(at, end - at), where);
    const auto next = static_cast<std::int64_t>(lines_.size()) + 1;
    if (line.interval != next) throw IoError(fmt::format("{}: interval {}, expected {}", where, line.interval, next));
    lines_.push_back(std::move(line));
    at = end + 1;
  }
  whole_ = at == text.size();
  written_ = lines_.size();
}

const JournalLine* Journal::find(std::int64_t interval) const {
  if (interval < 1 || interval > static_cast<std::int64_t>(lines_.size())) return nullptr;
  return &lines_[static_cast<std::size_t>(interval - 1)];
}

void Journal::add(const JournalLine& line) {
  const auto next = static_cast<std::int64_t>(lines_.size()) + 1;
  if (line.interval != next) throw InternalError(fmt::format("journal: interval {} after {}", line.interval, next - 1));
  lines_.push_back(line);
}

void Journal::write() {
  if (written_ == lines_.size()) return;
  // What a write that failed left in the file is not known: then all of it is written beside it.
  if (std::exchange(whole_, false)) {
    const auto file = storage_->append(path_);
    file->write(text_of(std::span(lines_).subspan(written_)));
    file->sync();
  } else {
    replace_file(*storage_, path_, text_of(lines_));
  }
  whole_ = true;
  written_ = lines_.size();
}

}  // namespace etalon::training
