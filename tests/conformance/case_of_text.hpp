/// \file
/// A case of a definition that is given as text, and whether its schemas admit an answer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conformance/admit_schemas.hpp"
#include "conformance/schemas.hpp"
#include "reference/bounds/envelope.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance_test {

/// All operands are marked; attributes are those given.
inline conformance::Case case_of(const std::string& text, spec::Mode mode, std::vector<HostTensor> operands,
                                 const spec::Attributes& attributes = {}) {
  conformance::Case c;
  const std::string name = text.substr(0, text.find('('));
  c.key = {name, mode == spec::Mode::vjp ? conformance::Check::vjp : conformance::Check::value, DType::f32, 0, 1, spec::Library().with(text)};
  c.mode = mode;
  c.call.operation = name;
  c.call.attributes = attributes;
  for (HostTensor& t : operands) {
    c.call.operands.emplace_back(spec::ValueType{t.dtype, t.dims});
    c.wrt.push_back(true);
    c.operands.emplace_back(std::move(t));
  }
  return c;
}

/// Whether the meaning or one of its other schemas admits the tensors.
inline bool admitted(const conformance::Case& c, const std::vector<HostTensor>& got) {
  const conformance::Schema meaning = conformance::meaning_of(c);
  auto bounds = reference::envelopes(meaning.system, meaning.inputs, spec::Contract{});
  conformance::admit_schemas(bounds, got, conformance::other_schemas(c, c.mode), {}, spec::Contract{});
  return reference::judge(got, bounds).passed();
}

}  // namespace etalon::conformance_test
