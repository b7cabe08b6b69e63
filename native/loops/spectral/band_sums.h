// The family of operators that make weighted sums along one axis, most weights being zero or none.
#pragma once
#include <memory>
#include <vector>

#include "loops/spectral/band_item.h"
#include "operator/sample.h"

namespace avida {

// A matrix of which only a band of each row is not zero.
struct BandMatrix {
  std::vector<Band> bands;
  std::vector<float> weights;

  // Adds a row with the weights from element `first` on.
  void add_row(long first, std::span<const float> row);
};

// The product of a matrix with the elements of float32 samples along an axis.
class BandSums {
 public:
  BandSums(std::shared_ptr<const BandMatrix> matrix, const Shape& in, int axis);

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return outer_ * blocks_; }
  template <class Work>
  void run(const Work& work) const {
    run(work.out[0].template as<float>(), work.in[0].template as<float>(), work.begin, work.end, work.launches);
  }

 private:
  void run(float* out, const float* in, int64_t begin, int64_t end, Launches* launches) const;

  std::shared_ptr<const BandMatrix> matrix_;
  Shape shape_;
  int64_t outer_, length_, inner_, blocks_;
};

}  // namespace avida
