#include "training/data/examples.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>

#include "tests/fuzz/readers.hpp"
#include "training/files/gzip.hpp"
#include "training/files/idx.hpp"
#include "training/files/npy.hpp"

namespace etalon::fuzz {
namespace {

[[nodiscard]] std::string bytes(std::initializer_list<int> all) { return std::string(all.begin(), all.end()); }

/// Of what was read, where it is a matrix.
void read_matrix(const HostTensor& tensor) {
  training::DataChoice choice;
  choice.target = "1";
  training::Examples examples;
  if (!accepted([&] { examples = training::matrix_examples(tensor, "fuzzed", choice); })) return;
  try {
    training::require_sound(examples.data, "read");
  } catch (const SpecViolation& error) {
    broken("what is read from a matrix is finite, and labels are classes", error.what());
  }
}

}  // namespace

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
    read_matrix(tensor);
  });
}

void read_npy(std::string_view text) {
  (void)accepted([&] {
    const HostTensor tensor = training::read_npy(std::as_bytes(std::span(text)), "fuzzed");
    const std::string again = training::npy_of(tensor, "fuzzed");
    if (!(training::read_npy(std::as_bytes(std::span(again)), "written") == tensor))
      broken("an array is the same after it was written", again);
    read_matrix(tensor);
  });
}

std::vector<std::string> npy_seeds() {
  return {training::npy_of(HostTensor::of<float>({2, 2}, {1.5F, 0, -2, 1}), "seed"),
          training::npy_of(HostTensor::of<bool>({3}, {true, false, true}), "seed"),
          training::npy_of(HostTensor(DType::f32, {0, std::int64_t{1} << 40U}), "seed")};
}

void read_gzip(std::string_view text) {
  (void)accepted([&] {
    constexpr std::size_t most = std::size_t{1} << 20U;
    if (training::unpacked(std::as_bytes(std::span(text)), most, "fuzzed").size() > most) broken("no more is unpacked than was said", text);
  });
}

std::vector<std::string> gzip_seeds() {
  // Members that hold `a` and nothing.
  const std::string a = bytes({31, -117, 8, 0, 0, 0, 0, 0, 0, 3, 75, 4, 0, 67, -66, -73, -24, 1, 0, 0, 0});
  const std::string none = bytes({31, -117, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  return {a, none, a + none + a, a + "x"};
}

std::vector<std::string> idx_seeds() {
  return {bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 9}), bytes({0, 0, 13, 2, 0, 0, 0, 1, 0, 0, 0, 1, 63, -128, 0, 0}),
          bytes({0, 0, 11, 1, 0, 0, 0, 1, -1, -2}), bytes({0, 0, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
          bytes({0, 0, 8, 2, 0, 0, 0, 0, -1, -1, -1, -1})};
}

}  // namespace etalon::fuzz
