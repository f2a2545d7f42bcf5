#include "conformance/python/exceptions.hpp"

#include <pybind11/pybind11.h>

#include <exception>

#include "conformance/python/others_run.hpp"
#include "spec/error.hpp"

namespace etalon::python {

void register_exceptions() {
  pybind11::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Interrupted& interrupted) {
      interrupted.error->restore();
    } catch (const SpecViolation& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const Unsupported& error) {
      PyErr_SetString(PyExc_NotImplementedError, error.what());
    } catch (const IoError& error) {
      PyErr_SetString(PyExc_OSError, error.what());
    } catch (const InternalError& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  });
}

}  // namespace etalon::python
