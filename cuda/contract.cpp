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
  const spec::Contract cores = spec::contract_named("cuda-bf16");
  promised.name += "-bf16";
  promised.accumulation = cores.accumulation;
  promised.flush_results = cores.flush_results;
  promised.flush_operands = cores.flush_operands;
  promised.product_operand_precision = cores.product_operand_precision;
  promised.product_operand_rounding = cores.product_operand_rounding;
  return promised;
}

}  // namespace etalon::cuda
