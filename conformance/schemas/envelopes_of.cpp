#include "conformance/schemas/envelopes_of.hpp"

#include <algorithm>

#include "reference/bounds/roundings.hpp"

namespace etalon::conformance {

reference::Envelopes envelopes_of(const Schema& schema, const spec::Contract& contract,
                                  std::span<const reference::Envelope* const> within) {
  const auto under = [&](const spec::Contract& promised) {
    if (schema.wanted == nullptr) return reference::envelopes(schema.system, schema.inputs, promised, within);
    return reference::envelopes_of_elements(schema.system, schema.inputs, promised, *schema.wanted);
  };
  if (!schema.by_reciprocals || contract.reciprocal_division) return under(contract);
  spec::Contract granted = contract;
  granted.reciprocal_division = true;
  reference::Envelopes bounds = under(granted);
  const std::vector<std::uint8_t> roundings = reference::bounds::roundings_of_texts(schema.system);
  const auto once = [&](spec::TensorId t) { return roundings[static_cast<std::size_t>(t)] < 2; };
  const auto& outputs = schema.system.outputs;
  if (std::none_of(outputs.begin(), outputs.end(), once)) return bounds;
  reference::Envelopes plain = under(contract);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    if (once(outputs[o])) bounds.outputs[o] = std::move(plain.outputs[o]);
  }
  return bounds;
}

}  // namespace etalon::conformance
