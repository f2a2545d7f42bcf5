// Scheduled contractions: right in every layout and size, the same for any number of threads, and scheduled at all.
#include <catch2/catch.hpp>

#include "compiled/runtime/backend.hpp"
#include "spec/contract/contract.hpp"
#include "tests/compiled/contraction_build.hpp"

using namespace etalon;
using namespace etalon::test;
using Catch::Matchers::Contains;

namespace {

std::int64_t draw(std::mt19937& engine, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(engine);
}

Product draw_product(std::mt19937& engine) {
  Product p;
  p.dtype = draw(engine, 0, 1) == 0 ? DType::f32 : DType::f64;
  for (std::int64_t n = draw(engine, 0, 2); n > 0; --n) p.batch.push_back(draw(engine, 1, 3));
  p.rows = draw(engine, 4, 60);
  p.columns = draw(engine, 8, 90);
  p.depth = draw(engine, 1, 200);
  p.transposed_a = draw(engine, 0, 1) == 0;
  p.transposed_b = draw(engine, 0, 1) == 0;
  p.transposed_y = draw(engine, 0, 1) == 0;
  return p;
}

bool is_scheduled(const std::string& loops) { return loops.find("for tiles of") != std::string::npos; }

/// Over small integers every order of additions gives the same number.
void check_exact(const Product& p, const compiled::Executable& e) {
  const System s = system_of(p);
  const std::vector<HostTensor> in{small_integers(p.dtype, dims_a(p), 3), small_integers(p.dtype, dims_b(p), 4)};
  const auto got = e.run(in);
  const auto want = reference_values(s, in);
  INFO(text_of(p));
  REQUIRE(got[0].dims == want[0].dims);
  std::size_t same = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got[0].dims.count()); ++i) same += same_number(at(got[0], i), at(want[0], i)) ? 1 : 0;
  REQUIRE(same == static_cast<std::size_t>(got[0].dims.count()));
}

/// |computed - exact| <= γ(h + 1)·sum |a·b|, where h additions at most are on an element's way; each is rounded once.
void check_bound(const Product& p, const compiled::Executable& e) {
  const System s = system_of(p);
  const std::vector<HostTensor> in{normal_numbers(p.dtype, dims_a(p), 3), normal_numbers(p.dtype, dims_b(p), 4)};
  std::vector<HostTensor> sizes = in;
  for (HostTensor& t : sizes) {
    std::vector<double> values(static_cast<std::size_t>(t.dims.count()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::fabs(at(t, i));
    t = real_tensor(p.dtype, t.dims, values);
  }
  const auto got = e.run(in)[0];
  const auto want = reference_values(s, in)[0];
  const auto size = reference_values(s, sizes)[0];
  const std::int64_t height = spec::contract_named("cpu").contractions.height(p.depth);
  const double unit = std::ldexp(1.0, p.dtype == DType::f32 ? -24 : -53);
  // The reference itself adds in double precision, one after the other.
  const double own = std::ldexp(static_cast<double>(p.depth), -53);
  for (std::size_t i = 0; i < static_cast<std::size_t>(got.dims.count()); ++i) {
    INFO(text_of(p) << " element " << i << ": got " << at(got, i) << ", want " << at(want, i));
    REQUIRE(std::fabs(at(got, i) - at(want, i)) <= (static_cast<double>(height + 1) * unit * 1.01 + own) * at(size, i) + unit * std::fabs(at(want, i)));
  }
}

void check_both(const Product& p, const compiled::CompileOptions& o = options()) {
  const compiled::Executable e = compiled::compile_system(system_of(p), o);
  check_exact(p, e);
  check_bound(p, e);
}

}  // namespace

TEST_CASE("products in every layout and many sizes", "[compiled][contractions]") {
  std::mt19937 engine(7);
  for (const compiled::Machine& machine : {compiled::machines::avx512, compiled::machines::avx2, compiled::machines::scalar}) {
    compiled::CompileOptions o = options();
    o.device = std::make_shared<compiled::Processor>(machine);
    for (int i = 0; i < 12; ++i) {
      const Product p = draw_product(engine);
      o.schedule.always = i % 3 == 0;
      check_both(p, o);
    }
  }
}

TEST_CASE("products whose sizes are on either side of tiles and blocks", "[compiled][contractions]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [m, k, n] : std::vector<std::array<std::int64_t, 3>>{
             {14, 64, 32}, {15, 64, 33}, {13, 65, 31}, {28, 128, 64}, {29, 129, 65}, {27, 127, 63}, {4, 1000, 8},
             {5, 333, 17}, {24, 63, 16}, {25, 1, 400}, {100, 256, 10}, {57, 3, 57}}) {
      check_both({dtype, {}, m, k, n, false, false, false});
      if (m > 20) check_both({dtype, {3}, m, k, n, true, true, true});
    }
  }
}

