#include "tests/cuda/noted_accesses.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <regex>
#include <utility>
#include <vector>

#include "compiled/compile.hpp"
#include "cuda/emulator/object.hpp"
#include "cuda/module_text.hpp"
#include "spec/error.hpp"
#include "spec/program/program.hpp"

namespace etalon::test {

namespace {

constexpr std::size_t most_accesses = 255;  ///< of a thread

/// Where a thread writes what it touches: how often it did, and then argument · 2^48 + byte of each access.
constexpr const char* noting = R"(
template <class T> struct Noted {
  T *at;
  long long *notes;
  long long argument;
  T &operator[](long long n) const {
    long long *const own = notes + (blockIdx.x * blockDim.x + threadIdx.x) * 256ll;
    own[1 + own[0]++] = (argument << 48) + n * (long long)sizeof(T);
    return at[n];
  }
};
)";

struct Argument {
  std::string type;
  std::string name;
};

std::vector<Argument> arguments_of(const std::string& head) {
  static const std::regex one(R"(((?:const )?\w+) \*(?:__restrict__ )?(\w+))");
  std::vector<Argument> all;
  for (std::sregex_iterator found(head.begin(), head.end(), one), end; found != end; ++found) all.push_back({(*found)[1], (*found)[2]});
  return all;
}

/// The only kernel of a text, with one more parameter: the notes.
std::string with_notes(const std::string& text, std::vector<Argument>& arguments) {
  const std::size_t begin = text.find("extern \"C\""), open = text.find(" {", begin);
  std::string head = text.substr(begin, open - begin), body = text.substr(open + 2), declared = " {\n";
  arguments = arguments_of(head);
  head.replace(head.rfind(')'), 1, ", long long *notes)");
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const auto& [type, name] = arguments[a];
    declared += "  const Noted<" + type + "> noted_" + name + "{" + name + ", notes, " + std::to_string(a) + "};\n";
    body = std::regex_replace(body, std::regex("\\b" + name + "\\["), "noted_" + name + "[");
  }
  return text.substr(0, begin) + noting + head + declared + body;
}

}  // namespace

std::map<std::string, std::set<std::size_t>> sectors_of(const std::string& program) {
  const spec::System system = spec::lower(spec::parse_program(program));
  const cuda::ModuleText module = cuda::module_text(compiled::lower_to_loops(system, {}, {}, cuda::machine));
  if (module.kernels.size() != 1) throw InternalError("a program with one kernel is asked for");
  const auto& [kernel, grid] = module.kernels.front();
  std::vector<Argument> arguments;
  const std::string text = with_notes(module.text, arguments);
  const auto object = cuda::emulator::compile({&text, 1}).front();

  const auto threads = static_cast<std::size_t>(grid.threads), blocks = static_cast<std::size_t>(grid.blocks);
  std::vector<std::int64_t> notes(blocks * threads * (most_accesses + 1));
  std::size_t bytes = 0;
  for (const spec::TensorInfo& t : system.tensors) bytes = std::max(bytes, static_cast<std::size_t>(t.dims.count()) * 8);
  std::vector<std::vector<std::byte>> memory(arguments.size(), std::vector<std::byte>(bytes));
  std::vector<void*> pointers, values;
  for (auto& m : memory) pointers.push_back(m.data());
  pointers.push_back(notes.data());
  for (void*& p : pointers) values.push_back(&p);
  cuda::emulator::Course course(1);
  const auto unsigned_of = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
  object->launch(kernel, {{unsigned_of(grid.blocks), 1, 1}, {unsigned_of(grid.threads), 1, 1}, static_cast<std::size_t>(grid.shared_bytes)}, values.data(), course);

  std::map<std::string, std::set<std::size_t>> sectors;
  for (std::size_t first = 0; first < blocks * threads; first += 32) {
    const auto note = [&](std::size_t lane, std::int64_t access) { return notes[(first + lane) * (most_accesses + 1) + static_cast<std::size_t>(access)]; };
    for (std::int64_t access = 1; access <= note(0, 0); ++access) {
      const auto argument = static_cast<std::size_t>(note(0, access) >> 48);
      std::set<std::int64_t> asked;
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if (note(lane, 0) < access) continue;
        if (static_cast<std::size_t>(note(lane, access) >> 48) != argument) throw InternalError("threads of a warp touch different arguments");
        asked.insert(note(lane, access) / 32);
      }
      sectors[arguments[argument].name].insert(asked.size());
    }
  }
  return sectors;
}

}  // namespace etalon::test
