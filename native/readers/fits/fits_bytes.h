// The bytes of a FITS file, which may be packed by gzip as a whole.
#pragma once
#include <zlib.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readers/held_file.h"

namespace avida {

constexpr int64_t kMostDeflate = 1032;  // bytes that deflate can make of one

// Unpacks what gzip or zlib packed.
class Inflater {
 public:
  Inflater();
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;

  // Makes `room` bytes, or less where the packed data end or more of them are needed; both pointers move on.
  void unpack(const unsigned char*& from, const unsigned char* end, unsigned char*& to, int64_t room);
  bool ended() const { return ended_; }  // the packed data are complete
  void restart();

 private:
  z_stream stream_{};
  bool ended_ = false;
};

// A packed file is unpacked from its beginning to the last byte that was asked for, and kept.
class FitsBytes {
 public:
  explicit FitsBytes(std::string path);

  int64_t most() const;   // bytes that there can be
  bool has(int64_t end);  // whether there are that many
  void read_at(int64_t offset, void* to, int64_t bytes);
  void close();  // until something is read
  void close_if_many_are_open() { held_.close_if_many_are_open(); }

 private:
  void unpack_to(int64_t end);

  HeldFile held_;
  int64_t file_bytes_ = 0;
  bool packed_ = false;
  struct Unpacked {
    Inflater inflater;
    std::vector<unsigned char> input, bytes;
    const unsigned char* rest = nullptr;  // of the input
    int64_t taken = 0;                    // from the file
  };
  std::unique_ptr<Unpacked> unpacked_;
};

}  // namespace avida
