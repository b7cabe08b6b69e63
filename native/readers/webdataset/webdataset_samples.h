// Finds the samples in tar archives: adjacent members with the same name up to the first dot. An index file lists them,
// so that the archive need not be scanned.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/webdataset/tar.h"

namespace avida {

struct WebdatasetMember {
  std::string name, extension;
  int64_t offset, size;
};

struct WebdatasetSample {
  std::string key;  // the common part of the names; empty if an index does not contain it
  std::vector<WebdatasetMember> members;
};

// The key of the sample and the extension, from a member's name.
struct WebdatasetName {
  std::string_view key, extension;
};
WebdatasetName parse_webdataset_name(std::string_view name);
// The same for a member's name and for its form in an index, which has underscores instead of blanks. 0 without a name.
uint64_t hash_of_webdataset_name(std::string_view name);

using OnWebdatasetSample = std::function<void(const WebdatasetSample&)>;

// Both call `on_sample` for each sample, and throw an Error that names the position. `sample` is the current one; after
// an exception it contains what is known of it.
void find_webdataset_samples(const storage::Object& archive, WebdatasetSample& sample,
                             const OnWebdatasetSample& on_sample, const ScanProgress& on_progress = {});
// `index` is the text of an index file for an archive of `archive_bytes` bytes.
void list_webdataset_samples(std::string_view index, int64_t archive_bytes, WebdatasetSample& sample,
                             const OnWebdatasetSample& on_sample);

// The text of an index file.
std::string webdataset_index(const storage::Object& archive, const ScanProgress& on_progress);

}  // namespace avida
