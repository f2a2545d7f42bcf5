#include "cuda/joining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace etalon::cuda {

using compiled::source::literal;
using compiled::source::type_name;
using compiled::source::type_suffix;

namespace {

/// So many are fetched before the first of them is added.
constexpr std::int64_t side_by_side = 8;

/// The balanced tree over numbers of that many names.
std::string tree(const std::string& name, std::int64_t first, std::int64_t count) {
  if (count == 1) return fmt::format("{}{}", name, first);
  const std::string right = tree(name, first + count / 2, count / 2);
  return fmt::format("{} + {}", tree(name, first, count / 2), count == 2 ? right : "(" + right + ")");
}

}  // namespace

std::string joined_sum(compiled::source::Scalars& scalars, compiled::source::Text& text, compiled::loops::Type type, const Parts& parts, const Stretch& stretch,
                       const std::function<std::string(const std::string& number)>& at) {
  const std::string sums = scalars.claim("sums"), done = scalars.claim("done"), part = scalars.claim("part"), last = scalars.claim("last"), sum = scalars.claim("sum");
  const std::string wait = scalars.functions().use("wait", type_suffix(type));
  const std::int64_t most = std::min(stretch.count, std::max<std::int64_t>(1, parts.whole));
  text.line(fmt::format("{} {}[{}];", type_name(type), sums, std::bit_width(static_cast<std::uint64_t>(most))));
  text.line(fmt::format("int64_t {} = 0;", done));
  text.line(fmt::format("{} {} = {};", stretch.index, part, stretch.first));
  text.line(fmt::format("const {0} {1} = {2} + {3} < {4} ? {2} + {3} : {4};", stretch.index, last, part, stretch.count, literal(parts.whole)));
  if (most >= side_by_side) {
    // A balanced tree of them is a node of the tree.
    text.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", part, side_by_side, last));
    const std::string fetched = scalars.claim("fetched");
    for (std::int64_t n = 0; n < side_by_side; ++n) text.line(fmt::format("const {} {}{} = {};", type_name(type), fetched, n, at(fmt::format("({} + {})", part, n))));
    text.line(fmt::format("{0} = {1} * {2}({3} + {4}, {0} / {1}, {5});", done, side_by_side, wait, sums, std::bit_width(static_cast<std::uint64_t>(side_by_side)) - 1,
                          tree(fetched, 0, side_by_side)));
    text.close();
  }
  text.line(fmt::format("for (; {0} < {1}; ++{0}) {2} = {3}({4}, {2}, {5});", part, last, done, wait, sums, at(part)));
  const std::string rest = parts.rest ? fmt::format("{0} <= {1} && {1} < {0} + {2} ? {3} : 0", stretch.first, literal(parts.whole), stretch.count, at(literal(parts.whole))) : "0";
  text.line(fmt::format("const {} {} = {}({}, {}, {});", type_name(type), sum, scalars.functions().use("join", type_suffix(type)), sums, done, rest));
  return sum;
}

}  // namespace etalon::cuda
