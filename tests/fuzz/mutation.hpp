/// \file
/// Texts near other texts, without knowing what they hit: what a build without libFuzzer can do. It knows no reader.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace etalon::fuzz {

class Mutation {
 public:
  Mutation(std::vector<std::string> seeds, std::vector<std::string> words, std::uint64_t seed);

  /// One of the seeds after a few changes: bytes, words, pieces left out, repeated, or taken from another seed.
  [[nodiscard]] std::string next();

 private:
  [[nodiscard]] std::size_t below(std::size_t n);
  void change(std::string& text);

  std::vector<std::string> seeds_;
  std::vector<std::string> words_;
  std::mt19937_64 random_;
};

}  // namespace etalon::fuzz
