#include "cuda/waiting_sums.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "cuda/counting.hpp"

namespace etalon::cuda {

WaitingSums::WaitingSums(compiled::source::Scalars& scalars, compiled::source::Text& text, Sums sums, std::int64_t most)
    : scalars_(scalars), text_(text), sums_(std::move(sums)), most_(most), waiting_(scalars.claim("waiting")), done_(scalars.claim("blocks")) {
  // Local memory: registers for them leave none for two blocks.
  text_.line(fmt::format("{} {}[{}][{}][{}];", sums_.type, waiting_, std::bit_width(static_cast<std::uint64_t>(most_ - 1)), sums_.rows, sums_.columns));
  text_.line(fmt::format("int {} = 0;", done_));
}

void WaitingSums::put() {
  const std::string digit = scalars_.claim("digit"), place = waiting_ + "[" + digit + "]";
  text_.line(fmt::format("int {} = 0;", digit));
  text_.open(fmt::format("for (; (({0} >> {1}) & 1) != 0; ++{1})", done_, digit));
  meet(place);
  text_.close();
  each([&](const std::string& r, const std::string& c) { return fmt::format("{}[{}][{}] = {}[{}][{}];", place, r, c, sums_.name, r, c); });
  each([&](const std::string& r, const std::string& c) { return fmt::format("{}[{}][{}] = 0;", sums_.name, r, c); });
  text_.line(fmt::format("++{};", done_));
}

void WaitingSums::join(bool all) {
  const auto waits = static_cast<std::uint64_t>(most_ - 1);
  for (int digit = 0; waits >> digit != 0; ++digit) {
    if ((waits >> digit & 1) == 0) continue;
    if (!all) text_.open(fmt::format("if ((({} >> {}) & 1) != 0)", done_, digit));
    meet(fmt::format("{}[{}]", waiting_, digit));
    if (!all) text_.close();
  }
}

/// What waits comes before the sum at hand.
void WaitingSums::meet(const std::string& waiting) {
  each([&](const std::string& r, const std::string& c) { return fmt::format("{0}[{2}][{3}] = {1}[{2}][{3}] + {0}[{2}][{3}];", sums_.name, waiting, r, c); });
}

void WaitingSums::each(const std::function<std::string(const std::string& r, const std::string& c)>& statement) {
  const std::string r = scalars_.claim("r"), c = scalars_.claim("c");
  open_unrolled(text_, r, sums_.rows);
  open_unrolled(text_, c, sums_.columns);
  text_.line(statement(r, c));
  text_.close();
  text_.close();
}

}  // namespace etalon::cuda
