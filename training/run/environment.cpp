#include "training/run/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"
#include "training/files/strict_json.hpp"
#include "training/run/declaration.hpp"

namespace etalon::training {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// What the system calls the processor; nothing where it does not say.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

/// Of the file that this process runs; nothing where it cannot be read.
std::string executable_digest() {
  try {
    return sha256_of(read_file("/proc/self/exe"));
  } catch (const IoError&) {
    return "";
  }
}

}  // namespace

Environment this_environment(std::int64_t from, std::string_view device, std::string_view vectors, unsigned threads, unsigned devices) {
  return {from, std::string(device), this_build(), std::string(vectors), processor_name(), host_name(), threads, devices,
          executable_digest()};
}

std::string to_text(const Environment& e) {
  nlohmann::ordered_json json{{"from", e.from}, {"device", e.device}, {"build", e.build}};
  for (const auto& [key, text] : {std::pair("executable", &e.executable), std::pair("vectors", &e.vectors),
                                  std::pair("processor", &e.processor), std::pair("host", &e.host)}) {
    if (!text->empty()) json[key] = *text;
  }
  if (e.threads > 0) json["threads"] = e.threads;
  if (e.devices > 0) json["devices"] = e.devices;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Environment environment_of(const StrictJson& json) {
  json.allow({"from", "device", "build", "vectors", "processor", "host", "threads", "devices", "executable"});
  Environment e{json.at("from").count(), json.at("device").text(), json.at("build").text()};
  if (json.has("vectors")) e.vectors = json.at("vectors").text();
  if (json.has("processor")) e.processor = json.at("processor").text();
  if (json.has("host")) e.host = json.at("host").text();
  if (json.has("threads")) e.threads = json.at("threads").count();
  if (json.has("devices")) e.devices = json.at("devices").count();
  if (json.has("executable")) e.executable = json.at("executable").digest();
  return e;
}

std::vector<Environment> environments_in(Storage& storage, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / environments_file;
  std::vector<Environment> all;
  if (!storage.exists(file)) return all;
  const std::string text = storage.read(file);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string where = fmt::format("{}:{}", file.string(), all.size() + 1);
    all.push_back(environment_of(StrictJson::parse(std::string_view(text).substr(from, end - from), where)));
    from = end + 1;
  }
  return all;
}

void add_environment(Storage& storage, const std::filesystem::path& folder, const Environment& environment) {
  std::vector<Environment> all = environments_in(storage, folder);
  if (!all.empty() && all.back() == environment) return;
  all.push_back(environment);
  std::string text;
  for (const Environment& e : all) text += to_text(e) + '\n';
  replace_file(storage, folder / environments_file, text);
}

}  // namespace etalon::training
