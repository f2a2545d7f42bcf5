#include "conformance/adapter/answers.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/question.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::conformance {
namespace {

constexpr const char* one_line =
    "print one line with one JSON object per request, and nothing else on standard output; what is for people goes to standard error";

/// What to do about a message of the decoder, by the field that it names.
[[nodiscard]] std::string advice_for(const std::string& message) {
  const std::string field = message.substr(0, message.find(':'));
  if (field == "id") return "repeat the request's `id`";
  if (field == "answer") return "an answer has exactly one of outputs, unsupported, rejected and error beside its id";
  if (field.ends_with(".data"))
    return "`data` is the elements, little-endian and row-major, in base64 with padding: as many as the shape has, of 2, 4 or 8 bytes "
           "(bool: 1 byte, 0 or 1); an empty tensor has \"\"";
  if (field.ends_with(".dtype")) return "the element types are f16, bf16, f32, f64, i32, i64, bool; name the array's own type";
  if (field.find(".shape") != std::string::npos) return "`shape` is a list of extents, [] for a scalar; none is negative, and there are at most eight";
  if (field.find(".strides") != std::string::npos) return "answers are dense: leave strides and offset out";
  if (field.starts_with("outputs")) return "`outputs` is a list with one tensor per output of the program; none of them is null";
  return "docs/protocol.md tells the form of answers";
}

[[nodiscard]] std::string type_text(DType dtype, const Dims& dims) { return std::string(name_of(dtype)) + to_string(dims); }

using Tensors = std::vector<std::optional<HostTensor>>;

[[nodiscard]] Tensors list_named(const spec::Numbers& numbers, const std::string& name) {
  if (name == "outputs") return {numbers.outputs.begin(), numbers.outputs.end()};
  return name == "cotangents" ? numbers.cotangents : numbers.tangents;
}

[[nodiscard]] std::string per_of(const std::string& list) { return list.starts_with("cotangent") ? "input" : "output"; }

}  // namespace

std::optional<Complaint> read_answer(const std::string& line, const std::string& id, spec::Reply& into) {
  spec::Json json;
  try {
    json = spec::parse_json(line, "answer");
  } catch (const std::exception& error) {
    return Complaint{"json", error.what(), std::string(one_line) + "; NaN and Infinity are no JSON, numbers of tensors belong into base64"};
  }
  if (!json.is_object()) return Complaint{"object", fmt::format("answer: expected an object, found {}", json.type_name()), one_line};
  const auto found = json.find("id");
  if (found == json.end()) return Complaint{"id", "id: the field is missing", "repeat the request's `id`: the answers are matched by it"};
  if (!found->is_string() || *found != id)
    return Complaint{"id", fmt::format("id: expected \"{}\", found {:.80}", id, spec::to_line(*found)),
                     "repeat the `id` of the request that is answered; answers come in the order of the requests"};
  try {
    into = spec::decode_reply(line);
  } catch (const std::exception& error) {
    const std::string message = error.what();
    return Complaint{"form of " + message.substr(message.rfind('.', message.find(':')) + 1, 8), message, advice_for(message)};
  }
  return std::nullopt;
}

std::optional<Complaint> misshapen(const spec::Request& request, const spec::Numbers& numbers) {
  const Question question = question_of(request);
  for (const AnswerList& list : question.lists) {
    const Tensors got = list_named(numbers, list.name);
    if (got.size() != list.present.size())
      return Complaint{"number of " + list.name, fmt::format("{}: expected {}, found {}", list.name, list.present.size(), got.size()),
                       fmt::format("`{}` has one entry per {} of the program, in order", list.name, per_of(list.name))};
    std::size_t next = list.first;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::string at = fmt::format("{}[{}]", list.name, i);
      if (!list.present[i]) {
        if (!got[i]) continue;
        return Complaint{"not null in " + list.name, at + ": expected null, found a tensor",
                         list.name == "tangents" ? "integers and truth values have no tangent"
                                                 : "only inputs that `wrt` marks have a cotangent; the others are null"};
      }
      const spec::TensorInfo& info = question.system[question.system.outputs[next++]];
      if (!got[i])
        return Complaint{"null in " + list.name, at + ": expected a tensor, found null", "a derivative that is zero is a tensor of zeros"};
      if (got[i]->dtype != info.dtype || got[i]->dims != info.dims)
        return Complaint{"type in " + list.name, fmt::format("{}: expected {}, found {}", at, type_text(info.dtype, info.dims), type_text(got[i]->dtype, got[i]->dims)),
                         "type and shape follow from the definition: `etalon explain OPERATION` shows it; where the library means something "
                         "else, answer `unsupported`"};
    }
  }
  return std::nullopt;
}

std::optional<Complaint> unjust(const spec::Refusal& refusal) {
  if (refusal.kind == spec::Refusal::Kind::error)
    return Complaint{"error", "error: " + refusal.why, "a failure counts against the backend; for what the library does not offer answer `unsupported` with what and why"};
  if (refusal.kind == spec::Refusal::Kind::rejected)
    return Complaint{"rejected", "rejected: " + refusal.why, "the call is well-typed; answer `unsupported` for a part that is not offered"};
  return std::nullopt;
}

}  // namespace etalon::conformance
