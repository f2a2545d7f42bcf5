#include <functional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "conformance/serve.hpp"
#include "reference/backend.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"
#include "tests/fuzz/definition_maker.hpp"
#include "tests/fuzz/doors.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {

bool checked(const spec::Program& program) {
  return accepted([&] { spec::verify(program); });
}

void served(const spec::Program& program) {
  static const auto reference = reference::make_reference_backend();
  spec::Request request;
  request.id = "1";
  request.program = program;
  request.inputs = values_for(program);
  std::stringstream asked(spec::encode(request) + "\n");
  std::stringstream answered;
  conformance::serve(asked, answered, *reference);
  const spec::Json reply = spec::Json::parse(answered.str());
  if (!reply.contains("outputs") && !reply.contains("unsupported")) broken("what is checked is answered", answered.str());
}

void read_definitions(std::string_view text) {
  std::vector<spec::Program> programs = programs_with(std::string(text));
  if (programs.empty()) programs.push_back(made_program(text));
  constexpr std::size_t every = 10;  // checking is far quicker
  for (const spec::Program& p : programs) {
    if (checked(p) && std::hash<std::string_view>()(text) % every == 0 && is_small(p)) served(p);
  }
}

std::vector<std::string> definitions_seeds() { return notation_seeds(); }

}  // namespace etalon::fuzz
