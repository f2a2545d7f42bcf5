#include "conformance/door/door.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "conformance/door/request.hpp"
#include "conformance/explanation.hpp"
#include "reference/interruptible.hpp"
#include "spec/library/trial.hpp"
#include "spec/notation/json.hpp"
#include "spec/program/checked_text.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;

/// No failure of what is computed: it passes those who take `std::exception` for one.
struct TooLong {};

[[nodiscard]] spec::Library library_of(const DoorRequest& request) {
  return request.definitions.empty() ? spec::Library() : spec::tried_out(spec::Library().with(request.definitions, definitions_text));
}

/// Of what the texts define and compute, names and types.
[[nodiscard]] Json checked(const DoorRequest& request) {
  const spec::Library library = library_of(request);
  Json answer{{"ok", true}, {"definitions", Json::array()}};
  for (const std::string& name : library.added()) answer["definitions"].push_back(Json::parse(spec::to_json(library.named(name))));
  if (request.program.empty()) return answer;
  const spec::Program program = spec::checked_program(request.program, program_text, library);
  answer["values"] = Json::object();
  for (const auto& [name, type] : spec::types_of(program)) answer["values"][name] = to_string(type);
  answer["outputs"] = program.outputs;
  return answer;
}

[[nodiscard]] Json explained(const DoorRequest& request) {
  const spec::Library library = library_of(request);
  const auto explain = request.kind == DoorKind::explain ? explanation_of : derivation_of;
  Json answer{{"ok", true}};
  answer.update(to_json(explain(library, operation_of(request, library), request.dtype, request.sample)));
  return answer;
}

/// The line of the text in which the fault is, where it has one.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t line) {
  for (; line > 1; --line) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return std::string(text.substr(0, text.find('\n')));
}

[[nodiscard]] Json refused(const std::string& message) { return {{"ok", false}, {"error", {{"message", message}}}}; }

[[nodiscard]] Json refused_at(const spec::LocatedViolation& fault, const DoorRequest& request) {
  Json answer = refused(fault.why());
  const std::string what = fault.what();
  const bool in_definitions = what.starts_with(definitions_text) && !request.definitions.empty();
  const std::string& text = in_definitions ? request.definitions : request.program;
  answer["error"]["text"] = in_definitions ? definitions_text : program_text;
  if (fault.place().line == 0 || text.empty()) return answer;
  answer["error"]["line"] = fault.place().line;
  if (fault.place().column != 0) answer["error"]["column"] = fault.place().column;
  answer["error"]["excerpt"] = excerpt(text, fault.place().line);
  return answer;
}

[[nodiscard]] Json answered(std::string_view text) {
  DoorRequest request;
  try {
    request = door_request(text);
    return request.kind == DoorKind::check ? checked(request) : explained(request);
  } catch (const spec::LocatedViolation& fault) {
    return refused_at(fault, request);
  } catch (const SpecViolation& fault) {
    return refused(fault.what());
  } catch (const Unsupported& fault) {
    return refused(fault.what());
  }
}

}  // namespace

std::string door(std::string_view request, std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  const reference::Interruptible limited([end] {
    if (std::chrono::steady_clock::now() > end) throw TooLong();
  });
  try {
    return spec::to_line(answered(request));
  } catch (const TooLong&) {
    return spec::to_line(refused("the request computes for more than " + std::to_string(longest.count()) + " ms"));
  }
}

}  // namespace etalon::conformance
