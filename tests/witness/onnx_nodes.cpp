// ONNX's own tests as an independent witness: models of one node, inputs and outputs as files (libonnx-testdata). Each model
// becomes a program as `etalon import onnx` makes it; its recorded outputs must lie within that program's bounds, and the same
// outputs with one number made wrong must not.
// Usage: test_witness_onnx CONTRACT LEAST [--stride N] [--only TEXT]
//   LEAST  how many models must be judged in a complete run: fewer is a row that was lost
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conformance/interchange/onnx/data_set.hpp"
#include "conformance/judge.hpp"
#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

namespace {

using namespace etalon;
using namespace etalon::conformance::onnx;
using conformance::Outcome;
using conformance::Verdict;
namespace files = std::filesystem;

const files::path tests_of_onnx = "/usr/share/libonnx-testdata/data";

struct Counts {
  std::map<std::string, std::map<std::string, std::size_t>> verdicts;  ///< by operator
  std::map<std::string, std::vector<std::string>> excluded;            ///< by reason
  std::vector<std::string> faults;
  std::set<std::string> convicted;  ///< operators of which a wrong number was found
  std::size_t judged = 0, compared = 0, undecided = 0;
};

/// The first element that can be made wrong, made larger by a quarter and one; false where there is none.
[[nodiscard]] bool make_wrong(std::vector<HostTensor>& outputs) {
  for (HostTensor& y : outputs) {
    if (y.dims.count() == 0) continue;
    const double first = conformance::element(y, 0);
    if (!std::isfinite(first)) continue;
    conformance::set_element(y, 0, y.dtype == DType::boolean ? 1 - first : first + std::abs(first) / 4 + 1);
    return true;
  }
  return false;
}

[[nodiscard]] std::vector<HostTensor> recorded(const Imported& imported, const DataSet& data) {
  const std::map<std::string, HostTensor> numbers = numbers_of(data.outputs);
  std::vector<HostTensor> outputs;
  for (const std::string& name : imported.outputs) {
    const auto at = numbers.find(name);
    if (at == numbers.end()) throw Unsupported("an output that is not recorded");
    outputs.push_back(at->second);
  }
  return outputs;
}

/// Whether there is more than copies of what was known in advance.
[[nodiscard]] bool computes(const Imported& imported) {
  const auto& steps = imported.program.steps;
  return !imported.inputs.empty() || std::any_of(steps.begin(), steps.end(), [](const auto& step) {
    const auto* call = std::get_if<spec::Call>(&step);
    return call != nullptr && call->operands.empty();
  });
}

/// The reason without what is of this model alone: its file, and the number and name of the node.
[[nodiscard]] std::string kind_of_reason(const std::string& line) {
  const std::size_t begin = line.find('('), end = line.find("): ");
  if (begin != std::string::npos && end != std::string::npos && begin < end) return line.substr(begin);
  return line.substr(line.find(": ") + 2);
}

class Run {
 public:
  Run(const spec::Contract& contract, Counts& counts) : contract_(contract), counts_(counts) {}

  void model(const files::path& folder, const std::string& label) {
    try {
      const std::string bytes = read_file(folder / "model.onnx");
      const Model read = read_model(std::as_bytes(std::span(bytes)), label);
      const std::string operation = read.nodes.size() == 1 ? read.nodes[0].operation : "(graphs)";
      for (const auto& entry : sorted(folder)) {
        if (entry.filename().string().starts_with("test_data_set_")) data_set(read, operation, entry, label);
      }
    } catch (const Unsupported& why) {
      counts_.excluded[kind_of_reason(why.what())].push_back(label);
    } catch (const std::exception& error) {  // what this reader does not read, or a program that cannot be run
      counts_.faults.push_back(label + ": " + error.what());
    }
  }

