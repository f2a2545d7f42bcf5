#include "training/certificate/certificate.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {
namespace {

constexpr std::string_view statement_kind = "https://in-toto.io/Statement/v1";
constexpr std::string_view predicate_kind = "urn:etalon:training-run:1";

std::string name_of(Level level) { return level == Level::bitwise ? "bitwise" : "explained"; }

Level level_of(const StrictJson& json) {
  const std::string name = json.text();
  for (const Level level : {Level::bitwise, Level::explained}) {
    if (name == name_of(level)) return level;
  }
  throw IoError(fmt::format("{}: '{}', expected bitwise or explained", json.place(), as_quoted(name)));
}

/// Digits that give the number back, to the bit.
std::string number_text(const std::string& name, double number) {
  if (!std::isfinite(number)) throw SpecViolation(fmt::format("certificate: metric {} is {}, expected a finite number", name, number));
  return fmt::format("{:a}", number);
}

double number_of(const StrictJson& json) {
  const std::string text = json.text();
  const bool negative = text.starts_with('-');
  const std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
  double number = 0;
  if (digits.starts_with("0x")) {
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data() + 2, end, number, std::chars_format::hex);
    if (read.ec == std::errc() && read.ptr == end && std::isfinite(number) && !std::signbit(number)) return negative ? -number : number;
  }
  throw IoError(fmt::format("{}: '{}', expected a hexadecimal number such as 0x1.8p+1", json.place(), as_quoted(text)));
}

nlohmann::ordered_json predicate_of(const Certificate& c) {
  nlohmann::ordered_json json;
  json["run"] = c.run();
  json["declaration"] = c.declaration;
  json["level"] = name_of(c.level);
  json["states"] = {{"start", c.start}, {"end", c.end}};
  json["intervals"] = {{"count", c.leaves}, {"root", c.root}};
  json["environments"] = nlohmann::ordered_json::array();
  for (const Environment& e : c.environments) json["environments"].push_back(nlohmann::ordered_json::parse(to_text(e)));
  json["metrics"] = nlohmann::ordered_json::object();
  for (const auto& [name, number] : c.metrics) json["metrics"][name] = number_text(name, number);
  if (const auto& s = c.checked) {
    json["shadow"] = {{"policy", s->policy}, {"replayed", s->replayed}, {"judged", s->judged}, {"transient", s->transient}};
  }
  return json;
}

std::vector<Certificate::Subject> subjects_of(const StrictJson& list) {
  std::vector<Certificate::Subject> subjects;
  for (const StrictJson& subject : list.items()) subjects.push_back({subject.at("name").text(), subject.at("digest").at("sha256").digest()});
  if (subjects.empty()) throw IoError(fmt::format("{}: none, expected at least one file", list.place()));
  return subjects;
}

std::vector<Environment> environments_of(const StrictJson& list) {
  std::vector<Environment> environments;
  for (const StrictJson& e : list.items()) {
    environments.push_back(environment_of(e));
  }
  return environments;
}

Checked checked_in(const StrictJson& json) {
  json.allow({"policy", "replayed", "judged", "transient"});
  return {json.at("policy").text(), json.at("replayed").count(), json.at("judged").count(), json.at("transient").count()};
}

void expect(const StrictJson& json, std::string_view expected) {
  if (const std::string found = json.text(); found != expected) {
    throw IoError(fmt::format("{}: '{}', expected {}", json.place(), as_quoted(found), expected));
  }
}

}  // namespace

std::string Certificate::run() const { return sha256_of(declaration); }

std::string to_statement(const Certificate& certificate) {
  nlohmann::ordered_json json;
  json["_type"] = statement_kind;
  json["subject"] = nlohmann::ordered_json::array();
  for (const Certificate::Subject& s : certificate.subjects) json["subject"].push_back({{"name", s.name}, {"digest", {{"sha256", s.sha256}}}});
  json["predicateType"] = predicate_kind;
  json["predicate"] = predicate_of(certificate);
  return json.dump();
}

Certificate read_statement(std::string_view text, const std::string& source) {
  const StrictJson json = StrictJson::parse(text, source);
  expect(json.at("_type"), statement_kind);
  expect(json.at("predicateType"), predicate_kind);
  const StrictJson predicate = json.at("predicate");
  predicate.allow({"run", "declaration", "level", "states", "intervals", "environments", "metrics", "shadow"});
  Certificate c;
  c.subjects = subjects_of(json.at("subject"));
  c.declaration = predicate.at("declaration").text();
  if (const StrictJson run = predicate.at("run"); run.digest() != c.run()) {
    throw IoError(fmt::format("{}: {}, but the declaration's digest is {}", run.place(), run.digest(), c.run()));
  }
  c.level = level_of(predicate.at("level"));
  c.start = predicate.at("states").at("start").digest();
  c.end = predicate.at("states").at("end").digest();
  c.leaves = predicate.at("intervals").at("count").count();
  c.root = predicate.at("intervals").at("root").digest();
  c.environments = environments_of(predicate.at("environments"));
  const StrictJson metrics = predicate.at("metrics");
  for (const std::string& name : metrics.keys()) c.metrics[name] = number_of(metrics.at(name));
  if (predicate.has("shadow")) c.checked = checked_in(predicate.at("shadow"));
  return c;
}

}  // namespace etalon::training
