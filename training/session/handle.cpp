#include "training/session/handle.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"

namespace etalon::training {

Traced Recorded::traced() const {
  if (!core_) throw SpecViolation("session: a handle that names nothing was used");
  if (!entry_.empty()) return core_->record->entry(entry_);
  if (!record_->open()) throw SpecViolation(fmt::format("session: `{}` is of a record that a step or reset has ended", name()));
  return traced_;
}

HostTensor Recorded::value() const {
  if (!core_) throw SpecViolation("session: a handle that names nothing was used");
  return entry_.empty() ? record_->value(traced_) : core_->record->value(core_->record->entry(entry_));
}

Recorded Recorded::gradient_value() const {
  const Traced of = traced();
  return {core_, core_->record, core_->record->gradient(of)};
}

void detail::require_same_session(std::shared_ptr<SessionCore>& all, const Recorded& value) {
  if (!value.core()) throw SpecViolation("session: a handle that names nothing was used");
  if (all && all != value.core()) throw SpecViolation(fmt::format("session: `{}` is of another session than the operands before it", value.name()));
  all = value.core();
}

}  // namespace etalon::training
