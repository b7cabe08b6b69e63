#include "readers/numpy/numpy.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "codecs/npy.h"
#include "core/byte_order.h"
#include "core/strided_copy.h"
#include "device/convert.h"
#include "readers/file/held_file.h"
#include "readers/first_sample.h"
#include "readers/numpy/array_part.h"
#include "runtime/memory.h"

namespace avida {
namespace {

constexpr int64_t kSmallFile = 4 << 10;  // files up to this size are read completely with their header
constexpr int64_t kUsualHeader = 128;    // bytes that are read for the header of a larger file

Shape reversed(const Shape& shape) {
  Shape out = shape;
  std::reverse(out.begin(), out.end());
  return out;
}

// A file, and the bytes that were read together with the header.
class NpyFile {
 public:
  NpyFile(std::string path, bool read_ahead) : held_(std::move(path)) {
    const File& file = held_.file();
    if (read_ahead) file.read_ahead();
    read_start(file, file.size() <= kSmallFile ? file.size() : kUsualHeader);
    int64_t needed = codecs::npy_header_bytes(start_, file.size());
    if (needed > std::ssize(start_)) read_start(file, needed);
    header_ = codecs::parse_npy_header(start_, file.size());
    if (header_.data + header_.bytes() <= std::ssize(start_)) held_.close();
    held_.close_if_many_are_open();
  }

  const codecs::NpyHeader& header() const { return header_; }

  void read(int64_t offset, void* to, int64_t bytes) {
    if (offset + bytes <= std::ssize(start_))
      std::memcpy(to, start_.data() + offset, bytes);
    else
      held_.file().read_at(offset, to, bytes);
  }
  void close() { held_.close(); }

 private:
  void read_start(const File& file, int64_t bytes) {
    start_.resize(bytes);
    file.read(start_.data(), bytes);
  }

  HeldFile held_;
  codecs::NpyHeader header_;
  std::string start_;
};

class NumpySample : public Source::Sample {
 public:
  NumpySample(std::string path, const std::optional<NumpyRegion>& region, bool read_ahead)
      : file_(std::move(path), read_ahead) {
    const Shape& shape = header().shape;
    if (region) {
      window_ = region->window_of(shape);
      place_window(window_, shape, region->policy);
      fill_ = region->fill;
    } else {
      window_.size = shape;
      window_.start.resize(shape.size(), 0);
    }
    for (int d = 0; d < shape.size(); d++) {
      int64_t begin = std::clamp<int64_t>(window_.start[d], 0, shape[d]);
      int64_t end = std::clamp<int64_t>(window_.start[d] + window_.size[d], begin, shape[d]);
      part_.start.push_back(begin);
      part_.size.push_back(end - begin);
    }
  }

  const codecs::NpyHeader& header() const { return file_.header(); }
  Shape shape(int) const override { return window_.size; }

  void read(int, void* to) override {
    if (part_.size == window_.size)
      read_part(static_cast<char*>(to));
    else
      read_padded(static_cast<char*>(to));
    file_.close();
  }

 private:
  // Reads the part of the window inside the array, and fills the rest.
  void read_padded(char* to) {
    const DType dtype = header().dtype;
    const int size = size_of(dtype);
    with_dtype(dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      std::fill_n(reinterpret_cast<T*>(to), volume(window_.size), convert<T>(fill_));
    });
    Block inside = allocate(volume(part_.size) * size);
    read_part(static_cast<char*>(inside.get()));
    const Shape strides = dense_strides(window_.size);
    for (int d = 0; d < part_.size.size(); d++) to += (part_.start[d] - window_.start[d]) * strides[d] * size;
    StridedCopy(size, part_.size, strides, dense_strides(part_.size)).run(to, inside.get());
  }

  // Reads the part of the array that is inside it.
  void read_part(char* to) {
    const codecs::NpyHeader& header = this->header();
    int size = size_of(header.dtype);
    int64_t elements = volume(part_.size);
    auto read = [&](int64_t offset, void* to, int64_t bytes) { file_.read(offset, to, bytes); };
    if (!header.fortran_order) {
      read_array_part(read, header.data, size, header.shape, part_, to);
      if (header.big_endian) swap_bytes(to, elements, size);
      return;
    }
    // In Fortran order, the file contains the array with reversed axes.
    Window part{.start = reversed(part_.start), .size = reversed(part_.size)};
    Block buffer = allocate(elements * size);
    read_array_part(read, header.data, size, reversed(header.shape), part, static_cast<char*>(buffer.get()));
    if (header.big_endian) swap_bytes(buffer.get(), elements, size);
    StridedCopy(size, part_.size, reversed(dense_strides(part.size))).run(to, buffer.get());
  }

  NpyFile file_;
  Window window_;  // the requested region
  Window part_;    // its part inside the array
  float fill_ = 0;
};

class NumpySource : public Source {
 public:
  NumpySource(std::shared_ptr<const FileList> files, std::optional<NumpyRegion> region, bool read_ahead)
      : files_(std::move(files)), region_(std::move(region)), read_ahead_(read_ahead) {
    first_ = find_first_sample(*this, [&](int64_t i) {
      NpyFile file(files_->path(i), false);
      outputs_[0].dtype = file.header().dtype;
      outputs_[0].ndim = file.header().shape.size();
    });
  }

  const char* name() const override { return "readers.Numpy"; }
  int64_t size() const override { return files_->size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->path(index); }
  std::unique_ptr<Sample> open(int64_t index) const override {
    auto sample = std::make_unique<NumpySample>(files_->path(index), region_, read_ahead_);
    check_like_first(*this, first_, 0, sample->header().dtype, sample->header().shape);
    return sample;
  }

 private:
  const std::shared_ptr<const FileList> files_;
  const std::optional<NumpyRegion> region_;
  const bool read_ahead_;
  std::vector<Meta> outputs_ = std::vector<Meta>(1);
  int64_t first_ = 0;  // the file that determines type and rank
};

}  // namespace

std::shared_ptr<Source> numpy_source(std::shared_ptr<const FileList> files, std::optional<NumpyRegion> region,
                                     bool read_ahead) {
  return std::make_shared<NumpySource>(std::move(files), std::move(region), read_ahead);
}

}  // namespace avida