TEST_CASE("large products copy their factors into panels", "[compiled][contractions]") {
  for (const bool transposed : {false, true}) {
    const Product p{DType::f32, {}, 120, 512, 512, transposed, transposed, false};
    const std::string loops = dump_of(system_of(p), "loops");
    CHECK_THAT(loops, Contains("kernel y.columns") && Contains("right=panels"));
    check_both(p);
  }
}

TEST_CASE("what is too small for tiles keeps plain loops, and the plan says why", "[compiled][contractions]") {
  const auto plan = [](std::int64_t m, std::int64_t k, std::int64_t n) {
    return dump_of(system_of({DType::f32, {}, m, k, n, false, false, false}), "plan");
  };
  CHECK_THAT(plan(64, 64, 64), Contains("a contraction: tiles of") && Contains("left in place (") && Contains("right in place ("));
  CHECK_THAT(plan(3, 64, 64), Contains("a contraction in plain loops: only 3 rows"));
  CHECK_THAT(plan(64, 64, 2), Contains("a contraction in plain loops: only 2 rows"));
  // Of fewer than four columns it says that rows are few.
  if (lanes_of(DType::f32) > 8) CHECK_THAT(plan(6, 999, 7), Contains("a contraction in plain loops: only 7 columns for vectors of"));
  CHECK_THAT(plan(8, 8, 8), Contains("a contraction in plain loops: only 512 products"));
  compiled::CompileOptions off = options();
  off.off.insert("contractions");
  const System s = system_of({DType::f32, {}, 64, 64, 64, false, false, false});
  CHECK_FALSE(is_scheduled(dump_of(s, "loops", off)));
  CHECK(is_scheduled(dump_of(s, "loops")));
}

TEST_CASE("contractions have the same bits for one, two and three threads", "[compiled][contractions]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Product& p : {Product{dtype, {}, 97, 300, 101, false, false, false}, Product{dtype, {}, 20, 200, 400, false, true, false},
                             Product{dtype, {5}, 40, 130, 70, true, false, true}}) {
      const System s = system_of(p);
      const std::vector<HostTensor> in{normal_numbers(dtype, dims_a(p), 1), normal_numbers(dtype, dims_b(p), 2)};
      REQUIRE(is_scheduled(dump_of(s, "loops")));
      const auto once = compiled_values(s, in);
      for (const unsigned threads : {2U, 3U}) {
        compiled::CompileOptions o = options();
        o.threads = threads;
        const compiled::Executable e = compiled::compile_system(s, o);
        for (int repeat = 0; repeat < 10; ++repeat) REQUIRE(e.run(in) == once);
      }
    }
  }
}

