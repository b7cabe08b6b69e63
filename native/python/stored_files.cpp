// Parts of files in any store, for libraries of Python that parse them.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "python/python.h"
#include "python/readers/readers.h"
#include "storage/fetched.h"
#include "storage/waiting.h"

namespace avida::python {
namespace {

// A file as it was when it was opened: one that is another by now is an error.
struct StoredFile {
  std::string name;
  storage::ObjectPtr object;
  storage::CachePtr cache;  // through which it is read, if any
};

// What goes wrong in a request names the file.
template <class Function>
auto naming(const std::string& name, Function&& function) {
  try {
    return function();
  } catch (const Error& error) {
    throw Error(error.kind, str(name, ": ", error.message));
  }
}

std::vector<StoredFile> open_files(nb::list names, const CacheHandle* handle) {
  const storage::CachePtr cache = handle ? handle->cache : nullptr;
  const std::vector<std::string> paths = paths_of(names);
  const Interrupt interrupt = answer_signals();
  std::vector<StoredFile> files;
  WithoutGil released;
  const storage::ThroughCache through(cache);
  const auto opened = storage::interruptibly(interrupt, [&] { return storage::open_all(paths); });
  for (size_t i = 0; i < paths.size(); i++) {
    naming(paths[i], [&] {
      if (opened[i].error) std::rethrow_exception(opened[i].error);
    });
    files.push_back({paths[i], opened[i].object, cache});
  }
  return files;
}

constexpr int64_t kLargest = 8 << 20;  // bytes of a request

struct Range {
  const StoredFile* file;
  int64_t offset;
  char* to;
  int64_t bytes;
};

// (file, offset, bytes) as bytes, of files that were opened together. All are asked for together.
nb::list read_parts(nb::list parts) {
  std::vector<Range> ranges;
  nb::list contents;
  for (nb::handle part : parts) {
    const auto& file = nb::cast<const StoredFile&>(part[0]);
    const auto offset = nb::cast<int64_t>(part[1]), bytes = nb::cast<int64_t>(part[2]);
    if (offset < 0 || bytes < 0 || offset > file.object->size() || bytes > file.object->size() - offset)
      refuse(file.name, ": expected ", bytes, " bytes at byte ", offset, ", but the file has only ",
             file.object->size(), " bytes");
    nb::object content = nb::steal(PyBytes_FromStringAndSize(nullptr, bytes));
    if (!content.is_valid()) throw nb::python_error();
    for (int64_t done = 0; done < bytes; done += kLargest)
      ranges.push_back(
          {&file, offset + done, PyBytes_AS_STRING(content.ptr()) + done, std::min(kLargest, bytes - done)});
    contents.append(content);
  }
  const Interrupt interrupt = answer_signals();
  WithoutGil released;
  const storage::ThroughCache through(ranges.empty() ? nullptr : ranges[0].file->cache);
  storage::interruptibly(interrupt, [&] {
    storage::Needs needs;
    for (const Range& range : ranges) needs.part(range.file->name, range.file->object, range.offset, range.bytes);
    const storage::Fetched fetched(needs);
    for (const Range& range : ranges)
      naming(range.file->name,
             [&] { fetched.of(range.file->name, range.file->object)->read_at(range.offset, range.to, range.bytes); });
  });
  return contents;
}

}  // namespace

void bind_stored_files(nb::module_& m) {
  nb::class_<StoredFile>(m, "StoredFile")
      .def_ro("name", &StoredFile::name)
      .def_prop_ro("size", [](const StoredFile& file) { return file.object->size(); });
  m.def("open_files", &open_files, nb::arg("names"), nb::arg("cache").none() = nb::none(),
        "Files of any stores, which are asked for together.");
  m.def("read_parts", &read_parts, nb::arg("parts"), "(file, offset, bytes) as bytes. All are asked for together.");
}

}  // namespace avida::python
