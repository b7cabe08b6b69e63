// Decodes Ogg Vorbis files in memory, with the tables of an earlier file if the headers are the same.
#pragma once
#include <ogg/ogg.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codecs/codec.h"

namespace avida::codecs {

// Making the tables of codebooks and transforms takes a fifth of the time of a file of 3 s. Files of one encoder have
// the same ones, and each thread keeps a few of the last.
class VorbisFile {
 public:
  // Returns null unless the file is a single stream of one or two channels without damage, from its first frame to the
  // end of the file. Such files have exactly frames() frames, unless a packet is invalid.
  static std::unique_ptr<VorbisFile> open(Bytes file);
  ~VorbisFile();

  int channels() const { return channels_; }
  int rate() const { return rate_; }
  int64_t frames() const { return frames_; }
  int64_t position() const { return position_; }
  // Reads the next frames. Returns how many there are: fewer if a packet is invalid.
  int64_t read(float* to, int64_t frames);

 private:
  struct Packet {
    size_t begin, size;
    int64_t granule;  // the position in frames after it, -1 if not known
    bool last;
  };
  class Decoder;
  class Decoders;

  VorbisFile();
  bool split(Bytes file);
  bool read_headers();
  bool count_frames(Decoder& decoder);
  ogg_packet packet(size_t i);
  std::span<const uint8_t> bytes_of(size_t i) const;
  bool has_headers_of(const Decoder& decoder) const;
  std::unique_ptr<Decoder> make_decoder();

  std::vector<uint8_t> bytes_;  // of all packets
  std::vector<Packet> packets_;
  size_t next_ = 0;  // packet; 0 before the first read
  int64_t frames_ = 0, position_ = 0;
  int channels_ = 0, rate_ = 0;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace avida::codecs
