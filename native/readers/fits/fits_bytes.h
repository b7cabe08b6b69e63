// Reads the bytes of a FITS file, which may be compressed by gzip as a whole.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storage/storage.h"

namespace avida {

constexpr int64_t kMostDeflate = 1032;  // the maximum ratio of deflate

// Decompresses gzip or zlib data.
class Inflater {
 public:
  Inflater();
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;

  // Decompresses `room` bytes, or less if the compressed data ends or more input is needed; advances both pointers.
  void unpack(const unsigned char*& from, const unsigned char* end, unsigned char*& to, int64_t room);
  bool ended() const { return ended_; }  // the compressed data is complete
  void restart();

 private:
  z_stream stream_{};
  bool ended_ = false;
};

// A compressed file is decompressed from its beginning to the last requested byte, and kept in memory.
class FitsBytes {
 public:
  explicit FitsBytes(storage::ObjectPtr file);

  int64_t most() const;   // the maximum size
  bool has(int64_t end);  // whether there are at least `end` bytes
  void read_at(int64_t offset, void* to, int64_t bytes);
  void close();  // until the next read

 private:
  void unpack_to(int64_t end);

  const storage::ObjectPtr file_;
  bool packed_ = false;
  struct Unpacked {
    Inflater inflater;
    std::vector<unsigned char> input, bytes;
    const unsigned char* rest = nullptr;  // the unused input
    int64_t taken = 0;                    // bytes read from the file
  };
  std::unique_ptr<Unpacked> unpacked_;
};

}  // namespace avida
