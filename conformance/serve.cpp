#include "conformance/serve.hpp"

#include <exception>
#include <istream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <variant>

#include "conformance/serve_bounds.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/program/binding.hpp"
#include "spec/protocol/fields.hpp"
#include "spec/protocol/message.hpp"
#include "spec/protocol/message_json.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance {
namespace {

using spec::Answer;
using spec::Json;
using spec::Refusal;
using spec::Request;

/// The request's id as it was sent, null where there is none to repeat.
[[nodiscard]] Json id_of(const Json& request) {
  return request.is_object() && request.contains("id") && request["id"].is_string() ? request["id"] : Json(nullptr);
}

[[nodiscard]] Json refused(const Json& id, const Refusal& refusal) {
  Json json = answer_to_json("", Answer(refusal));
  json["id"] = id;
  return json;
}

class Server {
 public:
  Server(spec::Backend& backend, const ServeOptions& options)
      : backend_(backend), options_(options), limit_(backend.describe().max_bytes) {}

  [[nodiscard]] std::string answer(const std::string& line) {
    Json id = nullptr;
    try {
      if (static_cast<std::int64_t>(line.size()) > limit_)
        throw SpecViolation("request: expected at most " + std::to_string(limit_) + " bytes, found " +
                            std::to_string(line.size()));
      const Json request = spec::parse_json(line, "request");
      id = id_of(request);
      spec::fields::require_object(request, "request");
      const std::string& kind = spec::fields::string(spec::fields::member(request, "request", ""), "request");
      if (kind == "describe") return encode(description());
      if (kind == "run") return spec::to_line(run(request, id));
      if (kind == "script" && backend_.describe().scripts) return spec::to_line(script(request, id));
      throw Unsupported("request: '" + as_quoted(kind) + "' is not offered; there are describe and run");
    } catch (const Unsupported& error) {
      return spec::to_line(refused(id, {Refusal::Kind::unsupported, error.what(), unsupported_field(error.what())}));
    } catch (const std::exception& error) {
      return spec::to_line(refused(id, {Refusal::Kind::error, error.what(), ""}));
    }
  }

 private:
  /// Decoding a request makes its tensors dense, so that any backend takes all layouts.
  [[nodiscard]] spec::Description description() const {
    spec::Description d = backend_.describe();
    d.layouts = true;
    return d;
  }

  /// Which kind of value was not offered, read off the field's name in the message.
  [[nodiscard]] static std::string unsupported_field(const std::string& message) {
    const std::string field = message.substr(0, message.find(':'));
    for (const char* what : {"mode", "dtype", "shape"}) {
      if (field.size() >= std::string(what).size() && field.ends_with(what)) return what;
    }
    return field == "bounds" ? "bounds" : "request";
  }

  /// Why a request cannot be asked, if so.
  [[nodiscard]] static std::optional<Json> refusal_of(const Request& request, const Json& id) {
    spec::Library library;
    try {
      library = spec::library_of(request.program);
    } catch (const SpecViolation& error) {
      return refused(id, {Refusal::Kind::rejected, error.what(), ""});
    }
    for (const auto& step : request.program.steps) {
      const auto* call = std::get_if<spec::Call>(&step);
      if (call != nullptr && library.find(call->operation) == nullptr)
        return refused(
            id, {Refusal::Kind::unsupported, "operation '" + call->operation + "' is not in the library", "operation"});
    }
    try {
      spec::verify_inputs(request.program, request.inputs);
    } catch (const SpecViolation& error) {
      return refused(id, {Refusal::Kind::rejected, error.what(), ""});
    }
    return std::nullopt;
  }

  [[nodiscard]] Json script(const Json& json, const Json& id) {
    const Request request = spec::request_from_json(json);
    if (auto refusal = refusal_of(request, id)) return *refusal;
    const auto shown = spec::shown_from_json(json);
    const std::size_t there = shown && shown->list == "cotangents" ? request.inputs.size() : request.program.outputs.size();
    if (shown && shown->tensor >= there) throw SpecViolation("element.tensor: expected below " + std::to_string(there) + ", found " + std::to_string(shown->tensor));
    const auto text = backend_.script(request, shown);
    if (!text) throw Unsupported("request: no script of this");
    return {{"id", id}, {"script", *text}};
  }

  [[nodiscard]] Json run(const Json& json, const Json& id) {
    const Request request = spec::request_from_json(json);
    if (auto refusal = refusal_of(request, id)) return *refusal;
    const Json* bounds = spec::fields::optional_member(json, "bounds", "");
    if (bounds != nullptr && !options_.offers_bounds) throw Unsupported("bounds: only the reference derives them");
    const std::optional<spec::Contract> contract =
        bounds == nullptr ? std::nullopt : std::optional(spec::parse_contract(spec::to_line(*bounds)));
    const Answer answer = backend_.run(request);
    Json reply = answer_to_json(request.id, answer);
    reply["id"] = id;
    if (contract && std::holds_alternative<spec::Numbers>(answer)) add_bounds(reply, request, *contract);
    return reply;
  }

  spec::Backend& backend_;
  ServeOptions options_;
  std::int64_t limit_;
};

}  // namespace

void serve(std::istream& requests, std::ostream& answers, spec::Backend& backend, const ServeOptions& options) {
  Server server(backend, options);
  std::string line;
  while (std::getline(requests, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    answers << server.answer(line) << '\n' << std::flush;
  }
}

}  // namespace etalon::conformance
