#include "readers/fits/fits_bytes.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kInput = 64 << 10;  // bytes of a compressed file that are read at a time
constexpr int kGzipOrZlib = 15 + 32;

}  // namespace

Inflater::Inflater() {
  if (inflateInit2(&stream_, kGzipOrZlib) != Z_OK) throw std::bad_alloc();
}

void Inflater::restart() {
  inflateReset(&stream_);
  ended_ = false;
}

void Inflater::unpack(const unsigned char*& from, const unsigned char* end, unsigned char*& to, int64_t room) {
  constexpr int64_t kMost = 1 << 30;  // the library counts in 32 bits
  unsigned char* last = to + room;
  while (!ended_) {
    stream_.next_in = const_cast<unsigned char*>(from);
    stream_.avail_in = static_cast<uInt>(std::min<int64_t>(end - from, kMost));
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(std::min<int64_t>(last - to, kMost));
    int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      refuse("the compressed data is corrupt: ", stream_.msg ? stream_.msg : "not gzip or zlib data");
    bool moved = stream_.next_in != from || stream_.next_out != to;
    from = stream_.next_in;
    to = stream_.next_out;
    ended_ = status == Z_STREAM_END;
    if (!moved) return;
  }
}

FitsBytes::FitsBytes(storage::ObjectPtr file) : file_(storage::in_order(std::move(file))) {
  unsigned char magic[2] = {};
  file_->read_at(0, magic, std::min<int64_t>(2, file_->size()));
  packed_ = magic[0] == 0x1f && magic[1] == 0x8b;
}

int64_t FitsBytes::most() const {
  int64_t most = file_->size();
  return packed_ && __builtin_mul_overflow(most, kMostDeflate, &most) ? INT64_MAX : most;
}

bool FitsBytes::has(int64_t end) {
  if (end > most()) return false;
  if (packed_) unpack_to(end);
  return !packed_ || std::ssize(unpacked_->bytes) >= end;
}

void FitsBytes::read_at(int64_t offset, void* to, int64_t bytes) {
  if (!packed_) return file_->read_at(offset, to, bytes);
  if (!has(offset + bytes))
    refuse("expected ", offset + bytes, " bytes, but the decompressed file ends after ", unpacked_->bytes.size());
  std::memcpy(to, unpacked_->bytes.data() + offset, bytes);
}

void FitsBytes::close() {
  unpacked_.reset();
  file_->rest();
}

void FitsBytes::unpack_to(int64_t end) {
  if (!unpacked_) unpacked_ = std::make_unique<Unpacked>();
  auto& [inflater, input, bytes, rest, taken] = *unpacked_;
  for (int64_t done = std::ssize(bytes); done < end; done = std::ssize(bytes)) {
    const unsigned char* input_end = input.data() + input.size();
    if (rest == input_end) {
      int64_t more = std::min(kInput, file_->size() - taken);
      if (more == 0) return;
      input.resize(more);
      file_->read_at(taken, input.data(), more);
      taken += more;
      rest = input.data();
      input_end = rest + more;
    }
    if (inflater.ended()) inflater.restart();  // a file may consist of several gzip members
    bytes.resize(
        std::min(end, done + std::max(done, kInput)));  // grows with the data, since the declared size may be wrong
    unsigned char* to = bytes.data() + done;
    inflater.unpack(rest, input_end, to, std::ssize(bytes) - done);
    bytes.resize(to - bytes.data());
  }
}

}  // namespace avida
