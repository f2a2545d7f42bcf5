/// \file
/// Comparisons, connectives and tests, element by element.
#pragma once

#include <string_view>

#include "spec/library/operation.hpp"

namespace etalon::ops {

using spec::Operation;

struct EqText {
  static constexpr std::string_view text = R"(-- Whether two are equal; NaN equals nothing.
eq(a[..p] : any, b[..q] : any) -> y[..(p & q)] : bool
  y[..i] = a[..i] == b[..i]
)";
};
inline constexpr Operation<EqText> eq{};

struct NeText {
  static constexpr std::string_view text = R"(-- Whether two differ; NaN differs from everything.
ne(a[..p] : any, b[..q] : any) -> y[..(p & q)] : bool
  y[..i] = a[..i] != b[..i]
)";
};
inline constexpr Operation<NeText> ne{};

struct LtText {
  static constexpr std::string_view text = R"(-- Whether the first is below the second; with NaN false.
lt(a[..p] : number, b[..q] : number) -> y[..(p & q)] : bool
  y[..i] = a[..i] < b[..i]
)";
};
inline constexpr Operation<LtText> lt{};

struct LeText {
  static constexpr std::string_view text = R"(-- Whether the first is below or equal to the second; with NaN false.
le(a[..p] : number, b[..q] : number) -> y[..(p & q)] : bool
  y[..i] = a[..i] <= b[..i]
)";
};
inline constexpr Operation<LeText> le{};

struct GtText {
  static constexpr std::string_view text = R"(-- Whether the first is above the second; with NaN false.
gt(a[..p] : number, b[..q] : number) -> y[..(p & q)] : bool
  y[..i] = a[..i] > b[..i]
)";
};
inline constexpr Operation<GtText> gt{};

struct GeText {
  static constexpr std::string_view text = R"(-- Whether the first is above or equal to the second; with NaN false.
ge(a[..p] : number, b[..q] : number) -> y[..(p & q)] : bool
  y[..i] = a[..i] >= b[..i]
)";
};
inline constexpr Operation<GeText> ge{};

struct LogicalAndText {
  static constexpr std::string_view text = R"(-- Whether both hold.
logical_and(a[..p] : bool, b[..q] : bool) -> y[..(p & q)] : bool
  y[..i] = a[..i] and b[..i]
)";
};
inline constexpr Operation<LogicalAndText> logical_and{};

struct LogicalOrText {
  static constexpr std::string_view text = R"(-- Whether at least one holds.
logical_or(a[..p] : bool, b[..q] : bool) -> y[..(p & q)] : bool
  y[..i] = a[..i] or b[..i]
)";
};
inline constexpr Operation<LogicalOrText> logical_or{};

struct LogicalXorText {
  static constexpr std::string_view text = R"(-- Whether exactly one holds.
logical_xor(a[..p] : bool, b[..q] : bool) -> y[..(p & q)] : bool
  y[..i] = a[..i] != b[..i]
)";
};
inline constexpr Operation<LogicalXorText> logical_xor{};

struct LogicalNotText {
  static constexpr std::string_view text = R"(-- Whether it does not hold.
logical_not(x[...] : bool) -> y[...] : bool
  y[...] = not x[...]
)";
};
inline constexpr Operation<LogicalNotText> logical_not{};

struct IsnanText {
  static constexpr std::string_view text = R"(-- Whether each element is NaN; no integer is.
isnan(x[...] : number) -> y[...] : bool
  y[...] = isnan(x[...])
)";
};
inline constexpr Operation<IsnanText> isnan{};

struct IsinfText {
  static constexpr std::string_view text = R"(-- Whether each element is an infinity; no integer is.
isinf(x[...] : number) -> y[...] : bool
  y[...] = isinf(x[...])
)";
};
inline constexpr Operation<IsinfText> isinf{};

struct IsfiniteText {
  static constexpr std::string_view text = R"(-- Whether each element is neither NaN nor an infinity; every integer is.
isfinite(x[...] : number) -> y[...] : bool
  y[...] = isfinite(x[...])
)";
};
inline constexpr Operation<IsfiniteText> isfinite{};

/// What the library registers of this family.
using ComparisonsOperations = spec::OperationList<EqText, NeText, LtText, LeText, GtText, GeText, LogicalAndText,
                                                  LogicalOrText, LogicalXorText, LogicalNotText, IsnanText, IsinfText,
                                                  IsfiniteText>;

}  // namespace etalon::ops
