// oneDNN as a plug-in: spec/backend.h's table over what the other files compute. A call is answered by oneDNN's own primitives or not at all.
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "conformance/adapters/onednn/answers.hpp"
#include "conformance/adapters/onednn/script.hpp"

// The questions are small, and several processes ask them: more threads would wait for each other. oneDNN brings OpenMP, or another pool.
extern "C" void omp_set_num_threads(int) __attribute__((weak));

namespace etalon::onednn {
namespace {

/// What `create` makes.
struct Backend {
  Operations operations;
  std::string description;
  std::string script;  ///< the last one
};

[[nodiscard]] std::string description_of(const Operations& operations) {
  const dnnl_version_t* v = dnnl_version();
  std::string text = R"({"etalon":1,"name":"oneDNN","version":")" + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
                     std::to_string(v->patch) + R"(","dtypes":["f32","bool"],"modes":["forward","vjp"],"rejects":false,"running_attributes":false,"fuses":false,"scripts":true,"operations":[)";
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

void run(void* self, const etalon_request* request, etalon_answer* answer) {
  try {
    const Answers answers = answers_to(static_cast<Backend*>(self)->operations, *request);
    for (std::size_t i = 0; i < answers.outputs.size(); ++i) give(answer, ETALON_OUTPUTS, i, *answers.outputs[i]);
    for (const auto& [input, cotangent] : answers.cotangents) give(answer, ETALON_COTANGENTS, input, cotangent);
  } catch (const Gap& gap) {
    answer->unsupported(answer, gap.what.c_str(), gap.why.c_str());
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) answer->unsupported(answer, "operation", error.what());
    else answer->error(answer, error.what());
  } catch (const std::exception& error) {
    answer->error(answer, error.what());
  }
}

const char* script_of(void* self, const etalon_request* request, const etalon_element* shown) {
  auto& backend = *static_cast<Backend*>(self);
  try {
    backend.script = script(backend.operations, *request, shown);
    return backend.script.c_str();
  } catch (const Gap&) {
    return nullptr;
  } catch (const std::exception&) {  // what cannot be computed has no script
    return nullptr;
  }
}

}  // namespace
}  // namespace etalon::onednn

const etalon_backend* etalon_backend_table(void) {
  static const etalon_backend table{ETALON_BACKEND_VERSION, etalon::onednn::create, etalon::onednn::describe, etalon::onednn::run, etalon::onednn::destroy,
                                    etalon::onednn::script_of};
  return &table;
}
