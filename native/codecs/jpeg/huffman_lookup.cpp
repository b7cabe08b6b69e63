#include "codecs/jpeg/huffman_lookup.h"

#include <algorithm>
#include <cstring>

namespace avida::codecs {
namespace {

// Calls fn(code, length, symbol) for all codes of at most `most` bits.
template <class Fn>
void visit_codes(const HuffmanCode& code, int most, Fn&& fn) {
  const uint8_t* symbol = code.symbols;
  for (int length = 1, next = 0; length <= most; length++, next <<= 1)
    for (int i = 0; i < code.counts[length - 1]; i++) fn(next++, length, *symbol++);
}

}  // namespace

LongCodes::LongCodes(const HuffmanCode& code) {
  std::memcpy(symbols, code.symbols, sizeof(symbols));
  last[0] = offset[0] = -1;
  for (int length = 1, next = 0, at = 0; length <= 16; length++, next <<= 1) {
    const int n = code.counts[length - 1];
    offset[length] = at - next;
    at += n;
    next += n;
    last[length] = n ? (next << (16 - length)) - 1 : -1;
  }
}

void AcLookup::make(const HuffmanCode& code) {
  long_codes = LongCodes(code);
  std::memset(entries, 0, sizeof(entries));
  end_code = 0, end_length = kBits + 1;
  visit_codes(code, kBits, [this](int next, int length, int symbol) {
    if (!symbol) end_code = static_cast<unsigned>(next), end_length = static_cast<unsigned>(length);
  });
  visit_codes(code, kBits, [this](int next, int length, int symbol) {
    const int run = symbol >> 4, size = symbol & 15, spare = kBits - length;
    uint32_t* to = entries + (next << spare);
    if (!size || size > spare) {
      const bool end = !size && run != 15;
      const uint32_t advance = end ? kEndOfBlock : static_cast<uint32_t>(run) + 1;
      std::fill_n(to, 1 << spare, size ? entry(0, advance, length << 8 | symbol) : entry(length, advance, 0));
      return;
    }
    const int each = 1 << (spare - size);
    for (int v = 0; v < 1 << size; v++, to += each) {
      const int value = v >> (size - 1) ? v : v - (1 << size) + 1;
      std::fill_n(to, each, entry(length + size, static_cast<uint32_t>(run) + 1, value));
      const int left = spare - size - static_cast<int>(end_length);
      if (left >= 0)
        std::fill_n(to + (end_code << left), 1 << left,
                    entry(kBits - left, static_cast<uint32_t>(run) + 1 + kLast, value));
    }
  });
}

void AcSkip::make(const AcLookup& ac) {
  for (unsigned i = 0; i < 1 << kBits; i++) {
    unsigned bits = 0, advance = 0, end = 0;
    while (!end) {
      const uint32_t found = ac.entries[(i << bits & ((1 << kBits) - 1)) >> (kBits - AcLookup::kBits)];
      unsigned length = found & 63, more = found >> AcLookup::kAdvance & 1023;
      if (more >= AcLookup::kEndOfBlock) {
        end = kEnd, more = 0;
      } else if (more >= AcLookup::kLast) {
        end = kEnd, more -= AcLookup::kLast;
        if (bits + length > kBits) end = 0, length -= ac.end_length;  // the coefficient alone
      }
      if (!length || bits + length > kBits || advance + more > kMostAdvance) {
        end = 0;
        break;
      }
      bits += length;
      advance += more;
    }
    entries[i] = static_cast<uint16_t>(bits | advance << kAdvance | end);
  }
}

void DcLookup::make(const HuffmanCode& code) {
  long_codes = LongCodes(code);
  std::memset(entries, 0, sizeof(entries));
  visit_codes(code, kBits, [this](int next, int length, int symbol) {
    std::fill_n(entries + (next << (kBits - length)), 1 << (kBits - length),
                static_cast<uint16_t>((length + symbol) | length << 8));
  });
}

}  // namespace avida::codecs
