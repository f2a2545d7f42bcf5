/// \file
/// One case: a call with numbers and what is asked of it. A case is a function of specification, seed, operation,
/// check, element type and index alone. It does not know how a backend is reached.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/arrangement.hpp"
#include "conformance/assignment.hpp"
#include "spec/backend.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"

namespace etalon::conformance {

enum class Check : std::uint8_t {
  value,
  jvp,
  vjp,
  step,
  adjoint,
  special,
  rejection,
  determinism,
  second,   ///< the derivative of the cotangents
  layout,   ///< tensors that are not dense
  program,  ///< several calls, one feeding the other
  large     ///< more elements than fit small buffers
};
inline constexpr std::array<std::string_view, 12> check_names{"value",     "jvp",         "vjp",    "step",   "adjoint", "special",
                                                              "rejection", "determinism", "second", "layout", "program", "large"};
inline constexpr std::size_t check_count = check_names.size();
[[nodiscard]] constexpr std::string_view name_of(Check check) { return check_names[static_cast<std::size_t>(check)]; }

/// What a unit of work asks: `count` cases of one operation, check and element type.
struct CaseKey {
  std::string operation;
  Check check = Check::value;
  DType dtype = DType::f32;
  std::uint64_t index = 0;
  std::uint64_t seed = 1;
  spec::Library library{};  ///< the specification
};

/// Whether the numbers of the case are ordinary and differ everywhere, since it says where elements come from: of layouts, and of
/// derivatives where no other case of the shortest tier has the same types.
[[nodiscard]] bool tells_elements_apart(const CaseKey& key);

/// `softmax.vjp.f32.12@1-9f3c2a11`: operation, check, element type, index, seed and the specification's hash.
[[nodiscard]] std::string id_of(const CaseKey& key);
/// \throws SpecViolation for a malformed id, or one made with another specification.
[[nodiscard]] CaseKey parse_id(std::string_view id, const spec::Library& library = {});

/// What the choices of a case are drawn from.
[[nodiscard]] std::string draw_key(const CaseKey& key, std::string_view purpose, std::uint64_t index);

/// The hash of what comes with Etalon.
[[nodiscard]] const std::string& specification_hash();

/// A call whose types and attributes are fixed.
struct CallTypes {
  std::string operation;
  std::vector<std::optional<spec::ValueType>> operands;
  std::vector<std::size_t> packs;
  spec::Attributes attributes;
};

/// The layouts of a layout case: per present operand, per tangent, per cotangent; nothing for a dense tensor.
struct Arrangements {
  std::vector<std::optional<Arrangement>> operands, tangents, cotangents;
};

struct Case {
  CaseKey key;
  spec::Mode mode = spec::Mode::forward;
  Assignment assignment;  ///< where the types come from; shrinking starts here. Empty for a case read from a file
  CallTypes call;
  std::vector<std::optional<HostTensor>> operands;    ///< as in the call; nothing for an absent one
  std::vector<bool> wrt;                              ///< per present operand
  std::vector<std::optional<HostTensor>> tangents;    ///< per present operand
  std::vector<std::optional<HostTensor>> cotangents;  ///< per result
  std::vector<std::optional<HostTensor>> cotangent_tangents{};  ///< per result; of a second derivative
  Arrangements arrangements{};
  /// Of a program case: its calls. `call` then has the operation that the case is about and the types of the program's
  /// inputs, which `operands` holds; results are the program's outputs.
  std::optional<spec::Program> program{};
  std::vector<Assignment> assignments{};  ///< per call of the program
  std::size_t planned = 1;                            ///< elements that a complete answer lets us compare
  int steps = 1;                                      ///< of a step case
  std::vector<std::string> classes;                   ///< of numbers and shapes, for the coverage table
};

/// The case of this key, or nothing when the operation has none (a derivative of an integer operation, say).
[[nodiscard]] std::optional<Case> make_case(const CaseKey& key);

/// The operands that are there, in order: the inputs of the instance and of the request.
[[nodiscard]] std::vector<HostTensor> present(const Case& c);

/// Whether an operand has no elements.
[[nodiscard]] bool holds_nothing(const Case& c);

/// Types, attributes and equations of the case, which is one call. \throws SpecViolation when it is ill-typed.
[[nodiscard]] spec::Instance instance_of(const Case& c);
[[nodiscard]] spec::Instance instance_of(const CallTypes& call, const spec::Library& library = {});

/// Types of what the case gives: results of the call, or outputs of the program. \throws SpecViolation when ill-typed.
[[nodiscard]] std::vector<spec::ValueType> result_types(const Case& c);

/// The definition of the operation that the case calls.
[[nodiscard]] const spec::Definition& definition_of(const Case& c);

/// What is sent to the backend: a program of one call whose results are the outputs, or the case's own program. Of an
/// ill-typed call the declared results are asked for.
[[nodiscard]] spec::Request request_of(const Case& c);

/// The request as a case, where it is one call whose results are the outputs and which reads the program's inputs in order;
/// where no cotangents are asked for also again.
[[nodiscard]] std::optional<Case> case_of(const spec::Request& request);

/// Number of elements that the case's tensors hold.
[[nodiscard]] std::size_t elements_of(const Case& c);

}  // namespace etalon::conformance
