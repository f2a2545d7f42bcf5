/// \file
/// The interface through which every backend is reached, ours and strangers' alike: the requests of Protocol 1 as
/// structs. It knows nothing of how a backend computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/contract/contract.hpp"
#include "spec/host_tensor.hpp"
#include "spec/placement.hpp"
#include "spec/program/program.hpp"

namespace etalon::spec {

enum class Mode : std::uint8_t { forward, jvp, vjp, jvp_of_vjp };

/// As protocol, reports and the command line write them.
inline constexpr std::array<std::string_view, 4> mode_names{"forward", "jvp", "vjp", "jvp_of_vjp"};
[[nodiscard]] constexpr std::string_view name_of(Mode mode) { return mode_names[static_cast<std::size_t>(mode)]; }

/// One question to a backend. Inputs are given for every program input in order (constants included).
struct Request {
  std::string id;
  Mode mode = Mode::forward;
  Program program;
  std::vector<HostTensor> inputs;
  std::vector<bool> wrt;                                 ///< per input; jvp and vjp
  std::vector<std::optional<HostTensor>> tangents;       ///< per input; jvp; nothing makes no term
  std::vector<std::optional<HostTensor>> cotangents;     ///< per output; vjp; nothing makes no term
  std::vector<std::optional<HostTensor>> cotangent_tangents{};  ///< per output; jvp_of_vjp; empty or nothing makes no term
  Placements placements{};  ///< how the tensors lie in memory for who takes layouts; `inputs` and the others here are dense
};

/// The numbers of an answer: outputs always; in jvp `tangents` one per output (nothing for integer and boolean
/// outputs); in vjp `cotangents` one per input (nothing where `wrt` is false); in jvp_of_vjp both, `tangents` being
/// those of the cotangents.
struct Numbers {
  std::vector<HostTensor> outputs;
  std::vector<std::optional<HostTensor>> tangents;
  std::vector<std::optional<HostTensor>> cotangents;
};

/// Why there are no numbers.
struct Refusal {
  enum class Kind : std::uint8_t {
    unsupported,  ///< not offered
    rejected,     ///< the program is ill-typed or breaks a constraint
    error,        ///< the backend failed, or what it answered is no answer
    crashed,      ///< the process that should have answered ended
    timeout       ///< no answer in time
  };
  Kind kind = Kind::unsupported;
  std::string why;
  std::string what{};  ///< of unsupported: operation, dtype, mode, attribute, shape, layout, generator or size
};

using Answer = std::variant<Numbers, Refusal>;

/// The element of an answer that a script is about: of `outputs`, `tangents` or `cotangents`.
struct Shown {
  std::string list;
  std::size_t tensor = 0;
  std::size_t element = 0;
};

/// What a backend says of itself.
struct Description {
  std::string name;
  std::string version;
  std::vector<DType> dtypes;
  std::vector<Mode> modes;
  Contract contract;
  bool fuses = false;  ///< intermediates asked for as outputs may differ from those consumed
  std::optional<std::vector<std::string>> operations{};  ///< by name; nothing means all
  bool rejects = true;                      ///< refuses ill-typed calls instead of promoting
  bool deterministic = true;                ///< the same request gives the same bits
  bool layouts = false;                     ///< takes tensors with strides and offsets (or says of each which it does not)
  bool running_attributes = true;           ///< takes attributes that are scalars of the program
  std::optional<std::string> generator{};   ///< of random numbers: philox4x32-10
  std::int64_t pipeline = 1;                ///< requests that may be unanswered at a time
  std::int64_t max_bytes = 64 << 20;        ///< longest request line
  bool scripts = false;                     ///< writes requests as scripts of its own language
};

/// What a backend made of a program, for people and scripts.
struct Making {
  std::size_t kernels = 0;
  std::size_t intermediate_bytes = 0;  ///< what a run holds besides inputs and outputs
  double compile_seconds = 0;
  bool cached = false;                 ///< the code was read from a cache
};

/// A backend. `run` never throws for what the request holds: it answers with a Refusal.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;
  [[nodiscard]] virtual Description describe() const = 0;
  [[nodiscard]] virtual Answer run(const Request& request) = 0;
  /// Of how many requests it would know at a time before the first of them is asked; 0 where that brings nothing.
  [[nodiscard]] virtual std::size_t foresight() const { return 0; }
  /// Most of what is asked next, so that what it takes can be made together. It answers nothing and, as `run`, throws for nothing that
  /// requests hold.
  virtual void expect(std::span<const Request>) {}
  /// The request as a script of the backend's own language, which needs nothing of Etalon and prints what is shown, or
  /// all that is answered; nothing where the backend writes none.
  [[nodiscard]] virtual std::optional<std::string> script(const Request&, const std::optional<Shown>&) { return std::nullopt; }
  /// What it made, or would make, of a program that is asked for its values; nothing where it does not say.
  [[nodiscard]] virtual std::optional<Making> making(const Program&) { return std::nullopt; }
};

}  // namespace etalon::spec
