/// \file
/// Operations defined at run time, applied to host tensors: the exact reference answers, rounded once.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/host_tensor.hpp"
#include "spec/library/defined.hpp"

namespace etalon::reference {

/// The results of one call of an operation of `library`; the members of a pack stand in order, and `packs` gives the
/// length of each. \throws SpecViolation where the call is ill-typed.
[[nodiscard]] std::vector<HostTensor> call_defined(const spec::Library& library, const std::string& operation,
                                                   std::span<const std::optional<HostTensor>> operands,
                                                   std::span<const std::size_t> packs, const spec::Attributes& attributes);

namespace detail {

struct HostOperands {
  std::vector<std::optional<HostTensor>> operands;
  std::vector<std::size_t> packs;

  void add(const HostTensor& operand) { operands.emplace_back(operand); }
  void add(spec::Absent) { operands.emplace_back(); }
  void add(const std::vector<HostTensor>& pack) {
    for (const HostTensor& member : pack) operands.emplace_back(member);
    packs.push_back(pack.size());
  }
};

template <class T>
inline constexpr bool is_host = std::same_as<T, HostTensor> || std::same_as<T, std::vector<HostTensor>>;

}  // namespace detail

}  // namespace etalon::reference

namespace etalon {

/// The world of host tensors: here, so that argument-dependent lookup finds it through HostTensor.
template <std::size_t count, class... Args>
  requires((reference::detail::is_host<Args> || std::same_as<Args, spec::Absent>) && ...) &&
          (reference::detail::is_host<Args> || ...)
[[nodiscard]] auto apply_defined(const spec::DefinedOperation<count>& operation, SourceLine, const Args&... args) {
  reference::detail::HostOperands list;
  (list.add(args), ...);
  std::vector<HostTensor> results =
      reference::call_defined(operation.library(), operation.name(), list.operands, list.packs, operation.attributes());
  if constexpr (count == 1) return results[0];
  else return results;
}

}  // namespace etalon
