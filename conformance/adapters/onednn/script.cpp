#include "conformance/adapters/onednn/script.hpp"

#include "conformance/adapters/onednn/answers.hpp"

namespace etalon::onednn {
namespace {

constexpr const char* before = R"(// OMP_NUM_THREADS=1, c++ -std=c++17 script.cpp -ldnnl
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <vector>
#include <dnnl.hpp>
using namespace dnnl;
using Numbers = std::vector<float>;
using Arguments = std::unordered_map<int, memory>;
const engine cpu(engine::kind::cpu, 0);
stream order(cpu);
memory::desc desc(memory::dims shape, memory::dims strides) { return {shape, memory::data_type::f32, strides}; }
memory::desc any(memory::dims shape) { return {shape, memory::data_type::f32, memory::format_tag::any}; }
memory in(memory from, const memory::desc& layout) {
  memory to(layout, cpu);
  return reorder(from, to).execute(order, from, to), order.wait(), to;
}
memory given(const Numbers& numbers, const memory::desc& as, const memory::desc& wanted) {
  memory plain(as, cpu);
  std::copy(numbers.begin(), numbers.end(), static_cast<float*>(plain.get_data_handle()));
  return wanted == as ? plain : in(plain, wanted);
}
Numbers taken(memory from, const memory::desc& as) {
  memory plain = in(from, as);
  const float* first = static_cast<float*>(plain.get_data_handle());
  return {first, first + as.get_size() / sizeof(float)};
}
void run(const primitive& p, const Arguments& arguments) { p.execute(order, arguments), order.wait(); }
int main() {
)";

}  // namespace

std::string script(const Operations& operations, const etalon_request& request, const etalon_element* shown) {
  Recording recording;
  const Answers answers = answers_to(operations, request, &recording);
  std::vector<std::string> names;
  const auto is_shown = [&](int list, std::size_t at) { return shown == nullptr || (shown->list == list && static_cast<std::size_t>(shown->tensor) == at); };
  for (std::size_t i = 0; i < answers.outputs.size(); ++i) {
    if (is_shown(ETALON_OUTPUTS, i)) names.push_back(answers.outputs[i]->name);
  }
  for (const auto& [input, cotangent] : answers.cotangents) {
    if (is_shown(ETALON_COTANGENTS, input)) names.push_back(cotangent.name);
  }
  std::string text = before;
  for (const std::string& statement : recording.needed(names)) text += "  " + statement + "\n";
  for (const std::string& name : names) {
    text += shown == nullptr ? "  for (float y : " + name + ") std::printf(\"%.9g\\n\", y);\n"
                             : "  std::printf(\"%.9g\\n\", " + name + "[" + std::to_string(shown->element) + "]);\n";
  }
  return text + "}\n";
}

}  // namespace etalon::onednn
