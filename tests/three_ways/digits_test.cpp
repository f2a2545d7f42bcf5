#include "three_ways/compare.hpp"
#include "training/data/dataset.hpp"
#include "training/models.hpp"

using namespace etalon;
using training::Given;

namespace {

test::Digits<Given> three_digits() {
  const training::Dataset all = training::read_digits(ETALON_SOURCE_DIR "/training/data/digits.csv.gz");
  const training::Dataset some = training::select_rows(all, {3, 7, 12});
  return {some.inputs, some.labels};
}

}  // namespace

TEST_CASE("an_mlp_on_digits_trains_the_same_in_three_ways", "[three]") {
  test::require_three_ways<test::Mlp>(test::drawn<test::Mlp<training::Declared>>(), test::mlp_loss, three_digits(), 2);
}

TEST_CASE("a_cnn_on_digits_trains_the_same_in_three_ways", "[three]") {
  test::require_three_ways<test::Cnn>(test::drawn<test::Cnn<training::Declared>>(), test::cnn_loss, three_digits(), 2);
}
