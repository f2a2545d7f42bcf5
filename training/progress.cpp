#include "training/progress.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "spec/file.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {

namespace {

/// The lines of a file of metrics up to a step.
[[nodiscard]] std::string lines_until(const std::filesystem::path& path, std::int64_t step) {
  const std::string text = read_file(path);
  std::string kept;
  std::size_t at = 0, number = 1;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at), ++number) {
    const std::string line = text.substr(at, end - at);
    if (StrictJson::parse(line, fmt::format("{}:{}", path.string(), number)).at("step").count() > step) break;
    kept += line + '\n';
    at = end + 1;
  }
  return kept;
}

}  // namespace

MetricsFile::MetricsFile(std::filesystem::path path, const std::filesystem::path& events, std::int64_t step)
    : path_(std::move(path)), events_(events, step) {
  if (path_.empty()) return;
  const bool goes_on = step > 0 && std::filesystem::is_regular_file(path_);
  write_file(path_, goes_on ? lines_until(path_, step) : "");
}

void MetricsFile::add(const StepRecord& record) {
  std::map<std::string, double> numbers{{"rate", record.rate}, {"loss", record.epoch_loss / static_cast<double>(record.batch + 1)}};
  if (record.validation_loss) numbers["validation_loss"] = *record.validation_loss;
  if (record.validation_accuracy) {
    numbers["validation_accuracy"] = *record.validation_accuracy;
    if (const double perplexity = std::exp(*record.validation_loss); std::isfinite(perplexity)) numbers["perplexity"] = perplexity;
  }
  events_.add(record.step + 1, numbers);
  if (path_.empty()) return;
  nlohmann::ordered_json line{{"epoch", record.epoch}, {"step", record.step + 1}};
  for (const auto& [name, number] : numbers) line[name] = number;
  errno = 0;
  std::ofstream file(path_, std::ios::app);
  file << line.dump() << '\n' << std::flush;
  if (!file) throw file_error(path_, "the file cannot be written", errno);
}

std::pair<std::string, Curve> validation_curve(std::vector<double> losses) {
  return {"validation-loss", {"validation loss", "epoch", "loss", std::move(losses)}};
}

Progress::Progress(std::ostream& console, std::int64_t steps, std::int64_t steps_per_epoch, const ProgressOptions& options)
    : console_(console), steps_(steps), options_(options) {
  const std::int64_t lines = 20;
  const std::int64_t epochs = steps / steps_per_epoch;
  every_ = options.every > 0 ? options.every : steps_per_epoch * std::max<std::int64_t>(1, epochs / lines);
}

void Progress::operator()(const StepRecord& record) {
  rates_.push_back(record.rate);
  losses_.push_back(record.loss);
  if (record.validation_accuracy) accuracies_.push_back(*record.validation_accuracy);
  if (record.validation_loss) validation_.push_back(*record.validation_loss);
  last_ = record;
  if ((record.step + 1) % every_ == 0 || record.step + 1 == steps_) line(record);
  if (options_.bar) bar(record.step + 1);
}

std::vector<std::pair<std::string, Curve>> Progress::curves() const {
  if (last_.step + 1 != static_cast<std::int64_t>(losses_.size())) return {};
  const Curve loss{"loss", "step", "loss", losses_};
  std::vector<std::pair<std::string, Curve>> all{
      {"rate", {"learning rate", "step", "rate", rates_}}, {"loss", loss}, {"log-loss", logarithm(loss)}};
  if (!validation_.empty()) all.push_back(validation_curve(validation_));
  if (!accuracies_.empty()) all.push_back({"validation", {"validation accuracy", "epoch", "share", accuracies_}});
  return all;
}

void Progress::line(const StepRecord& r) {
  if (options_.bar) fmt::print(console_, "\r\x1b[K");
  std::string validated;
  if (r.validation_loss && options_.perplexity)
    validated = fmt::format("  perplexity {:<7.4g}", std::exp(*r.validation_loss));
  else if (r.validation_accuracy)
    validated = fmt::format("  validation {:>6.2f} %", 100 * *r.validation_accuracy);
  else if (r.validation_loss)
    validated = fmt::format("  validation {:<9.4g}", *r.validation_loss);
  std::array parts{fmt::format("epoch {:>3}", r.epoch),
                   fmt::format("  step {:>6}", r.step),
                   fmt::format("  batch {:>4}", r.batch),
                   fmt::format("  rate {:.6f}", r.rate),
                   fmt::format("  loss {:<11.6g}", r.loss),
                   validated,
                   fmt::format("  epoch loss {:.6g}", r.epoch_loss)};
  // A terminal leaves out what says least.
  const auto size = [&] {
    return std::accumulate(parts.begin(), parts.end(), std::size_t{0}, [](std::size_t n, const std::string& p) { return n + p.size(); });
  };
  for (const std::size_t least : {2U, 3U, 4U, 1U, 6U}) {
    if (options_.bar && size() > options_.columns) parts[least].clear();
  }
  fmt::print(console_, "{}\n", fmt::join(parts, ""));
}

void Progress::bar(std::int64_t done) {
  const std::size_t beside = fmt::format("[] {0}/{0} ", steps_).size();
  const auto width = static_cast<std::int64_t>(std::clamp<std::size_t>(options_.columns, beside + 1, beside + 40) - beside);
  const std::int64_t full = done * width / steps_;
  if (done != steps_ && full == drawn_) return;
  drawn_ = full;
  fmt::print(console_, "\r[{}{}] {}/{}", std::string(static_cast<std::size_t>(full), '='),
             std::string(static_cast<std::size_t>(width - full), ' '), done, steps_);
  if (done == steps_) fmt::print(console_, "\r\x1b[K");
  console_.flush();
}

}  // namespace etalon::training
