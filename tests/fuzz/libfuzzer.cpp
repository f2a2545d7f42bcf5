// The entry that libFuzzer calls, of the one reader that ETALON_FUZZ_READER names.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  etalon::fuzz::run({"", etalon::fuzz::ETALON_FUZZ_READER, nullptr}, std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
