// oneDNN as a plug-in: spec/backend.h's table over what the other files compute. A call is answered by oneDNN's own primitives or not at all.
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "conformance/adapters/onednn/operations.hpp"

// The questions are small, and several processes ask them: more threads would wait for each other. oneDNN brings OpenMP, or another pool.
extern "C" void omp_set_num_threads(int) __attribute__((weak));

namespace etalon::onednn {
namespace {

/// What `create` makes.
struct Backend {
  Operations operations;
  std::string description;
};

[[nodiscard]] std::string description_of(const Operations& operations) {
  const dnnl_version_t* v = dnnl_version();
  std::string text = R"({"etalon":1,"name":"oneDNN","version":")" + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
                     std::to_string(v->patch) + R"(","dtypes":["f32","bool"],"modes":["forward","vjp"],"rejects":false,"fuses":false,"operations":[)";
  for (const auto& [name, operation] : operations) text += (text.back() == '[' ? "\"" : ",\"") + name + "\"";
  // oneDNN's pages promise nothing of its functions: 4 units are what others keep.
  return text + R"(],"contract":{"name":"oneDNN on a CPU","default_function":{"k0":4.0}}})";
}

void* create() {
  if (omp_set_num_threads != nullptr) omp_set_num_threads(1);
  auto* self = new Backend;
  add_elementwise(self->operations);
  add_reductions(self->operations);
  add_products(self->operations);
  add_windows(self->operations);
  add_normalisation(self->operations);
  self->description = description_of(self->operations);
  return self;
}

const char* describe(void* self) { return static_cast<Backend*>(self)->description.c_str(); }

void destroy(void* self) { delete static_cast<Backend*>(self); }

void give(etalon_answer* answer, int list, std::size_t position, const Tensor& t) {
  void* room = answer->add(answer, list, static_cast<std::int32_t>(position), t.truth ? ETALON_BOOL : ETALON_F32, static_cast<std::int32_t>(t.shape.size()), t.shape.data());
  if (room == nullptr) return;
  if (!t.truth) {
    std::memcpy(room, t.data.data(), t.data.size() * sizeof(float));
    return;
  }
  for (std::size_t i = 0; i < t.data.size(); ++i) static_cast<unsigned char*>(room)[i] = t.data[i] != 0 ? 1 : 0;
}

[[nodiscard]] Call call_of(const etalon_call& from, const Results& values) {
  Call c{&from, {}, {}};
  for (int i = 0; i < from.operand_count; ++i) {
    c.operands.emplace_back();
    if (from.operands[i] >= 0) c.operands.back() = values[static_cast<std::size_t>(from.operands[i])];
  }
  return c;
}

void vjp(const etalon_request& request, etalon_answer* answer, const Operation& operation, Call c) {
  need(request.call_count == 1 && static_cast<bool>(operation.backward), "mode", "oneDNN has no backward primitive for this");
  const etalon_call& call = *c.call;
  Results cotangents;
  const Results values = operation.forward(c);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const etalon_tensor& given = request.cotangents[i];
    cotangents.push_back(given.dtype < 0 ? zeros(values[i]->shape) : tensor_of(given));
  }
  for (int i = 0; i < call.operand_count; ++i) c.wrt.push_back(call.operands[i] >= 0 && request.wrt[call.operands[i]] != 0);
  const Results found = operation.backward(c, cotangents);
  for (int i = 0; i < call.operand_count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!c.wrt[at]) continue;
    need(at < found.size() && found[at].has_value(), "mode", "oneDNN has no backward primitive for this operand");
    give(answer, ETALON_COTANGENTS, static_cast<std::size_t>(call.operands[i]), *found[at]);
  }
}

void answer_to(const Backend& self, const etalon_request& request, etalon_answer* answer) {
  need(request.mode == ETALON_FORWARD || request.mode == ETALON_VJP, "mode", "oneDNN has values and backward primitives");
  Results values;
  for (int i = 0; i < request.input_count; ++i) values.emplace_back(tensor_of(request.inputs[i]));
  for (int i = 0; i < request.call_count; ++i) {
    const etalon_call& call = request.calls[i];
    const auto found = self.operations.find(call.operation);
    if (found == self.operations.end()) throw Gap{"operation", std::string(call.operation) + " is not offered"};
    const Call c = call_of(call, values);
    Results results = found->second.forward(c);
    if (request.mode == ETALON_VJP) vjp(request, answer, found->second, c);
    values.insert(values.end(), results.begin(), results.end());
  }
  for (int i = 0; i < request.output_count; ++i)
    give(answer, ETALON_OUTPUTS, static_cast<std::size_t>(i), *values[static_cast<std::size_t>(request.outputs[i])]);
}

void run(void* self, const etalon_request* request, etalon_answer* answer) {
  try {
    answer_to(*static_cast<Backend*>(self), *request, answer);
  } catch (const Gap& gap) {
    answer->unsupported(answer, gap.what.c_str(), gap.why.c_str());
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) answer->unsupported(answer, "operation", error.what());
    else answer->error(answer, error.what());
  } catch (const std::exception& error) {
    answer->error(answer, error.what());
  }
}

}  // namespace
}  // namespace etalon::onednn

const etalon_backend* etalon_backend_table(void) {
  static const etalon_backend table{ETALON_BACKEND_VERSION, etalon::onednn::create, etalon::onednn::describe, etalon::onednn::run, etalon::onednn::destroy};
  return &table;
}
