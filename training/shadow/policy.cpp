#include "training/shadow/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "spec/error.hpp"
#include "spec/quoted.hpp"
#include "spec/sha256.hpp"

namespace etalon::training {
namespace {

/// One step of so many: where the first eight bytes of a SHA-256 lie in the first of so many equal parts.
bool drawn(std::string_view what, std::string_view run, std::int64_t step, std::int64_t of) {
  if (of == 0) return false;
  const Sha256::Digest digest = Sha256().add(fmt::format("{} {} {}", what, run, step)).digest();
  const auto number = std::accumulate(digest.begin(), digest.begin() + 8, std::uint64_t{0},
                                      [](std::uint64_t n, std::byte b) { return n << 8U | std::to_integer<std::uint64_t>(b); });
  return number <= std::numeric_limits<std::uint64_t>::max() / static_cast<std::uint64_t>(of);
}

double rate_of(std::int64_t of) { return of == 0 ? 0 : 1 / static_cast<double>(of); }

}  // namespace

bool ShadowPolicy::replays(std::string_view run, std::int64_t step) const { return drawn("replay", run, step, replay); }
bool ShadowPolicy::judges(std::string_view run, std::int64_t step) const { return drawn("judge", run, step, judge); }

std::string to_text(const ShadowPolicy& policy) {
  std::string text = policy.replay > 0 ? fmt::format("replay=1/{}", policy.replay) : "";
  if (policy.judge > 0) text += fmt::format("{}judge=1/{}", text.empty() ? "" : ",", policy.judge);
  return text;
}

ShadowPolicy shadow_policy_of(std::string_view text, std::string_view where) {
  ShadowPolicy policy;
  const auto refuse = [&](std::string_view part) {
    throw SpecViolation(fmt::format("{}: '{}', expected replay=1/N, judge=1/N or both with a comma, N from 1 to 10^9", where,
                                    as_quoted(part)));
  };
  for (bool more = true; more;) {
    const std::size_t end = text.find(',');
    const std::string_view part = text.substr(0, end), name = part.substr(0, part.find('='));
    more = end != std::string_view::npos;
    text.remove_prefix(more ? end + 1 : text.size());
    std::int64_t& of = name == "judge" ? policy.judge : policy.replay;
    if ((name != "replay" && name != "judge") || of != 0) refuse(part);
    const std::string_view rate = part.substr(std::min(part.size(), name.size() + 1));
    if (!rate.starts_with("1/")) refuse(part);
    const auto [stop, error] = std::from_chars(rate.data() + 2, rate.data() + rate.size(), of);
    if (error != std::errc{} || stop != rate.data() + rate.size() || of < 1 || of > 1'000'000'000) refuse(part);
  }
  return policy;
}

double chance_of_alarm(const ShadowPolicy& policy, std::int64_t steps, double faulty, const FaultKind& kind) {
  const double replayed = rate_of(policy.replay) * kind.replayed;
  const double met = faulty * (replayed + (1 - replayed) * rate_of(policy.judge) * kind.judged);
  return -std::expm1(static_cast<double>(steps) * std::log1p(-met));
}

}  // namespace etalon::training
