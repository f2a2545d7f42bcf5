#include "conformance/adapter/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "conformance/adapter/answers.hpp"
#include "conformance/adapter/description.hpp"
#include "conformance/adapter/questions.hpp"
#include "spec/error.hpp"
#include "spec/markup.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {
namespace {

using Mark = Remark::Mark;
using spec::Json;
using spec::Refusal;

constexpr std::size_t most_operations = 60;
constexpr std::size_t most_derivatives = 12;
constexpr int most_late = 3;  // each costs its whole time
constexpr std::size_t shown = 240;

[[nodiscard]] std::string shortened(const std::string& line) {
  return line.size() <= shown ? line : line.substr(0, shown) + fmt::format("… ({} bytes)", line.size());
}

class Checker {
 public:
  Checker(std::string command, const Limits& limits) : command_(std::move(command)), limits_(limits) {}

  [[nodiscard]] std::vector<Remark> run() {
    if (!describe()) return std::move(remarks_);
    dtype_ = asked_dtype(*description_);
    if (!dtype_) {
      remark(Mark::note, "questions", "no real element type is offered, so nothing was asked", "f32 is the first that the suite asks for");
      end();
      return std::move(remarks_);
    }
    operations_ = operations_of(*description_, most_operations);
    values();
    derivatives(spec::Mode::jvp, Check::jvp);
    derivatives(spec::Mode::vjp, Check::vjp);
    derivatives(spec::Mode::jvp_of_vjp, Check::vjp);
    unknown_fields();
    unknown_values();
    empty_tensors();
    layouts();
    rejection();
    end();
    return std::move(remarks_);
  }

 private:
  void remark(Mark mark, const std::string& part, std::string what, std::string advice = {}) {
    remarks_.push_back({mark, part, std::move(what), std::move(advice)});
  }

  /// Tells the same fault once.
  void complain(const std::string& part, const Complaint& complaint, const std::string& request, const std::string& answer) {
    ++wrong_;
    for (auto& [kind, at] : told_) {
      if (kind != complaint.kind) continue;
      ++remarks_[at].times;
      return;
    }
    told_.emplace_back(complaint.kind, remarks_.size());
    remarks_.push_back({Mark::wrong, part, complaint.what, complaint.advice, shortened(request), shortened(answer)});
  }

