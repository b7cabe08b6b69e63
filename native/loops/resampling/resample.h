// Resamples images, and samples of any rank along any axes, on either device.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"
#include "loops/moving/strided_move.h"
#include "loops/resampling/resample_filter.h"

namespace avida {

class Launches;

// An image of interleaved channels. An axis that is not given stays as it is.
struct ImageResample {
  int64_t in_rows, out_rows, in_columns, out_columns, channels;
  std::optional<ResampleAxis> rows, columns;
};

// Makes the rows [begin, end) of the output, which has the input's element type or a floating one. The result does not
// depend on how the rows are cut.
void resample_image(const ImageResample& image, const void* in, DType in_type, void* out, DType out_type, int64_t begin,
                    int64_t end);

// A sample of any rank.
class Resample {
 public:
  // One entry for each axis of the sample, nothing for those that stay.
  Resample(const Shape& in_shape, std::span<const std::optional<ResampleAxis>> axes, DType in_type, DType out_type);

  int64_t rows() const;  // independent parts
  void run(void* out, const void* in, int64_t begin, int64_t end) const {
    if (shift_)
      shift_->run(out, static_cast<const char*>(in) + first_, begin, end);
    else if (!empty_)
      run_level(0, out, in, in_type_, begin, end);
  }
  // Does the parts [work.begin, work.end), or all of them on a GPU.
  template <class Work>
  void run(const Work& work, void* out, const void* in) const {
    if (work.launches && shift_)
      shift_->launch(*work.launches, out, static_cast<const char*>(in) + first_);
    else if (work.launches)
      launch(*work.launches, out, in);
    else
      run(out, in, work.begin, work.end);
  }

 private:
  // Slices are mixed along an outer axis before the axes inside of them are resampled.
  struct Mix {
    ResampleAxis axis;
    int64_t in_slice, out_slice;  // elements
    int64_t repeats;              // how often the axis follows itself
  };
  void launch(Launches& launches, void* out, const void* in) const;
  void run_level(size_t level, void* out, const void* in, DType in_type, int64_t begin, int64_t end) const;
  int64_t rows_at(size_t level) const;

  std::optional<StridedMove> shift_;  // where elements only move by whole steps, from the byte first_ on
  int64_t first_ = 0;
  std::vector<Mix> mixes_;
  ImageResample image_{1, 1, 1, 1, 1, {}, {}};
  int64_t repeats_ = 1;  // how often the image follows itself
  DType in_type_, out_type_;
  bool empty_ = false;  // the output has no elements
};

// Whether resampling changes nothing.
bool is_identity(const ResampleAxis& axis);

}  // namespace avida
