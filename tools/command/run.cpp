#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/nearest.hpp"
#include "spec/program/binding.hpp"
#include "spec/program/extents.hpp"
#include "spec/program/number_text.hpp"
#include "spec/program/wishes.hpp"
#include "tools/command/command.hpp"
#include "tools/command/program_file.hpp"
#include "tools/log/html.hpp"
#include "tools/log/record.hpp"
#include "tools/log/text.hpp"

#ifdef ETALON_HAS_COMPILED
#include "training/files/safetensors.hpp"
#endif

namespace etalon::command {
namespace {

constexpr const char* run_examples = R"(
Example
  etalon run step.txt --set x=1,2,3,4,5,6 --set w=0.5 --backend reference
  etalon run step.txt --set x=1 --parameters weights.safetensors
  etalon run step.txt --set x=1 --log-assignments --log step.log
  etalon run step.txt --set x=1 --log-assignments=h,loss --log step.html --log-format html --backend cpu
A single number fills the tensor. A value that is logged is stored, and what reads it reads the stored number: the compiled
backend then fuses less, and the reference rounds where it would not. etalon log diff compares two logs.
What the program captures (a line `capture h`) stands behind the outputs, under its own heading.)";

/// In place of names.
constexpr const char* all_values = "all";

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

void print_value(const std::string& name, const HostTensor& value) {
  std::cout << fmt::format("{} : {} = {}\n", name, to_string(spec::ValueType{value.dtype, value.dims}), spec::elements_text(value));
}

/// What `etalon run` was asked for.
struct RunChoices {
  std::string path;
  std::string definitions;
  std::string backend = "reference";
  std::vector<std::string> words;
  std::string parameters;
  bool logs = false;
  std::string names;
  std::string log_file;
  std::string log_format = "text";
  std::size_t log_limit = logging::Log{}.elements;
};

/// The tensors of a file by name; none where there is no file.
[[nodiscard]] std::map<std::string, HostTensor> tensors_in(const std::string& path) {
  if (path.empty()) return {};
#ifdef ETALON_HAS_COMPILED
  const std::string bytes = read_file(path);
  return training::read_safetensors(std::as_bytes(std::span(bytes)), path);
#else
  throw Unsupported("--parameters: not in this build");
#endif
}

/// The program with a value for each of its inputs.
[[nodiscard]] spec::Request request_of(const RunChoices& choices) {
  spec::Request request;
  request.id = choices.path;
  request.program = with_extents(program_in_file(choices.path, choices.definitions, choices.logs ? spec::Lines::of_the_text : spec::Lines::as_said));
  verify(request.program);
  const std::map<std::string, std::string> settings = settings_of(choices.words, request.program);
  const std::map<std::string, HostTensor> tensors = tensors_in(choices.parameters);
  for (const spec::Input& input : request.program.inputs) {
    const auto setting = settings.find(input.name);
    if (setting != settings.end()) request.inputs.push_back(tensor_from_words(input, setting->second));
    else if (input.value) request.inputs.push_back(*input.value);
    else if (const auto tensor = tensors.find(input.name); tensor != tensors.end()) request.inputs.push_back(tensor->second);
    else throw SpecViolation(fmt::format("{}: input {} is {} and has no value; give it with --set {}=…", choices.path, input.name,
                                         to_string(spec::ValueType{input.dtype, input.dims}), input.name));
  }
  verify_inputs(request.program, request.inputs);
  return request;
}

void print_outputs(const RunChoices& choices) {
  const std::unique_ptr<spec::Backend> backend = make_backend(choices.backend);
  spec::Request request = request_of(choices);
  const spec::Program program = request.program;
  const std::vector<std::string> captured = captures(program);
  if (program.outputs.empty() && captured.empty())
    throw SpecViolation(choices.path + ": the program has no outputs to print; expected a line `output NAME` or `capture NAME`");
  request.program = with_captures(program);
  const spec::Answer answer = backend->run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) throw SpecViolation(refusal->why);
  const auto& values = std::get<spec::Numbers>(answer).outputs;
  for (std::size_t i = 0; i < program.outputs.size(); ++i) print_value(program.outputs[i], values[i]);
  if (!captured.empty()) std::cout << "captured\n";
  for (const std::string& name : captured) {
    const auto& all = request.program.outputs;
    print_value(name, values[static_cast<std::size_t>(std::find(all.begin(), all.end(), name) - all.begin())]);
  }
}

/// The log of one run, on standard output or in a file that is whole or not there.
void write_log(const RunChoices& choices) {
  const bool is_page = choices.log_format == "html";
  if (!is_page && choices.log_format != "text") {
    const std::vector<std::string> formats{"text", "html"};
    throw SpecViolation("--log-format: " + unknown_name("format", choices.log_format, formats));
  }
  const logging::Recorder recorder = make_recorder(choices.backend);
  spec::Request request = request_of(choices);
  const std::vector<std::string> names = choices.names == all_values ? std::vector<std::string>{} : split(choices.names);
  logging::Log log = logging::record(request.program, choices.path, std::move(request.inputs), names, recorder);
  log.elements = choices.log_limit;
  const std::string text = is_page ? logging::to_html(log) : logging::to_text(log);
  if (choices.log_file.empty()) std::cout << text;
  else write_file(choices.log_file, text);
}

void run(const RunChoices& choices) {
  if (choices.logs) return write_log(choices);
  if (!choices.log_file.empty()) throw SpecViolation("--log says where --log-assignments writes, and --log-assignments is missing");
  print_outputs(choices);
}

}  // namespace

void add_run(Command app, Outcome& outcome) {
  Command command = app.command("run", "Print what a program in a file computes");
  command.footer(run_examples);
  auto choices = std::make_shared<RunChoices>();
  command.option("file", choices->path, "The program, as text or JSON").required();
  command.option("--backend", choices->backend, "Who computes: reference, cpu, cuda-emulated or cuda").with_default();
  command.option("--set", choices->words, "name=numbers of an input, row-major").one_word();
  command.option("--parameters", choices->parameters, "A file of safetensors, for the inputs and parameters of the names in it that are not set");
  command.option("--definitions", choices->definitions, "A file with definitions of your own");
  const Option logs = command.flag(std::string("--log-assignments{") + all_values + "}", choices->names,
                                        "Log each assignment with its operands, of all values or of those named: --log-assignments=h,loss");
  command.option("--log", choices->log_file, "The file of the log; without it the log is printed in place of the outputs");
  command.option("--log-format", choices->log_format, "text, which etalon log diff reads, or html, a page that opens and closes").with_default();
  command.option("--log-limit", choices->log_limit, "Elements of an assignment that are shown with their operands; all numbers are in the log anyway")
      .with_default();
  command.callback([=, &outcome] {
    choices->logs = logs.given();
    run(*choices);
    outcome.status = 0;
  });
}

}  // namespace etalon::command
