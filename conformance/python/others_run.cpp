#include "conformance/python/others_run.hpp"

namespace etalon::python {

void handle_signals() {
  if (PyErr_CheckSignals() != 0) throw Interrupted{std::make_shared<pybind11::error_already_set>()};
}

}  // namespace etalon::python
