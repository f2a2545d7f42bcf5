#include "compiled/emit/llvm/sleef.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "spec/error.hpp"

// The variants with reproducible bits are in the library but not in its header. `finz` uses fused multiply-add in every
// width, `cinz` in none.
#define ETALON_SLEEF_FUNCTIONS(X)                                                                                   \
  X(pow) X(atan2) X(exp) X(exp2) X(log) X(log2) X(sin) X(cos) X(tan) X(sinh) X(cosh) X(tanh) X(erf) X(expm1) X(log1p)
#define ETALON_SLEEF_DECLARE(f)                  \
  void Sleef_finz_##f##f16_u10avx512f();         \
  void Sleef_finz_##f##d8_u10avx512f();          \
  void Sleef_finz_##f##f8_u10avx2();             \
  void Sleef_finz_##f##d4_u10avx2();             \
  void Sleef_finz_##f##f1_u10purecfma();         \
  void Sleef_finz_##f##d1_u10purecfma();         \
  void Sleef_cinz_##f##f1_u10purec();            \
  void Sleef_cinz_##f##d1_u10purec();
extern "C" {
ETALON_SLEEF_FUNCTIONS(ETALON_SLEEF_DECLARE)
}

namespace etalon::compiled {

using spec::Primitive;

namespace {

#define ETALON_SLEEF_ROW(name) SleefSymbol{#name, &name},
#define ETALON_SLEEF_ROWS(f)                          \
  ETALON_SLEEF_ROW(Sleef_finz_##f##f16_u10avx512f)    \
  ETALON_SLEEF_ROW(Sleef_finz_##f##d8_u10avx512f)     \
  ETALON_SLEEF_ROW(Sleef_finz_##f##f8_u10avx2)        \
  ETALON_SLEEF_ROW(Sleef_finz_##f##d4_u10avx2)        \
  ETALON_SLEEF_ROW(Sleef_finz_##f##f1_u10purecfma)    \
  ETALON_SLEEF_ROW(Sleef_finz_##f##d1_u10purecfma)    \
  ETALON_SLEEF_ROW(Sleef_cinz_##f##f1_u10purec)       \
  ETALON_SLEEF_ROW(Sleef_cinz_##f##d1_u10purec)

constexpr std::array symbols{ETALON_SLEEF_FUNCTIONS(ETALON_SLEEF_ROWS)};

/// What the library and the notation call alike; in the notation a power is an operator.
#define ETALON_SLEEF_STEM(f) std::string_view{#f},
constexpr std::array stems{ETALON_SLEEF_FUNCTIONS(ETALON_SLEEF_STEM)};

std::string_view stem(Primitive p) { return p == Primitive::pow ? "pow" : info(p).name; }

}  // namespace

std::span<const SleefSymbol> sleef_symbols() { return symbols; }

bool is_sleef(Primitive primitive) { return std::find(stems.begin(), stems.end(), stem(primitive)) != stems.end(); }

std::string sleef_name(Primitive primitive, bool f64, unsigned lanes, const Machine& machine) {
  if (!is_sleef(primitive)) throw InternalError("sleef: no such function");
  const std::string middle = std::string(stem(primitive)) + (f64 ? "d" : "f") + std::to_string(lanes) + "_u10";
  if (!machine.has_vectors()) return "Sleef_cinz_" + middle + "purec";
  if (lanes == 1) return "Sleef_finz_" + middle + "purecfma";
  return "Sleef_finz_" + middle + std::string(machine.functions);
}

}  // namespace etalon::compiled
