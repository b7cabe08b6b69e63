#include "ops/color/lab_rows.h"

#include <algorithm>

#include "core/clones.h"
#include "core/made_once.h"
#include "ops/color/lab.h"

// Looking up is left to plain loops, block by block, and arithmetic to vectors: instructions that look up many numbers
// at once are slow on many machines.
namespace avida::ops {
namespace {

constexpr int kBlock = 256;
using Sums = int __attribute__((vector_size(16)));  // X, Y and Z, and nothing

struct RowTables {
  Sums light[3][256];  // what a byte of each colour adds to the sums
  uint16_t root[kLightValues];
  uint32_t lightness[256];  // its light, and above 16 bits the root of that: looked up at once
  uint8_t shade[kShadeValues];

  RowTables() {
    LabTables tables;
    fill(tables);
    for (int i = 0; i < 256; i++) {
      for (int c = 0; c < 3; c++) {
        int rounding = c == 0 ? 1 << (kWeightShift - 1) : 0;
        for (int k = 0; k < 3; k++) light[c][i][k] = light_weight(c, k) * tables.light[i] + rounding;
        light[c][i][3] = 0;
      }
      lightness[i] = static_cast<uint32_t>(tables.y[i] | tables.y_root[i] << 16);
    }
    std::copy_n(tables.root, kLightValues, root);
    std::copy_n(tables.shade, kShadeValues, shade);
  }
};

const RowTables& row_tables() {
  static constinit MadeOnce<const RowTables> tables;
  return tables.get();
}

struct Planes {
  uint16_t at[3][kBlock];
};

AVIDA_CLONES void labs_of_roots(uint8_t* __restrict lightness, uint8_t* __restrict a, uint8_t* __restrict b,
                                const Planes& roots, int n) {
  for (int i = 0; i < n; i++) {
    Bytes3 lab = roots_to_lab(roots.at[0][i], roots.at[1][i], roots.at[2][i]);
    lightness[i] = lab.at[0];
    a[i] = lab.at[1];
    b[i] = lab.at[2];
  }
}

AVIDA_CLONES void shades_of_labs(Planes& __restrict shades, const uint32_t* lightness, const uint8_t* a,
                                 const uint8_t* b, int n) {
  for (int i = 0; i < n; i++) {
    Shades made = lab_to_shades(lightness[i] & 0xffff, lightness[i] >> 16, a[i], b[i]);
    for (int c = 0; c < 3; c++) shades.at[c][i] = static_cast<uint16_t>(made.at[c]);
  }
}

}  // namespace

void rows_to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t n) {
  const RowTables& tables = row_tables();
  Planes roots;
  for (int64_t first = 0; first < n; first += kBlock) {
    int count = static_cast<int>(std::min<int64_t>(kBlock, n - first));
    for (int i = 0; i < count; i++) {
      const uint8_t* pixel = rgb + 3 * (first + i);
      Sums sums = tables.light[0][pixel[0]] + tables.light[1][pixel[1]] + tables.light[2][pixel[2]];
      sums >>= kWeightShift;
      for (int k = 0; k < 3; k++) roots.at[k][i] = tables.root[sums[k]];
    }
    labs_of_roots(lightness + first, a + first, b + first, roots, count);
  }
}

void rows_from_lab(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b, int64_t n) {
  const RowTables& tables = row_tables();
  Planes shades;
  uint32_t found[kBlock];
  for (int64_t first = 0; first < n; first += kBlock) {
    int count = static_cast<int>(std::min<int64_t>(kBlock, n - first));
    for (int i = 0; i < count; i++) found[i] = tables.lightness[lightness[first + i]];
    shades_of_labs(shades, found, a + first, b + first, count);
    for (int i = 0; i < count; i++)
      for (int c = 0; c < 3; c++) rgb[3 * (first + i) + c] = tables.shade[shades.at[c][i]];
  }
}

}  // namespace avida::ops
