#include <boost/hana/equal.hpp>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "models.hpp"
#include "spec/error.hpp"
#include "spec/philox.hpp"
#include "training/data/random_streams.hpp"
#include "training/model/pack.hpp"
#include "training/state.hpp"
#include "training/step.hpp"

using namespace etalon;
using namespace etalon::training;
using test::drawn;
namespace hana = boost::hana;

namespace {

Optimization adamw(const Parameters& p) { return Optimization(p, {{"*", {"adamw"}}}); }

std::vector<float> floats(const HostTensor& t) {
  const auto v = t.view<float>();
  return {v.begin(), v.end()};
}

}  // namespace

TEST_CASE("paths_come_from_the_struct_through_nested_structs_and_arrays", "[model]") {
  const Parameters mlp(drawn<test::Mlp<Declared>>());
  CHECK(mlp.names() == std::vector<std::string>{"hidden.weight", "hidden.bias", "output.weight", "output.bias"});
  CHECK(mlp.at("output.weight").dims == Dims{10, 3});
  const Parameters gpt(test::drawn_gpt<test::Gpt<Declared>>());
  CHECK(gpt.contains("blocks.0.inner_layers.up.weight"));
  CHECK(gpt.matching("*.gain") == std::vector<std::string>{"blocks.0.before.gain", "blocks.0.between.gain"});
}

TEST_CASE("tied_declarations_are_one_parameter", "[model]") {
  const Parameters gpt(test::drawn_gpt<test::Gpt<Declared>>());
  CHECK(gpt.owner("head.rows") == "tokens.rows");
  const auto names = gpt.names();
  CHECK(std::set<std::string>(names.begin(), names.end()).count("head.rows") == 0);
  State state(gpt, adamw(gpt), 3);
  state.replace("head.rows", HostTensor(DType::f32, {16, 4}));
  CHECK(state.value("tokens.rows") == HostTensor(DType::f32, {16, 4}));
  // Copies that nothing ties are parameters of their own.
  const auto same = drawn<test::Gpt<Declared>>();
  CHECK(Parameters(same).names().size() == names.size() + 1);
  Parameters ill;
  auto one = drawn<test::Gpt<Declared>>();
  tie(one.tokens.rows, one.head.rows);
  ill.add("a", one.tokens.rows);
  Parameter other = one.head.rows;
  other.dims = Dims{3};
  CHECK_THROWS_WITH(ill.add("b", other), "model: `b` is tied to `a`, which is f32[16, 4], got f32[3]");
}

TEST_CASE("a_drawn_value_is_made_of_the_words_of_its_seed_and_position", "[model]") {
  Parameters p;
  p.add("first", Declared<Shape<3>>{Initialiser{"uniform"}});
  Declared<Shape<3>> own{Initialiser{"uniform"}};
  own.seed = 99;
  p.add("second", own);
  const Named values = p.first_values(7);
  for (const auto& [name, seed, position] : {std::tuple("first", 7U, 0U), std::tuple("second", 99U, 1U)}) {
    const auto found = floats(values.at(name));
    for (std::size_t i = 0; i < 3; ++i) {
      // 24 bits of a Philox word over 2^24
      const auto word = spec::philox_word(seed, position, static_cast<std::uint64_t>(Stream::initialise), i);
      CHECK(found[i] == static_cast<float>(word >> 8U) / 16777216.0F);
    }
  }
}

TEST_CASE("errors_of_a_model_name_the_parameter", "[model]") {
  auto model = drawn<test::Mlp<Declared>>();
  model.output.bias.initialiser.reset();
  Parameters p(model);
  CHECK_THROWS_WITH(p.first_values(1), "model: `output.bias` has no initialiser, expected an operation such as zeros, or a value uploaded");
  CHECK_THROWS_WITH(p.add("hidden.bias", Declared<Shape<3>>{Initialiser{}}), "model: `hidden.bias` is named a second time; each parameter is named once");
  CHECK_THROWS_WITH(p.at("hidden.wieght"), "unknown parameter 'hidden.wieght'; did you mean 'hidden.weight'?");
  CHECK_THROWS_WITH(p.freeze("conv.*"), "model: no parameter matches 'conv.*'; there are hidden.weight, hidden.bias, output.weight, output.bias");
  CHECK_THROWS_WITH(p.replace("output.bias", Declared<Shape<3>>{Initialiser{}}),
                    "model: `output.bias` is f32[10], its replacement is f32[3]; another type is another model");
  p.replace("output.bias", Declared<Shape<10>>{Initialiser{"ones"}});
  CHECK(floats(p.first_values(1).at("output.bias")) == std::vector<float>(10, 1));
  Parameters q;
  q.add("w", Declared<Shape<2>>{Initialiser{"relu"}});
  CHECK_THROWS_WITH(q.first_values(1), "model: `w` starts by relu, expected an operation with an attribute shape");
}

