/// \file
/// Asks all cases of a plan, by several threads, and keeps what was answered. What is asked and the order of the records
/// do not depend on the number of threads.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "conformance/check.hpp"
#include "conformance/conform.hpp"
#include "conformance/plan.hpp"
#include "conformance/reports/journal.hpp"
#include "conformance/reports/report.hpp"

namespace etalon::conformance {

/// One caller at a time.
class Shared final : public Asked {
 public:
  explicit Shared(spec::Backend& backend) : backend_(backend), fuses_(backend.describe().fuses) {}
  [[nodiscard]] bool fuses() const override { return fuses_; }
  [[nodiscard]] std::size_t foresight() const override { return backend_.foresight(); }
  void expect(std::span<const spec::Request> requests) override {
    const std::lock_guard lock(mutex_);
    backend_.expect(requests);
  }
  [[nodiscard]] spec::Answer run(const spec::Request& request) override {
    const std::lock_guard lock(mutex_);
    return backend_.run(request);
  }
  [[nodiscard]] std::optional<std::string> script(const spec::Request& request, const std::optional<spec::Shown>& shown) override {
    const std::lock_guard lock(mutex_);
    return backend_.script(request, shown);
  }

 private:
  spec::Backend& backend_;
  bool fuses_;
  std::mutex mutex_;
};

/// What the backend is held to.
struct Held {
  spec::Contract contract;
  spec::Description description;  ///< says what is not asked
};

/// All records, sorted by id. Cases of `known` are not asked again.
[[nodiscard]] std::vector<Record> ask_all(const ConformOptions& options, const std::vector<Unit>& units, const Held& held,
                                          Asked& first, const std::map<std::string, Record>& known, Journal& journal);

}  // namespace etalon::conformance
