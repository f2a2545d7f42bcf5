#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/program/binding.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/number_text.hpp"
#include "tools/command/command.hpp"
#include "tools/command/program_file.hpp"

namespace etalon::command {
namespace {

constexpr const char* examples = R"(
Example
  etalon run step.txt --set x=1,2,3,4,5,6 --set w=0.5 --backend reference
A single number fills the tensor.)";

[[nodiscard]] std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') parts.emplace_back();
    else if (c != ' ') parts.back() += c;
  }
  return parts;
}

[[nodiscard]] HostTensor tensor_from_words(const spec::Input& input, const std::string& words) {
  const std::vector<std::string> parts = split(words);
  HostTensor tensor(input.dtype, input.dims);
  const auto count = static_cast<std::size_t>(input.dims.count());
  if (parts.size() != 1 && parts.size() != count)
    throw SpecViolation(fmt::format("--set {}: expected {} numbers or one, found {}", input.name, count, parts.size()));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& part = parts[parts.size() == 1 ? 0 : i];
    if (!spec::read_element(part, tensor, i))
      throw SpecViolation(fmt::format("--set {}: expected an element of type {}, found '{}'", input.name, name_of(input.dtype), part));
  }
  return tensor;
}

[[nodiscard]] std::map<std::string, std::string> settings_of(const std::vector<std::string>& words, const spec::Program& program) {
  std::vector<std::string> names;
  for (const spec::Input& input : program.inputs) names.push_back(input.name);
  std::map<std::string, std::string> settings;
  for (const std::string& word : words) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos) throw SpecViolation("--set " + word + ": expected name=numbers");
    const std::string name = word.substr(0, sign);
    if (std::find(names.begin(), names.end(), name) == names.end()) throw SpecViolation("--set: " + unknown_name("input", name, names));
    settings[name] = word.substr(sign + 1);
  }
  return settings;
}

void run(const std::string& path, const std::string& definitions, const std::string& backend_name, const std::vector<std::string>& words) {
  const std::unique_ptr<spec::Backend> backend = make_backend(backend_name);
  spec::Request request;
  request.id = path;
  request.program = with_extents(program_in_file(path, definitions));
  verify(request.program);
  const std::map<std::string, std::string> settings = settings_of(words, request.program);
  for (const spec::Input& input : request.program.inputs) {
    const auto setting = settings.find(input.name);
    if (setting != settings.end()) request.inputs.push_back(tensor_from_words(input, setting->second));
    else if (input.value) request.inputs.push_back(*input.value);
    else throw SpecViolation(fmt::format("{}: input {} is {} and has no value; give it with --set {}=…", path, input.name,
                                         to_string(spec::ValueType{input.dtype, input.dims}), input.name));
  }
  verify_inputs(request.program, request.inputs);
  const spec::Answer answer = backend->run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) throw SpecViolation(refusal->why);
  const auto& outputs = std::get<spec::Numbers>(answer).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::cout << fmt::format("{} : {} = {}\n", request.program.outputs[i], to_string(spec::ValueType{outputs[i].dtype, outputs[i].dims}),
                             spec::elements_text(outputs[i]));
  }
}

}  // namespace

void add_run(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("run", "Print what a program in a file computes");
  command->footer(examples);
  auto path = std::make_shared<std::string>();
  auto backend = std::make_shared<std::string>("reference");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("file", *path, "The program, as text or JSON")->required();
  command->add_option("--backend", *backend, "Who computes: reference, cpu or cuda")->capture_default_str();
  command->add_option("--set", *words, "name=numbers of an input, row-major")->delimiter('\0')->allow_extra_args(false);
  auto definitions = std::make_shared<std::string>();
  command->add_option("--definitions", *definitions, "A file with definitions of your own");
  command->callback([=, &outcome] {
    run(*path, *definitions, *backend, *words);
    outcome.status = 0;
  });
}

}  // namespace etalon::command
