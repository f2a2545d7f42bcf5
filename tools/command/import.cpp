#include <charconv>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/admissible.hpp"
#include "conformance/interchange/onnx/data_set.hpp"
#include "conformance/judge.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/quoted.hpp"
#include "tools/command/command.hpp"
#include "tools/command/imported.hpp"

#ifdef ETALON_HAS_COMPILED
#include "training/files/safetensors.hpp"
#endif

namespace etalon::command {
namespace {

namespace onnx = conformance::onnx;

constexpr const char* import_examples = R"(
A model of ONNX becomes a program of the library's operations (docs/onnx.md), which etalon check, run, compile and serve
take. What is not offered is refused all at once, by node and operator.
Examples
  etalon import onnx model.onnx --dim batch=2 -o step.txt
  etalon run step.txt --set x=1 --backend cpu
  etalon import onnx model.onnx --parameters weights.safetensors -o step.txt
  etalon import onnx model.onnx --data test_data_set_0                  judges the outputs that are recorded there
  etalon import onnx model.onnx --data test_data_set_0 --backend cpu    judges the backend's on the inputs there
  etalon import onnx model.onnx --data test_data_set_0 --bounds         prints all that may be answered
Exit status: 0 done, and with --data: nothing failed and something was compared; 1 otherwise; 2 the model is refused.)";

struct ImportWords {
  std::string model, out, parameters, data, backend, contract = "ieee";
  std::vector<std::string> dims, known, outputs;
  bool bounds = false, json = false;
};

/// `NAME=REST`.
[[nodiscard]] std::pair<std::string, std::string> named_word(const std::string& word, const char* option, const char* rest) {
  const std::size_t sign = word.rfind('=');
  if (sign == std::string::npos || sign == 0) throw SpecViolation(fmt::format("{} {}: expected NAME={}", option, word, rest));
  return {word.substr(0, sign), word.substr(sign + 1)};
}

[[nodiscard]] std::int64_t extent_in(const std::string& word, const std::string& text) {
  std::int64_t extent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  if (error != std::errc() || end != text.data() + text.size() || extent < 0)
    throw SpecViolation(fmt::format("--dim {}: expected an extent, found '{}'", word, text));
  return extent;
}

[[nodiscard]] HostTensor tensor_in(const std::string& path) {
  const std::string bytes = read_file(path);
  onnx::Tensor tensor = onnx::read_tensor(std::as_bytes(std::span(bytes)), path).second;
  if (const auto* why = std::get_if<std::string>(&tensor)) throw Unsupported(path + ": " + *why);
  return std::get<HostTensor>(std::move(tensor));
}

[[nodiscard]] onnx::ImportOptions options_of(const ImportWords& words) {
  onnx::ImportOptions options;
  options.file = std::filesystem::path(words.model).filename().string();
  options.outputs = words.outputs;
  options.parameters = !words.parameters.empty();
  for (const std::string& word : words.dims) {
    const auto [name, extent] = named_word(word, "--dim", "N");
    options.dims[name] = extent_in(word, extent);
  }
  for (const std::string& word : words.known) {
    const auto [name, path] = named_word(word, "--known", "FILE.pb");
    options.known[name] = tensor_in(path);
  }
  return options;
}

#ifdef ETALON_HAS_COMPILED
void write_parameters(const std::string& path, const onnx::Imported& imported) {
  if (!path.empty()) write_file(path, training::safetensors_of(training::Named(imported.parameters.begin(), imported.parameters.end())));
}
#else
void write_parameters(const std::string& path, const onnx::Imported&) {
  if (!path.empty()) throw Unsupported("--parameters: not in this build");
}
#endif

/// What the contract admits, element by element.
void print_bounds(const spec::Request& request, const onnx::Imported& imported, const spec::Contract& contract) {
  const std::vector<conformance::Hull> hulls = conformance::Admissible(request, contract).hulls();
  for (std::size_t o = 0; o < imported.outputs.size(); ++o) {
    const conformance::Hull& hull = hulls[o];
    const bool is_real = kind_of(hull.dtype) == Kind::real;
    std::cout << fmt::format("{} : {}\n", imported.outputs[o], to_string(spec::ValueType{hull.dtype, hull.dims}));
    for (std::size_t i = 0; i < hull.flags.size(); ++i) {
      std::string others;
      for (const auto& [flag, name] :
           {std::pair(reference::admits_positive_infinity, " inf"), std::pair(reference::admits_negative_infinity, " -inf"),
            std::pair(reference::admits_nan, " nan"), std::pair(reference::undecided, " anything")}) {
        if ((hull.flags[i] & flag) != 0) others += name;
      }
      const bool is_number = !is_real || (hull.flags[i] & reference::admits_finite) != 0;
      const std::string interval =
          is_real ? fmt::format("[{}, {}]", hull.lower[i], hull.upper[i]) : fmt::format("[{}, {}]", hull.least[i], hull.greatest[i]);
      std::cout << fmt::format("  {}: {}{}{}\n", i, is_number ? interval : "", others.empty() || !is_number ? "" : " or", others);
    }
  }
}

/// The recorded outputs, or those of the backend.
[[nodiscard]] spec::Answer answer_to(const spec::Request& request, const ImportWords& words, const onnx::Imported& imported,
                                     const onnx::DataSet& data) {
  if (!words.backend.empty()) return make_backend(words.backend)->run(request);
  const std::map<std::string, HostTensor> recorded = onnx::numbers_of(data.outputs);
  spec::Numbers numbers;
  for (const std::string& name : imported.outputs) {
    const auto at = recorded.find(name);
    if (at == recorded.end()) throw SpecViolation(fmt::format("{}: the output \"{}\" is not recorded", words.data, name));
    numbers.outputs.push_back(at->second);
  }
  return numbers;
}

[[nodiscard]] int judge_data(const ImportWords& words, const onnx::Model& model, const onnx::ImportOptions& options,
                             const onnx::Imported& imported) {
  const onnx::DataSet data = onnx::read_data_set(words.data, model);
  const std::map<std::string, HostTensor> inputs = onnx::numbers_of(data.inputs);
  for (const auto& [name, tensor] : options.known) {
    const auto at = inputs.find(name);
    if (at != inputs.end() && at->second != tensor)
      throw SpecViolation(fmt::format("{}: the input \"{}\" has other numbers than --known says", words.data, as_quoted(name)));
  }
  const spec::Request request = onnx::request_of(imported, inputs, options.file);
  const spec::Contract contract = contract_of(words.contract);
  if (words.bounds) {
    print_bounds(request, imported, contract);
    return 0;
  }
  const conformance::Outcome outcome = conformance::judge(request, answer_to(request, words, imported, data), contract);
  return show_verdict(outcome, options.file, words.json);
}

[[nodiscard]] int import(const ImportWords& words) {
  const std::string bytes = read_file(words.model);
  const onnx::ImportOptions options = options_of(words);
  const onnx::Model model = onnx::read_model(std::as_bytes(std::span(bytes)), options.file,
                                               std::filesystem::path(words.model).parent_path());
  const onnx::Imported imported = onnx::import_model(model, options);
  require_offered(imported.refused);
  const std::string text = to_text(imported.program);
  write_parameters(words.parameters, imported);
  if (!words.out.empty()) write_file(words.out, text);
  if (!words.data.empty()) return judge_data(words, model, options, imported);
  if (words.out.empty()) std::cout << text;
  return 0;
}

}  // namespace

