#include "tools/bench/seats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "tools/bench/machine.hpp"
#include "tools/bench/peer_scripts.hpp"
#include "tools/bench/variants.hpp"

namespace etalon::bench {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

/// The first Python that has the package, or nothing.
std::string python_with(const std::string& package, const std::string& wished) {
  const std::vector<std::string> candidates =
      wished.empty() ? std::vector<std::string>{"python3", "/usr/bin/python3"} : std::vector{wished};
  for (const std::string& candidate : candidates) {
    const std::string question =
        fmt::format(" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(\"{}\") is None)' >/dev/null 2>&1", package);
    if (std::system((quoted(candidate) + question).c_str()) == 0) return candidate;
  }
  return "";
}

/// Older OpenBLAS knows by name which processors have AVX-512, and newer processors have other names.
constexpr const char* avx512_blas = "OPENBLAS_CORETYPE=SkylakeX ";
constexpr const char* no_avx512 = "this machine has no AVX-512";

[[nodiscard]] bool has_avx512() { return this_machine().vectors == "AVX-512"; }

/// What OpenMP is told. Threads that wait for each other by spinning wait for whoever else has the core; where others
/// run, that costs milliseconds a region, and sleeping is the better setting.
std::string openmp(const Places& places) {
  return fmt::format("OMP_NUM_THREADS={} {}", places.most_threads, places.busy ? "OMP_WAIT_POLICY=passive " : "");
}

Seat seat_of(std::string name, const std::string& environment, const std::string& command) {
  std::string setting = environment.substr(0, environment.find_last_not_of(' ') + 1);
  return {std::move(name), environment + "exec " + command, "", false, std::move(setting)};
}

Seat absent(std::string name, std::string why) { return {std::move(name), "", std::move(why)}; }

/// A command of PyTorch or libtorch, which find their BLAS when they are loaded.
std::string with_torch_blas(const Places& places, const std::string& command) {
  std::error_code unknown;
  if (!fs::exists(fs::path(places.torch_blas) / "libblas.so.3", unknown)) return command;
  return "env LD_LIBRARY_PATH=" + quoted(places.torch_blas) + " " + command;
}

/// PyTorch takes its kernels for wider vectors only when it is told to, so that its best setting is one of two
/// processes.
void add_both_widths(std::vector<Seat>& found, const Places& places, const std::string& name,
                     const std::string& command) {
  found.push_back(seat_of(name, openmp(places), with_torch_blas(places, command)));
  if (has_avx512())
    found.push_back(seat_of(name + "-avx512", openmp(places) + avx512_blas + "ATEN_CPU_CAPABILITY=avx512 ",
                            with_torch_blas(places, command)));
  else
    found.push_back(absent(name + "-avx512", no_avx512));
}

std::string without_package(const Places& places, const std::string& package, const std::string& debian = "") {
  const std::string asked = places.python.empty() ? "python3 and /usr/bin/python3 have" : places.python + " has";
  return fmt::format("{} no {}{}", asked, package, debian.empty() ? "" : " (" + debian + ")");
}

/// Writes the scripts of the peers in Python. \returns the command of one of them
std::string script_command(const Places& places, const std::string& python, const std::string& script) {
  for (const auto& [name, text] : peer_scripts) {
    std::ofstream file(places.scratch / name);
    file << text;
    if (!file.flush()) throw IoError((places.scratch / name).string() + ": the file cannot be written");
  }
  return quoted(python) + " -W ignore " + quoted((places.scratch / script).string());
}

void add_pytorch(std::vector<Seat>& found, const Places& places) {
  const std::string python = python_with("torch", places.python);
  if (python.empty()) {
    for (const char* name : {"pytorch", "pytorch-avx512"}) found.push_back(absent(name, without_package(places, "PyTorch", "python3-torch")));
    return;
  }
  add_both_widths(found, places, "pytorch", script_command(places, python, "pytorch.py"));
}

void add_libtorch(std::vector<Seat>& found, const Places& places) {
  const fs::path path = places.command.parent_path() / "etalon-bench-libtorch";
  std::error_code unknown;
  if (fs::exists(path, unknown)) return add_both_widths(found, places, "libtorch", quoted(path.string()));
  for (const char* name : {"libtorch", "libtorch-avx512"})
    found.push_back(absent(name, "not in this build (libtorch-dev)"));
}

/// A peer whose program lies beside the command.
Seat beside(const Places& places, const std::string& name, const std::string& program, const std::string& package,
            const std::string& environment) {
  const fs::path path = places.command.parent_path() / program;
  std::error_code unknown;
  if (!fs::exists(path, unknown)) return absent(name, "not in this build (" + package + ")");
  return seat_of(name, environment, quoted(path.string()));
}

void add_openblas(std::vector<Seat>& found, const Places& places) {
  const std::string program = "etalon-bench-openblas", package = "libopenblas-dev", wide = "openblas-avx512";
  found.push_back(beside(places, "openblas", program, package, openmp(places)));
  if (has_avx512())
    found.push_back(beside(places, wide, program, package, openmp(places) + avx512_blas));
  else
    found.push_back(absent(wide, no_avx512));
}

/// One per way in which PyTorch works on a GPU, and JAX.
void add_gpu_peers(std::vector<Seat>& found, const Places& places) {
  const std::string torch = python_with("torch", places.python), jax = python_with("jax", places.python);
  for (const auto& [name, mode] : {std::pair{"pytorch", "eager"}, std::pair{"pytorch-graph", "graph"}, std::pair{"pytorch-compile", "compile"}}) {
    if (torch.empty()) found.push_back(absent(name, without_package(places, "PyTorch")));
    else found.push_back(seat_of(name, "", fmt::format("{} cuda {}", script_command(places, torch, "pytorch.py"), mode)));
  }
  if (jax.empty()) found.push_back(absent("jax", without_package(places, "JAX")));
  else found.push_back(seat_of("jax", "", script_command(places, jax, "with_jax.py")));
}

}  // namespace

