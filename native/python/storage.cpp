// Stores for Python: objects in memory, and mappings from names to bytes.
#include "storage/storage.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "python/readers/readers.h"
#include "runtime/memory.h"
#include "storage/memory.h"
#include "storage/waiting.h"

namespace avida::python {
namespace {

nb::str text_of(std::string_view name) {
  return nb::steal<nb::str>(PyUnicode_DecodeFSDefaultAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
}

// The memory of an object such as bytes, while it lives.
class BufferView {
 public:
  explicit BufferView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  ~BufferView() { PyBuffer_Release(&view_); }
  BufferView(const BufferView&) = delete;
  std::span<const uint8_t> bytes() const {
    return {static_cast<const uint8_t*>(view_.buf), static_cast<size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

// Calls Python code in a thread of a store; what it raises becomes an Error.
template <class Function>
void ask_python(Function&& function) {
  WithGil acquired;
  try {
    function();
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyError) || error.matches(PyExc_FileNotFoundError))
      throw storage::MissingObject("cannot be opened: the store has no object of this name");
    const std::string type = nb::cast<std::string>(error.type().attr("__name__"));
    fail(ErrorKind::runtime, "cannot be read: ", type, ": ", nb::str(error.value()).c_str());
  }
}

// A mapping from names to bytes. What has been put aside for the garbage of native threads keeps it alive.
class MappingStore : public storage::Store {
 public:
  MappingStore(nb::object mapping, int most) : mapping_(hold(std::move(mapping))), most_(most) {}

  int most_requests() const override { return most_; }

  void get(storage::Request& request) const override {
    ask_python([&] {
      const nb::str name = text_of(request.name);
      const nb::object content = call_python(mapping().attr("__getitem__"), {name.ptr()});
      const BufferView view(content);
      const int64_t size = std::ssize(view.bytes()), begin = std::min(request.offset, size);
      request.identity = {size, version_of(name)};
      request.received = request.bytes == storage::Request::kAll ? size - begin : std::min(request.bytes, size - begin);
      request.data = allocate(request.received);
      std::memcpy(request.data.get(), view.bytes().data() + begin, static_cast<size_t>(request.received));
    });
  }

  void list(const std::string& folder, bool deep, const storage::OnEntry& on_entry) const override {
    std::vector<std::string> names;
    ask_python([&] {
      const nb::object all = call_python(reinterpret_cast<PyObject*>(&PyList_Type), {mapping().ptr()});
      for (nb::handle name : nb::borrow<nb::list>(all)) names.push_back(path_of(name));
    });
    storage::EntriesOf entries(folder, deep, on_entry);
    for (const std::string& name : names) entries.add(name);
  }

 private:
  std::string version_of(nb::handle name) const {
    if (!nb::hasattr(mapping(), "version")) return {};
    return nb::str(call_python(mapping().attr("version"), {name.ptr()})).c_str();
  }
  nb::handle mapping() const { return static_cast<PyObject*>(mapping_.get()); }

  const std::shared_ptr<void> mapping_;
  const int most_;
};

// A store that Python code asks for ranges: an Adapter of storage/_adapters.py.
class AdaptedStore : public storage::Store {
 public:
  AdaptedStore(nb::object adapter, int most) : adapter_(hold(std::move(adapter))), most_(most) {}

  int most_requests() const override { return most_; }

  void get(storage::Request& request) const override {
    ask_python([&] {
      const int64_t bytes = request.bytes;
      const nb::object end =
          bytes == storage::Request::kAll ? nb::none() : nb::object(nb::int_(request.offset + bytes));
      const nb::bool_ watched(!request.version.empty());
      const nb::object answer =
          call_python(adapter().attr("get"),
                      {text_of(request.name).ptr(), nb::int_(request.offset).ptr(), end.ptr(), watched.ptr()});
      const BufferView view(answer[0]);
      request.identity = {nb::cast<int64_t>(answer[1]), nb::cast<std::string>(answer[2])};
      request.received = std::ssize(view.bytes());
      if (bytes != storage::Request::kAll && request.received > bytes)
        refuse("asked for ", bytes, " bytes, got ", request.received);
      request.data = allocate(request.received);
      std::memcpy(request.data.get(), view.bytes().data(), static_cast<size_t>(request.received));
    });
  }

  void list(const std::string& folder, bool deep, const storage::OnEntry& on_entry) const override {
    std::vector<std::pair<std::string, bool>> found;
    ask_python([&] {
      const nb::object all = call_python(adapter().attr("ls"), {text_of(folder).ptr(), nb::bool_(deep).ptr()});
      for (nb::handle each : nb::borrow<nb::list>(all)) found.emplace_back(path_of(each[0]), nb::cast<bool>(each[1]));
    });
    for (auto& [name, is_folder] : found) on_entry({name, is_folder});
  }

 private:
  nb::handle adapter() const { return static_cast<PyObject*>(adapter_.get()); }

  const std::shared_ptr<void> adapter_;
  const int most_;
};

template <class Kind>
void register_python(const std::string& scheme, nb::object store, int at_once) {
  if (at_once < 1) value_error("expected at least one request at once, got at_once=", at_once);
  auto made = std::make_shared<const Kind>(std::move(store), at_once);
  WithoutGil released;
  storage::register_store(scheme, std::move(made));
}

// The names in a folder, and whether each is a folder itself.
std::vector<std::pair<nb::str, bool>> list_names(nb::handle folder, bool deep) {
  const std::string name = path_of(folder);
  std::vector<std::pair<std::string, bool>> found;
  {
    const auto interrupt = answer_signals();
    WithoutGil released;
    storage::interruptibly(interrupt, [&] {
      storage::list(name, deep, [&](const storage::Entry& entry) { found.emplace_back(entry.name, entry.is_folder); });
    });
  }
  std::sort(found.begin(), found.end());
  std::vector<std::pair<nb::str, bool>> names;
  for (auto& [entry, is_folder] : found) names.emplace_back(text_of(entry), is_folder);
  return names;
}

}  // namespace

void bind_storage(nb::module_& m) {
  m.def("register_store", &register_python<MappingStore>, nb::arg("scheme"), nb::arg("mapping"), nb::arg("at_once"));
  m.def("register_adapter", &register_python<AdaptedStore>, nb::arg("scheme"), nb::arg("adapter"), nb::arg("at_once"));
  m.def("unregister_store", &storage::unregister_store, nb::arg("scheme"));
  m.def("list_names", &list_names, nb::arg("folder"), nb::arg("deep"));
  m.def(
      "put_in_memory",
      [](nb::handle name, nb::handle content) {
        const BufferView view(content);
        storage::put_in_memory(path_of(name), view.bytes());
      },
      nb::arg("name"), nb::arg("content"));
  m.def(
      "remove_from_memory", [](nb::handle name) { return storage::remove_from_memory(path_of(name)); },
      nb::arg("name"));
  m.def(
      "find_in_memory",
      [](nb::handle name) -> std::optional<nb::bytes> {
        const auto found = storage::find_in_memory(path_of(name));
        if (!found) return std::nullopt;
        return nb::bytes(found->data(), found->size());
      },
      nb::arg("name"));
  m.def("names_in_memory", [] {
    std::vector<nb::str> names;
    for (const std::string& name : storage::names_in_memory()) names.push_back(text_of(name));
    return names;
  });
}

}  // namespace avida::python
