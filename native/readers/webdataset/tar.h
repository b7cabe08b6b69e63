// Locates the members of tar archives.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/storage.h"

namespace avida {

struct TarMember {
  std::string_view name;  // valid during the call only
  int64_t offset;         // the offset of its bytes in the archive
  int64_t size;
};

constexpr int kTarBlock = 512;  // bytes of a header, and the padding of members

struct TarHeader {
  std::string name;
  int64_t size;
};

// Parses a single header of kTarBlock bytes; returns nullopt if it is not that of a regular file. Extended headers
// before it, which are not considered, may override name and size.
std::optional<TarHeader> read_tar_header(const char* block);

// Called regularly with the number of bytes that are done. May throw.
using ScanProgress = std::function<void(int64_t)>;

// Calls `on_member` for each regular file, in order. Supports the formats v7, ustar, pax and GNU; skips folders, links,
// devices and sparse files. An invalid header, or a member that exceeds the file, is an Error that names the byte and
// the member. An archive may end without the zero blocks that mark its end, but not without the padding of its last
// member.
void scan_tar(const storage::Object& file, const std::function<void(const TarMember&)>& on_member,
              const ScanProgress& on_progress = {});

}  // namespace avida
