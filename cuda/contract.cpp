#include "cuda/contract.hpp"

#include <utility>

#include "compiled/machine/own_functions.hpp"

namespace etalon::cuda {

spec::Contract contract_of_device(std::string name, std::string_view library) {
  spec::Contract promised = spec::contract_named(library);
  promised.name = std::move(name);
  const spec::Contract processor = spec::contract_named("cpu");
  for (const compiled::OwnFunction& f : compiled::own_functions)
    promised.functions[DType::f32][f.primitive] = spec::function_bound(processor, DType::f32, f.primitive);
  return promised;
}

spec::Contract with_tensor_cores(spec::Contract promised) {
  std::string name = promised.name + "-bf16";
  promised = spec::contract_on(std::move(promised), spec::contract_text("cuda-bf16"));
  promised.name = std::move(name);
  return promised;
}

}  // namespace etalon::cuda
