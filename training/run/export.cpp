#include "training/run/export.hpp"

#include <utility>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "training/files/npz.hpp"
#include "training/files/safetensors.hpp"
#include "training/run/run.hpp"
#include "training/tasks/tasks.hpp"

namespace etalon::training {

Task task_of(const Declaration& declaration) {
  return declaration.own ? perceptron(declaration.own->model) : task_named(declaration.task, declaration.model);
}

Exported export_run(const std::filesystem::path& folder, std::string_view format, bool all, bool best) {
  const std::vector<std::string> formats{"npz", "safetensors"};
  if (format != formats[0] && format != formats[1]) throw SpecViolation(unknown_name("format", format, formats));
  RunContents run = read_run(*file_system(), folder, best);
  Named& tensors = run.newest.checkpoint.state;
  if (!all) {
    const Parameters parameters = task_of(run.declaration).parameters;
    std::erase_if(tensors, [&](const auto& entry) { return !parameters.contains(entry.first); });
  }
  return {format == "npz" ? npz_of(tensors) : safetensors_of(tensors), tensors.size(),
          run.newest.checkpoint.position.step, run.declaration.steps, std::move(run.newest.refused)};
}

}  // namespace etalon::training
