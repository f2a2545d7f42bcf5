#include "tools/robust/classifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "spec/error.hpp"
#include "training/run/export.hpp"
#include "training/run/run.hpp"
#include "training/step.hpp"
#include "training/tasks/perceptron.hpp"
#include "training/tasks/shipped.hpp"

namespace etalon::robust {
namespace {

namespace fs = std::filesystem;
using training::Dataset;
using training::Declaration;

struct Held {
  Dataset rows;
  std::string are;
};

void require_digest(const std::string& found, const std::string& declared, const std::string& file) {
  if (found == declared) return;
  throw SpecViolation(fmt::format("{}: the data's SHA-256 is {}, the run's is {}", file, found, declared));
}

Held own_rows(const Declaration& declaration, const fs::path& data) {
  const training::OwnTask& own = *declaration.own;
  std::vector<fs::path> files;
  for (const training::DataFile& file : own.files) files.emplace_back(file.name);
  if (!data.empty()) files.front() = data;
  const training::Examples examples = training::read_examples(files, own.data);
  for (std::size_t i = 0; i < own.files.size(); ++i) require_digest(examples.files[i].sha256, own.files[i].sha256, files[i].string());
  const training::Split split = training::split_of(examples, own.validation, declaration.seed);
  if (split.validation.empty()) throw SpecViolation("the run holds no row back; expected a share of --validation above 0");
  return {training::select_rows(examples.data, split.validation), "validation rows"};
}

Held shipped_rows(const Declaration& declaration, const fs::path& data) {
  training::Shipped of = training::shipped(declaration.task, declaration.model, data, declaration.seed);
  require_digest(of.digest, declaration.data, data.empty() ? declaration.task : data.string());
  return {std::move(of.test), "test rows"};
}

/// One label a row, of as many classes as there are answers.
void require_classes(const Classifier& model) {
  const Dataset& rows = model.rows;
  if (rows.labels.empty() || rows.per_row != 1) throw SpecViolation(model.name + ": expected rows with one label each");
  const spec::TensorInfo& answers = model.system[model.system.outputs.front()];
  const spec::TensorInfo& points = model.system[model.system.inputs[model.points]];
  if (answers.dtype != DType::f32 || answers.dims.rank != 2 || answers.dims[0] != points.dims[0] || answers.dims[1] < rows.classes) {
    throw SpecViolation(fmt::format("{}: answers are {}{}, expected f32[{}, classes] with {} classes or more", model.name,
                                    name_of(answers.dtype), to_string(answers.dims), points.dims[0], rows.classes));
  }
  const std::int64_t features = points.dims.count() / points.dims[0];
  if (features == rows.features) return;
  throw SpecViolation(fmt::format("{}: rows of {} numbers, expected {}", model.name, rows.features, features));
}

const HostTensor& value_of(const spec::Input& input, const training::Named& values, const std::string& name) {
  const auto found = values.find(input.name);
  if (found == values.end()) throw SpecViolation(fmt::format("{}: {} has no value", name, input.name));
  if (found->second.dtype != input.dtype || !(found->second.dims == input.dims)) {
    throw SpecViolation(fmt::format("{}: {} is {}{}, found {}{}", name, input.name, name_of(input.dtype), to_string(input.dims),
                                    name_of(found->second.dtype), to_string(found->second.dims)));
  }
  return found->second;
}

}  // namespace

Classifier classifier_of_program(const spec::Program& program, const std::string& name, const training::Named& values, Dataset rows) {
  Classifier model;
  model.name = name;
  model.system = spec::lower(program);
  model.rows = std::move(rows);
  model.rows_are = "rows";
  std::optional<std::size_t> points;
  for (const spec::Input& input : program.inputs) {
    const bool given = input.value || values.count(input.name) != 0;
    if (!given && input.role == spec::Role::input && input.dtype == DType::f32 && input.dims.rank > 0 && input.dims[0] > 0) {
      if (points) {
        throw SpecViolation(fmt::format("{}: {} and {} have no values, expected one input of rows", name, program.inputs[*points].name,
                                        input.name));
      }
      points = model.inputs.size();
      model.inputs.emplace_back(input.dtype, input.dims);
    } else {
      model.inputs.push_back(input.value ? *input.value : value_of(input, values, name));
    }
  }
  if (!points) throw SpecViolation(name + ": every input has a value, expected one of rows that has none");
  if (program.outputs.empty()) throw SpecViolation(name + ": the program has no output, expected answers");
  model.points = *points;
  require_classes(model);
  return model;
}

Classifier classifier_of_run(const fs::path& folder, bool best, const fs::path& data) {
  const training::RunContents run = training::read_run(*training::file_system(), folder, best);
  const Declaration& declaration = run.declaration;
  Held held = declaration.own ? own_rows(declaration, data) : shipped_rows(declaration, data);
  const training::Task task = training::task_of(declaration);
  const spec::Program program = training::evaluation_program(task, 1, held.rows.features, std::nullopt);
  const std::string name = fmt::format("{}: {} ({}) after step {} of {}", folder.string(), declaration.task, declaration.model,
                                       run.newest.checkpoint.position.step, declaration.steps);
  Classifier model = classifier_of_program(program, name, run.newest.checkpoint.state, std::move(held.rows));
  model.rows_are = held.are;
  return model;
}

}  // namespace etalon::robust
