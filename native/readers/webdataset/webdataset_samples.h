// Samples in tar archives: members that follow one another and have the same name up to the first dot. An index file
// lists them, so that the archive need not be gone through.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/tar.h"

namespace avida {

struct WebdatasetMember {
  std::string name, extension;
  int64_t offset, size;
};

struct WebdatasetSample {
  std::string key;  // what the names have in common; empty when an index does not tell
  std::vector<WebdatasetMember> members;
};

using OnWebdatasetSample = std::function<void(const WebdatasetSample&)>;

// Both call `on_sample` for each sample, and throw an Error that names the place. `sample` is the one at hand, also
// after a throw: what is known of it then.
void find_webdataset_samples(const File& archive, WebdatasetSample& sample, const OnWebdatasetSample& on_sample,
                             const ScanProgress& on_progress = {});
// `index` is the text of an index file for an archive of so many bytes.
void list_webdataset_samples(std::string_view index, int64_t archive_bytes, WebdatasetSample& sample,
                             const OnWebdatasetSample& on_sample);

// The text of an index file.
std::string webdataset_index(const File& archive, const ScanProgress& on_progress);

}  // namespace avida
