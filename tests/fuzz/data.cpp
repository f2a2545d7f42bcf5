#include "tests/fuzz/readers.hpp"
#include "training/data/dataset.hpp"

namespace etalon::fuzz {

void read_data(std::string_view text) {
  (void)accepted([&] { (void)training::digits_of(text, "fuzzed"); });
}

std::vector<std::string> data_seeds() {
  std::string row;
  for (int column = 0; column < 64; ++column) row += std::to_string(column % 17) + ",";
  return {row + "7\n" + row + "0\r\n"};
}

}  // namespace etalon::fuzz
