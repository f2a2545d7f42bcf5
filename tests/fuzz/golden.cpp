#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/fuzz/readers.hpp"
#include "tests/reference/golden_file.hpp"

namespace etalon::fuzz {

void read_golden(std::string_view text) {
  std::istringstream in{std::string(text)};
  try {
    (void)golden::read_file(in, "fuzzed");
  } catch (const std::runtime_error&) {
  } catch (const std::exception& error) {
    broken("what is wrong with golden cases is a runtime_error", error.what());
  }
}

std::vector<std::string> golden_seeds() {
  std::vector<std::string> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(ETALON_SOURCE_DIR "/tests/golden")) {
    if (entry.path().extension() != ".txt") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    if (text.str().size() < 4096) seeds.push_back(text.str());
  }
  return seeds;
}

}  // namespace etalon::fuzz
