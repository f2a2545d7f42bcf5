#include <optional>
#include <set>

#include "spec/library/library.hpp"
#include "spec/notation/elaborate.hpp"
#include "spec/notation/parse.hpp"
#include "spec/system/system.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/small_call.hpp"

namespace etalon::fuzz {
namespace {

using spec::Definition;

void call(const Definition& d, const Smallness& size) {
  const SmallCall small = small_call(d, size);
  for (std::size_t part = 0; part <= d.part_count; ++part) {
    std::optional<spec::Instance> instance;
    if (!accepted([&] {
          instance = part == 0 ? spec::instantiate(d, small.operands, small.packs, small.attributes)
                               : spec::instantiate_part(d, part, small.operands, small.packs, small.attributes);
        }))
      continue;
    (void)to_text(instance->system);
  }
}

}  // namespace

void read_notation(std::string_view text) {
  const spec::Library standard;
  std::optional<spec::Library> library;
  if (!accepted([&] { library = standard.with(text); })) return;
  for (const std::string& name : library->added()) {
    const Definition& d = library->named(name);
    for (const Smallness& size : small_sizes()) call(d, size);
  }
}

std::vector<std::string> notation_seeds() {
  std::vector<std::string> seeds;
  std::set<std::string_view> seen;
  for (const Definition* d : spec::library()) {
    if (!seen.insert(d->text).second) continue;
    const Definition whole = spec::parse(d->text);
    std::vector<std::size_t> names;  // where those stand that are taken
    for (std::size_t f = whole.family_count; f-- > 0;) names.push_back(whole.family[f].name.begin);
    names.push_back(static_cast<std::size_t>(whole.name.data() - whole.text.data()));
    std::string text(d->text);
    for (const std::size_t at : names) text.insert(at, "my_");
    seeds.push_back(std::move(text));
  }
  return seeds;
}

}  // namespace etalon::fuzz
