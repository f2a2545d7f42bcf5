#include <fmt/format.h>

#include <array>
#include <charconv>

#include "conformance/case.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance {
std::string id_of(const CaseKey& key) {
  return fmt::format("{}.{}.{}.{:04}@{}-{}", key.operation, name_of(key.check), name_of(key.dtype), key.index, key.seed,
                     key.library.hash().substr(0, 8));
}

std::string draw_key(const CaseKey& key, std::string_view purpose, std::uint64_t index) {
  return fmt::format("{}/{}/{}/{}/{}/{}", key.library.hash(), key.seed, key.operation, name_of(key.dtype), purpose,
                     index);
}

CaseKey parse_id(std::string_view id, const spec::Library& library) {
  const auto malformed = [&] {
    return SpecViolation(fmt::format("replay: `{}` is not an id such as `softmax.vjp.f32.0012@1-9f3c2a11`", as_quoted(id)));
  };
  std::array<std::string_view, 6> parts;
  std::string_view rest = id;
  constexpr std::string_view ends = "...@-";
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::size_t at = rest.find(ends[i]);
    if (at == std::string_view::npos) throw malformed();
    parts[i] = rest.substr(0, at);
    rest.remove_prefix(at + 1);
  }
  parts[5] = rest;
  CaseKey key;
  key.operation = parts[0];
  const auto dtype = dtype_named(parts[2]);
  const auto check = enumerator<Check>(check_names, parts[1]);
  const auto read = [](std::string_view text, std::uint64_t& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size();
  };
  if (!dtype || !check || !read(parts[3], key.index) || !read(parts[4], key.seed)) throw malformed();
  key.dtype = *dtype;
  key.check = *check;
  key.library = library;
  const std::string ours = library.hash().substr(0, 8);
  if (parts[5] != ours) {
    throw SpecViolation(fmt::format("replay: `{}` was made with specification {}, this is {}", as_quoted(id), as_quoted(parts[5]), ours));
  }
  return key;
}

const std::string& specification_hash() { return spec::Library().hash(); }

}  // namespace etalon::conformance
