// The source of readers.MXNet: RecordIO files of images with labels. A record is a magic number, its length and its
// data, padded to four bytes; data with the magic number in it is cut there into several parts.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "readers/records/records.h"
#include "readers/source.h"

namespace avida {

// Outputs: the data, and the label or labels. The index has a key and an offset for each record; offsets are relative
// to the concatenation of all files. Without an index (empty), the files are scanned, see RecordFiles::search.
// `read_ahead` lets the system read all records of a batch into its cache first.
std::shared_ptr<Source> mxnet_source(std::vector<std::string> paths, const std::string& index_path, bool read_ahead,
                                     bool keep_damaged);

void find_recordio(const std::string& path, const File& file, const FoundRecord& record);

}  // namespace avida
