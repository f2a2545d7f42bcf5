#include "compiled/emit/text/names.hpp"

#include <cctype>

namespace etalon::compiled::source {

namespace {

/// Keywords of C99 and C++20, what the headers define that a text includes, and what the texts themselves use.
constexpr std::string_view reserved[] = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char8_t",
    "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "const_cast", "continue",
    "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public", "register",
    "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename", "union",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "main", "NULL", "INFINITY", "NAN",
    "INT64_MAX", "INT64_MIN", "INT64_C", "linux", "unix", "i386", "size_t", "memset", "memcpy", "signgam", "workspace", "arguments",
    "blockIdx", "blockDim", "threadIdx", "gridDim", "warpSize", "dim3", "isnan", "isinf", "isfinite", "signbit", "errno"};

/// Functions of <math.h> and <string.h>, without the suffixes f and l: an object of such a name is legal inside a function, but not
/// where the function is called.
constexpr std::string_view functions =
    "acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 frexp ilogb ldexp log log10 "
    "log1p log2 logb modf scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint "
    "lrint llrint round lround llround trunc fmod remainder remquo copysign nan nextafter nexttoward fdim fmax fmin "
    "fma abs index strlen gamma j0 j1 jn y0 y1 yn rsqrt norm normcdf clock min max div ";

}  // namespace

Names::Names() {
  for (const std::string_view word : reserved) taken_.emplace(word);
  for (std::string_view rest = functions; !rest.empty(); rest.remove_prefix(rest.find(' ') + 1)) {
    const std::string function(rest.substr(0, rest.find(' ')));
    for (const char* suffix : {"", "f", "l"}) taken_.insert(function + suffix);
  }
}

std::string Names::claim(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  // Names with a leading underscore or two in a row belong to the languages.
  if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 || name.starts_with(own_prefix)) name = "v" + name;
  for (std::size_t at = name.find("__"); at != std::string::npos; at = name.find("__")) name.erase(at, 1);
  std::string found = name;
  for (int n = 2; taken_.contains(found) || (found.size() > 2 && found.ends_with("_t")); ++n) {
    found = name + (name.ends_with('_') ? "" : "_") + std::to_string(n);
  }
  taken_.insert(found);
  return found;
}

}  // namespace etalon::compiled::source
