#include "codecs/audio/vorbis.h"

#include <vorbis/codec.h>

#include <algorithm>
#include <cstring>

namespace avida::codecs {
namespace {

constexpr int kHeaders = 3;  // identification, comments, setup

// The pages of a file.
class Pages {
 public:
  explicit Pages(Bytes file) {
    ogg_sync_init(&state_);
    char* to = ogg_sync_buffer(&state_, static_cast<long>(file.size()));
    if (!to) return;
    std::memcpy(to, file.data(), file.size());
    ogg_sync_wrote(&state_, static_cast<long>(file.size()));
  }
  ~Pages() { ogg_sync_clear(&state_); }
  Pages(const Pages&) = delete;

  // Whether there is an undamaged page right after the last one.
  bool next(ogg_page* page) { return ogg_sync_pageout(&state_, page) == 1; }
  bool at_end() const { return state_.returned == state_.fill; }

 private:
  ogg_sync_state state_;
};

class Stream {
 public:
  explicit Stream(int serial) : serial_(serial) { ogg_stream_init(&state_, serial); }
  ~Stream() { ogg_stream_clear(&state_); }
  Stream(const Stream&) = delete;

  // Adds a page, and calls take(packet) for each packet that it completes. Returns false if anything is amiss.
  template <class Take>
  bool add(ogg_page* page, Take&& take) {
    if (ogg_page_serialno(page) != serial_ || ogg_page_pageno(page) != pages_ || ended_) return false;
    if ((ogg_page_bos(page) != 0) != (pages_ == 0) || ogg_stream_pagein(&state_, page) != 0) return false;
    pages_++;
    ended_ = ogg_page_eos(page) != 0;
    ogg_packet packet;
    while (int found = ogg_stream_packetout(&state_, &packet)) {
      if (found < 0) return false;
      take(packet);
    }
    return true;
  }
  bool ended() const { return ended_; }

 private:
  ogg_stream_state state_;
  const int serial_;
  long pages_ = 0;
  bool ended_ = false;
};

}  // namespace

// All that decoding packets needs, for files with certain headers.
class VorbisFile::Decoder {
 public:
  Decoder() {
    vorbis_info_init(&info);
    vorbis_comment_init(&comments_);
  }
  ~Decoder() {
    if (started_) {
      vorbis_block_clear(&block_);
      vorbis_dsp_clear(&state_);
    }
    vorbis_comment_clear(&comments_);
    vorbis_info_clear(&info);
  }
  Decoder(const Decoder&) = delete;

  bool add_header(ogg_packet packet) { return vorbis_synthesis_headerin(&info, &comments_, &packet) == 0; }
  // After all headers.
  bool start() {
    if (vorbis_synthesis_init(&state_, &info) != 0) return false;
    vorbis_block_init(&state_, &block_);  // cannot fail
    return started_ = true;
  }
  void restart() { vorbis_synthesis_restart(&state_); }
  bool decode(ogg_packet packet) {
    return vorbis_synthesis(&block_, &packet) == 0 && vorbis_synthesis_blockin(&state_, &block_) == 0;
  }
  // Stores up to so many decoded frames; returns how many.
  int64_t take(float* to, int64_t most) {
    float** channels;
    const auto frames = std::min<int64_t>(vorbis_synthesis_pcmout(&state_, &channels), most);
    if (frames <= 0) return 0;
    if (info.channels == 1)
      std::copy_n(channels[0], frames, to);
    else
      for (int64_t i = 0; i < frames; i++) to[2 * i] = channels[0][i], to[2 * i + 1] = channels[1][i];
    vorbis_synthesis_read(&state_, static_cast<int>(frames));
    return frames;
  }

  vorbis_info info;
  std::vector<uint8_t> identification, setup;  // the headers that it depends on

 private:
  vorbis_comment comments_;
  vorbis_dsp_state state_;
  vorbis_block block_;
  bool started_ = false;
};

// The last decoders of a thread.
class VorbisFile::Decoders {
 public:
  static Decoders& of_thread() {
    thread_local Decoders decoders;
    return decoders;
  }
  std::unique_ptr<Decoder> take(const VorbisFile& file) {
    for (auto& decoder : kept_)
      if (decoder && file.has_headers_of(*decoder)) return std::move(decoder);
    return nullptr;
  }
  void give(std::unique_ptr<Decoder> decoder) {
    for (auto& place : kept_)
      if (!place) return void(place = std::move(decoder));
    kept_[oldest_++ % std::size(kept_)] = std::move(decoder);
  }

