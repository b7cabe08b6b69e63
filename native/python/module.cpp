// The module _core: exceptions, and what each binding file adds.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "codecs/audio/audio_formats.h"
#include "codecs/codec.h"
#include "codecs/decoded_images.h"
#include "codecs/image.h"
#include "codecs/jpeg/sequential_decoder.h"
#include "core/vectors.h"
#include "gpu/engines/nvdec.h"
#include "loops/decoding/decode_on_gpu.h"
#include "operator/gpu_call.h"
#include "python/feed.h"
#include "python/python.h"
#include "runtime/executor.h"

namespace avida::python {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;  // includes the name in Clang
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

PyObject* exception_type(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value:
      return PyExc_ValueError;
    case ErrorKind::type:
      return PyExc_TypeError;
    case ErrorKind::index:
      return PyExc_IndexError;
    case ErrorKind::memory:
      return PyExc_MemoryError;
    case ErrorKind::key:
      return PyExc_KeyError;
    case ErrorKind::os:
      return PyExc_OSError;
    case ErrorKind::overflow:
      return PyExc_OverflowError;
    case ErrorKind::not_implemented:
      return PyExc_NotImplementedError;
    case ErrorKind::runtime:
      break;
  }
  return PyExc_RuntimeError;
}

// File names in a message may contain any bytes.
nb::object decoded(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

// Tracebacks show the note, str(error) does not.
void set_error(ErrorKind kind, const std::string& message, const std::string& note = {}) {
  nb::object error = nb::handle(exception_type(kind))(decoded(message));
  if (!note.empty()) error.attr("add_note")(decoded(note));
  PyErr_SetObject(exception_type(kind), error.ptr());
}

// Creates a new exception each time: raising one object repeatedly would grow its traceback and keep its frames alive.
nb::object copy_of(PyObject* exception) {
  nb::object original = nb::borrow(exception);
  try {
    nb::object copied = nb::module_::import_("copy").attr("copy")(original);
    if (Py_TYPE(copied.ptr()) != Py_TYPE(exception)) return original;
    PyException_SetTraceback(copied.ptr(), nb::object(original.attr("__traceback__")).ptr());
    for (const char* name : {"__cause__", "__context__", "__suppress_context__"})
      copied.attr(name) = original.attr(name);
    return copied;
  } catch (nb::python_error&) {
    return original;
  }
}

}  // namespace

void set_python_error(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(pointer);
  } catch (const FailureError& error) {
    if (error.failure->cause) {
      nb::object cause = copy_of(static_cast<PyObject*>(error.failure->cause.get()));
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(cause.ptr())), cause.ptr());
    } else {
      set_error(error.failure->kind, error.failure->message, error.failure->note);
    }
  } catch (const Error& error) {
    set_error(error.kind, error.message);
  }
}

namespace {

int (*exec_of_nanobind)(PyObject*) = nullptr;

bool check_interpreter() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return true;
  PyErr_SetString(PyExc_ImportError, "avida works in the main interpreter only, and this is a subinterpreter");
  return false;
}

int exec_in_main_interpreter(PyObject* module) { return check_interpreter() ? exec_of_nanobind(module) : -1; }

void bind_codecs(nb::module_& m) {
  m.def("decoded_images", [] {
    const codecs::DecodedImages::Use use = codecs::DecodedImages::instance().use();
    return nb::make_tuple(use.images, use.bytes, use.hits, use.misses);
  });
  m.def("clear_decoded_images", [] { codecs::DecodedImages::instance().clear(); });
  m.def(
      "sound_formats",
      [] {
        std::vector<std::pair<std::string, std::string>> found;
        for (const codecs::AudioFormat& format : codecs::audio_formats())
          found.emplace_back(format.name, format.library);
        return found;
      },
      "The sound formats that this build reads, each with its library.");
  m.def(
      "image_formats",
      [] {
        std::vector<std::tuple<std::string_view, std::vector<std::string_view>, std::string, std::string_view,
                               std::vector<std::string_view>>>
            found;
        for (const codecs::Codec& codec : codecs::all_codecs())
          found.emplace_back(codec.name, codec.endings, codec.library, codec.license, codec.can.names());
        return found;
      },
      "The image formats that this build reads: name, endings of files, library, its licence, and what the codec can "
      "do.");
  m.def(
      "image_info",
      [](nb::handle file) {
        Py_buffer view;
        if (PyObject_GetBuffer(file.ptr(), &view, PyBUF_SIMPLE)) throw nb::python_error();
        const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> guard(&view, PyBuffer_Release);
        const codecs::Bytes bytes(static_cast<const uint8_t*>(view.buf), static_cast<size_t>(view.len));
        const codecs::EncodedImage image(bytes, {.type = codecs::ImageType::any});
        const codecs::ImageDetails details = image.file().details();
        const codecs::Extents extents = image.extents();
        return std::make_tuple(std::string(image.format()), extents.height, extents.width, extents.channels,
                               details.bits, details.frames, details.pages, image.info().orientation, details.profile);
      },
      "Format, height, width, channels, bits, frames, pages, orientation and colour profile of an image file.");
  m.def("image_endings", &codecs::image_endings, "The endings of the files of all image formats, in order.");
  m.def(
      "decode_limits",
      [] {
        const codecs::DecodeLimits limits = codecs::decode_limits();
        return std::make_tuple(limits.pixels, limits.scans, limits.work, limits.memory);
      },
      "The maximum numbers of pixels, scans, steps of work and bytes of memory of a file.");
  m.def(
      "set_decode_limits",
      [](int64_t pixels, int64_t scans, int64_t work, int64_t memory) {
        codecs::set_decode_limits({pixels, scans, work, memory});
      },
      nb::arg("pixels"), nb::arg("scans"), nb::arg("work"), nb::arg("memory"));
}

