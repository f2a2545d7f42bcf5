/// \file
/// Calls whose equation is what is to be measured and nothing else: found among the definitions by the form of their
/// equations, never by name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/backend.hpp"
#include "spec/library/library.hpp"

namespace etalon::conformance {

/// An operation and all its attributes, under which it is the form that was looked for.
struct Probe {
  std::string operation;
  spec::Attributes attributes;
};

/// y[i] = p(x[i]) or p(x[i], z[i]) on elements of that type.
[[nodiscard]] std::optional<Probe> bare_primitive(const spec::Library& library, spec::Primitive p, DType dtype);

/// y[i] = reduction[k] x[i, k], or over the first axis: y[i] = reduction[k] x[k, i].
[[nodiscard]] std::optional<Probe> bare_reduction(const spec::Library& library, spec::Reduction r, DType dtype,
                                                  bool last_axis = true);

/// y[i, j] = sum[k] a[i, k]*b[k, j].
[[nodiscard]] std::optional<Probe> bare_contraction(const spec::Library& library, DType dtype);

/// A call of the probe on these operands; in vjp the cotangent of the result is given.
[[nodiscard]] spec::Request request_of(const Probe& probe, std::vector<HostTensor> operands,
                                       std::optional<HostTensor> cotangent = {});

/// The result of the call, or with a cotangent that of the first operand; nothing when the backend declines or answers
/// with another type.
[[nodiscard]] std::optional<HostTensor> ask(spec::Backend& backend, const Probe& probe, std::vector<HostTensor> operands,
                                            std::optional<HostTensor> cotangent = {});

/// The elements as doubles; f16 and bf16 too.
[[nodiscard]] std::vector<double> doubles_of(const HostTensor& tensor);
/// The nearest numbers of that type.
[[nodiscard]] HostTensor tensor_of(DType dtype, const Dims& dims, std::span<const double> values);

}  // namespace etalon::conformance
