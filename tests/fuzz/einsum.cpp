#include <algorithm>
#include <string>

#include "spec/einsum/einsum.hpp"
#include "spec/notation/split.hpp"
#include "tests/fuzz/readers.hpp"

namespace etalon::fuzz {

void read_einsum(std::string_view text) {
  const auto line = [&] {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return taken;
  };
  const std::string_view specification = line(), semiring = line(), captures = line();
  std::string definition;
  if (!accepted([&] {
        definition = spec::einsum_definition(specification, {semiring.empty() ? "sum_product" : semiring, captures});
      }))
    return;
  const auto parts = spec::split_definitions(definition);
  if (parts.size() != 1 || !parts.front()->definition.ok()) broken("a specification stands for one definition", definition);
}

std::vector<std::string> einsum_seeds() {
  return {"ij,jk->ik",
          "ij;jk=>ik\nmax_plus",
          "ij=>i\nsum_product\nj",
          "ii->i",
          "i=>2*i",
          "i=>2*i+1",
          "a^b=>b^a",
          "2*o<+k; k=>o\nmax_plus",
          "=>ii",
          "i;k=>2*i+k",
          "...ij,...jk->...ik",
          "b(s f),f->bs",
          "..a i, i .. -> ..a"};
}

}  // namespace etalon::fuzz
