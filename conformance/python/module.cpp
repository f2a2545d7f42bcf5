#include <pybind11/pybind11.h>

#include "conformance/python/evaluation.hpp"
#include "conformance/python/exceptions.hpp"
#include "conformance/python/interval.hpp"
#include "conformance/python/operation.hpp"
#include "conformance/python/program.hpp"
#include "conformance/python/suite.hpp"

PYBIND11_MODULE(_etalon, module) {
  module.doc() = "What `import etalon` is made of: arrays in and out, and no meaning of its own.";
  module.attr("version") = ETALON_VERSION;
  etalon::python::register_exceptions();
  etalon::python::bind_operation(module);
  etalon::python::bind_evaluation(module);
  etalon::python::bind_interval(module);
  etalon::python::bind_program(module);
  etalon::python::bind_suite(module);
}