  [[nodiscard]] bool describe() {
    const auto begin = std::chrono::steady_clock::now();
    const std::string request = spec::encode_describe();
    const std::optional<std::string> line = exchange("start", request);
    if (!line) return false;
    remark(Mark::ok, "start", fmt::format("the first answer came after {:.2f} s", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    const std::vector<Remark> found = remarks_on_description(*line, description_);
    bool wrong = false;
    for (const Remark& r : found) wrong = wrong || r.mark == Mark::wrong;
    if (!wrong) {
      remark(Mark::ok, "describe", fmt::format("{} {}: {} operations, {} element types, {} modes", description_->name, description_->version,
                                                description_->operations ? std::to_string(description_->operations->size()) : "all",
                                                description_->dtypes.size(), description_->modes.size()));
    }
    remarks_.insert(remarks_.end(), found.begin(), found.end());
    return description_.has_value();
  }

  /// One line for one line; a complaint and nothing where none came. Afterwards nothing more may be there.
  [[nodiscard]] std::optional<std::string> exchange(const std::string& part, const std::string& request) {
    if (late_ >= most_late) return std::nullopt;
    const bool again = child_ == nullptr && description_.has_value();
    const auto limit = child_ == nullptr && !again ? limits_.start : limits_.answer;
    if (child_ == nullptr) child_ = std::make_unique<ChildProcess>(command_, limits_.memory);
    // A process that was started again describes itself first: the time that it takes to start is no question's.
    if (again && child_->ask(spec::encode_describe(), limits_.start, limits_.line).end != Exchange::End::answered) {
      complain("start", {"start", "a second process did not describe itself", "each process must start like the first; several may run at a time"}, "", "");
      child_.reset();
      return std::nullopt;
    }
    const Exchange got = child_->ask(request, limit, limits_.line);
    if (got.end == Exchange::End::answered) {
      if (!child_->has_unasked_output()) return got.line;
      complain(part, {"unasked", "wrote more than one line for one request", "one line per request and nothing else on standard output: progress, warnings and logs go to standard error"},
               request, got.line);
      child_.reset();
      return std::nullopt;
    }
    complain(part, broken(got.end, limit), request, "");
    child_.reset();
    return std::nullopt;
  }

  [[nodiscard]] Complaint broken(Exchange::End end, std::chrono::milliseconds limit) {
    const std::string words = child_->last_words();
    const std::string log = words.empty() ? "; its standard error is empty" : "; its standard error: " + words;
    if (end == Exchange::End::late) {
      ++late_;
      return {"late", fmt::format("no whole line within {} s{}", static_cast<double>(limit.count()) / 1000, log),
              "end each answer with a newline and flush standard output after it; --timeout gives more time"};
    }
    if (end == Exchange::End::endless)
      return {"endless", fmt::format("a line of more than {} bytes", limits_.line), "one line per request, ended by a newline, at most 64 MiB"};
    const std::string fate = child_->fate();
    return {"ended", fmt::format("ended without a whole answer: {}{}", fate, log),
            fate == "exit status 127" ? "the shell did not find the command"
            : !description_           ? "it never answered: start the command by hand, and type the request"
                                      : "stay until the input ends; catch what goes wrong with one request and answer {\"id\",\"error\"}; end lines with a newline"};
  }

  /// Sends the line; the reply with the right id, or nothing and a complaint.
  [[nodiscard]] std::optional<spec::Answer> reply_to(const std::string& part, const std::string& line, const std::string& id, std::string& answer) {
    const auto got = exchange(part, line);
    if (!got) return std::nullopt;
    answer = *got;
    spec::Reply reply;
    if (const auto complaint = read_answer(*got, id, reply)) {
      complain(part, *complaint, line, *got);
      return std::nullopt;
    }
    return std::move(reply.answer);
  }

  enum class Seen : std::uint8_t { wrong, numbers, unsupported };

  /// A well-typed request: numbers of the right form, or `unsupported`.
  Seen ask(const std::string& part, const spec::Request& request, const std::string& line, spec::Numbers* into = nullptr) {
    std::string text;
    const auto answer = reply_to(part, line, request.id, text);
    if (!answer) return Seen::wrong;
    if (const auto* refusal = std::get_if<Refusal>(&*answer)) {
      const auto complaint = unjust(*refusal);
      if (!complaint) {
        ++refused_[part][refusal->what.empty() ? refusal->why : refusal->what + ": " + refusal->why];
        return Seen::unsupported;
      }
      complain(part, *complaint, line, text);
      return Seen::wrong;
    }
    const auto& numbers = std::get<spec::Numbers>(*answer);
    if (const auto complaint = misshapen(request, numbers)) {
      complain(part, *complaint, line, text);
      return Seen::wrong;
    }
    if (into != nullptr) *into = numbers;
    return Seen::numbers;
  }

  void summary(const std::string& part, std::size_t asked, std::size_t numbers, std::size_t unsupported) {
    const std::string counts = fmt::format("{} requests: {} with numbers of the right types and shapes, {} unsupported", asked, numbers, unsupported);
    if (asked > 0 && numbers + unsupported == asked) remark(numbers > 0 ? Mark::ok : Mark::note, part, counts);
    reasons(part);
  }

  /// Why what was offered is `unsupported`, the most frequent reasons first.
  void reasons(const std::string& part) {
    constexpr std::size_t most = 6;
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const auto& [why, times] : refused_[part]) found.emplace_back(times, why);
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (std::size_t i = 0; i < std::min(most, found.size()); ++i) {
      remark(Mark::note, part, "unsupported: " + shortened(well_formed(found[i].second)));
      remarks_.back().times = found[i].first;
    }
    if (found.size() > most) remark(Mark::note, part, fmt::format("unsupported: and {} more reasons", found.size() - most));
  }

  void values() {
    std::size_t asked = 0, numbers = 0, unsupported = 0;
    for (const std::string& operation : operations_) {
      auto request = small_request(operation, Check::value, *dtype_);
      if (!request) continue;
      request->id = fmt::format("value-{}-{}", asked++, operation);
      const Seen seen = ask("forward", *request, spec::encode(*request));
      numbers += seen == Seen::numbers ? 1U : 0U;
      unsupported += seen == Seen::unsupported ? 1U : 0U;
      if (seen == Seen::numbers && !plain_) plain_ = request;
    }
    summary("forward", asked, numbers, unsupported);
    if (asked > 0 && unsupported == asked)
      complain("forward", {"all unsupported", "every request was answered `unsupported`", "describe only what is offered; a run that compares nothing does not conform"}, "", "");
  }

  void derivatives(spec::Mode mode, Check check) {
    const std::string part(spec::name_of(mode));
    bool offered = false;
    for (const spec::Mode m : description_->modes) offered = offered || m == mode;
    if (!offered) return remark(Mark::note, part, "not offered");
    std::size_t asked = 0, numbers = 0, unsupported = 0;
    for (const std::string& operation : operations_) {
      if (asked == most_derivatives) break;
      auto request = small_request(operation, check, *dtype_);
      if (!request) continue;
      if (mode == spec::Mode::jvp_of_vjp) request = second_of(*request);
      request->id = fmt::format("{}-{}-{}", part, asked++, operation);
      const Seen seen = ask(part, *request, spec::encode(*request));
      numbers += seen == Seen::numbers ? 1U : 0U;
      unsupported += seen == Seen::unsupported ? 1U : 0U;
    }
    summary(part, asked, numbers, unsupported);
  }

  void unknown_fields() {
    if (!plain_) return;
    plain_->id = "unknown-fields";
    const std::size_t before = wrong_;
    const Seen seen = ask("unknown fields", *plain_, with_unknown_fields(*plain_));
    if (seen == Seen::numbers) return remark(Mark::ok, "unknown fields", "ignored");
    if (seen == Seen::unsupported || wrong_ > before)
      remark(Mark::wrong, "unknown fields", "a request with fields that nobody knows was not answered as without them",
             "ignore fields that you do not know: later versions add some");
  }

  /// What must be answered with `unsupported`.
  void expect_unsupported(const std::string& part, const Json& request, const std::string& what) {
    const std::string line = spec::to_line(request);
    std::string text;
    const auto answer = reply_to(part, line, request["id"].get<std::string>(), text);
    if (!answer) return;
    const auto* refusal = std::get_if<Refusal>(&*answer);
    if (refusal != nullptr && refusal->kind == Refusal::Kind::unsupported) {
      if (refusal->what.empty() || refusal->what == what) return remark(Mark::ok, part, "unsupported: " + refusal->why);
      return remark(Mark::note, part, fmt::format("unsupported by {}: {}", refusal->what, refusal->why), fmt::format("`what` would be \"{}\"", what));
    }
    complain(part, {part, refusal == nullptr ? "answered with numbers" : fmt::format("expected unsupported, found {}", text.find("\"rejected\"") != std::string::npos ? "rejected" : "error"),
                    fmt::format("answer {{\"id\",\"unsupported\":{{\"what\":\"{}\",\"why\":…}}}}: it is counted and costs nothing", what)},
             line, text);
  }

  void unknown_values() {
    if (operations_.empty()) return;
    const auto request = plain_ ? plain_ : small_request(operations_.front(), Check::value, *dtype_);
    if (!request) return;
    Json json = spec::parse_json(spec::encode(*request), "request");
    json["id"] = "unknown-operation";
    json["program"]["calls"][0]["operation"] = "no_such_operation";
    expect_unsupported("unknown operation", json, "operation");
    json = spec::parse_json(spec::encode(*request), "request");
    json["id"] = "unknown-mode";
    json["mode"] = "no_such_mode";
    expect_unsupported("unknown mode", json, "mode");
  }

  void empty_tensors() {
    for (const std::string& operation : operations_) {
      auto request = empty_request(operation, *dtype_);
      if (!request) continue;
      request->id = "empty-" + operation;
      const Seen seen = ask("empty tensors", *request, spec::encode(*request));
      if (seen == Seen::numbers) return remark(Mark::ok, "empty tensors", operation + " of no elements has numbers of the right types and shapes");
      if (seen == Seen::wrong) return;
    }
    remark(Mark::note, "empty tensors", "not offered");
  }

  void layouts() {
    for (const std::string& operation : operations_) {
      auto request = matrix_request(operation, *dtype_);
      const auto lines = request ? strided(*request, "strided", "dense-misread") : std::nullopt;
      if (!lines) continue;
      spec::Numbers dense, laid_out, misread;
      request->id = "dense";
      if (ask("strides", *request, spec::encode(*request), &dense) != Seen::numbers) continue;
      request->id = "strided";
      const Seen seen = ask("strides", *request, lines->line, &laid_out);
      if (seen == Seen::unsupported) return remark(Mark::note, "strides", "not offered");
      if (seen == Seen::wrong) return;
      request->id = "dense-misread";
      if (laid_out.outputs == dense.outputs) return remark(Mark::ok, "strides", operation + " of a strided operand is that of the dense one");
      if (ask("strides", *request, lines->misread, &misread) == Seen::numbers && misread.outputs == laid_out.outputs)
        complain("strides", {"strides", "strides and offset of an operand were ignored: the buffer was read as if it were dense",
                             "read element (i, j, …) at offset + i·strides[0] + j·strides[1] + …, or answer `unsupported` with what \"layout\""},
                 lines->line, "");
      return;
    }
  }

  void rejection() {
    if (!description_->rejects) return remark(Mark::note, "rejection", "not offered");
    for (const std::string& operation : operations_) {
      auto request = small_request(operation, Check::rejection, *dtype_);
      if (!request) continue;
      request->id = "ill-typed-" + operation;
      const std::string line = spec::encode(*request);
      std::string text;
      const auto answer = reply_to("rejection", line, request->id, text);
      if (!answer) return;
      const auto* refusal = std::get_if<Refusal>(&*answer);
      if (refusal != nullptr && refusal->kind == Refusal::Kind::unsupported) continue;
      if (refusal != nullptr && refusal->kind == Refusal::Kind::rejected) return remark(Mark::ok, "rejection", refusal->why);
      return complain("rejection", {"rejection", "an ill-typed call was not answered with `rejected`", "the description says that it `rejects`; say false when the library promotes"}, line, text);
    }
  }

  void end() {
    if (child_ == nullptr) return;
    const std::string fate = child_->fate_without_input(limits_.answer);
    if (fate != "exit status 0")
      remark(Mark::wrong, "end of input", fate == "still running" ? fmt::format("still running {} s after its input ended", static_cast<double>(limits_.answer.count()) / 1000) : fate,
             "leave the loop at the end of the input and exit with status 0");
    else if (child_->has_unasked_output())
      remark(Mark::wrong, "end of input", "wrote to standard output after its input ended", "one line per request and nothing else on standard output");
    else
      remark(Mark::ok, "end of input", fate);
  }

  std::string command_;
  Limits limits_;
  std::unique_ptr<ChildProcess> child_;
  std::optional<spec::Description> description_;
  std::optional<DType> dtype_;
  std::vector<std::string> operations_;
  std::optional<spec::Request> plain_;  ///< a request that was answered with numbers
  std::vector<Remark> remarks_;
  std::vector<std::pair<std::string, std::size_t>> told_;
  std::map<std::string, std::map<std::string, std::size_t>> refused_;  ///< by part, then by reason
  std::size_t wrong_ = 0;
  int late_ = 0;
};

}  // namespace

std::vector<Remark> check_adapter(const std::string& command, const Limits& limits) { return Checker(command, limits).run(); }

}  // namespace etalon::conformance
