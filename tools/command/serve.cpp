#include "conformance/isolation/library.hpp"
#include "conformance/serve.hpp"

#include <iostream>
#include <memory>
#include <string>


#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

constexpr const char* serve_examples = R"(
Examples
  echo '{"etalon":1,"request":"describe"}' | etalon serve --backend reference
  etalon serve --backend cpu < requests.jsonl > answers.jsonl
With --backend reference a request may carry "bounds": a contract ({} is careful IEEE arithmetic); the answer then has
"lower" and "upper", between which every conforming result lies.)";

}  // namespace

void add_serve(Command app, Outcome& outcome) {
  Command command = app.command("serve", "Answer questions of Protocol 1, one JSON object per line");
  command.footer(serve_examples);
  auto backend = std::make_shared<std::string>("reference");
  command.option("--backend", *backend, "Who answers: reference, cpu, cuda-emulated, cuda, plugin:PATH.so or pjrt:PATH.so").with_default();
  command.callback([backend, &outcome] {
    outcome.status = 0;
    if (is_library(*backend)) return conformance::serve_loaded([&] { return load_library(*backend); }, std::cin);
    const std::unique_ptr<spec::Backend> server = make_backend(*backend);
    conformance::serve(std::cin, std::cout, *server, {.offers_bounds = *backend == "reference"});
  });
}

}  // namespace etalon::command