TEST_CASE("the bits of an element depend on nothing but the depth", "[compiled][contractions]") {
  // In tiles of few rows, 2 blocks of 640 terms and 3 of 960 are added up side by side.
  for (const std::int64_t depth : {333, 640, 960}) {
    const Product large{DType::f32, {}, 61, depth, 75, false, false, false};
    const std::vector<HostTensor> in{normal_numbers(DType::f32, dims_a(large), 1), normal_numbers(DType::f32, dims_b(large), 2)};
    const HostTensor whole = compiled_values(system_of(large), in)[0];
    for (const auto& [m, n] : {std::pair{40, 75}, std::pair{61, 40}, std::pair{17, 33}, std::pair{4, 16}, std::pair{5, 9}, std::pair{7, 14}}) {
      Product part = large;
      part.rows = m;
      part.columns = n;
      HostTensor a(DType::f32, dims_a(part));
      HostTensor b(DType::f32, dims_b(part));
      std::copy_n(in[0].view<float>().begin(), a.dims.count(), a.view<float>().begin());
      for (std::int64_t k = 0; k < part.depth; ++k) {
        std::copy_n(in[1].view<float>().begin() + k * large.columns, n, b.view<float>().begin() + k * n);
      }
      const HostTensor y = compiled_values(system_of(part), {a, b})[0];
      for (std::int64_t i = 0; i < m; ++i) {
        const auto row = whole.view<float>().begin() + i * large.columns;
        REQUIRE(std::equal(row, row + n, y.view<float>().begin() + i * n));
      }
    }
  }
}

TEST_CASE("a factor that is an expression, of 16 bits, or has several loops of the sum", "[compiled][contractions]") {
  System s;
  const TensorId a = input(s, "a", DType::bf16, {30, 6, 11});
  const TensorId b = input(s, "b", DType::f32, {40, 11, 6});
  const TensorId c = input(s, "c", DType::f32, {40});
  const TensorId y = output(s, "y", DType::f32, {30, 40});
  const auto i = s.bind_all(y);
  const std::vector<Binder> k{s.bind("k", 6), s.bind("l", 11)};
  const Expr left = s.at(a, {variable(i[0]), variable(k[0]), variable(k[1])});
  const Expr right = s.at(b, {variable(i[1]), variable(k[1]), variable(k[0])}) * s.at(c, {variable(i[1])});
  s.define(y, i, reduce(spec::Reduction::sum, k, spec::boolean(true), left * right));
  spec::verify(s);
  const std::vector<HostTensor> in{small_integers(DType::bf16, {30, 6, 11}, 1), small_integers(DType::f32, {40, 11, 6}, 2),
                                   small_integers(DType::f32, {40}, 3)};
  CHECK_THAT(dump_of(s, "plan"), Contains("left packed in rows (converted once)") && Contains("right packed in panels (computed once)"));
  CHECK(compiled_values(s, in) == reference_values(s, in));
}

TEST_CASE("what follows element by element is done in the tile", "[compiled][contractions]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {37, 50});
  const TensorId w = input(s, "w", DType::f32, {50, 41});
  const TensorId bias = input(s, "bias", DType::f32, {41});
  const TensorId r = input(s, "r", DType::f32, {37, 41});
  const TensorId z = s.add_tensor("z", DType::f32, {37, 41});
  const TensorId y = output(s, "y", DType::f32, {37, 41});
  const auto i = s.bind_all(z);
  const Binder k = s.bind("k", 50);
  s.define(z, i, reduce(spec::Reduction::sum, {k}, spec::boolean(true), s.at(x, {variable(i[0]), variable(k)}) * s.at(w, {variable(k), variable(i[1])})));
  const auto j = s.bind_all(y);
  const Expr sum = s.at(z, variables(j)) + s.at(bias, {variable(j[1])});
  s.define(y, j, apply(Primitive::maximum, {sum, spec::decimal(0)}) + s.at(r, variables(j)));
  const std::vector<HostTensor> in{small_integers(DType::f32, {37, 50}, 1), small_integers(DType::f32, {50, 41}, 2),
                                   small_integers(DType::f32, {41}, 3), small_integers(DType::f32, {37, 41}, 4)};
  const compiled::Executable e = compiled::compile_system(s, options());
  CHECK(e.report().kernels == 1);
  CHECK(e.report().arena_bytes == 0);
  CHECK(is_scheduled(dump_of(s, "loops")));
  CHECK(e.run(in) == reference_values(s, in));
}

