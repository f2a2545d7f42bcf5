#include "spec/library/defined.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/library/trial.hpp"

namespace etalon::spec::detail {

std::pair<Library, std::string> defined(std::string_view text, std::size_t count, const Library& library,
                                        SourceLine where) {
  const auto place = [&] { return fmt::format(" at {}:{}", where.file, where.line); };
  try {
    Library more = tried_out(library.with(text, "definition"), library.added().size());
    if (more.added().size() == library.added().size()) throw SpecViolation("definition: the text defines nothing");
    std::string name = more.added().back();
    const Definition& d = more.named(name);
    const bool pack = d.results[0].pack;
    if (count != any_number && (pack || d.result_count != count))
      throw SpecViolation(fmt::format("{}: expected {} result{}, its definition has {}", name, count,
                                      count == 1 ? "" : "s", pack ? "a pack" : fmt::format("{}", d.result_count)));
    return {std::move(more), std::move(name)};
  } catch (const SpecViolation& error) {
    throw SpecViolation(error.what() + place());
  }
}

}  // namespace etalon::spec::detail
