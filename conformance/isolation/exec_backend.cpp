#include "conformance/isolation/exec_backend.hpp"

#include <fmt/format.h>

#include <utility>

#include "spec/error.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {
namespace {

using spec::Answer;
using spec::Refusal;

// So many questions in a row without an answer in time, and the rest is not asked: each would take its whole time.
constexpr int most_late = 20;

std::string with_last_words(const std::string& text, const ChildProcess& child) {
  const std::string words = child.last_words();
  return words.empty() ? text : fmt::format("{}; its standard error: {}", text, words);
}

class ExecBackend final : public spec::Backend {
 public:
  ExecBackend(std::string command, const Limits& limits) : command_(std::move(command)), limits_(limits) {
    start();
    const Exchange first = child_->ask(spec::encode_describe(), limits_.start, limits_.line);
    if (first.end != Exchange::End::answered) throw IoError(fmt::format("exec:{}: {}", command_, reason(first.end, limits_.start)));
    try {
      description_ = spec::decode_description(first.line);
    } catch (const std::exception& error) {
      throw IoError(fmt::format("exec:{}: its description: {}", command_, error.what()));
    }
  }

  [[nodiscard]] spec::Description describe() const override { return description_; }

  [[nodiscard]] Answer run(const spec::Request& request) override {
    if (late_ >= most_late)
      return Refusal{Refusal::Kind::timeout, fmt::format("not asked: {} questions in a row had no answer in time", most_late)};
    const std::string line = spec::encode(request);
    if (static_cast<std::int64_t>(line.size()) > description_.max_bytes)
      return Refusal{Refusal::Kind::unsupported,
                     fmt::format("the request has {} bytes, the backend takes {}", line.size(), description_.max_bytes), "size"};
    try {
      if (child_ == nullptr) start();
    } catch (const IoError& error) {
      return Refusal{Refusal::Kind::crashed, error.what()};
    }
    if (child_->has_unasked_output()) return broken(Refusal::Kind::error, "wrote a line that nobody asked for");
    const auto limit = fresh_ ? limits_.start : limits_.answer;
    const Exchange exchange = child_->ask(line, limit, limits_.line);
    if (exchange.end == Exchange::End::late) {
      ++late_;
      return broken(Refusal::Kind::timeout, reason(exchange.end, limit));
    }
    late_ = 0;
    if (exchange.end == Exchange::End::ended) return broken(Refusal::Kind::crashed, reason(exchange.end, limit));
    if (exchange.end == Exchange::End::endless) return broken(Refusal::Kind::error, reason(exchange.end, limit));
    fresh_ = false;
    return answer_in(exchange.line, request.id);
  }

 private:
  void start() {
    child_ = std::make_unique<ChildProcess>(command_, limits_.memory);
    fresh_ = true;
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
  [[nodiscard]] Answer broken(Refusal::Kind kind, const std::string& why) {
    child_.reset();
    return Refusal{kind, why};
  }

  [[nodiscard]] std::string reason(Exchange::End end, std::chrono::milliseconds limit) {
    switch (end) {
      case Exchange::End::late:
        return with_last_words(fmt::format("no answer within {} s", static_cast<double>(limit.count()) / 1000), *child_);
      case Exchange::End::endless: return fmt::format("an answer of more than {} bytes", limits_.line);
      default: {
        const std::string fate = child_->fate();
        return with_last_words("ended without an answer: " + fate, *child_);
      }
    }
  }

  std::string command_;
  Limits limits_;
  spec::Description description_;
  std::unique_ptr<ChildProcess> child_;
  bool fresh_ = true;
  int late_ = 0;
};

}  // namespace

std::unique_ptr<spec::Backend> make_exec_backend(const std::string& command, const Limits& limits) {
  return std::make_unique<ExecBackend>(command, limits);
}

}  // namespace etalon::conformance
