#include "tests/training/simulated_storage.hpp"

#include <algorithm>
#include <utility>

#include "spec/error.hpp"
#include "spec/file.hpp"

namespace etalon::training {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t sector = 512;

void apply_to(std::vector<Node>& nodes, const Unsynced& change) {
  Node& node = nodes[change.node];
  switch (change.kind) {
    case Unsynced::Kind::write:
      node.text.resize(std::max(node.text.size(), change.offset + change.text.size()));
      std::copy(change.text.begin(), change.text.end(), node.text.begin() + static_cast<std::ptrdiff_t>(change.offset));
      break;
    case Unsynced::Kind::link:
      node.children[change.name] = change.child;
      break;
    case Unsynced::Kind::unlink:
      node.children.erase(change.name);
      break;
    case Unsynced::Kind::rename:
      node.children.erase(change.name);
      node.children[change.to] = change.child;
      break;
  }
}

class SimulatedLock final : public Storage::Lock {};

}  // namespace

class SimulatedFile final : public Storage::File {
 public:
  SimulatedFile(SimulatedStorage& storage, std::size_t node, fs::path path)
      : storage_(storage), node_(node), path_(std::move(path)) {}
  void reserve(std::size_t /*bytes*/) override { storage_.operate(path_, true); }
  void write(std::string_view bytes) override { storage_.write(node_, path_, bytes); }
  void sync() override { storage_.sync(node_, path_); }

 private:
  SimulatedStorage& storage_;
  std::size_t node_;
  fs::path path_;
};

SimulatedStorage::SimulatedStorage() : nodes_(1), synced_(1) {}

SimulatedStorage::SimulatedStorage(const AtPowerLoss& lost, const std::vector<bool>& done, bool torn)
    : nodes_(lost.synced), synced_() {
  for (std::size_t i = 0; i < lost.unsynced.size(); ++i) {
    if (!done[i]) continue;
    Unsynced change = lost.unsynced[i];
    if (torn && change.kind == Unsynced::Kind::write) change.text.resize(change.text.size() / 2 / sector * sector);
    apply_to(nodes_, change);
  }
  synced_ = nodes_;
}

void SimulatedStorage::fail(std::size_t operation, int error, bool on) { failing_ = Failing{operation, error, on}; }

void SimulatedStorage::change(const fs::path& path, const std::string& text) { nodes_[at(path)].text = text; }

std::optional<std::size_t> SimulatedStorage::find(const fs::path& path) const {
  std::size_t node = 0;
  for (const fs::path& part : path) {
    if (part == ".") continue;
    const auto child = nodes_[node].children.find(part.string());
    if (child == nodes_[node].children.end()) return std::nullopt;
    node = child->second;
  }
  return node;
}

std::size_t SimulatedStorage::at(const fs::path& path) const {
  const auto node = find(path);
  if (!node) throw file_error(path, "is not there", ENOENT);
  return *node;
}

std::size_t SimulatedStorage::add(bool folder) {
  nodes_.push_back({folder, {}, {}});
  synced_.push_back({folder, {}, {}});
  return nodes_.size() - 1;
}

void SimulatedStorage::operate(const fs::path& path, bool needs_room) {
  if (watch) watch(now());
  const std::size_t number = operations_++;
  if (failing_ && (number == failing_->operation || (failing_->on && needs_room && number > failing_->operation))) {
    throw file_error(path, "simulated", failing_->error);
  }
}

void SimulatedStorage::apply(const Unsynced& change) {
  apply_to(nodes_, change);
  unsynced_.push_back(change);
}

std::unique_ptr<Storage::File> SimulatedStorage::create(const fs::path& path) {
  operate(path, true);
  if (find(path)) throw file_error(path, "is there", EEXIST);
  const std::size_t folder = at(path.parent_path()), node = add(false);
  apply({Unsynced::Kind::link, folder, 0, {}, path.filename().string(), node, {}});
  return std::make_unique<SimulatedFile>(*this, node, path);
}

std::unique_ptr<Storage::File> SimulatedStorage::append(const fs::path& path) {
  operate(path, false);
  return std::make_unique<SimulatedFile>(*this, at(path), path);
}

std::string SimulatedStorage::read(const fs::path& path) {
  const Node& node = nodes_[at(path)];
  if (node.folder) throw file_error(path, "is a folder", EISDIR);
  return node.text;
}

void SimulatedStorage::make_folder(const fs::path& path) {
  operate(path, true);
  if (find(path)) return;
  const std::size_t folder = at(path.parent_path()), node = add(true);
  apply({Unsynced::Kind::link, folder, 0, {}, path.filename().string(), node, {}});
}

void SimulatedStorage::rename(const fs::path& from, const fs::path& to) {
  operate(to, false);
  const std::size_t node = at(from);
  if (const auto there = find(to); there && nodes_[*there].folder && !nodes_[*there].children.empty())
    throw file_error(to, "is there", ENOTEMPTY);
  apply(
      {Unsynced::Kind::rename, at(from.parent_path()), 0, {}, from.filename().string(), node, to.filename().string()});
}

void SimulatedStorage::sync_folder(const fs::path& path) {
  const std::size_t node = at(path);
  operate(path, false);
  const auto in_folder = [&](const Unsynced& c) { return c.node == node && c.kind != Unsynced::Kind::write; };
  for (const Unsynced& change : unsynced_) {
    if (in_folder(change)) apply_to(synced_, change);
  }
  std::erase_if(unsynced_, in_folder);
}

void SimulatedStorage::remove(const fs::path& path) {
  const std::size_t node = at(path);
  for (const auto& entry : std::map(nodes_[node].children)) remove(path / entry.first);
  operate(path, false);
  apply({Unsynced::Kind::unlink, at(path.parent_path()), 0, {}, path.filename().string(), node, {}});
}

bool SimulatedStorage::exists(const fs::path& path) { return find(path).has_value(); }

std::vector<std::string> SimulatedStorage::list(const fs::path& path) {
  std::vector<std::string> names;
  for (const auto& entry : nodes_[at(path)].children) names.push_back(entry.first);
  return names;
}

std::unique_ptr<Storage::Lock> SimulatedStorage::lock(const fs::path& /*path*/) {
  return std::make_unique<SimulatedLock>();
}

void SimulatedStorage::write(std::size_t node, const fs::path& path, std::string_view bytes) {
  const std::size_t offset = nodes_[node].text.size();
  try {
    operate(path, true);
  } catch (const IoError&) {
    apply({Unsynced::Kind::write, node, offset, std::string(bytes.substr(0, bytes.size() / 2)), {}, 0, {}});
    throw;
  }
  apply({Unsynced::Kind::write, node, offset, std::string(bytes), {}, 0, {}});
}

void SimulatedStorage::sync(std::size_t node, const fs::path& path) {
  const auto of_file = [&](const Unsynced& c) { return c.node == node && c.kind == Unsynced::Kind::write; };
  try {
    operate(path, false);
  } catch (const IoError&) {
    std::erase_if(unsynced_, of_file);  // the system forgets what it could not write, and shows it until then
    throw;
  }
  for (const Unsynced& change : unsynced_) {
    if (of_file(change)) apply_to(synced_, change);
  }
  std::erase_if(unsynced_, of_file);
}

}  // namespace etalon::training
