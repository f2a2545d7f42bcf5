#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/trial.hpp"
#include "spec/nearest.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

/// ` did you mean 'step.txt'?` where a file of nearly that name stands in the same folder.
[[nodiscard]] std::string suggestion(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code failed;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.is_regular_file(failed)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string wanted = path.filename().string();
  const std::string nearest = nearest_name(wanted, names);
  const bool near = !nearest.empty() && edit_distance(wanted, nearest) <= 1 + wanted.size() / 4;
  return near ? "; did you mean '" + nearest + "'?" : "";
}

}  // namespace

spec::Library library_with(const std::string& path) {
  const spec::Library library;
  return path.empty() ? library : tried_out(library.with(read_file(path), path));
}

std::string read_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) throw IoError(path + ": a folder, expected a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw IoError(path + ": the file cannot be read" + suggestion(path));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw IoError(path + ": the file cannot be read to its end");
  return text;
}

void write_file(const std::string& path, const std::string& text) {
  std::error_code failed;
  // A pipe or a terminal is written where it is.
  const auto status = std::filesystem::status(path, failed);
  const bool replaces = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  const std::string fresh = replaces ? path + ".new" : path;
  std::ofstream file(fresh, std::ios::binary);
  file << text;
  file.close();
  if (file && replaces) std::filesystem::rename(fresh, path, failed);
  else if (!file && replaces) std::filesystem::remove(fresh, failed);
  if (!file || (replaces && failed)) throw IoError(path + ": the file cannot be written");
}

}  // namespace etalon::command
