/// \file
/// What an operation means, for readers, read off the equations of a sample call: as data, of which text, JSON and a page are
/// views. It knows no operation by name.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "reference/bounds/envelope.hpp"
#include "spec/attribute.hpp"
#include "spec/dtype.hpp"
#include "spec/host_tensor.hpp"
#include "spec/library/library.hpp"
#include "spec/protocol/json.hpp"
#include "spec/system/system.hpp"

namespace etalon::conformance {

/// A small call, as text.
struct SampleCall {
  std::vector<std::optional<std::string>> operands; ///< types; nothing for one that is left out
  spec::Attributes attributes;
  std::vector<std::string> results;                 ///< types
};

/// What follows from the equations of the call without computing numbers.
struct Derived {
  SampleCall call;
  spec::System equations;
  std::optional<spec::System> jvp, vjp;  ///< tangents of the results; cotangents of the real operands; nothing without a derivative
  std::vector<std::string> domain;       ///< conditions on the arguments of primitives; none: all numbers
  std::vector<std::string> kinks;        ///< what is chosen where there is no derivative; none: smooth on its domain
};

struct NamedTensor {
  std::string name;
  HostTensor value;
};

struct Example {
  std::vector<NamedTensor> operands, results;
  std::vector<reference::Envelope> admitted;  ///< per result what careful IEEE arithmetic in any order may return
  bool has_cotangents = false;
  std::vector<NamedTensor> given, cotangents; ///< of the results, and of the operands
};

struct Explanation {
  std::string name;
  std::string definition;  ///< in the notation
  DType dtype = DType::f32;
  std::optional<Derived> derived;  ///< nothing where no sample call of the element type was found
  std::optional<Example> example;  ///< where it was asked for
};

/// The definition, and what follows from it at a sample call.
/// \param number another sample for each
/// \throws SpecViolation naming the nearest operation where there is none of this name
[[nodiscard]] Explanation derivation_of(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number);

/// The same with an example in numbers.
[[nodiscard]] Explanation explanation_of(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number);

/// As `etalon explain` prints it.
[[nodiscard]] std::string to_text(const Explanation& explanation);
/// As `etalon explain --json` prints it; docs/door.schema.json.
[[nodiscard]] spec::Json to_json(const Explanation& explanation);
/// A fragment of a page, with equations as MathML and, folded, all of the text.
[[nodiscard]] std::string to_html(const Explanation& explanation);
/// The fragment as a page of its own.
[[nodiscard]] std::string to_page(const Explanation& explanation);

}  // namespace etalon::conformance
