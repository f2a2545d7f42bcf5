// Comparisons of integers where adding 1 to a side would wrap.
#include <catch2/catch.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "compiled/runtime/executable.hpp"
#include "spec/program/program.hpp"

using namespace etalon;

namespace {

struct Comparison {
  std::string operation;
  std::function<bool(std::int64_t, std::int64_t)> means;
};

template <class T>
std::size_t compare_at_the_ends(const std::string& type, bool negated) {
  const std::array<Comparison, 6> all{{{"lt", std::less<>()},
                                       {"le", std::less_equal<>()},
                                       {"gt", std::greater<>()},
                                       {"ge", std::greater_equal<>()},
                                       {"eq", std::equal_to<>()},
                                       {"ne", std::not_equal_to<>()}}};
  constexpr T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  const std::vector<T> ends{least, static_cast<T>(least + 1), -1, 0, 1, static_cast<T>(most - 1), most};
  std::vector<T> a, b;
  for (const T x : ends) {
    for (const T y : ends) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const auto n = static_cast<std::int64_t>(a.size());
  std::size_t compared = 0;
  for (const Comparison& c : all) {
    const std::string shape = type + "[" + std::to_string(n) + "]\n";
    const std::string text = "input a : " + shape + "input b : " + shape + "y = " + c.operation + "(a, b)\n" +
                             (negated ? "z = logical_not(y)\noutput z\n" : "output y\n");
    const compiled::Executable run = compiled::compile(spec::parse_program(text));
    compiled::Store store;
    const HostTensor got = run.run(store, {{"a", HostTensor::of<T>({n}, a)}, {"b", HostTensor::of<T>({n}, b)}})[0];
    for (std::size_t i = 0; i < a.size(); ++i) {
      CAPTURE(c.operation, a[i], b[i], negated);
      CHECK((got.bytes[i] != std::byte{0}) == (c.means(a[i], b[i]) != negated));
      ++compared;
    }
  }
  return compared;
}

}  // namespace

TEST_CASE("comparisons of integers hold at both ends of their type", "[sound][integers]") {
  std::size_t compared = 0;
  for (const bool negated : {false, true}) {
    compared += compare_at_the_ends<std::int64_t>("i64", negated);
    compared += compare_at_the_ends<std::int32_t>("i32", negated);
  }
  CHECK(compared == 4 * 6 * 49);
}
