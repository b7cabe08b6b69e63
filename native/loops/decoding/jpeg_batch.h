// The kernels that decode some JPEG files together, up to the samples of their planes.
#pragma once
#include <vector>

#include "codecs/jpeg/scan/plain_jpeg.h"
#include "gpu/gpu.h"
#include "loops/decoding/jpeg_coefficients.h"

namespace avida {

class JpegBatch {
 public:
  // A file whose scan header and data are on the GPU. `needed`: how many of its planes are.
  void add(const codecs::PlainJpeg& plain, const JpegScan* scan, const std::vector<JpegSegment>& segments, int needed);
  // A progressive file, whose coefficients are on the GPU.
  void add(const codecs::PlainJpeg& plain, const JpegScan* scan, const int16_t* coefficients, int needed);
  // Queues the kernels.
  void decode(Gpu& gpu, const GpuStream& stream);

  size_t size() const { return files_.size(); }
  // The samples of a file's planes, one after the other, in memory of the stream.
  const uint8_t* planes(size_t file) const;
  // To be called when the stream has waited for whoever reads the planes.
  void free_planes() { planes_.reset(); }
  // Whether each file turned out to be broken or unusual; waits until that is known.
  std::vector<int> failed(Gpu& gpu, const GpuStream& stream) const;

 private:
  struct Found {
    codecs::PlainJpeg::Plane plane[3];
    int needed;
    int64_t first_sample, first_coefficient, first_block;  // in the memory of all files
    const int16_t* coefficients;                           // of a progressive file
  };
  std::vector<Found> found_;
  std::vector<JpegFile> files_;
  std::vector<JpegSegment> segments_;
  std::vector<JpegSlice> slices_;
  int64_t samples_ = 0, coefficients_ = 0, blocks_ = 0;
  int parts_ = 0, intervals_ = 0;
  Block planes_, failed_;
};

}  // namespace avida