TEST_CASE("a convolution and its gradients are contractions", "[compiled][contractions]") {
  System s;
  const TensorId x = input(s, "x", DType::f32, {3, 6, 9, 11});
  const TensorId k = input(s, "k", DType::f32, {10, 6, 3, 3});
  const TensorId d = input(s, "d", DType::f32, {3, 10, 9, 11});
  const TensorId y = output(s, "y", DType::f32, {3, 10, 9, 11});
  const TensorId g = output(s, "g", DType::f32, {10, 6, 3, 3});
  const TensorId h = output(s, "h", DType::f32, {3, 6, 9, 11});
  const auto padded = [&](const Expr& n, const Expr& c, const Expr& i, const Expr& j) {
    const auto within = [](const Expr& e, std::int64_t extent) {
      return apply(Primitive::le, {spec::integer(1), e}) && apply(Primitive::le, {e, spec::integer(extent)});
    };
    return spec::select(within(i, 9) && within(j, 11), s.at(x, {n, c, i - spec::integer(1), j - spec::integer(1)}), spec::decimal(0));
  };
  const auto i = s.bind_all(y);
  const std::vector<Binder> u{s.bind("c", 6), s.bind("u", 3), s.bind("v", 3)};
  s.define(y, i, reduce(spec::Reduction::sum, u, spec::boolean(true),
                        s.at(k, {variable(i[1]), variable(u[0]), variable(u[1]), variable(u[2])}) *
                            padded(variable(i[0]), variable(u[0]), variable(i[2]) + variable(u[1]), variable(i[3]) + variable(u[2]))));
  const auto o = s.bind_all(g);
  const std::vector<Binder> p{s.bind("n", 3), s.bind("i", 9), s.bind("j", 11)};
  s.define(g, o, reduce(spec::Reduction::sum, p, spec::boolean(true),
                        s.at(d, {variable(p[0]), variable(o[0]), variable(p[1]), variable(p[2])}) *
                            padded(variable(p[0]), variable(o[1]), variable(p[1]) + variable(o[2]), variable(p[2]) + variable(o[3]))));
  const auto q = s.bind_all(h);
  const std::vector<Binder> v{s.bind("f", 10), s.bind("u", 3), s.bind("v", 3)};
  const Expr row = variable(q[2]) + spec::integer(1) - variable(v[1]);
  const Expr column = variable(q[3]) + spec::integer(1) - variable(v[2]);
  const auto inside = [](const Expr& e, std::int64_t n) { return apply(Primitive::le, {spec::integer(0), e}) && apply(Primitive::lt, {e, spec::integer(n)}); };
  s.define(h, q, reduce(spec::Reduction::sum, v, inside(row, 9) && inside(column, 11),
                        s.at(d, {variable(q[0]), variable(v[0]), row, column}) * s.at(k, {variable(v[0]), variable(q[1]), variable(v[1]), variable(v[2])})));
  spec::verify(s);
  compiled::CompileOptions always = options();
  always.schedule.always = true;
  const std::string loops = dump_of(s, "loops", always);
  std::size_t contractions = 0;
  for (std::size_t p1 = loops.find("for tiles of"); p1 != std::string::npos; p1 = loops.find("for tiles of", p1 + 1)) ++contractions;
  CHECK(contractions == 3);
  std::vector<HostTensor> in{small_integers(DType::f32, {3, 6, 9, 11}, 1), small_integers(DType::f32, {10, 6, 3, 3}, 2),
                                   small_integers(DType::f32, {3, 10, 9, 11}, 3)};
  CHECK(compiled_values(s, in, always) == reference_values(s, in));
  // At a corner only the inner terms of h count: an infinite outer one leaves no trace.
  in[1].view<float>()[8] = std::numeric_limits<float>::infinity();
  const HostTensor corner = compiled_values(s, in, always)[2];
  CHECK(std::isfinite(at(corner, 0)));
  CHECK(same_number(at(corner, 0), at(reference_values(s, in)[2], 0)));
  CHECK_FALSE(std::isfinite(at(corner, 12)));
  System after = s;
  (void)scheduled(after, compiled::Machine{16, 32}, {.always = true});
  spec::verify(after);
}
