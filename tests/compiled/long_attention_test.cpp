// Attention of 16384 keys, forward and backward, in little memory and on a small stack, held to the definition where somebody
// asks: every query but two has a cotangent of zero, so that these two alone say what the cotangents are.
#include <catch2/catch.hpp>

#include <malloc.h>

#include <fstream>
#include <string>

#include <fmt/format.h>

#include "reference/bounds/envelope.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/contraction_build.hpp"
#include "tests/compiled/small_stack.hpp"

namespace etalon::test {
namespace {

constexpr std::int64_t heads = 4, keys = 16384, width = 32;
constexpr std::int64_t head = 2;
constexpr std::int64_t asked[] = {5, 16001};
constexpr std::int64_t queries_asked = std::size(asked);

System attention(std::int64_t of_heads, std::int64_t queries) {
  return spec::lower(spec::parse_program(
      fmt::format("input q : f32[1, {0}, {1}, {3}]\ninput k : f32[1, {0}, {2}, {3}]\ninput v : f32[1, {0}, {2}, {3}]\ninput d : f32[1, {0}, {1}, {3}]\n"
                  "y = scaled_dot_product_attention(q, k, v, _, _)\ngq, gk, gv = vjp(y; q, k, v; d)\noutput y, gq, gk, gv\n",
                  of_heads, queries, keys, width)));
}

float* row(HostTensor& t, std::int64_t of_head, std::int64_t at) {
  return reinterpret_cast<float*>(t.bytes.data()) + (of_head * t.dims[2] + at) * width;
}

/// The rows of the head, or of it those of the queries that are asked.
HostTensor part_of(HostTensor& all, bool only_asked) {
  HostTensor part(DType::f32, {1, 1, only_asked ? queries_asked : keys, width});
  for (std::int64_t r = 0; r < part.dims[2]; ++r) std::copy_n(row(all, head, only_asked ? asked[r] : r), width, row(part, 0, r));
  return part;
}

/// Bytes that a line of /proc/self/status says.
std::size_t status_bytes(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(what + ":")) return std::stoul(line.substr(what.size() + 1)) * 1024;
  }
  return 0;
}

}  // namespace

TEST_CASE("attention of 16384 keys and its gradient need little memory and a small stack", "[compiled][stack][strips][sound]") {
  constexpr std::size_t gibibyte = std::size_t{1} << 30;
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // the highest memory so far is forgotten
  const Dims whole{1, heads, keys, width};
  std::vector<HostTensor> in{normal_numbers(DType::f32, whole, 1), normal_numbers(DType::f32, whole, 2), normal_numbers(DType::f32, whole, 3),
                             HostTensor(DType::f32, whole)};
  HostTensor cotangents = normal_numbers(DType::f32, {1, 1, queries_asked, width}, 4);
  for (std::int64_t r = 0; r < queries_asked; ++r) std::copy_n(row(cotangents, 0, r), width, row(in[3], head, asked[r]));
  std::vector<HostTensor> out;
  {
    const compiled::Executable e = compiled::compile_system(attention(heads, keys), options());
    CHECK(e.report().peak_bytes() < gibibyte / 4);
    on_small_stack(std::size_t{128} << 10, [&] { out = e.run(in); });
  }
  const std::size_t peak = status_bytes("VmHWM");
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(peak < gibibyte);
#endif
  CHECK(peak > 8 * static_cast<std::size_t>(whole.count()) * sizeof(float));  // and it was counted
  REQUIRE(out.size() == 4);

  std::size_t zeros = 0;
  for (std::size_t o = 1; o < out.size(); ++o) {
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t r = 0; r < keys; ++r) {
        const bool own = h == head && (o != 1 || r == asked[0] || r == asked[1]);
        if (own) continue;
        zeros += static_cast<std::size_t>(std::count(row(out[o], h, r), row(out[o], h, r) + width, 0.0F));
      }
    }
  }
  CHECK(zeros == static_cast<std::size_t>((heads * keys - queries_asked + 2 * (heads - 1) * keys) * width));

  const std::vector<HostTensor> asked_in{part_of(in[0], true), part_of(in[1], false), part_of(in[2], false), part_of(in[3], true)};
  const std::vector<HostTensor> found{part_of(out[0], true), part_of(out[1], true), part_of(out[2], false), part_of(out[3], false)};
  const auto verdict = reference::judge(found, reference::envelopes(attention(1, queries_asked), asked_in, spec::contract_named("cpu")));
  CAPTURE(verdict.message);
  CHECK(verdict.passed());
  CHECK(verdict.undecided == 0);
  CHECK(verdict.comparisons == static_cast<std::size_t>((2 * queries_asked + 2 * keys) * width));
}

}  // namespace etalon::test
