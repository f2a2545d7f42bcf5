#include "spec/contract/contract.hpp"

#include <unistd.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/measure/infer.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

using nlohmann::ordered_json;

constexpr const char* contract_examples = R"(
Examples
  etalon contract list                                 the shipped contracts
  etalon contract show cuda-default                    one of them, as a file to start from
  etalon contract check backend.json                   what is wrong with it, or what it promises
  etalon contract infer --backend cpu -o cpu.json      measure a backend
  etalon contract schema                               the JSON Schema of contracts
Exit status: 0 done, 1 the file is no contract (or a defect was measured), 2 usage or set-up error.)";

[[nodiscard]] int check_contract(const std::string& path, bool as_json) {
  const std::string text = read_file(path);
  const std::vector<std::string> errors = spec::contract_errors(text);
  if (as_json) {
    ordered_json reply{{"file", path}, {"valid", errors.empty()}, {"errors", errors}};
    if (errors.empty()) {
      const spec::Contract contract = spec::parse_contract(text);
      reply["promises"] = spec::promises_of(contract);
      reply["contract"] = ordered_json::parse(spec::to_json(contract));
    }
    std::cout << reply.dump() << '\n';
  } else if (errors.empty()) {
    const spec::Contract contract = spec::parse_contract(text);
    std::cout << path << ": a contract, '" << contract.name << "'\n";
    for (const std::string& line : spec::promises_of(contract)) std::cout << "  " << line << '\n';
  } else {
    for (const std::string& error : errors) std::cout << path << ": " << error << '\n';
  }
  return errors.empty() ? 0 : 1;
}

[[nodiscard]] int list(bool as_json) {
  ordered_json rows = ordered_json::array();
  for (const std::string& name : spec::contract_names()) {
    const ordered_json file = ordered_json::parse(spec::contract_text(name));
    rows.push_back({{"name", name}, {"about", file.value("about", "")}});
  }
  if (as_json) {
    std::cout << rows.dump() << '\n';
    return 0;
  }
  for (const auto& row : rows) std::cout << row["name"].get<std::string>() << "\n  " << row["about"].get<std::string>() << '\n';
  return 0;
}

struct InferWords {
  std::string backend, out;
  bool exhaustive = false;
  std::size_t points = conformance::InferOptions{}.points;
  unsigned jobs = 2;
};

[[nodiscard]] int infer(const InferWords& words) {
  const std::unique_ptr<spec::Backend> backend = make_backend(words.backend);
  conformance::InferOptions options;
  options.points = words.points;
  options.exhaustive = words.exhaustive;
  options.jobs = words.jobs;
  options.another = [name = words.backend] { return make_backend(name); };
  std::mutex mutex;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  options.progress = [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    if (terminal) std::cerr << "\r\033[K" << what << std::flush;
  };
  const conformance::Inferred found = conformance::infer_contract(*backend, options);
  if (terminal) std::cerr << "\r\033[K" << std::flush;
  if (words.out.empty()) {
    std::cout << found.json;
  } else {
    write_file(words.out, found.json);
    for (const std::string& line : spec::promises_of(found.contract)) std::cout << line << '\n';
  }
  for (const std::string& defect : found.defects) std::cerr << "defect: " << defect << '\n';
  return found.defects.empty() ? 0 : 1;
}

void add_check_of(Command contract, Outcome& outcome) {
  Command command = contract.command("check", "What is wrong with a contract in a file, or what it promises");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command.option("file", *path, "The contract").required();
  command.flag("--json", *json, "Answer with one JSON object");
  command.callback([path, json, &outcome] { outcome.status = check_contract(*path, *json); });
}

void add_infer_of(Command contract, Outcome& outcome) {
  Command command = contract.command("infer", "Measure a backend and write the tightest contract that it was seen to keep");
  auto words = std::make_shared<InferWords>();
  command.option("--backend", words->backend, "Who is measured: cpu, cpu-c, reference, cuda-emulated, cuda, exec:COMMAND, plugin:PATH.so or pjrt:PATH.so").required();
  command.option("-o,--out", words->out, "Write the contract to this file and what it promises to the terminal");
  command.flag("--exhaustive", words->exhaustive, "Functions of one operand at all 2^32 numbers of f32: minutes per function");
  command.option("--points", words->points, "Points per function of f32; of f64 an eighth").with_default().positive();
  command.option("--jobs", words->jobs, "Threads of the exhaustive part").with_default().positive();
  command.callback([words, &outcome] { outcome.status = infer(*words); });
}

}  // namespace

spec::Contract contract_of(const std::string& text) {
  const bool is_file = text.find('.') != std::string::npos || text.find('/') != std::string::npos;
  if (!is_file) return spec::contract_named(text);
  const std::string content = read_file(text);
  if (const auto errors = spec::contract_errors(content); !errors.empty()) throw SpecViolation(text + ": " + errors.front());
  return spec::parse_contract(content);
}

void add_contract(Command app, Outcome& outcome) {
  Command contract = app.command("contract", "Contracts: what a backend promises of its arithmetic");
  contract.footer(contract_examples);
  contract.alone([] { throw SpecViolation("contract: a command is missing; etalon contract --help lists them"); });
  auto json = std::make_shared<bool>(false);
  Command listing = contract.command("list", "The shipped contracts");
  listing.flag("--json", *json, "One JSON array");
  listing.callback([json, &outcome] { outcome.status = list(*json); });
  auto name = std::make_shared<std::string>();
  Command showing = contract.command("show", "A shipped contract as a file");
  showing.option("name", *name, "Its name").required();
  showing.callback([name] { std::cout << spec::contract_text(*name); });
  contract.command("schema", "The JSON Schema of contracts").callback([] { std::cout << spec::contract_schema(); });
  contract.command("fields", "The fields as a table, as in docs/contracts.md").callback([] { std::cout << spec::contract_fields_table(); });
  add_check_of(contract, outcome);
  add_infer_of(contract, outcome);
}

}  // namespace etalon::command
