#include "spec/einsum/einsum.hpp"

#include <fmt/format.h>

#include "spec/einsum/translate.hpp"
#include "spec/error.hpp"

namespace etalon::spec {

std::string einsum_definition(std::string_view specification, const EinsumOptions& options) {
  const EinsumTranslation translation = translate_einsum(specification, options.semiring, options.captures);
  if (!translation.diagnosis.ok()) throw SpecViolation(std::string(translation.diagnosis.message()));
  return std::string(translation.text.view());
}

std::pair<Library, std::string> detail::einsum_defined(std::string_view specification, const EinsumOptions& options,
                                                       std::size_t count, const Library& library, SourceLine where) {
  std::string text;
  try {
    text = einsum_definition(specification, options);
  } catch (const SpecViolation& error) {
    throw SpecViolation(fmt::format("{} at {}:{}", error.what(), where.file, where.line));
  }
  const std::string name(parse(text).name);
  if (library.find(name) == nullptr) return defined(text, count, library, where);
  return {library, name};
}

}  // namespace etalon::spec
