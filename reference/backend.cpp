#include "reference/backend.hpp"

#include "reference/answer.hpp"
#include "spec/error.hpp"

namespace etalon::reference {

namespace {

using spec::Answer;
using spec::Mode;
using spec::Refusal;
using spec::Request;

class ReferenceBackend final : public spec::Backend {
 public:
  [[nodiscard]] spec::Description describe() const override {
    spec::Description d;
    d.name = "reference";
    d.version = "1";
    d.dtypes = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
    d.modes = {Mode::forward, Mode::jvp, Mode::vjp, Mode::jvp_of_vjp};
    d.contract.name = "reference";
    d.contract.default_function = {0.5, 0, 0, true};
    d.generator = "philox4x32-10";
    d.fuses = true;  // only what is asked for is rounded
    return d;
  }

  [[nodiscard]] Answer run(const Request& request) override {
    try {
      return correctly_rounded(request);
    } catch (const SpecViolation& e) {
      return Refusal{Refusal::Kind::rejected, e.what(), {}};
    } catch (const Unsupported& e) {
      return Refusal{Refusal::Kind::unsupported, e.what(), "operation"};
    } catch (const std::exception& e) {
      return Refusal{Refusal::Kind::error, e.what(), {}};
    }
  }
};

}  // namespace

std::unique_ptr<spec::Backend> make_reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace etalon::reference
