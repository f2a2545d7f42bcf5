#include "training/files/npz.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "training/files/npy.hpp"
#include "training/files/zip.hpp"

namespace etalon::training {

namespace {

constexpr std::string_view ending = ".npy";

}  // namespace

std::string npz_of(const Named& tensors) {
  std::map<std::string, std::string> members;
  for (const auto& [name, tensor] : tensors) members.emplace(name + std::string(ending), npy_of(tensor, name));
  return zip_of(members);
}

Named read_npz(std::span<const std::byte> file, std::string_view where) {
  Named tensors;
  for (const auto& [name, bytes] : read_zip(file, where)) {
    if (!name.ends_with(ending))
      throw IoError(fmt::format("{}: '{}' is no array, expected a name with .npy", where, as_quoted(name)));
    const std::string tensor = name.substr(0, name.size() - ending.size());
    tensors.emplace(tensor,
                    read_npy(std::as_bytes(std::span(bytes)), fmt::format("{}: `{}`", where, as_quoted(tensor))));
  }
  return tensors;
}

}  // namespace etalon::training
