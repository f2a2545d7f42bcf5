#include "tests/aarch64/emulated_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <utility>
#include <vector>

#include "compiled/emit/llvm/object_generator.hpp"
#include "compiled/runtime/host_memory.hpp"
#include "spec/error.hpp"

namespace etalon::test {

namespace fs = std::filesystem;
using compiled::Addresses;
using compiled::Memory;
using compiled::Script;

namespace {

bool is_there(const std::string& command) { return std::system((command + " --version > /dev/null 2>&1").c_str()) == 0; }

/// The stretches of memory that a script touches, each from its beginning.
class Blocks {
 public:
  Blocks(const Script& script, const Addresses& addresses) {
    for (const compiled::Command& command : script.commands) {
      for (const compiled::Use& use : memory_used(command)) {
        std::size_t& bytes = bytes_[{use.memory.of, use.memory.index}];
        bytes = std::max(bytes, use.memory.offset + use.memory.bytes);
      }
    }
    bytes_.try_emplace({Memory::Of::arena, 0}, 0);
    for (const auto& [of, bytes] : bytes_) begins_.push_back({addresses.at({of.first, of.second, 0, 0}), bytes});
  }

  [[nodiscard]] const std::vector<std::span<std::byte>>& all() const { return begins_; }
  [[nodiscard]] std::uint64_t number(const Memory& m) const {
    return static_cast<std::uint64_t>(std::distance(bytes_.begin(), bytes_.find({m.of, m.index})));
  }

 private:
  std::map<std::pair<Memory::Of, std::size_t>, std::size_t> bytes_;
  std::vector<std::span<std::byte>> begins_;
};

/// What the runner reads (runner.c).
class Job {
 public:
  Job(const fs::path& file, const Blocks& blocks, const std::vector<std::int64_t>& turns) : out_(file, std::ios::binary), blocks_(blocks), turns_(turns) {}

  void write(const Script& script) {
    number(blocks_.all().size());
    for (const std::span<std::byte> block : blocks_.all()) {
      number(block.size());
      out_.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(block.size()));
    }
    number(script.commands.size());
    for (const compiled::Command& command : script.commands) std::visit([&](const auto& one) { does(one); }, command.does);
    out_.close();
    if (!out_) throw DeviceError("emulated device: its file cannot be written");
  }

 private:
  void number(std::uint64_t n) { out_.write(reinterpret_cast<const char*>(&n), sizeof n); }
  void place(const Memory& m) {
    number(blocks_.number(m));
    number(m.offset);
  }
  void does(const compiled::Launch& launch) {
    number(0);
    number(launch.kernel);
    number(static_cast<std::uint64_t>(turns_[launch.kernel]));
    place({Memory::Of::arena, 0, launch.scratch.value_or(compiled::Scratch{}).offset, 0});
    number(launch.operands.size());
    for (const compiled::Operand& o : launch.operands) place(o.memory);
  }
  void does(const compiled::Fill& fill) {
    number(1);
    place(fill.memory);
    number(fill.memory.bytes);
  }
  void does(const compiled::Move& move) {
    number(2);
    place(move.from);
    place(move.to);
    number(move.to.bytes);
  }

  std::ofstream out_;
  const Blocks& blocks_;
  const std::vector<std::int64_t>& turns_;
};

void read_back(const fs::path& file, const Blocks& blocks) {
  std::ifstream in(file, std::ios::binary);
  for (const std::span<std::byte> block : blocks.all()) {
    if (!in.read(reinterpret_cast<char*>(block.data()), static_cast<std::streamsize>(block.size()))) throw DeviceError("emulated device: its file is cut short");
  }
}

/// The runner's table of kernels.
std::string table_of(const std::vector<std::size_t>& models) {
  std::string declared, listed;
  for (std::size_t k = 0; k < models.size(); ++k) {
    const std::string symbol = compiled::ObjectGeneration::symbol(models[k]);
    declared += "void " + symbol + "(char* const*, long, long, char*);\n";
    listed += "  " + symbol + ",\n";
  }
  return declared + "void (*const kernels[])(char* const*, long, long, char*) = {\n" + listed + "  0};\n";
}

}  // namespace

std::string EmulatorTools::missing() const {
  for (const std::string& command : {compiler, emulator}) {
    if (!is_there(command)) return command;
  }
  return "";
}

class EmulatedDevice::EmulatedReplay final : public compiled::Replay {
 public:
  EmulatedReplay(EmulatedDevice& device, const Script& script, const std::vector<std::int64_t>& turns, std::string program)
      : device_(device), script_(script), turns_(turns), program_(std::move(program)) {}

