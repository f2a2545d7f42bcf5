#include "reference/defined.hpp"

#include <string>
#include <utility>

#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::reference {

std::vector<HostTensor> call_defined(const spec::Library& library, const std::string& operation,
                                     std::span<const std::optional<HostTensor>> operands,
                                     std::span<const std::size_t> packs, const spec::Attributes& attributes) {
  spec::Request request;
  request.program.definitions = library.texts_for(operation);
  spec::Call call{operation, {}, {packs.begin(), packs.end()}, attributes, {}, {}};
  std::vector<std::optional<spec::ValueType>> types;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    call.operands.emplace_back();
    types.emplace_back();
    if (!operands[i]) continue;
    spec::Input input;
    input.name = "x" + std::to_string(i + 1);
    input.dtype = operands[i]->dtype;
    input.dims = operands[i]->dims;
    types.back() = spec::ValueType{input.dtype, input.dims};
    call.operands.back() = input.name;
    request.inputs.push_back(*operands[i]);
    request.program.inputs.push_back(std::move(input));
  }
  const auto results = spec::instantiate(library.named(operation), types, packs, attributes).results;
  for (std::size_t r = 0; r < results.size(); ++r) call.results.push_back("y" + std::to_string(r + 1));
  request.program.outputs = call.results;
  request.program.steps.emplace_back(std::move(call));
  request.wrt.assign(request.inputs.size(), false);
  spec::Answer answer = make_reference_backend()->run(request);
  if (const auto* refusal = std::get_if<spec::Refusal>(&answer)) throw SpecViolation(refusal->why);
  return std::move(std::get<spec::Numbers>(answer).outputs);
}

}  // namespace etalon::reference
