/// \file
/// A golden pack, "etalon pack 1": drawn requests with everything that a contract admits of their answers, in files that are
/// read without Etalon. It knows no operation and no definition; docs/packs.md describes the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/ways.hpp"
#include "spec/backend.hpp"

namespace etalon::conformance {

inline constexpr std::int64_t pack_version = 1;

/// One tensor of the answer.
struct PackedResult {
  std::string list;       ///< of the answer: outputs, tangents, cotangents, cotangent_tangents
  std::size_t index = 0;  ///< its place in that list
  HostTensor value;       ///< what the definition means, rounded to the type
  std::vector<Way> ways;  ///< at least one
};

/// A request and what conforming answers to it are.
struct PackedTest {
  spec::Request request;
  std::vector<std::string> flags;     ///< what its numbers and shapes are, and what they provoke
  bool rejected = false;              ///< the call is ill-typed and must be refused
  bool joint = false;                 ///< ways of the same position belong together, over all results
  std::vector<PackedResult> results;  ///< none where it is refused
};

/// One operation's tests.
struct PackedOperation {
  std::string name;
  std::string text;  ///< of its definition
  std::vector<PackedTest> tests;
};

/// A file of a pack, as pack.json states it.
struct PackedFile {
  std::string file, operation, sha256;
  std::size_t bytes = 0, tests = 0;
  std::size_t left_out = 0;  ///< cases that were chosen and have too many ways
};

/// pack.json.
struct PackIndex {
  std::string contract;       ///< its name
  std::string contract_json;  ///< all that it promises
  std::string specification;  ///< the hash of the definitions
  std::string tier;
  std::uint64_t seed = 1;
  std::vector<PackedFile> files;
};

/// What a flag means, in one sentence; empty for a flag that no test has.
[[nodiscard]] std::string_view note_of(std::string_view flag);

/// The JSON Schema of both kinds of file.
[[nodiscard]] std::string_view pack_schema();

}  // namespace etalon::conformance
