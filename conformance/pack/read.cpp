#include "conformance/pack/read.hpp"

#include <algorithm>
#include <set>

#include "conformance/pack/json.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/nearest.hpp"
#include "spec/sha256.hpp"

namespace etalon::conformance {
namespace {

/// What `read` gives; what it refuses is told with the file's name.
template <class Read>
[[nodiscard]] auto naming(const std::filesystem::path& path, const Read& read) {
  try {
    return read();
  } catch (const SpecViolation& error) {
    throw SpecViolation(path.string() + ": " + error.what());
  } catch (const Unsupported& error) {
    throw Unsupported(path.string() + ": " + error.what());
  }
}

}  // namespace

PackIndex read_pack(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "pack.json";
  return naming(path, [text = read_file(path)] { return pack_index_from_json(text); });
}

PackedOperation read_operation(const std::filesystem::path& folder, const PackedFile& file) {
  const std::filesystem::path path = folder / file.file;
  const std::string text = read_file(path);
  return naming(path, [&] {
    const std::string found = sha256_of(text);
    if (found != file.sha256) throw SpecViolation("other bytes than were written: expected SHA-256 " + file.sha256 + ", found " + found);
    PackedOperation operation = packed_operation_from_json(text);
    if (operation.name != file.operation) throw SpecViolation("operation: expected " + file.operation + ", found " + operation.name);
    if (operation.tests.size() != file.tests)
      throw SpecViolation("tests: expected " + std::to_string(file.tests) + ", found " + std::to_string(operation.tests.size()));
    return operation;
  });
}

std::vector<PackedFile> files_of(const PackIndex& index, const std::vector<std::string>& operations) {
  if (operations.empty()) return index.files;
  std::vector<PackedFile> files;
  for (const std::string& name : operations) {
    const auto found = std::find_if(index.files.begin(), index.files.end(), [&](const PackedFile& f) { return f.operation == name; });
    if (found == index.files.end()) {
      std::vector<std::string> names;
      for (const PackedFile& f : index.files) names.push_back(f.operation);
      throw SpecViolation("pack: " + unknown_name("operation", name, names));
    }
    files.push_back(*found);
  }
  return files;
}

std::vector<std::string> faults_of(const std::filesystem::path& folder, const PackIndex& index) {
  std::vector<std::string> faults;
  std::set<std::string> expected{"pack.json", "schema.json", "README.md"};
  for (const PackedFile& file : index.files) {
    expected.insert(file.file);
    try {
      (void)read_operation(folder, file);
    } catch (const std::exception& error) {
      faults.emplace_back(error.what());
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!expected.contains(entry.path().filename().string())) faults.push_back(entry.path().string() + ": pack.json does not name this file");
  }
  std::sort(faults.begin(), faults.end());
  return faults;
}

}  // namespace etalon::conformance
