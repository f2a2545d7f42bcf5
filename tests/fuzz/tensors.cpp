#include <span>

#include "tests/fuzz/readers.hpp"
#include "training/files/npz.hpp"
#include "training/files/safetensors.hpp"

namespace etalon::fuzz {
namespace {

[[nodiscard]] training::Named some_tensors() {
  return {{"a.b", HostTensor::of<float>({2, 1}, {1.5F, -0.0F})},
          {"n", HostTensor::of<std::int64_t>({}, {-7})},
          {"t", HostTensor(DType::boolean, {0, 3})}};
}

[[nodiscard]] std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

void read_safetensors(std::string_view text) {
  (void)accepted([&] {
    const training::Named tensors = training::read_safetensors(bytes_of(text), "fuzzed");
    const std::string again = training::safetensors_of(tensors);
    if (training::read_safetensors(bytes_of(again), "written") != tensors)
      broken("tensors are the same after they were written", again);
  });
}

std::vector<std::string> safetensors_seeds() {
  return {training::safetensors_of(some_tensors()), training::safetensors_of({})};
}

void read_npz(std::string_view text) {
  (void)accepted([&] {
    const training::Named tensors = training::read_npz(bytes_of(text), "fuzzed");
    const std::string again = training::npz_of(tensors);
    if (training::read_npz(bytes_of(again), "written") != tensors)
      broken("arrays are the same after they were written", again);
  });
}

std::vector<std::string> npz_seeds() { return {training::npz_of(some_tensors()), training::npz_of({})}; }

}  // namespace etalon::fuzz
