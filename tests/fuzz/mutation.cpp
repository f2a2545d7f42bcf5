#include "tests/fuzz/mutation.hpp"

#include <algorithm>
#include <utility>

namespace etalon::fuzz {

Mutation::Mutation(std::vector<std::string> seeds, std::vector<std::string> words, std::uint64_t seed)
    : seeds_(std::move(seeds)), words_(std::move(words)), random_(seed) {
  if (seeds_.empty()) seeds_.emplace_back();
}

std::size_t Mutation::below(std::size_t n) { return static_cast<std::size_t>(random_() % std::max<std::size_t>(n, 1)); }

std::string Mutation::next() {
  std::string text = seeds_[below(seeds_.size())];
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(text);
  return text;
}

void Mutation::change(std::string& text) {
  constexpr std::size_t longest = 4096;
  const std::size_t at = below(text.size() + 1);
  const std::size_t length = std::min(text.size() - at, 1 + below(below(4) == 0 ? 64 : 4));
  const std::string& other = seeds_[below(seeds_.size())];
  const std::size_t from = below(other.size());
  switch (below(7)) {
    case 0: text.insert(at, words_[below(words_.size())]); break;
    case 1: text.replace(at, length, words_[below(words_.size())]); break;
    case 2: text.erase(at, length); break;
    case 3: text.insert(at, text.substr(at, length)); break;
    case 4: text.insert(at, other.substr(from, 1 + below(64))); break;
    case 5: text = text.substr(0, at) + other.substr(from); break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(below(2) == 0 ? 32 + below(95) : below(256));
  }
  if (text.size() > longest) text.resize(longest);
}

}  // namespace etalon::fuzz
