#include "training/run/storage.hpp"

namespace etalon::training {

void replace_file(Storage& storage, const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path folder = path.parent_path(), fresh = folder / (".new-" + path.filename().string());
  if (storage.exists(fresh)) storage.remove(fresh);
  {
    const auto file = storage.create(fresh);
    file->reserve(text.size());
    file->write(text);
    file->sync();
  }
  storage.rename(fresh, path);
  storage.sync_folder(folder);
}

}  // namespace etalon::training
