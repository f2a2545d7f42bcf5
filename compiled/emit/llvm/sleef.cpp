#include "compiled/emit/llvm/sleef.hpp"

#include <array>

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

const char* stem(Primitive p) {
  switch (p) {
    case Primitive::pow: return "pow";
    case Primitive::atan2: return "atan2";
    case Primitive::exp: return "exp";
    case Primitive::exp2: return "exp2";
    case Primitive::log: return "log";
    case Primitive::log2: return "log2";
    case Primitive::sin: return "sin";
    case Primitive::cos: return "cos";
    case Primitive::tan: return "tan";
    case Primitive::sinh: return "sinh";
    case Primitive::cosh: return "cosh";
    case Primitive::tanh: return "tanh";
    case Primitive::erf: return "erf";
    case Primitive::expm1: return "expm1";
    case Primitive::log1p: return "log1p";
    default: return nullptr;
  }
}

}  // namespace

std::span<const SleefSymbol> sleef_symbols() { return symbols; }

bool is_sleef(Primitive primitive) { return stem(primitive) != nullptr; }

std::string sleef_name(Primitive primitive, bool f64, unsigned lanes, const Machine& machine) {
  if (!is_sleef(primitive)) throw InternalError("sleef: no such function");
  const std::string middle = stem(primitive) + std::string(f64 ? "d" : "f") + std::to_string(lanes) + "_u10";
  if (!machine.has_vectors()) return "Sleef_cinz_" + middle + "purec";
  if (lanes == 1) return "Sleef_finz_" + middle + "purecfma";
  return "Sleef_finz_" + middle + std::string(machine.functions);
}

}  // namespace etalon::compiled
