#include "conformance/pjrt/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "conformance/interchange/stablehlo/text.hpp"
#include "conformance/pjrt/client.hpp"
#include "spec/error.hpp"

namespace etalon::conformance::pjrt {
namespace {

using spec::Answer;
using spec::Refusal;

// Executables that are kept: a case and those that are near it have the same text.
constexpr std::size_t most_compiled = 64;

class PjrtBackend final : public spec::Backend {
 public:
  explicit PjrtBackend(const std::string& path) : client_(path) {
    description_.name = client_.platform_name();
    description_.version = fmt::format("{}, {}", client_.plugin().version(), client_.platform_version());
    description_.dtypes = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
    description_.modes = {spec::Mode::forward};
    description_.fuses = true;
    description_.rejects = false;  // a call that is ill-typed has no text, so that no plug-in hears of it
    description_.running_attributes = false;
  }

  [[nodiscard]] spec::Description describe() const override { return description_; }

  [[nodiscard]] Answer run(const spec::Request& request) override {
    if (request.mode != spec::Mode::forward)
      return Refusal{Refusal::Kind::unsupported, "only values: derivatives would be those of the text", "mode"};
    Answer answer = answered(request);
    // Destructors do not throw: what went wrong in them replaces an answer that came with it.
    std::string complaint = client_.plugin().taken_complaint();
    if (complaint.empty() || std::holds_alternative<Refusal>(answer)) return answer;
    return Refusal{Refusal::Kind::error, std::move(complaint), ""};
  }

 private:
  [[nodiscard]] Answer answered(const spec::Request& request) {
    try {
      const Compiled& compiled = compiled_from(stablehlo::module_text(request.program));
      const std::size_t wanted = request.program.outputs.size() + spec::all_updates(request.program).size();
      if (compiled.outputs != wanted)
        return Refusal{Refusal::Kind::error, fmt::format("expected {} outputs, found {}", wanted, compiled.outputs), ""};
      spec::Numbers numbers;
      numbers.outputs = client_.run(compiled, request.inputs);
      numbers.outputs.resize(request.program.outputs.size());
      return numbers;
    } catch (const PluginError& error) {
      return error.is_unimplemented() ? Refusal{Refusal::Kind::unsupported, error.what(), "operation"}
                                      : Refusal{Refusal::Kind::error, error.what(), ""};
    } catch (const Unsupported& error) {
      return Refusal{Refusal::Kind::unsupported, error.what(), "operation"};
    } catch (const SpecViolation& error) {
      return Refusal{Refusal::Kind::rejected, error.what(), ""};
    } catch (const std::exception& error) {
      return Refusal{Refusal::Kind::error, error.what(), ""};
    }
  }

  /// One compilation per text, which says the types.
  [[nodiscard]] const Compiled& compiled_from(const std::string& text) {
    const auto found = compiled_.find(text);
    if (found != compiled_.end()) return found->second;
    if (compiled_.size() >= most_compiled) compiled_.clear();
    return compiled_.emplace(text, client_.compile(text)).first->second;
  }

  ClientOnDevice client_;
  spec::Description description_;
  std::map<std::string, Compiled, std::less<>> compiled_;  // before the client is destroyed, these are
};

}  // namespace

std::unique_ptr<spec::Backend> load_backend(const std::string& path) {
  try {
    return std::make_unique<PjrtBackend>(path);
  } catch (const PluginError& error) {
    throw IoError(fmt::format("pjrt: {}: {}", path, error.what()));
  }
}

}  // namespace etalon::conformance::pjrt
