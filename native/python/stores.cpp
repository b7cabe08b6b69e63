// Stores on other machines, for Python: their settings, and objects by name.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <utility>

#include "core/error.h"
#include "python/python.h"
#include "python/readers/readers.h"
#include "storage/cache/disk_cache.h"
#include "storage/cache/memory_cache.h"
#include "storage/http/settings.h"
#include "storage/storage.h"
#include "storage/waiting.h"

namespace avida::python {
namespace {

template <class T>
void take(nb::dict given, const char* name, std::optional<T>& setting) {
  if (const nb::object value = given.get(name, nb::none()); !value.is_none()) setting = nb::cast<T>(value);
}

std::string text_in(nb::handle mapping, const char* name) {
  const nb::object value = mapping.attr("get")(name);
  return value.is_none() ? std::string() : nb::cast<std::string>(value);
}

// What a function of Python gives as credentials; the messages of what it raises may be secret.
storage::Credentials ask_for_credentials(nb::handle provider) {
  WithGil acquired;
  try {
    const nb::object given = provider();
    storage::Credentials credentials{text_in(given, "key"), text_in(given, "secret"), text_in(given, "token")};
    const nb::object expires = given.attr("get")("expires");
    if (!expires.is_none()) credentials.expires = nb::cast<double>(expires);
    return credentials;
  } catch (nb::python_error& error) {
    refuse("the function that gives credentials raised ", nb::cast<std::string>(error.type().attr("__name__")));
  } catch (const nb::cast_error&) {
    refuse("the function that gives credentials returned something else than texts and a number");
  }
}

void configure(const std::string& prefix, nb::dict given) {
  storage::Settings settings;
  take(given, "endpoint", settings.endpoint);
  take(given, "region", settings.region);
  take(given, "account", settings.account);
  take(given, "certificates", settings.certificates);
  take(given, "path_style", settings.path_style);
  take(given, "anonymous", settings.anonymous);
  take(given, "timeout", settings.timeout);
  take(given, "connect_timeout", settings.connect_timeout);
  take(given, "deadline", settings.deadline);
  take(given, "requests", settings.requests);
  if (nb::object provider = given.get("credentials", nb::none()); !provider.is_none()) {
    const std::shared_ptr<void> held = hold(std::move(provider));
    settings.credentials = std::make_shared<storage::CredentialSource>(
        [held] { return ask_for_credentials(static_cast<PyObject*>(held.get())); });
  }
  WithoutGil released;
  storage::configure(prefix, std::move(settings));
}

// Runs a request for what an object is, or for all of it; errors name it.
template <class Function>
auto named(const std::string& name, Function&& function) {
  const auto interrupt = answer_signals();
  WithoutGil released;
  try {
    return storage::interruptibly(interrupt, function);
  } catch (const Error& error) {
    throw Error(error.kind, str(name, ": ", error.message));
  }
}

CacheHandle cache_on_disk(nb::handle folder, int64_t limit, bool check) {
  const std::string path = path_of(folder);
  const auto interrupt = answer_signals();
  WithoutGil released;
  auto blocks = storage::interruptibly(interrupt, [&] { return storage::disk_cache(path, limit); });
  return {std::make_shared<const storage::Cache>(std::move(blocks), check)};
}

CacheHandle cache_in_memory(int64_t limit, bool check) {
  return {std::make_shared<const storage::Cache>(storage::memory_cache(limit), check)};
}

const ConvertArgument cache("cache", [](nb::handle object) -> std::any {
  return nb::cast<CacheHandle&>(object.attr("_native")).cache;
});

}  // namespace

void bind_stores(nb::module_& m) {
  nb::class_<CacheHandle>(m, "StorageCache")
      .def_static("on_disk", &cache_on_disk, nb::arg("folder"), nb::arg("limit"), nb::arg("check"))
      .def_static("in_memory", &cache_in_memory, nb::arg("limit"), nb::arg("check"))
      .def_prop_ro("bytes", [](const CacheHandle& self) { return self.cache->blocks->bytes_in_use(); })
      .def("take_trouble", [](const CacheHandle& self) { return self.cache->blocks->take_trouble(); });
  m.attr("LEAST_CACHE_LIMIT") = storage::kLeastCacheLimit;
  m.attr("MOST_CACHE_LIMIT") = storage::kMostCacheLimit;
  m.def("configure_store", &configure, nb::arg("prefix"), nb::arg("settings"));
  m.def("has_certificates", [] { return !storage::system_certificates().empty(); });
  m.def(
      "object_size",
      [](nb::handle name) {
        const std::string path = path_of(name);
        return named(path, [&] { return storage::identity(path).size; });
      },
      nb::arg("name"));
  m.def(
      "object_exists",
      [](nb::handle name) {
        const std::string path = path_of(name);
        return named(path, [&] { return storage::exists(path); });
      },
      nb::arg("name"));
  m.def(
      "read_object",
      [](nb::handle name) {
        const std::string path = path_of(name);
        const std::string content = named(path, [&] { return storage::read_text(path); });
        return nb::bytes(content.data(), content.size());
      },
      nb::arg("name"));
}

}  // namespace avida::python