 private:
  std::unique_ptr<Decoder> kept_[4];
  size_t oldest_ = 0;
};

VorbisFile::VorbisFile() = default;
VorbisFile::~VorbisFile() {
  if (decoder_) Decoders::of_thread().give(std::move(decoder_));
}

std::unique_ptr<VorbisFile> VorbisFile::open(Bytes file) {
  constexpr size_t kFirstPacket = 28;        // after the header of a page with one segment
  constexpr size_t kMost = size_t{1} << 30;  // libogg counts bytes in an int
  constexpr char kPage[] = "OggS", kIdentification[] = "\x01vorbis";
  if (file.size() < kFirstPacket + 7 || file.size() > kMost || std::memcmp(file.data(), kPage, 4) != 0 ||
      std::memcmp(file.data() + kFirstPacket, kIdentification, 7) != 0)
    return nullptr;
  std::unique_ptr<VorbisFile> opened(new VorbisFile);
  if (!opened->split(file) || !opened->read_headers()) return nullptr;
  // Many files may be open: those whose tables are known need a decoder only while they are read.
  auto known = Decoders::of_thread().take(*opened);
  if (!known && !(opened->decoder_ = opened->make_decoder())) return nullptr;
  const bool counted = opened->count_frames(known ? *known : *opened->decoder_);
  if (known) Decoders::of_thread().give(std::move(known));
  return counted ? std::move(opened) : nullptr;
}

bool VorbisFile::split(Bytes file) {
  Pages pages(file);
  ogg_page page;
  if (!pages.next(&page)) return false;
  Stream stream(ogg_page_serialno(&page));
  bytes_.reserve(file.size());
  do {
    const bool whole = stream.add(&page, [&](const ogg_packet& packet) {
      packets_.push_back({bytes_.size(), static_cast<size_t>(packet.bytes), packet.granulepos, packet.e_o_s != 0});
      bytes_.insert(bytes_.end(), packet.packet, packet.packet + packet.bytes);
    });
    if (!whole) return false;
  } while (pages.next(&page));
  return pages.at_end() && stream.ended() && packets_.size() > kHeaders;
}

ogg_packet VorbisFile::packet(size_t i) {
  const Packet& found = packets_[i];
  return {bytes_.data() + found.begin, static_cast<long>(found.size), i == 0, found.last, found.granule,
          static_cast<int64_t>(i)};
}

std::span<const uint8_t> VorbisFile::bytes_of(size_t i) const {
  return std::span(bytes_).subspan(packets_[i].begin, packets_[i].size);
}

bool VorbisFile::has_headers_of(const Decoder& decoder) const {
  return std::ranges::equal(decoder.identification, bytes_of(0)) && std::ranges::equal(decoder.setup, bytes_of(2));
}

// Returns null if the headers are invalid.
std::unique_ptr<VorbisFile::Decoder> VorbisFile::make_decoder() {
  auto decoder = std::make_unique<Decoder>();
  for (int i = 0; i < kHeaders; i++)
    if (!decoder->add_header(packet(i))) return nullptr;
  if (!decoder->start()) return nullptr;
  decoder->identification.assign(bytes_of(0).begin(), bytes_of(0).end());
  decoder->setup.assign(bytes_of(2).begin(), bytes_of(2).end());
  return decoder;
}

bool VorbisFile::read_headers() {
  Decoder beginning;
  if (!beginning.add_header(packet(0)) || !beginning.add_header(packet(1))) return false;
  channels_ = beginning.info.channels;
  rate_ = static_cast<int>(beginning.info.rate);
  return channels_ <= 2 && rate_ > 0;
}

// Whether the frames of all packets are those that pages declare. The last packet may have more.
bool VorbisFile::count_frames(Decoder& decoder) {
  int64_t made = 0;
  long before = 0;
  for (size_t i = kHeaders; i < packets_.size(); i++) {
    ogg_packet found = packet(i);
    const long size = vorbis_packet_blocksize(&decoder.info, &found);
    if (size <= 0) return false;
    const int64_t added = before ? (before + size) / 4 : 0;
    made += added;
    before = size;
    if (found.e_o_s) {
      frames_ = found.granulepos;
      return i + 1 == packets_.size() && frames_ <= made && frames_ >= made - added;
    }
    if (found.granulepos != -1 && found.granulepos != made) return false;
  }
  return false;
}

int64_t VorbisFile::read(float* to, int64_t frames) {
  if (!decoder_) decoder_ = Decoders::of_thread().take(*this);
  if (!decoder_ && !(decoder_ = make_decoder())) return 0;
  if (next_ == 0) {
    decoder_->restart();
    next_ = kHeaders;
  }
  int64_t done = 0;
  while (done < frames) {
    const int64_t taken = decoder_->take(to + done * channels_, frames - done);
    done += taken;
    if (taken == 0 && (next_ == packets_.size() || !decoder_->decode(packet(next_++)))) break;
  }
  position_ += done;
  return done;
}

}  // namespace avida::codecs