void add_import(Command app, Outcome& outcome) {
  Command import_ = app.command("import", "Read a model of another format as a program");
  Command model = import_.command("onnx", "A model of ONNX");
  model.footer(import_examples);
  auto words = std::make_shared<ImportWords>();
  model.option("model", words->model, "The model's file").required();
  model.option("--dim", words->dims, "NAME=N: an extent that the model leaves open").one_word();
  model.option("--known", words->known, "NAME=FILE.pb: an input whose numbers are part of the program, as shapes and axes must be")
      .one_word();
  model.option("--output", words->outputs, "Only this output, and what leads to it").one_word();
  model.option("-o,--out", words->out, "The program's file; without it and without --data the program is printed");
  model.option("--parameters", words->parameters,
               "A file of safetensors for the real initializers, which then are parameters and no constants");
  const Option data = model.option("--data", words->data, "A folder with input_0.pb and output_0.pb: what is recorded there is judged");
  model.option("--backend", words->backend, "Judge what this backend answers instead").needs(data);
  model.option("--contract", words->contract, "What the answers promise: a shipped contract by name, or a JSON file").with_default();
  model.flag("--bounds", words->bounds, "Print all that may be answered, and judge nothing").needs(data);
  model.flag("--json", words->json, "The verdict as one line of JSON").needs(data);
  model.callback([words, &outcome] { outcome.status = import(*words); });
  add_import_stablehlo(import_, outcome);
  import_.alone([] { throw SpecViolation("import: a format is missing; etalon import --help lists them"); });
}

}  // namespace etalon::command
