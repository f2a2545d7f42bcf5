// Under a contract that declares trees no sum in a declared tree lies outside, and taller trees do.
#include <catch2/catch.hpp>
#include <functional>

#include "bounds_systems.hpp"
#include "bounds_trials.hpp"

namespace etalon {
namespace {

using namespace bounds_test;

spec::Contract declaring(const char* name, const spec::SumTree& sums, const spec::SumTree& contractions) {
  spec::Contract c;
  c.name = name;
  c.sums = sums;
  c.contractions = contractions;
  return c;
}

const spec::SumTree none;
const spec::SumTree blocks{64, 1};
const spec::SumTree lanes{std::nullopt, 16};
const spec::SumTree both{8, 4};

std::vector<spec::Contract> declarations() {
  return {declaring("blocks of 64", blocks, blocks),          declaring("16 lanes", lanes, lanes),
          declaring("4 lanes of blocks of 8", both, both),    declaring("sums in blocks", blocks, none),
          declaring("contractions in blocks", none, blocks),  declaring("contractions lower than sums", blocks, both),
          declaring("sums lower than contractions", both, lanes)};
}

/// The sum over rows of sums of a + b, each row stored.
spec::System sum_of_sums(DType dtype, std::int64_t rows, std::int64_t columns, bool products) {
  Builder b(dtype);
  const auto x = b.input("x", {rows, columns});
  const auto w = b.input("w", {rows, columns});
  const auto s = b.local("s", {rows});
  const auto y = b.output("y", {});
  auto i = b.bind(rows);
  const auto j = b.bind(columns);
  const Expr both_of = products ? b.at(x, i, j) * b.at(w, i, j) : b.at(x, i, j) + b.at(w, i, j);
  b.s.define(s, {i}, Builder::sum(j, both_of));
  i = b.bind(rows);
  b.s.define(y, {}, Builder::sum(i, b.at(s, i)));
  return b.s;
}

/// The sum over rows of c plus the row's sum of sums, each sum stored.
spec::System biased_sums(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  Builder b(dtype);
  const auto x = b.input("x", {rows, columns, depth});
  const auto c = b.input("c", {rows});
  const auto t = b.local("t", {rows, columns});
  const auto s = b.local("s", {rows});
  const auto y = b.output("y", {});
  auto i = b.bind(rows);
  auto j = b.bind(columns);
  const auto k = b.bind(depth);
  b.s.define(t, {i, j}, Builder::sum(k, b.at(x, i, j, k)));
  i = b.bind(rows);
  j = b.bind(columns);
  b.s.define(s, {i}, Builder::sum(j, b.at(t, i, j)));
  i = b.bind(rows);
  b.s.define(y, {}, Builder::sum(i, b.at(c, i) + b.at(s, i) * number(0.25)));
  return b.s;
}

/// The sum of x[k]·factor, of the first half of x and of nothing in place of the rest.
spec::System scaled_halves(DType dtype, std::int64_t n, double factor) {
  Builder b(dtype);
  const auto x = b.input("x", {n});
  const auto y = b.output("y", {});
  const auto z = b.output("z", {});
  auto k = b.bind(n);
  b.s.define(y, {}, Builder::sum(k, b.at(x, k) * number(factor)));
  k = b.bind(n);
  const Expr first = spec::apply(Primitive::lt, {spec::variable(k), spec::integer(n / 2)});
  b.s.define(z, {}, spec::reduce(Reduction::sum, {k}, first, b.at(x, k)));
  return b.s;
}

struct Named {
  std::string name;
  spec::System system;
};

std::vector<Named> sums(DType d) {
  std::vector<Named> all;
  for (const std::int64_t n : {63, 64, 65, 128, 129, 700}) {
    all.push_back({"sum of " + std::to_string(n), sum_system(d, n)});
    all.push_back({"dot of " + std::to_string(n), matmul_system(d, 1, n, 2)});
  }
  all.push_back({"linear", matmul_system(d, 2, 300, 2, true)});
  all.push_back({"layer_norm", layer_norm_system(d, 2, 200)});
  all.push_back({"sum of sums", sum_of_sums(d, 64, 32, false)});
  all.push_back({"sum of dots", sum_of_sums(d, 64, 32, true)});
  all.push_back({"biased sums", biased_sums(d, 12, 9, 10)});
  all.push_back({"halved", scaled_halves(d, 260, 0.5)});
  all.push_back({"thirds", scaled_halves(d, 260, 0.3)});
  return all;
}

/// A tensor of what `number` says of each position.
HostTensor filled(const spec::TensorInfo& info, const std::function<double(std::size_t)>& number) {
  HostTensor h(info.dtype, info.dims);
  for (std::size_t i = 0; i < static_cast<std::size_t>(info.dims.count()); ++i) {
    if (info.dtype == DType::f32) h.view<float>()[i] = static_cast<float>(number(i));
    else h.view<double>()[i] = number(i);
  }
  return h;
}

/// A little less than what is lost when it is added to 1.
double swallowed(DType dtype) { return std::ldexp(1 - 0x1p-20, dtype == DType::f32 ? -24 : -53); }

/// One number that swallows each of the others when it meets it, but not their sums.
std::vector<HostTensor> swallowing(const spec::System& system, std::mt19937& random) {
  std::vector<HostTensor> inputs;
  for (const auto t : system.inputs) {
    const spec::TensorInfo& info = system[t];
    const bool factor = info.name == "w" || info.name == "gamma";
    const std::size_t large = random() % static_cast<std::size_t>(info.dims.count());
    inputs.push_back(filled(info, [&](std::size_t i) { return factor || i == large ? 1 : swallowed(info.dtype); }));
  }
  return inputs;
}

/// The first number swallows the others of its row one by one, then each other row as a whole.
std::vector<HostTensor> swallowing_rows(const spec::System& system, bool products) {
  std::vector<HostTensor> inputs;
  for (const auto t : system.inputs) {
    const spec::TensorInfo& info = system[t];
    const bool second = info.name == "w";
    const auto row = static_cast<std::size_t>(info.dims[1]);
    const double whole_row = static_cast<double>(products ? row : 2 * row);
    inputs.push_back(filled(info, [&](std::size_t i) {
      if (second ? products : i == 0) return 1.0;
      return i < row ? swallowed(info.dtype) : swallowed(info.dtype) / whole_row;
    }));
  }
  return inputs;
}

/// Trials under the contract of what simulators of `evaluator` do.
template <class T>
Count trials(const spec::System& system, const spec::Contract& evaluator, const spec::Contract& contract) {
  Count count;
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::mt19937 random(seed);
    const auto inputs = seed % 2 == 0 ? swallowing(system, random) : random_inputs(system, random, static_cast<int>(seed / 2));
    try_inputs<T>(system, inputs, evaluator, contract, Elements::stored, 100 * seed, 8, count);
  }
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("sums in declared trees lie inside", "[bounds][trees]", float, double) {
  std::size_t near = 0;
  for (const spec::Contract& contract : declarations()) {
    for (const auto& [name, system] : sums(dtype_of<TestType>)) {
      const Count c = trials<TestType>(system, contract, contract);
      INFO(name << ", " << contract.name << ": " << c.text());
      report(name + ", " + contract.name, c);
      CHECK(c.offenders == 0);
      CHECK(c.undecided == 0);
      near += c.worst > 0.5 ? 1 : 0;
    }
  }
  INFO(near << " of the bounds were met at half or more");
  CHECK(near > 60);
}

TEMPLATE_TEST_CASE("sums in taller trees than declared lie outside", "[bounds][trees]", float, double) {
  const spec::Contract any;
  for (const spec::SumTree& tree : {blocks, lanes, both}) {
    const spec::Contract contract = declaring("declared", tree, tree);
    for (const bool dot : {false, true}) {
      const std::int64_t n = 700;
      const spec::System system = dot ? matmul_system(dtype_of<TestType>, 1, n, 1) : sum_system(dtype_of<TestType>, n);
      const Count c = trials<TestType>(system, any, contract);
      INFO((dot ? "dot, lanes " : "sum, lanes ") << tree.lanes << ": " << c.text());
      CHECK(c.offenders > 0);
      CHECK(c.worst > 2);
      // A declaration for the other kind of terms promises nothing of these.
      const spec::Contract other = dot ? declaring("sums", tree, none) : declaring("contractions", none, tree);
      CHECK(trials<TestType>(system, any, other).offenders == 0);
    }
  }
}

TEMPLATE_TEST_CASE("each sum inside sums may be added in its own way", "[bounds][trees]", float, double) {
  std::size_t near = 0;
  struct Nested {
    bool products;
    std::int64_t rows, columns;
  };
  for (const spec::Contract& contract : declarations()) {
    for (const auto& [products, rows, columns] : {Nested{false, 64, 32}, Nested{true, 64, 32}, Nested{false, 200, 8}, Nested{true, 200, 8}}) {
      const spec::System system = sum_of_sums(dtype_of<TestType>, rows, columns, products);
      const auto inputs = swallowing_rows(system, products);
      Count c;
      try_inputs<TestType>(system, inputs, contract, contract, Elements::stored, 0, 80, c);
      const std::string name = std::to_string(rows) + " sums of " + std::to_string(columns) + (products ? " products" : " pairs");
      INFO(name << ", " << contract.name << ": " << c.text());
      report(name + ", " + contract.name, c);
      CHECK(c.offenders == 0);
      near += c.worst > 0.8 ? 1 : 0;
    }
  }
  INFO(near << " of the bounds were nearly met");
  CHECK(near >= 8);
}

}  // namespace etalon
