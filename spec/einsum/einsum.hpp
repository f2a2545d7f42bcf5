/// \file
/// `einsum` at run time: a specification becomes an operation like those that users define (docs/einsum.md).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "spec/library/defined.hpp"

namespace etalon::spec {

struct EinsumOptions {
  std::string_view semiring = "sum_product";
  std::string_view captures = {};  ///< names of indices and rows whose extents are results too
};

/// The definition that a specification stands for, as text.
/// \throws SpecViolation `einsum: what is wrong (at 1:column)`.
[[nodiscard]] std::string einsum_definition(std::string_view specification, const EinsumOptions& options = {});

namespace detail {
/// The library with that definition, and its name; it has `count` results.
[[nodiscard]] std::pair<Library, std::string> einsum_defined(std::string_view specification, const EinsumOptions& options,
                                                             std::size_t count, const Library& library, SourceLine where);
}  // namespace detail

/// The operation that a specification stands for, beside those of `library`.
/// \throws SpecViolation naming rule, place in the specification and source line.
template <std::size_t count = 1>
[[nodiscard]] DefinedOperation<count> einsum(std::string_view specification, const EinsumOptions& options = {},
                                             const Library& library = {}, SourceLine where = SourceLine::current()) {
  auto [more, name] = detail::einsum_defined(specification, options, count, library, where);
  return DefinedOperation<count>(std::move(more), std::move(name));
}

}  // namespace etalon::spec

namespace etalon {
using spec::einsum;
}  // namespace etalon