// Switches and counters that only tests and benchmarks use.
struct Testing {};

void bind_testing(nb::module_& m) {
  auto testing = nb::class_<Testing>(m, "testing");
  testing.def_static(
      "vector_targets",
      [] {
        std::vector<std::string> names;
        for (std::string_view name : vector_targets()) names.emplace_back(name);
        return names;
      },
      "The instruction sets of this machine that vector code was compiled for, the best one first.");
  testing.def_static(
      "use_vectors", [](const std::string& target) { use_vectors(target); }, nb::arg("target"),
      "Nothing better than this one of vector_targets() is used from now on.");
  testing.def_static("jpeg_decodes", &codecs::sequential_decodes,
                     "The number of JPEG images that libjpeg-turbo did not decode.");
  testing.def_static("jpeg_headers_read", &codecs::jpeg_headers_read,
                     "The number of headers of JPEG files that were parsed.");
  testing.def_static("shared_jpeg_decodes", &codecs::shared_sequential_decodes,
                     "The number of JPEG images that several threads began to decode together.");
  testing.def_static("gpu_jpeg_decodes", &jpegs_decoded_by_kernels,
                     "The number of JPEG images that GPUs decoded themselves, from the data of the file on.");
  testing.def_static("jpeg_decoders", [] {
    std::vector<std::string> names;
    for (std::string_view name : codecs::jpeg_decoders()) names.emplace_back(name);
    return names;
  });
  testing.def_static(
      "use_jpeg_decoder", [](const std::string& name) { codecs::use_jpeg_decoder(name); }, nb::arg("name"),
      "One of jpeg_decoders() decodes from now on.");
  testing.def_static("split_jpeg_scans", &codecs::split_jpeg_scans, nb::arg("bytes"),
                     "Threads share the data of every JPEG file in segments of so many bytes. 0: as usual.");
  testing.def_static("nvdec_history", &Nvdec::history);
  testing.def_static("gpu_launches", &all_launches, "The number of kernels launched on GPUs so far.");
  testing.def_static("gpu_block_launches", &block_launches,
                     "The number of kernels launched on GPUs so far whose thread blocks share memory.");
  testing.def_static("chained_calls", &Executor::chained_tasks, "How many calls were run as part of a chain so far.");
}

}  // namespace

// nanobind's module function, under another name. Initialising nanobind in a subinterpreter would break the main one,
// so PyInit__core, below, checks first.
#define PyInit__core PyInit_core_by_nanobind
NB_MODULE(_core, m) {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) { set_python_error(error); });
  nb::set_leak_warnings(false);  // values may live until the process exits
  m.attr("compiler") = kCompiler;
  bind_values(m);
  bind_arrow(m);
  bind_arrow_exports(m);
  bind_calls(m);
  bind_execution(m);
  bind_feeds(m);
  bind_python_calls(m);
  bind_gpu(m);
  bind_profiles(m);
  bind_codecs(m);
  bind_testing(m);
  bind_descriptors(m);
  bind_storage(m);
  bind_stores(m);
  bind_stored_files(m);
  bind_readers(m);
}

#undef PyInit__core

// Python 3.13 calls it in the main interpreter first, and then only executes the module in the subinterpreter.
extern "C" NB_EXPORT PyObject* PyInit__core() {
  if (!check_interpreter()) return nullptr;
  PyObject* made = PyInit_core_by_nanobind();
  if (!made) return nullptr;
  for (PyModuleDef_Slot* slot = reinterpret_cast<PyModuleDef*>(made)->m_slots; slot->slot; slot++) {
    if (slot->slot != Py_mod_exec || slot->value == reinterpret_cast<void*>(exec_in_main_interpreter)) continue;
    exec_of_nanobind = reinterpret_cast<int (*)(PyObject*)>(slot->value);
    slot->value = reinterpret_cast<void*>(exec_in_main_interpreter);
  }
  return made;
}

}  // namespace avida::python
