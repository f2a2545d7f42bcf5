#include "conformance/isolation/exec_backend.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "spec/error.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {
namespace {

using spec::Answer;
using spec::Refusal;

// So many questions in a row without an answer in time, and the rest is not asked: each would take its whole time.
constexpr int most_late = 20;

class ExecBackend final : public spec::Backend {
 public:
  ExecBackend(std::string command, const Limits& limits, const std::string& name) : command_(std::move(command)), limits_(limits) {
    const Exchange first = start();
    if (first.end != Exchange::End::answered) throw IoError(fmt::format("{}: {}", name, reason(first.end, limits_.start)));
    try {
      description_ = spec::decode_description(first.line);
    } catch (const std::exception& error) {
      throw IoError(fmt::format("{}: its description: {}", name, error.what()));
    }
  }

  [[nodiscard]] spec::Description describe() const override { return description_; }

  [[nodiscard]] Answer run(const spec::Request& request) override {
    auto answered = asked(spec::encode(request));
    if (auto* refusal = std::get_if<Refusal>(&answered)) return std::move(*refusal);
    return answer_in(std::get<std::string>(answered), request.id);
  }

  /// A backend that fails at this has written none: what it computes is not in question here.
  [[nodiscard]] std::optional<std::string> script(const spec::Request& request, const std::optional<spec::Shown>& shown) override {
    if (!description_.scripts) return std::nullopt;
    const auto answered = asked(spec::encode_script(request, shown));
    const auto* line = std::get_if<std::string>(&answered);
    if (line == nullptr) return std::nullopt;
    try {
      return spec::decode_script(*line, request.id);
    } catch (const std::exception& error) {
      (void)broken(Refusal::Kind::error, error.what());
      return std::nullopt;
    }
  }

 private:
  /// The line that the process answers, or what became of it instead.
  [[nodiscard]] std::variant<std::string, Refusal> asked(const std::string& line) {
    if (late_ >= most_late)
      return Refusal{Refusal::Kind::timeout, fmt::format("not asked: {} questions in a row had no answer in time", most_late)};
    if (static_cast<std::int64_t>(line.size()) > description_.max_bytes)
      return Refusal{Refusal::Kind::unsupported,
                     fmt::format("the request has {} bytes, the backend takes {}", line.size(), description_.max_bytes), "size"};
    if (child_ == nullptr) {
      if (auto refusal = start_again()) return *refusal;
    }
    if (child_->has_unasked_output()) return broken(Refusal::Kind::error, "wrote a line that nobody asked for");
    const auto limit = limits_.answer;
    Exchange exchange = child_->ask(line, limit, limits_.line);
    if (exchange.end == Exchange::End::late) {
      ++late_;
      return broken(Refusal::Kind::timeout, reason(exchange.end, limit));
    }
    late_ = 0;
    if (exchange.end == Exchange::End::ended) return broken(Refusal::Kind::crashed, reason(exchange.end, limit));
    if (exchange.end == Exchange::End::endless) return broken(Refusal::Kind::error, reason(exchange.end, limit));
    return std::move(exchange.line);
  }

  /// A new process, asked to describe itself: the time that it takes to start is no question's.
  [[nodiscard]] Exchange start() {
    child_ = std::make_unique<ChildProcess>(command_, limits_.memory);
    return child_->ask(spec::encode_describe(), limits_.start, limits_.line);
  }

  [[nodiscard]] std::optional<Refusal> start_again() {
    try {
      const Exchange first = start();
      if (first.end == Exchange::End::answered) return std::nullopt;
      if (first.end == Exchange::End::late) ++late_;
      const std::string why = "started again: " + reason(first.end, limits_.start);
      child_.reset();
      return Refusal{first.end == Exchange::End::late ? Refusal::Kind::timeout : Refusal::Kind::crashed, why};
    } catch (const IoError& error) {
      return Refusal{Refusal::Kind::crashed, error.what()};
    }
  }

  [[nodiscard]] Answer answer_in(const std::string& line, const std::string& id) {
    try {
      spec::Reply reply = spec::decode_reply(line);
      if (reply.id == id) return std::move(reply.answer);
      return broken(Refusal::Kind::error, fmt::format("expected the answer to {}, found one to '{:.80}'", id, reply.id));
    } catch (const std::exception& error) {
      return broken(Refusal::Kind::error, fmt::format("its answer: {:.300}", error.what()));
    }
  }

  /// After this the stream of answers cannot be trusted: the next question goes to a new process.
  [[nodiscard]] Refusal broken(Refusal::Kind kind, const std::string& why) {
    child_.reset();
    return Refusal{kind, why};
  }

  [[nodiscard]] std::string reason(Exchange::End end, std::chrono::milliseconds limit) { return child_->no_answer(end, limit, limits_.line); }

  std::string command_;
  Limits limits_;
  spec::Description description_;
  std::unique_ptr<ChildProcess> child_;
  int late_ = 0;
};

}  // namespace

std::unique_ptr<spec::Backend> make_exec_backend(const std::string& command, const Limits& limits, const std::string& name) {
  return std::make_unique<ExecBackend>(command, limits, name.empty() ? "exec:" + command : name);
}

}  // namespace etalon::conformance
