#include "training/run/own_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"

namespace etalon::training {

namespace {

[[nodiscard]] std::vector<std::string> texts_in(const StrictJson& list) {
  std::vector<std::string> texts;
  for (const StrictJson& item : list.items()) texts.push_back(item.text());
  return texts;
}

[[nodiscard]] DataFile file_in(const StrictJson& json) {
  json.allow({"name", "bytes", "sha256", "root"});
  return {json.at("name").text(), json.at("bytes").whole(), json.at("sha256").digest(), json.at("root").digest()};
}

[[nodiscard]] DataChoice choice_in(const StrictJson& json) {
  json.allow({"format", "target", "inputs", "ignored", "separator", "header", "regression", "classes", "context"});
  return {json.at("format").text(),      json.at("target").text(),    json.at("inputs").text(),
          texts_in(json.at("ignored")),  json.at("separator").text(), json.at("header").truth(),
          json.at("regression").truth(), json.at("classes").count(),  json.at("context").count()};
}

[[nodiscard]] Perceptron model_in(const StrictJson& json) {
  json.allow({"features", "vocabulary", "hidden", "rate"});
  Perceptron model{json.at("features").count(), 0, json.at("vocabulary").count(), {}, json.at("rate").number()};
  for (const StrictJson& units : json.at("hidden").items()) model.hidden.push_back(units.count());
  return model;
}

}  // namespace

nlohmann::ordered_json to_json(const OwnTask& task) {
  const DataChoice& d = task.data;
  const Perceptron& m = task.model;
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const DataFile& f : task.files) files.push_back({{"name", f.name}, {"bytes", f.bytes}, {"sha256", f.sha256}, {"root", f.root}});
  return {{"files", files},
          {"read",
           {{"format", d.format},
            {"target", d.target},
            {"inputs", d.inputs},
            {"ignored", d.ignored},
            {"separator", d.separator},
            {"header", d.header},
            {"regression", d.regression},
            {"classes", d.classes},
            {"context", d.context}}},
          {"classes", task.classes},
          {"validation", task.validation},
          {"model", {{"features", m.features}, {"vocabulary", m.vocabulary}, {"hidden", m.hidden}, {"rate", m.rate}}}};
}

OwnTask own_task_of(const StrictJson& json) {
  json.allow({"files", "read", "classes", "validation", "model"});
  OwnTask task;
  for (const StrictJson& file : json.at("files").items()) task.files.push_back(file_in(file));
  if (task.files.empty() || task.files.size() > 2)
    throw IoError(fmt::format("{}: {} files, expected 1 or 2", json.place(), task.files.size()));
  task.data = choice_in(json.at("read"));
  task.classes = texts_in(json.at("classes"));
  task.validation = json.at("validation").number();
  task.model = model_in(json.at("model"));
  task.model.classes = static_cast<std::int64_t>(task.classes.size());
  return task;
}

void require_same(const OwnTask& run, const OwnTask& now, std::string_view where) {
  if (run.files.size() != now.files.size()) {
    throw SpecViolation(fmt::format("{}: {} files of data, now {}", where, run.files.size(), now.files.size()));
  }
  for (std::size_t i = 0; i < run.files.size(); ++i) require_same(run.files[i], now.files[i], where);
  if (!(run.data == now.data && run.classes == now.classes && run.validation == now.validation && run.model == now.model)) {
    throw SpecViolation(fmt::format("{}: this build reads other examples from the same data", where));
  }
}

}  // namespace etalon::training
