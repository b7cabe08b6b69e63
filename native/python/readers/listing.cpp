// The listings of folders, which files keep from one run to the next.
#include "readers/file/listing.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

#include "python/python.h"
#include "python/readers/readers.h"
#include "storage/local.h"
#include "storage/waiting.h"

namespace avida::python {
namespace {

struct ListingHandle {
  std::shared_ptr<const Listing> listing;
};

template <class Function>
std::shared_ptr<const Listing> without_gil(Function&& function) {
  const auto interrupt = answer_signals();
  WithoutGil released;
  return storage::interruptibly(interrupt, [&] { return function(interrupt); });
}

std::optional<ListingHandle> kept_listing(nb::handle path, nb::handle root) {
  auto listing =
      without_gil([path = path_of(path), root = path_of(root)](const Interrupt&) { return Listing::kept(path, root); });
  return listing ? std::optional(ListingHandle{std::move(listing)}) : std::nullopt;
}

ListingHandle listing_of(nb::handle root) {
  return {without_gil([root = path_of(root)](const Interrupt& interrupt) { return Listing::of(root, interrupt); })};
}

// Of a file on this machine, such as of file:///a; nothing for other names.
std::optional<nb::str> local_path(nb::handle name) {
  const std::string given = path_of(name);
  if (!storage::is_local_path(given)) return std::nullopt;
  return nb::steal<nb::str>(PyUnicode_DecodeFSDefault(storage::local_path(given).c_str()));
}

const ConvertArgument listing("listing", [](nb::handle object) -> std::any {
  return nb::cast<ListingHandle&>(object).listing.get();
});

const BindFormat listings([](nb::module_& m) {
  nb::class_<ListingHandle>(m, "FolderListing")
      .def(
          "content",
          [](const ListingHandle& self, nb::handle path, nb::handle root) {
            const std::string content = self.listing->content(path_of(path), path_of(root));
            return nb::bytes(content.data(), content.size());
          },
          nb::arg("path"), nb::arg("root"));
  m.def("kept_listing", &kept_listing, nb::arg("path"), nb::arg("root"));
  m.def("folder_listing", &listing_of, nb::arg("root"));
  m.def("local_path", &local_path, nb::arg("name"));
});

}  // namespace
}  // namespace avida::python
