// Reads bytes of several rows, from left to right.
#pragma once
#include "device/words.h"

namespace avida {

// Reads bytes sequentially from several addresses, whose differences are multiples of four. A GPU reads only the
// aligned words that contain the bytes.
template <int rows>
class ByteReader {
 public:
  // The words that contain n bytes of each row.
  template <int n>
  struct Read {
    static constexpr int kWords = (n + 3) / 4;
    unsigned words[rows][kWords + 1];
  };

#ifdef __CUDA_ARCH__
  AVIDA_HD AVIDA_INLINE ByteReader(const unsigned char* bytes, const int (&rows_at)[rows])
      : before_(static_cast<unsigned>(address_of(bytes)) & 3) {
    AVIDA_UNROLL
    for (int j = 0; j < rows; j++) {
      words_[j] = reinterpret_cast<const unsigned*>(bytes - before_ + rows_at[j]);
      word_[j] = read_only(words_[j]);
    }
  }

  // The next n bytes: a multiple of four if `more` follow.
  template <int n>
  AVIDA_HD AVIDA_INLINE Read<n> read(bool more) {
    constexpr int count = Read<n>::kWords;
    Read<n> made;
    const bool reaches = more || before_ + (n - 4 * (count - 1)) > 4;
    AVIDA_UNROLL
    for (int j = 0; j < rows; j++) {
      made.words[j][0] = word_[j];
      AVIDA_UNROLL
      for (int k = 1; k < count; k++) made.words[j][k] = read_only(words_[j] + k);
      made.words[j][count] = word_[j] = reaches ? read_only(words_[j] + count) : 0;
      words_[j] += n / 4;
    }
    return made;
  }

  // The bytes of a row, from an aligned word on. The last word may contain other bytes after them.
  template <int n>
  AVIDA_HD AVIDA_INLINE void align(unsigned (&to)[(n + 3) / 4], const unsigned (&read)[(n + 3) / 4 + 1]) const {
    AVIDA_UNROLL
    for (int k = 0; k < (n + 3) / 4; k++) to[k] = __funnelshift_r(read[k], read[k + 1], before_ * 8);
  }

 private:
  const unsigned* words_[rows];
  unsigned word_[rows];
  unsigned before_;  // bytes of the first word before the data
#else
  ByteReader(const unsigned char* bytes, const int (&rows_at)[rows]) {
    for (int j = 0; j < rows; j++) bytes_[j] = bytes + rows_at[j];
  }

  template <int n>
  Read<n> read(bool) {
    Read<n> made{};
    for (int j = 0; j < rows; j++) {
      __builtin_memcpy(made.words[j], bytes_[j], n);
      bytes_[j] += n;
    }
    return made;
  }

  template <int n>
  void align(unsigned (&to)[(n + 3) / 4], const unsigned (&read)[(n + 3) / 4 + 1]) const {
    for (int k = 0; k < (n + 3) / 4; k++) to[k] = read[k];
  }

 private:
  const unsigned char* bytes_[rows];
#endif
};

}  // namespace avida
