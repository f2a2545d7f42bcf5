#include "conformance/kernel/kernel_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "conformance/isolation/plugin_request.hpp"
#include "conformance/kernel/line.hpp"
#include "spec/error.hpp"

namespace etalon::conformance {
namespace {

using spec::Answer;
using spec::Numbers;
using spec::Refusal;

// Large finite numbers in every element type, and no truth value. The second is asked for where an answer has the first.
constexpr unsigned poison = 0x5c, other_poison = 0xa3;

/// The first element that holds what its room was filled with, both times.
[[nodiscard]] std::optional<std::string> unwritten(const std::vector<std::pair<std::size_t, std::size_t>>& elements, const Numbers& again) {
  const auto left = poisoned(again, other_poison);
  for (const auto& element : elements) {
    if (std::find(left.begin(), left.end(), element) != left.end())
      return fmt::format("result {}, element {} was not written", element.first, element.second);
  }
  return std::nullopt;
}

}  // namespace

KernelBackend::KernelBackend(const KernelProgram& program, KernelOffer offer, const Limits& limits)
    : program_(program), offer_(std::move(offer)), limits_(limits) {}

spec::Description KernelBackend::describe() const {
  spec::Description description;
  description.name = "kernel";
  description.dtypes.assign(plugin_dtypes.begin(), plugin_dtypes.end());
  description.modes = {spec::Mode::forward};
  description.operations = std::vector<std::string>{offer_.operation};
  description.rejects = false;
  description.layouts = offer_.strided;
  description.running_attributes = false;
  return description;
}

std::optional<std::string> KernelBackend::failure_to_start() {
  child_ = program_.process();
  const Exchange first = child_->ask(std::string(hello), limits_.start, limits_.line);
  if (first.end == Exchange::End::answered && first.line == ready) return std::nullopt;
  std::string why = child_->no_answer(first.end, limits_.start, limits_.line);
  if (first.end == Exchange::End::answered) {
    const Answer answer = kernel_answer(first.line);
    const auto* refusal = std::get_if<Refusal>(&answer);
    why = refusal != nullptr ? refusal->why : "it answered before it was asked";
  }
  child_.reset();
  return why;
}

Answer KernelBackend::run(const spec::Request& request) {
  try {
    const KernelCall call(request);
    Answer answer = asked(call.line(poison));
    const auto* numbers = std::get_if<Numbers>(&answer);
    if (numbers == nullptr) return answer;
    const auto suspects = poisoned(*numbers, poison);
    if (suspects.empty()) return answer;
    const Answer second = asked(call.line(other_poison));
    if (const auto* again = std::get_if<Numbers>(&second)) {
      if (const auto which = unwritten(suspects, *again)) return Refusal{Refusal::Kind::error, *which};
    }
    return answer;
  } catch (const Unsupported& error) {
    return Refusal{Refusal::Kind::unsupported, error.what(), "request"};
  } catch (const SpecViolation& error) {
    return Refusal{Refusal::Kind::rejected, error.what()};
  } catch (const IoError& error) {
    return Refusal{Refusal::Kind::crashed, error.what()};
  }
}

Answer KernelBackend::asked(const std::string& line) {
  if (child_ == nullptr) {
    if (const auto why = failure_to_start()) return Refusal{Refusal::Kind::crashed, "started again: " + *why};
  }
  if (child_->has_unasked_output()) return broken(Refusal::Kind::error, "it answered before it was asked");
  const auto before = std::chrono::steady_clock::now();
  const Exchange exchange = child_->ask(line, limits_.answer, limits_.line);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  if (exchange.end != Exchange::End::answered) {
    const std::string why = child_->no_answer(exchange.end, limits_.answer, limits_.line);
    using enum Exchange::End;
    return broken(exchange.end == late    ? Refusal::Kind::timeout
                  : exchange.end == ended ? Refusal::Kind::crashed
                                          : Refusal::Kind::error,
                  why);
  }
  Answer answer = kernel_answer(exchange.line);
  auto* refusal = std::get_if<Refusal>(&answer);
  if (refusal == nullptr) return answer;
  if (refusal->kind == Refusal::Kind::error) return broken(refusal->kind, refusal->why);
  if (!offer_.may_decline) return Refusal{Refusal::Kind::error, "it declined the question: " + refusal->why};
  return answer;
}

Refusal KernelBackend::broken(Refusal::Kind kind, const std::string& why) {
  child_.reset();
  return Refusal{kind, why};
}

}  // namespace etalon::conformance
