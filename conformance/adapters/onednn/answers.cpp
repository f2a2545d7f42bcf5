#include "conformance/adapters/onednn/answers.hpp"

#include <utility>

namespace etalon::onednn {
namespace {

/// The numbers of a request, by a name where they are written down.
[[nodiscard]] Tensor given(const etalon_tensor& from, Recording* recording, const char* stem) {
  Tensor t = tensor_of(from);
  if (recording == nullptr) return t;
  t.name = recording->fresh(stem);
  recording->add(t.name, "const Numbers " + t.name + text_of(t.data).substr(sizeof "Numbers" - 1) + ";");
  return t;
}

[[nodiscard]] Call call_of(const etalon_call& from, const Results& values, Recording* recording) {
  Call c{&from, {}, {}, recording};
  for (int i = 0; i < from.operand_count; ++i) {
    c.operands.emplace_back();
    if (from.operands[i] >= 0) c.operands.back() = values[static_cast<std::size_t>(from.operands[i])];
  }
  return c;
}

/// Whether the outputs are the results of the one call, each once: else cotangents would have to be added up.
[[nodiscard]] bool asks_for_results(const etalon_request& request, std::size_t results) {
  if (static_cast<std::size_t>(request.output_count) != results) return false;
  for (int i = 0; i < request.output_count; ++i) {
    if (request.outputs[i] != request.input_count + i) return false;
  }
  return true;
}

void vjp(const etalon_request& request, Answers& into, const Operation& operation, Call c) {
  need(request.call_count == 1 && static_cast<bool>(operation.backward), "mode", "oneDNN has no backward primitive for this");
  const etalon_call& call = *c.call;
  Results cotangents;
  const Results values = operation.forward(c);
  need(asks_for_results(request, values.size()), "mode", "a backward primitive takes the cotangents of its results alone");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const etalon_tensor& cotangent = request.cotangents[i];
    cotangents.push_back(cotangent.dtype < 0 ? zeros(values[i]->shape) : given(cotangent, c.recording, "dy"));
  }
  for (int i = 0; i < call.operand_count; ++i) c.wrt.push_back(call.operands[i] >= 0 && request.wrt[call.operands[i]] != 0);
  const Results found = operation.backward(c, cotangents);
  for (int i = 0; i < call.operand_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!c.wrt[at]) continue;
    need(at < found.size() && found[at].has_value(), "mode", "oneDNN has no backward primitive for this operand");
    const bool first = into.cotangents.emplace(static_cast<std::size_t>(call.operands[i]), *found[at]).second;
    need(first, "mode", "no primitive adds up the cotangents of a value that is read twice");
  }
}

}  // namespace

Answers answers_to(const Operations& operations, const etalon_request& request, Recording* recording) {
  need(request.mode == ETALON_FORWARD || request.mode == ETALON_VJP, "mode", "oneDNN has values and backward primitives");
  Answers answers;
  Results values;
  for (int i = 0; i < request.input_count; ++i) values.emplace_back(given(request.inputs[i], recording, "x"));
  for (int i = 0; i < request.call_count; ++i) {
    const etalon_call& call = request.calls[i];
    const auto found = operations.find(call.operation);
    if (found == operations.end()) throw Gap{"operation", std::string(call.operation) + " is not offered"};
    const Call c = call_of(call, values, recording);
    Results results = found->second.forward(c);
    if (request.mode == ETALON_VJP) vjp(request, answers, found->second, c);
    values.insert(values.end(), results.begin(), results.end());
  }
  for (int i = 0; i < request.output_count; ++i) answers.outputs.push_back(values[static_cast<std::size_t>(request.outputs[i])]);
  return answers;
}

}  // namespace etalon::onednn
