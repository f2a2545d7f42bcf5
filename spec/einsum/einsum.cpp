#include "spec/einsum/einsum.hpp"

#include <fmt/format.h>

#include "spec/einsum/translate.hpp"
#include "spec/error.hpp"
#include "spec/notation/parse.hpp"

namespace etalon::spec {

std::string einsum_definition(std::string_view specification, const EinsumOptions& options) {
  const EinsumTranslation translation = translate_einsum(specification, options.semiring, options.captures);
  if (!translation.diagnosis.ok()) throw SpecViolation(std::string(translation.diagnosis.message()));
  std::string text(translation.text.view());
  // Sums of many terms may be longer than a definition can be.
  if (const Definition read = parse(text); !read.ok()) throw SpecViolation(fmt::format("einsum: {}", read.diagnosis.message()));
  return text;
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
