// The source of readers.MXNet: RecordIO files of images with labels. A record is a magic number, its length and its
// data, padded to four bytes; data with the magic number in it is cut there into several parts.
#pragma once
#include <string>

#include "readers/records/records.h"

namespace avida {

void find_recordio(const std::string& path, const storage::Object& file, const FoundRecord& record);

}  // namespace avida