TEST_CASE("groups_give_each_trained_parameter_its_optimizer", "[model]") {
  Parameters p(drawn<test::Mlp<Declared>>());
  p.freeze("hidden.*");
  const Optimization o(p, {{"*.bias", {"sgd"}, 2}, {"*", {"adamw"}}});
  REQUIRE(o.entries().size() == 2);
  CHECK(o.entries()[0].name == "output.weight");
  REQUIRE(o.entries()[0].state.size() == 2);
  CHECK(o.entries()[0].state[1].name == "output.weight.v");
  CHECK(o.entries()[1].group == 0);
  CHECK(o.entries()[1].state.size() == 1);
  CHECK_THROWS_WITH(Optimization(p, {{"*.bias", {"sgd"}}}), "optimizer: `output.weight` is in no group; the patterns are *.bias");
  CHECK_THROWS_WITH(Optimization(p, {{"*", {"sgd"}}, {"hidden.*", {"adamw"}}}),
                    "optimizer: no trained parameter belongs to the group 'hidden.*'; there are hidden.weight, hidden.bias, output.weight, output.bias");
  CHECK_THROWS_WITH(Optimization(p, {{"*", {"relu"}}}), "optimizer: relu is no optimizer, expected (p, g, state, t) {lr} -> (p, state)");
  CHECK_THROWS_WITH(Optimization(p, {{"*", {"nadam", {}, 0, {{"mew", 1}}}}}), "optimizer: nadam keeps m, mu, v, got a first value of mew");
  const Optimization nadam(p, {{"*", {"nadam", {}, 0, {{"mu", 1}}}}});
  const auto& mu = nadam.entries()[0].state[2];
  CHECK(mu.dims == Dims{});  // a scalar in the definition
  CHECK(State(p, nadam, 1).download(Part::optimizer).at("output.weight.mu") == HostTensor::of<float>({}, {1}));
}

TEST_CASE("state_is_uploaded_strictly_or_in_part_and_comes_back", "[model]") {
  const Parameters p(drawn<test::Mlp<Declared>>());
  State state(p, adamw(p), 5);
  const Named all = state.download();
  CHECK(all.size() == 4 + 8 + 2);
  CHECK_THROWS_WITH(state.upload({{"hidden.bias", HostTensor(DType::f32, {3})}}),
                    "upload: `hidden.weight` is missing; a partial upload may leave names out");
  CHECK_THROWS_WITH(state.upload({{"hidden.bais", HostTensor(DType::f32, {3})}}, Upload::partial),
                    "upload: unknown entry 'hidden.bais'; did you mean 'hidden.bias'?");
  const HostTensor twos = HostTensor::of<float>({3}, {2, 2, 2});
  CHECK_THROWS_WITH(state.upload({{"hidden.bias", twos}, {"output.bias", HostTensor(DType::f64, {10})}}, Upload::partial),
                    "upload: `output.bias` is f32[10], got f64[10]");
  CHECK(state.download() == all);  // nothing was written
  state.upload({{"hidden.bias", twos}}, Upload::partial);
  CHECK(state.value("hidden.bias") == twos);
  state.store().write("hidden.weight.m", HostTensor::of<float>({3, 64}, std::vector<float>(192, 1)));
  state.reset(Part::parameters);
  CHECK(state.value("hidden.bias") == HostTensor(DType::f32, {3}));
  CHECK(state.download().at("hidden.weight.m") != all.at("hidden.weight.m"));
  state.reset(Part::optimizer);
  CHECK(state.download() == all);
  state.reset(Part::all, 6);
  CHECK(state.value("hidden.weight") != all.at("hidden.weight"));
  state.upload(all, Upload::strict, Part::all);
  CHECK(state.download() == all);
}

TEST_CASE("a_parameter_without_initialiser_waits_for_its_value", "[model]") {
  auto model = drawn<test::Mlp<Declared>>();
  const Parameters complete(model);
  model.hidden.bias.initialiser.reset();
  const Parameters p(model);
  State state(p, adamw(p), 5);
  CHECK_THROWS_WITH(state.value("hidden.bias"), "store: `hidden.bias` has no value yet");
  CHECK(state.value("output.weight") == State(complete, adamw(complete), 5).value("output.weight"));
  state.replace("hidden.bias", HostTensor(DType::f32, {3}));
  CHECK(state.download(Part::parameters).size() == 4);
}

TEST_CASE("a_model_is_a_pack_and_back_and_packs_join_and_split", "[model]") {
  using Numbers = test::Mlp<Declared>;
  const Numbers model = drawn<Numbers>();
  const auto pack = pack_of(model);
  static_assert(decltype(hana::size(pack))::value == 4);
  const Numbers back = model_of_pack<Numbers>(pack);
  CHECK(Parameters(back).names() == Parameters(model).names());
  CHECK(back.output.weight.decays);
  const auto numbers = hana::make_tuple(1, 2.5);
  const auto joined = join(numbers, hana::make_tuple('c'), hana::make_tuple());
  CHECK(bool(joined == hana::make_tuple(1, 2.5, 'c')));
  const auto parts = split<2>(joined);
  CHECK(bool(hana::first(parts) == numbers));
  CHECK(bool(hana::second(parts) == hana::make_tuple('c')));
  const auto f = [](int a, double b, char c) { return a + b + (c - 'a'); };
  CHECK(curried(f)(1)(2.5)('c') == 5.5);
  CHECK(whole(f)(joined) == 5.5);
}
