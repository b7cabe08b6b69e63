// The index of a data set in MosaicML Streaming's format: its shards, and what their columns hold.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readers/mds/mds_columns.h"

namespace avida {

struct MdsShard {
  enum class Compression { none, zstd, gzip };
  using Columns = std::vector<MdsColumn>;

  std::string name;  // of the file
  int64_t file_bytes = 0;
  Compression compression = Compression::none;
  int64_t bytes = 0;  // of the shard, decompressed
  int64_t samples = 0;
  std::shared_ptr<const Columns> columns;  // in the order of their values
};

// The shards of a data set, which is a folder with an index, a folder of such folders, or an index. Throws where it
// says what cannot be; whether that agrees with the shards is seen when they are opened.
std::vector<MdsShard> find_mds_shards(const std::vector<std::string>& places);

}  // namespace avida
