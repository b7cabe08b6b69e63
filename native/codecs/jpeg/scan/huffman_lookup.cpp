#include "codecs/jpeg/scan/huffman_lookup.h"

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

void CodeLookup::make(const HuffmanCode& code, Kind of) {
  kind = of;
  long_codes = LongCodes(code);
  std::memset(entries, 0, sizeof(entries));
  visit_codes(code, kBits, [this](int next, int length, int symbol) {
    const uint32_t made = entry(length, symbol);
    const int spare = kBits - length;
    if ((made & 255) <= kMostBits) std::fill_n(entries + (next << spare), 1 << spare, made);
  });
}

uint32_t CodeLookup::find(int bits) const {
  const LongCodes::Found found = long_codes.find(bits);
  return found.length ? entry(found.length, found.symbol) : 0;
}

void AcSkip::make(const CodeLookup& ac) {
  for (unsigned i = 0; i < 1 << kBits; i++) {
    unsigned bits = 0, advance = 0, end = 0;
    while (!end) {
      const uint32_t found = ac.entries[i << bits & ((1 << kBits) - 1)];
      const unsigned length = found & 255;
      unsigned more = found >> 24;
      const bool ends = more == CodeLookup::kEndOfBlock;
      if (ends) more = 0;
      if (!length || bits + length > kBits || advance + more > kMostAdvance) break;
      bits += length;
      advance += more;
      if (ends) end = kEnd;
    }
    entries[i] = static_cast<uint16_t>(bits | advance << kAdvance | end);
  }
}

}  // namespace avida::codecs
