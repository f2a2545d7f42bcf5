#include "compiled/runtime/store.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "compiled/runtime/device.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

void require_type(const std::string& name, DType dtype, const Dims& dims, DType found, const Dims& found_dims) {
  if (dtype == found && dims == found_dims) return;
  throw SpecViolation(fmt::format("store: `{}` is {}{}, got {}{}", name, name_of(dtype), to_string(dims),
                                  name_of(found), to_string(found_dims)));
}

std::string place_of(const Store::Entry& entry) { return "store: `" + entry.name + "`"; }

void download(const Store::Entry& entry, std::byte* to) {
  naming(place_of(entry), [&] { entry.remote.device()->download({to, entry.remote.size()}, entry.remote.data()); });
}

}  // namespace

void Store::declare(const std::string& name, DType dtype, const Dims& dims) {
  const auto it = entries_.find(name);
  if (it != entries_.end()) return require_type(name, it->second.dtype, it->second.dims, dtype, dims);
  Entry made;
  made.name = name;
  made.dtype = dtype;
  made.dims = dims;
  made.buffer = Buffer(static_cast<std::size_t>(dims.count()) * size_of(dtype));
  entries_.emplace(name, std::move(made));
}

void Store::write(const std::string& name, const HostTensor& value) {
  Entry& e = entry(name);
  require_type(name, e.dtype, e.dims, value.dtype, value.dims);
  write_bytes(name, value.bytes);
}

void Store::write_bytes(const std::string& name, std::span<const std::byte> elements) {
  Entry& e = entry(name);
  if (elements.size() != e.buffer.size()) {
    throw SpecViolation(fmt::format("store: `{}` holds {} bytes, got {}", name, e.buffer.size(), elements.size()));
  }
  if (e.panels) to_panels(elements.data(), e.buffer.data(), e.dims, size_of(e.dtype), *e.panels);
  else if (!elements.empty()) std::memcpy(e.buffer.data(), elements.data(), elements.size());
  e.written = true;
  e.newest = Newest::host;
}

void Store::bring_home(const std::string& name) {
  Entry& e = entry(name);
  (void)on_host(e);
  e.newest = Newest::host;
  e.remote = Buffer();
}

std::byte* Store::on_host(Entry& entry) {
  if (entry.newest != Newest::device) return entry.buffer.data();
  download(entry, entry.buffer.data());
  entry.newest = Newest::both;
  return entry.buffer.data();
}

std::byte* Store::on_device(Entry& entry, const std::shared_ptr<Device>& device) {
  if (entry.newest == Newest::device && entry.remote.device() != device.get()) {
    throw SpecViolation(fmt::format("store: `{}`: the newest value is on device {}, asked for on {}: bring it home first", entry.name,
                                    entry.remote.device()->name(), device->name()));
  }
  if (device->is_host()) return entry.buffer.data();
  if (entry.buffer.size() == 0) return nullptr;
  naming(place_of(entry), [&] {
    if (entry.remote.device() != device.get()) {
      entry.remote = Buffer(device, entry.buffer.size());
      entry.newest = Newest::host;
    }
    if (entry.newest != Newest::host) return;
    device->upload(entry.remote.data(), {entry.buffer.data(), entry.buffer.size()});
    entry.newest = Newest::both;
  });
  return entry.remote.data();
}

void Store::lay_out(Entry& entry, const std::optional<Panels>& panels) {
  if (entry.panels == panels) return;
  if (entry.written) {
    const std::size_t size = size_of(entry.dtype);
    Buffer row_major(entry.buffer.size());
    std::byte* lies = on_host(entry);
    if (entry.panels) from_panels(lies, row_major.data(), entry.dims, size, *entry.panels);
    else std::memcpy(row_major.data(), lies, row_major.size());
    if (panels) to_panels(row_major.data(), lies, entry.dims, size, *panels);
    else std::memcpy(lies, row_major.data(), row_major.size());
    entry.newest = Newest::host;
  }
  entry.panels = panels;
}

void Store::put(const std::string& name, const HostTensor& value) {
  declare(name, value.dtype, value.dims);
  write(name, value);
}

HostTensor Store::read(const std::string& name) const {
  const Entry& e = entry(name);
  if (!e.written) throw SpecViolation(fmt::format("store: `{}` has no value yet", name));
  HostTensor out(e.dtype, e.dims);
  Buffer fetched;
  const std::byte* lies = e.buffer.data();
  if (e.newest == Newest::device) {
    fetched = Buffer(e.buffer.size());
    download(e, fetched.data());
    lies = fetched.data();
  }
  if (e.panels) from_panels(lies, out.bytes.data(), e.dims, size_of(e.dtype), *e.panels);
  else if (!out.bytes.empty()) std::memcpy(out.bytes.data(), lies, out.bytes.size());
  return out;
}

bool Store::has_value(const std::string& name) const {
  const auto it = entries_.find(name);
  return it != entries_.end() && it->second.written;
}

std::vector<std::string> Store::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

spec::ValueType Store::type_of(const std::string& name) const {
  const Entry& e = entry(name);
  return {e.dtype, e.dims};
}

const Store::Entry& Store::entry(const std::string& name) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) throw SpecViolation(fmt::format("store: there is no entry `{}`", name));
  return it->second;
}

Store::Entry& Store::entry(const std::string& name) {
  return const_cast<Entry&>(static_cast<const Store&>(*this).entry(name));
}

}  // namespace etalon::compiled
