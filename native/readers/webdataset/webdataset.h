// Samples in tar archives: several members each, by their extensions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/source.h"
#include "readers/tar.h"

namespace avida {

struct WebdatasetOptions {
  std::vector<std::string> paths;
  std::vector<std::string> index_paths;  // none, or one for each archive
  std::vector<std::string> extensions;   // for each output: those that will do, separated by semicolons
  std::vector<DType> dtypes;             // of each output
  enum class Missing { empty, skip, error } missing = Missing::empty;
  bool case_sensitive = true;
  bool read_ahead = false;
  // Damage, and samples that are refused, become samples that cannot be read. Otherwise there is no source then.
  bool keep_damaged = false;
};

std::shared_ptr<Source> webdataset_source(const WebdatasetOptions& options, const ScanProgress& on_progress);

}  // namespace avida
