#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "three_ways/compare.hpp"
#include "training/models.hpp"

using namespace etalon;
using training::Given;

namespace {

/// Two windows of the licence that Debian ships, each character one of the 16 commonest or the first of them.
test::Text<Given> two_windows() {
  std::ifstream file("/usr/share/common-licenses/GPL-3");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE(text.size() > 30000);
  const std::string known = " etoinarscdhlupm";
  const auto window = [&](std::size_t from) {
    std::vector<std::int64_t> codes;
    for (const std::size_t start : {from, from + 5000}) {
      for (std::size_t i = 0; i < 5; ++i) codes.push_back(static_cast<std::int64_t>(std::max<std::size_t>(known.find(text[start + i]), 0) % 16));
    }
    return codes;
  };
  return {window(10000), window(10001)};
}

}  // namespace

TEST_CASE("a_gpt_block_on_text_trains_the_same_in_three_ways", "[three]") {
  test::require_three_ways<test::Gpt>(test::drawn_gpt<test::Gpt<training::Declared>>(), test::gpt_loss, two_windows(), 2);
}

TEST_CASE("a_decoder_that_reads_an_encoder_trains_the_same_in_three_ways", "[three]") {
  test::require_three_ways<test::Translator>(test::drawn<test::Translator<training::Declared>>(), test::translator_loss, two_windows(), 2);
}

TEST_CASE("recurrent_layers_train_the_same_in_three_ways", "[three]") {
  test::require_three_ways<test::Recurrent>(test::drawn<test::Recurrent<training::Declared>>(), test::recurrent_loss, two_windows(), 2);
}
