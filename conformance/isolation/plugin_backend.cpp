#include "conformance/isolation/plugin_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/isolation/library.hpp"
#include "conformance/isolation/plugin_request.hpp"
#include "spec/error.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {
namespace {

using spec::Answer;
using spec::Refusal;

/// What a plug-in adds to its answer. The four functions are what it sees of us; none of them throws into it.
class Collector {
 public:
  explicit Collector(const spec::Request& request) {
    const std::size_t outputs = request.program.outputs.size(), inputs = request.inputs.size();
    lists_[ETALON_OUTPUTS].resize(outputs);
    if (request.mode == spec::Mode::jvp) lists_[ETALON_TANGENTS].resize(outputs);
    if (request.mode == spec::Mode::vjp || request.mode == spec::Mode::jvp_of_vjp) lists_[ETALON_COTANGENTS].resize(inputs);
    if (request.mode == spec::Mode::jvp_of_vjp) lists_[ETALON_COTANGENT_TANGENTS].resize(inputs);
    view_ = {this, add, unsupported, rejected, error};
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  [[nodiscard]] etalon_answer* view() { return &view_; }

  [[nodiscard]] Answer finish(spec::Mode mode) {
    if (refusal_) return *refusal_;
    spec::Numbers numbers;
    for (std::size_t i = 0; i < lists_[ETALON_OUTPUTS].size(); ++i) {
      if (!lists_[ETALON_OUTPUTS][i]) return Refusal{Refusal::Kind::error, fmt::format("output {} was not added to the answer", i), ""};
      numbers.outputs.push_back(std::move(*lists_[ETALON_OUTPUTS][i]));
    }
    numbers.tangents = std::move(lists_[mode == spec::Mode::jvp_of_vjp ? ETALON_COTANGENT_TANGENTS : ETALON_TANGENTS]);
    numbers.cotangents = std::move(lists_[ETALON_COTANGENTS]);
    return numbers;
  }

 private:
  [[nodiscard]] static Collector& of(etalon_answer* answer) { return *static_cast<Collector*>(answer->host); }

  void refuse(Refusal::Kind kind, const char* why, const char* what) noexcept {
    refusal_ = Refusal{kind, why == nullptr ? "" : why, what == nullptr ? "" : what};
  }
  static void unsupported(etalon_answer* a, const char* what, const char* why) { of(a).refuse(Refusal::Kind::unsupported, why, what); }
  static void rejected(etalon_answer* a, const char* why) { of(a).refuse(Refusal::Kind::rejected, why, ""); }
  static void error(etalon_answer* a, const char* why) { of(a).refuse(Refusal::Kind::error, why, ""); }

  static void* add(etalon_answer* answer, std::int32_t list, std::int32_t position, std::int32_t dtype, std::int32_t rank, const std::int64_t* shape) {
    Collector& self = of(answer);
    try {
      return self.room(list, position, dtype, rank, shape);
    } catch (const std::exception& failure) {
      self.refuse(Refusal::Kind::error, failure.what(), "");
      return nullptr;
    }
  }

  [[nodiscard]] void* room(std::int32_t list, std::int32_t position, std::int32_t dtype, std::int32_t rank, const std::int64_t* shape) {
    if (list < 0 || static_cast<std::size_t>(list) >= lists_.size() || position < 0 ||
        static_cast<std::size_t>(position) >= lists_[static_cast<std::size_t>(list)].size())
      throw SpecViolation(fmt::format("add: list {} has no place {} in this mode", list, position));
    if (dtype < 0 || static_cast<std::size_t>(dtype) >= plugin_dtypes.size()) throw SpecViolation(fmt::format("add: {} is no element type", dtype));
    if (rank < 0 || static_cast<std::size_t>(rank) > Dims::max_rank) throw SpecViolation(fmt::format("add: a tensor cannot have {} axes", rank));
    Dims dims;
    std::int64_t bytes = 8;
    for (std::int32_t axis = 0; axis < rank; ++axis) {
      if (shape[axis] < 0) throw SpecViolation(fmt::format("add: an extent is {}", shape[axis]));
      dims.push_back(shape[axis]);
      if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(shape[axis], 1), &bytes) || bytes > largest)
        throw SpecViolation("add: the tensor is too large");
    }
    auto& place = lists_[static_cast<std::size_t>(list)][static_cast<std::size_t>(position)];
    place = HostTensor(plugin_dtypes[static_cast<std::size_t>(dtype)], dims);
    return place->bytes.empty() ? static_cast<void*>(&nothing_) : place->bytes.data();
  }