std::vector<Seat> device_seats(const Places& places, const std::string& device) {
  std::vector<Seat> found{seat_of("etalon", "", fmt::format("{} bench worker etalon --device {}", quoted(places.command.string()), quoted(device)))};
  // Only a GPU is a peer of a GPU.
  if (device == "cuda") add_gpu_peers(found, places);
  return found;
}

std::vector<Seat> seats(const Places& places) {
  const std::string own = quoted(places.command.string()) + " bench worker ";
  std::vector<Seat> found{seat_of("etalon", "", own + "etalon")};
  add_pytorch(found, places);
  add_libtorch(found, places);
  found.push_back(beside(places, "onednn", "etalon-bench-onednn", "libdnnl-dev", openmp(places)));
  add_openblas(found, places);
  found.push_back(beside(places, "libxsmm", "etalon-bench-libxsmm", "libxsmm-dev", ""));
  found.push_back(seat_of("copy", "", own + "copy"));
  found.back().is_limit = true;
  return found;
}

std::vector<Seat> ablation_seats(const Places& places) {
  const std::string own = quoted(places.command.string()) + " bench worker etalon";
  std::vector<Seat> found{seat_of("etalon", "", own)};
  for (const Variant& v : variants()) found.push_back(seat_of(name_without(v.name), "", own + " --without " + v.name));
  return found;
}

std::vector<Seat> seats_named(const std::vector<Seat>& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<std::string> known;
  for (const Seat& seat : all) known.push_back(seat.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw SpecViolation(unknown_name("competitor", name, known));
  }
  std::vector<Seat> chosen;
  for (const Seat& seat : all) {
    if (std::find(names.begin(), names.end(), seat.name) != names.end()) chosen.push_back(seat);
  }
  return chosen;
}

}  // namespace etalon::bench
