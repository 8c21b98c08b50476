// The Python module kerf._kerf: thin over kerf.h.  Each function takes arrays apart, releases the
// GIL, makes one library call and hands back arrays; the package kerf gives it a face.
//
// SPDX-License-Identifier: Apache-2.0
#include "arrays.h"

namespace kerf::python {
namespace {

/// The library's message in the exception that Python programs expect.
void translate(const Error& error) {
  PyObject* type = PyExc_ValueError;
  if (error.kind() == ErrorKind::memory) type = PyExc_MemoryError;
  if (error.kind() == ErrorKind::interrupted) type = PyExc_KeyboardInterrupt;
  PyErr_SetString(type, error.what());
}

}  // namespace
}  // namespace kerf::python

PYBIND11_MODULE(_kerf, module) {
  namespace py = pybind11;
  using namespace kerf::python;
  kerf::detail::set_face(kerf::detail::Face::python);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const kerf::Error& error) {
      translate(error);
    }
  });
  module.attr("__version__") = kerf::detail::version();
  module.def("threads", &kerf::detail::threads);
  module.def("set_threads", &kerf::detail::set_threads);
  module.def("limit_threads", &kerf::detail::limit_threads);
  module.def("cores", &kerf::detail::cores);
  module.def("available_memory", &kerf::detail::available_memory);
  module.def("parse_bytes",
             [](const std::string& text) { return kerf::detail::parse_bytes(text); });
  module.def("python_name", &kerf::detail::spell_bare,
             "The keyword of an option: shared-directions becomes shared_directions.");
  module.def("nearest_name", [](const std::string& word, const std::vector<std::string>& names) {
    return kerf::detail::nearest_name(word, names);
  });
  add_tables(module);
  add_maps(module);
  add_kernels(module);
  add_models(module);
  add_design(module);
  add_insight(module);
}