  static constexpr std::int64_t largest = std::int64_t{1} << 30;

  std::array<std::vector<std::optional<HostTensor>>, 4> lists_;
  std::optional<Refusal> refusal_;
  double nothing_ = 0;  // an address for tensors without elements
  etalon_answer view_{};
};

class PluginBackend final : public spec::Backend {
 public:
  explicit PluginBackend(const std::string& path) {
    table_ = reinterpret_cast<const etalon_backend* (*)()>(symbol_of_library(path, "etalon_backend_table", "plugin"))();
    if (table_ == nullptr || table_->version < 1 || table_->version > ETALON_BACKEND_VERSION)
      throw IoError(fmt::format("plugin: {}: expected a table of version 1 to {}, found {}", path, ETALON_BACKEND_VERSION,
                                table_ == nullptr ? "none" : std::to_string(table_->version)));
    if (table_->describe == nullptr || table_->run == nullptr) throw IoError(fmt::format("plugin: {}: its table has no describe or no run", path));
    if (table_->create != nullptr) self_ = table_->create();
    const char* text = table_->describe(self_);
    try {
      description_ = spec::decode_description(text == nullptr ? "" : text);
    } catch (const std::exception& error) {
      throw IoError(fmt::format("plugin: {}: its description: {}", path, error.what()));
    }
    description_.scripts = description_.scripts && table_->version >= 2 && table_->script != nullptr;
  }

  ~PluginBackend() override {
    if (table_ != nullptr && table_->destroy != nullptr) table_->destroy(self_);
  }

  [[nodiscard]] spec::Description describe() const override { return description_; }

  [[nodiscard]] Answer run(const spec::Request& request) override {
    try {
      const PluginRequest asked(request);
      Collector collector(request);
      table_->run(self_, &asked.view(), collector.view());
      return collector.finish(request.mode);
    } catch (const Unsupported& error) {
      return Refusal{Refusal::Kind::unsupported, error.what(), "request"};
    } catch (const SpecViolation& error) {
      return Refusal{Refusal::Kind::rejected, error.what(), ""};
    } catch (const std::exception& error) {  // of a plug-in in C++
      return Refusal{Refusal::Kind::error, error.what(), ""};
    }
  }

  [[nodiscard]] std::optional<std::string> script(const spec::Request& request, const std::optional<spec::Shown>& shown) override {
    if (!description_.scripts) return std::nullopt;
    const PluginRequest asked(request);
    etalon_element element{};
    if (shown) element = {list_named(shown->list), static_cast<std::int32_t>(shown->tensor), static_cast<std::int64_t>(shown->element)};
    const char* text = table_->script(self_, &asked.view(), shown ? &element : nullptr);
    return text == nullptr ? std::nullopt : std::optional<std::string>(text);
  }

 private:
  [[nodiscard]] static std::int32_t list_named(const std::string& name) {
    return name == "outputs" ? ETALON_OUTPUTS : name == "tangents" ? ETALON_TANGENTS : ETALON_COTANGENTS;
  }

  const etalon_backend* table_ = nullptr;
  void* self_ = nullptr;
  spec::Description description_;
};

}  // namespace

std::unique_ptr<spec::Backend> load_plugin(const std::string& path) { return std::make_unique<PluginBackend>(path); }

}  // namespace etalon::conformance