  [[nodiscard]] static std::vector<files::path> sorted(const files::path& folder) {
    std::vector<files::path> paths;
    for (const auto& entry : files::directory_iterator(folder)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    return paths;
  }

 private:
  [[nodiscard]] static Imported imported(const Model& model, const DataSet& data, const std::string& label) {
    ImportOptions options;
    options.file = label;
    options.known = numbers_of(data.inputs);
    Imported found = import_model(model, options);
    if (!found.refused.empty() && model.outputs.size() > 1) {  // perhaps the first output alone is offered
      options.outputs = {model.outputs[0].name};
      found = import_model(model, options);
    }
    if (!found.refused.empty()) throw Unsupported(found.refused.front());
    // What need not be known stays an input.
    for (const ValueInfo& input : model.inputs) {
      auto numbers = options.known.extract(input.name);
      Imported fewer = import_model(model, options);
      if (fewer.refused.empty()) found = std::move(fewer);
      else if (!numbers.empty()) options.known.insert(std::move(numbers));
    }
    return found;
  }

  void data_set(const Model& model, const std::string& operation, const files::path& folder, const std::string& label) {
    const DataSet data = read_data_set(folder, model);
    const Imported program = imported(model, data, label);
    if (!computes(program)) throw Unsupported(label + ": nothing is computed");
    std::vector<HostTensor> outputs = recorded(program, data);
    const spec::Request request = request_of(program, numbers_of(data.inputs), label);
    const Outcome outcome = conformance::judge(request, spec::Numbers{outputs, {}, {}}, contract_);
    ++counts_.verdicts[operation][std::string(name_of(outcome.verdict))];
    ++counts_.judged;
    counts_.compared += outcome.comparisons - outcome.undecided;
    counts_.undecided += outcome.undecided;
    if (outcome.verdict != Verdict::pass && outcome.verdict != Verdict::undecided) counts_.faults.push_back(label + ": " + outcome.why);
    if (outcome.verdict == Verdict::pass && !counts_.convicted.contains(operation) && make_wrong(outputs)) {
      counts_.convicted.insert(operation);
      if (conformance::judge(request, spec::Numbers{outputs, {}, {}}, contract_).verdict != Verdict::fail)
        counts_.faults.push_back(label + ": a wrong number passes");
    }
  }

  const spec::Contract& contract_;
  Counts& counts_;
};

void print(const Counts& counts) {
  for (const auto& [reason, labels] : counts.excluded) {
    std::string names;
    for (const std::string& label : labels) names += " " + label;
    fmt::print("excluded {:4} × {}:{}\n", labels.size(), reason, names);
  }
  for (const auto& [operation, verdicts] : counts.verdicts) {
    std::string text;
    for (const auto& [verdict, count] : verdicts) text += fmt::format(" {} {}", count, verdict);
    fmt::print("{:28}{}\n", operation, text);
  }
  std::size_t excluded = 0;
  for (const auto& [reason, labels] : counts.excluded) excluded += labels.size();
  for (const std::string& fault : counts.faults) fmt::print("{}\n", fault);
  fmt::print("{} judged of {} operators, {} excluded; {} numbers compared, {} undecided, wrong numbers found of {} operators, {} faults\n",
             counts.judged, counts.verdicts.size(), excluded, counts.compared, counts.undecided, counts.convicted.size(),
             counts.faults.size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 2;
  std::size_t stride = 1;
  std::string only;
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    if (words[i] == "--stride") stride = std::stoul(words[i + 1]);
    if (words[i] == "--only") only = words[i + 1];
  }
  if (!files::is_directory(tests_of_onnx)) {
    fmt::print("skipped: {} is missing; on Debian: apt-get install libonnx-testdata\n", tests_of_onnx.string());
    return 77;
  }
  std::vector<files::path> models;
  for (const files::path& family : Run::sorted(tests_of_onnx)) {
    for (const files::path& folder : Run::sorted(family)) {
      if (files::exists(folder / "model.onnx") && folder.filename().string().find(only) != std::string::npos) models.push_back(folder);
    }
  }
  const spec::Contract contract = spec::parse_contract(read_file(words[0]));
  Counts counts;
  Run run(contract, counts);
  for (std::size_t i = 0; i < models.size(); i += stride) {
    const std::string name = models[i].filename().string();
    run.model(models[i], models[i].parent_path().filename().string() + "/" + (name.starts_with("test_") ? name.substr(5) : name));
  }
  print(counts);
  const bool is_complete = stride == 1 && only.empty();
  if (is_complete && counts.judged < std::stoul(words[1])) fmt::print("expected {} judged or more\n", words[1]);
  return counts.faults.empty() && counts.compared > 0 && !(is_complete && counts.judged < std::stoul(words[1])) ? 0 : 1;
}
