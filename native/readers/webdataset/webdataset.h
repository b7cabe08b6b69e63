// The source of readers.Webdataset: samples of several members, chosen by their extensions.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/source.h"
#include "readers/webdataset/tar.h"

namespace avida {

struct WebdatasetOptions {
  std::vector<std::string> paths;
  std::vector<std::string> index_paths;  // empty, or one for each archive
  std::vector<std::string> extensions;   // for each output: the accepted extensions, separated by semicolons
  std::vector<DType> dtypes;             // of each output
  enum class Missing { empty, skip, error } missing = Missing::empty;
  bool allow_unmatched = false;    // allow an extension that no member of the data set has
  std::vector<bool> text_numbers;  // for each output: whether members contain one number as text instead of elements
  bool case_sensitive = true;
  bool read_ahead = false;
  // Damaged and rejected samples become samples that cannot be read. Otherwise creating the source fails.
  bool keep_damaged = false;
};

std::shared_ptr<Source> webdataset_source(const WebdatasetOptions& options, const ScanProgress& on_progress);

}  // namespace avida
