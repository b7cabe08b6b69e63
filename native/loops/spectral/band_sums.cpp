#include "loops/spectral/band_sums.h"

#include <algorithm>

#include "core/clones.h"
#include "operator/launches.h"

namespace avida {
namespace {

constexpr int64_t kBlock = 1024;  // columns that one thread processes at a time
constexpr int kColumns = 64;      // whose sums are in registers

// The sums of one band, for `columns` adjacent columns.
template <int columns>
AVIDA_INLINE void sum_columns(float* out, const float* in, const float* weights, long count, int64_t inner) {
  float sums[columns] = {};
  for (long i = 0; i < count; i++) {
    const float weight = weights[i];
    for (int c = 0; c < columns; c++) sums[c] += weight * in[i * inner + c];
  }
  for (int c = 0; c < columns; c++) out[c] = sums[c];
}

AVIDA_CLONES void sum_block(float* out, const float* in, const BandMatrix& matrix, int64_t columns, int64_t inner) {
  const float* all_weights = matrix.weights.data();
  for (const Band& band : matrix.bands) {
    const float *from = in + band.first * inner, *weights = all_weights + band.weights;
    int64_t c = 0;
    for (; c + kColumns <= columns; c += kColumns) sum_columns<kColumns>(out + c, from + c, weights, band.count, inner);
    for (; c + 8 <= columns; c += 8) sum_columns<8>(out + c, from + c, weights, band.count, inner);
    for (; c < columns; c++) sum_columns<1>(out + c, from + c, weights, band.count, inner);
    out += inner;
  }
}

}  // namespace

void BandMatrix::add_row(long first, std::span<const float> row) {
  bands.push_back({first, std::ssize(row), std::ssize(weights)});
  weights.insert(weights.end(), row.begin(), row.end());
}

BandSums::BandSums(std::shared_ptr<const BandMatrix> matrix, const Shape& in, int axis)
    : matrix_(std::move(matrix)),
      shape_(in),
      outer_(volume(in.span().first(axis))),
      length_(in[axis]),
      inner_(volume(in.span().subspan(axis + 1))),
      blocks_((inner_ + kBlock - 1) / kBlock) {
  shape_[axis] = std::ssize(matrix_->bands);
}

void BandSums::run(float* out, const float* in, int64_t begin, int64_t end, Launches* launches) const {
  const int64_t sums = std::ssize(matrix_->bands);
  if (launches)
    return launches->add<BandItem>(0, volume(shape_),
                                   {out, in, launches->upload(std::span(matrix_->bands)),
                                    launches->upload(std::span(matrix_->weights)), sums, length_, inner_});
  for (int64_t row = begin; row < end; row++) {
    const int64_t outer = row / blocks_, column = row % blocks_ * kBlock;
    sum_block(out + outer * sums * inner_ + column, in + outer * length_ * inner_ + column, *matrix_,
              std::min(kBlock, inner_ - column), inner_);
  }
}

}  // namespace avida
