// Tar archives: where their files are.
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

#include "runtime/file.h"

namespace avida {

struct TarMember {
  std::string_view name;  // during the call only
  int64_t offset;         // of its bytes in the archive
  int64_t size;
};

// Called now and then with the number of bytes that are done. May throw.
using ScanProgress = std::function<void(int64_t)>;

// Calls `on_member` for each regular file, in order. Knows the formats v7, ustar, pax and GNU; folders, links, devices
// and sparse files are passed over. What is no header, or a member that goes on behind the end of the file, is an Error
// that names the byte and the member; an archive may end without the blocks of zeros that mark its end, but not
// without the zeros that fill the last block of a member.
void scan_tar(const File& file, const std::function<void(const TarMember&)>& on_member,
              const ScanProgress& on_progress = {});

}  // namespace avida
