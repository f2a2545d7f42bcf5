// Seeds that are no numbers reach what masks hide: where they go is told for every definition that has derivatives.
#include <catch2/catch.hpp>
#include <span>
#include <string>

#include "conformance/carried_seeds.hpp"
#include "conformance/case.hpp"
#include "conformance/question.hpp"
#include "conformance/undifferentiable.hpp"
#include "spec/derivative/dependence.hpp"
#include "spec/library/library.hpp"

using namespace etalon;
using conformance::Check;

TEST_CASE("seeds are carried through every definition's derivatives that they move", "[carried]") {
  std::size_t carried = 0;
  for (const spec::Definition* d : spec::Library().definitions()) {
    for (const Check check : {Check::jvp, Check::vjp}) {
      const auto c = conformance::make_case({std::string(d->name), check, DType::f32, 0, 1, {}});
      if (!c) continue;
      const spec::Request request = conformance::request_of(*c);
      const conformance::Question question = conformance::question_of(request);
      const conformance::DerivativeLayout layout = conformance::layout_of(request);
      const spec::Dependence seeds(question.system, std::span(question.system.inputs).subspan(layout.operands));
      bool moved = false;
      for (std::size_t o = layout.results; o < question.system.outputs.size(); ++o) moved = moved || seeds.has(question.system.outputs[o]);
      INFO(conformance::id_of(c->key));
      CHECK(conformance::with_carried_seeds(question.system, layout.operands, layout.results).has_value() == moved);
      carried += moved ? 1 : 0;
    }
  }
  CHECK(carried > 200);
}
