#include "training/data/examples.hpp"

#include <span>

#include "tests/fuzz/readers.hpp"
#include "training/files/idx.hpp"

namespace etalon::fuzz {

void read_csv(std::string_view text) {
  for (const bool regression : {false, true}) {
    training::DataChoice choice;
    choice.header = !regression;
    choice.target = regression ? "2" : "y";
    choice.regression = regression;
    training::Examples examples;
    if (!accepted([&] { examples = training::csv_examples(text, "fuzzed", choice); })) continue;
    try {
      training::require_sound(examples.data, "read");
    } catch (const SpecViolation& error) {
      broken("what is read from csv is finite, and labels are classes", error.what());
    }
  }
}

std::vector<std::string> csv_seeds() {
  return {"a,y\n1,x\n-2e3,z\n", "\"a\"\"b\",y\r\n\"1\",\"x\ny\"\r\n2, z \r\n", "1,2\n3,4\n\n5,6.5\n",
          "\xEF\xBB\xBFy,a,b\n0,1,1e-40\n1,2,3\n"};
}

void read_idx(std::string_view text) {
  (void)accepted([&] {
    const HostTensor tensor = training::read_idx(std::as_bytes(std::span(text)), "fuzzed");
    if (tensor.bytes.size() != static_cast<std::size_t>(tensor.dims.count()) * size_of(tensor.dtype))
      broken("an array has the bytes of its extents", text);
  });
}

std::vector<std::string> idx_seeds() {
  const auto bytes = [](std::initializer_list<int> all) { return std::string(all.begin(), all.end()); };
  return {bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 9}), bytes({0, 0, 13, 2, 0, 0, 0, 1, 0, 0, 0, 1, 63, -128, 0, 0}),
          bytes({0, 0, 11, 1, 0, 0, 0, 1, -1, -2}), bytes({0, 0, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0})};
}

}  // namespace etalon::fuzz