  compiled::Event run(const Addresses& addresses) override {
    const Blocks blocks(script_, addresses);
    const fs::path job = program_ + ".in", done = program_ + ".out";
    Job(job, blocks, turns_).write(script_);
    const std::string libraries = device_.has_functions() ? " -L " + device_.tools_.libraries.string() : "";
    device_.command(device_.tools_.emulator + libraries + " " + program_ + " " + job.string() + " " + done.string());
    read_back(done, blocks);
    ++device_.runs_;
    return {};
  }

 private:
  EmulatedDevice& device_;
  const Script& script_;
  const std::vector<std::int64_t>& turns_;
  std::string program_;
};

class EmulatedDevice::LinkedModule final : public compiled::Module {
 public:
  LinkedModule(EmulatedDevice& device, Script script, std::vector<std::int64_t> turns, std::string program)
      : device_(device), script_(std::move(script)), turns_(std::move(turns)), program_(std::move(program)) {}
  [[nodiscard]] std::unique_ptr<compiled::Replay> replay() const override {
    return std::make_unique<EmulatedReplay>(device_, script_, turns_, program_);
  }

 private:
  EmulatedDevice& device_;
  Script script_;
  std::vector<std::int64_t> turns_;
  std::string program_;
};

class EmulatedDevice::CrossBuilder final : public compiled::ModuleBuilder {
 public:
  CrossBuilder(EmulatedDevice& device, const compiled::Wanted& wanted)
      : device_(device),
        generation_(std::make_shared<compiled::ObjectGenerator>(device.machine_, compiled::target_of(device.machine_), fs::path()), wanted) {}

  [[nodiscard]] compiled::CodeGenerator& generator() override { return generation_; }

  [[nodiscard]] std::unique_ptr<const compiled::Module> load(const compiled::Compilation& made, compiled::Report& report) override {
    const std::string program = (device_.folder_ / ("program" + std::to_string(device_.programs_++))).string();
    const auto object = generation_.take_object();
    std::ofstream(program + ".o", std::ios::binary).write(object->getBufferStart(), static_cast<std::streamsize>(object->getBufferSize()));
    std::ofstream(program + ".c") << table_of(generation_.models());
    const fs::path& functions = device_.tools_.functions;
    const std::string linked = device_.has_functions() ? functions.string() + " -Wl,-rpath," + functions.parent_path().string() : "-static";
    device_.command(device_.tools_.compiler + " -O1 -o " + program + " " + ETALON_SOURCE_DIR "/tests/aarch64/runner.c " + program + ".c " + program + ".o " +
                    linked + " -lm");
    report.kernels = generation_.models().size();
    return std::make_unique<const LinkedModule>(device_, made.script, generation_.blocks(), program);
  }

 private:
  EmulatedDevice& device_;
  compiled::ObjectGeneration generation_;
};

EmulatedDevice::EmulatedDevice(const compiled::Machine& machine, EmulatorTools tools)
    : machine_(machine), tools_(std::move(tools)), folder_(fs::temp_directory_path() / ("etalon-emulated-" + std::to_string(getpid()))) {
  fs::create_directories(folder_);
}

EmulatedDevice::~EmulatedDevice() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void EmulatedDevice::command(const std::string& line) const {
  if (const int status = std::system(line.c_str()); status != 0) {
    throw DeviceError("device " + std::string(machine_.name) + ": status " + std::to_string(status) + " of " + line);
  }
}

std::unique_ptr<compiled::ModuleBuilder> EmulatedDevice::build(const compiled::Wanted& wanted) { return std::make_unique<CrossBuilder>(*this, wanted); }
std::byte* EmulatedDevice::allocate(std::size_t bytes) { return compiled::allocate_on_host(bytes); }
void EmulatedDevice::release(std::byte* memory) noexcept { compiled::release_on_host(memory); }
void EmulatedDevice::upload(std::byte* to, std::span<const std::byte> from) { std::ranges::copy(from, to); }
void EmulatedDevice::download(std::span<std::byte> to, const std::byte* from) { std::copy_n(from, to.size(), to.begin()); }

std::shared_ptr<EmulatedDevice> emulated_or_skipped(const compiled::Machine& machine) {
  constexpr int skipped = 77;
  const EmulatorTools tools;
  if (const std::string missing = tools.missing(); !missing.empty()) {
    std::cout << "skipped: " << missing << " is missing; tools/setup witness installs it\n";
    std::exit(skipped);
  }
  return std::make_shared<EmulatedDevice>(machine, tools);
}

}  // namespace etalon::test
