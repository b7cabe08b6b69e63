// readers.Numpy: arrays in .npy files, or regions of them.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "codecs/npy.h"
#include "core/byte_order.h"
#include "core/parts/slice_range.h"
#include "core/parts/strided_copy.h"
#include "core/parts/window.h"
#include "device/convert.h"
#include "readers/file/file_args.h"
#include "readers/first_sample.h"
#include "readers/numpy/array_part.h"
#include "runtime/memory.h"

namespace avida {

enum class RegionPolicy { error, pad, trim_to_shape };
AVIDA_CHOICES(RegionPolicy, "error", "pad", "trim_to_shape")

namespace {

constexpr int64_t kSmallFile = 4 << 10;  // files up to this size are read completely with their header
constexpr int64_t kLargestNumber = int64_t{1} << 53;
constexpr int64_t kUsualHeader = 128;  // bytes that are read for the header of a larger file

Shape reversed(const Shape& shape) {
  Shape out = shape;
  std::reverse(out.begin(), out.end());
  return out;
}

struct NumpyArgs : UnlabelledFilesArgs {
  NumpyArgs() { file_filter = "*.npy"; }

  using Integers = std::optional<std::vector<int64_t>>;
  using Reals = std::optional<std::vector<double>>;
  Integers roi_axes, roi_start, roi_end, roi_shape;
  Reals rel_roi_start, rel_roi_end, rel_roi_shape;
  RegionPolicy out_of_bounds_policy = RegionPolicy::error;
  float fill_value = 0;
};

void check_args(NumpyArgs& args) {
  args.check();
  if (args.roi_start && args.rel_roi_start) refuse("expected roi_start or rel_roi_start, got both");
  std::string given;
  int ends = 0;
  for (auto& [name, is_given] : {std::pair("roi_end", args.roi_end.has_value()),
                                 {"rel_roi_end", args.rel_roi_end.has_value()},
                                 {"roi_shape", args.roi_shape.has_value()},
                                 {"rel_roi_shape", args.rel_roi_shape.has_value()}})
    if (is_given) given += str(ends++ > 0 ? " and " : "", name);
  if (ends > 1) refuse("expected one of roi_end, rel_roi_end, roi_shape, rel_roi_shape, got ", given);
  for (auto& [name, numbers] : {std::pair("roi_axes", &args.roi_axes),
                                {"roi_start", &args.roi_start},
                                {"roi_end", &args.roi_end},
                                {"roi_shape", &args.roi_shape}})
    for (int64_t number : numbers->value_or(std::vector<int64_t>()))
      if (std::abs(number) > kLargestNumber)
        value_error(name, " must be from ", -kLargestNumber, " to ", kLargestNumber, ", got ", number);
}

// The region of each array that is read, as the arguments say.
class Region {
 public:
  explicit Region(const NumpyArgs& args)
      : args_(args),
        policy_(args.out_of_bounds_policy == RegionPolicy::error ? OutOfBounds::error
                : args.out_of_bounds_policy == RegionPolicy::pad ? OutOfBounds::constant
                                                                 : OutOfBounds::trim) {}

  float fill() const { return args_.fill_value; }
  // Whether every array is read completely.
  bool is_whole() const {
    return !args_.roi_start && !args_.roi_end && !args_.roi_shape && !args_.rel_roi_start && !args_.rel_roi_end &&
           !args_.rel_roi_shape;
  }
  Window window(const Shape& array) const {
    Window window{.start = {}, .size = array};
    window.start.resize(array.size(), 0);
    const Shape axes = axes_of(array.size());
    for (int i = 0; i < axes.size(); i++) {
      const SliceRange range = slice_range({.start = number(args_.roi_start, i, axes.size(), "roi_start"),
                                            .end = number(args_.roi_end, i, axes.size(), "roi_end"),
                                            .shape = number(args_.roi_shape, i, axes.size(), "roi_shape"),
                                            .rel_start = part(args_.rel_roi_start, i, axes.size(), "rel_roi_start"),
                                            .rel_end = part(args_.rel_roi_end, i, axes.size(), "rel_roi_end"),
                                            .rel_shape = part(args_.rel_roi_shape, i, axes.size(), "rel_roi_shape")},
                                           array[static_cast<int>(axes[i])]);
      window.start[static_cast<int>(axes[i])] = range.start;
      window.size[static_cast<int>(axes[i])] = range.end - range.start;
    }
    place_window(window, array, policy_);
    return window;
  }

 private:
  Shape axes_of(int ndim) const {
    Shape axes;
    for (int64_t axis : args_.roi_axes.value_or(std::vector<int64_t>())) {
      if (axis < -ndim || axis >= ndim)
        refuse("expected an axis from ", -ndim, " to ", ndim - 1, " in roi_axes, got ", axis);
      axis += axis < 0 ? ndim : 0;
      if (std::find(axes.begin(), axes.end(), axis) != axes.end()) refuse("axis ", axis, " is given twice in roi_axes");
      axes.push_back(axis);
    }
    for (int d = 0; args_.roi_axes.value_or(std::vector<int64_t>()).empty() && d < ndim; d++) axes.push_back(d);
    return axes;
  }
  // One number counts for all axes.
  template <class T>
  static std::optional<T> number(const std::optional<std::vector<T>>& numbers, int i, int n, const char* name) {
    if (!numbers || numbers->empty()) return std::nullopt;
    if (numbers->size() != 1 && std::ssize(*numbers) != n)
      refuse("expected ", n, " numbers in ", name, ", one for each axis, got ", numbers->size());
    return (*numbers)[numbers->size() == 1 ? 0 : static_cast<size_t>(i)];
  }
  static std::optional<float> part(const NumpyArgs::Reals& parts, int i, int n, const char* name) {
    auto found = number(parts, i, n, name);
    return found ? std::optional(static_cast<float>(*found)) : std::nullopt;
  }

  const NumpyArgs args_;
  const OutOfBounds policy_;
};

// A file, and the bytes that were read together with the header.
class NpyFile : public storage::Object {
 public:
  NpyFile(storage::ObjectPtr file, bool read_ahead) : Object(file->size()), file_(std::move(file)) {
    if (read_ahead) file_->read_ahead(0, size());
    read_start(size() <= kSmallFile ? size() : kUsualHeader);
    int64_t needed = codecs::npy_header_bytes(start_, size());
    if (needed > std::ssize(start_)) read_start(needed);
    header_ = codecs::parse_npy_header(start_, size());
    if (header_.data + header_.bytes() <= std::ssize(start_)) close();
  }

  const codecs::NpyHeader& header() const { return header_; }

  void read_at(int64_t offset, void* to, int64_t bytes) const override {
    if (offset + bytes <= std::ssize(start_))
      std::memcpy(to, start_.data() + offset, bytes);
    else
      file_->read_at(offset, to, bytes);
  }
  void close() { file_.reset(); }

 private:
  void read_start(int64_t bytes) {
    start_.resize(bytes);
    file_->read_at(0, start_.data(), bytes);
  }

  storage::ObjectPtr file_;  // null once nothing more is read from it
  codecs::NpyHeader header_;
  std::string start_;
};

class NumpySample : public Source::Sample {
 public:
  NumpySample(storage::ObjectPtr file, const Region& region, bool read_ahead)
      : file_(std::move(file), read_ahead), window_(region.window(header().shape)), fill_(region.fill()) {
    const Shape& shape = header().shape;
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
    if (!header.fortran_order) {
      read_array_part(file_, header.data, size, header.shape, part_, to);
      if (header.big_endian) swap_bytes(to, elements, size);
      return;
    }
    // In Fortran order, the file contains the array with reversed axes.
    Window part{.start = reversed(part_.start), .size = reversed(part_.size)};
    Block buffer = allocate(elements * size);
    read_array_part(file_, header.data, size, reversed(header.shape), part, static_cast<char*>(buffer.get()));
    if (header.big_endian) swap_bytes(buffer.get(), elements, size);
    StridedCopy(size, part_.size, reversed(dense_strides(part.size))).run(to, buffer.get());
  }

  NpyFile file_;
  Window window_;  // the requested region
  Window part_;    // its part inside the array
  float fill_;
};

class NumpySource : public Source {
 public:
  NumpySource(std::shared_ptr<const FileList> files, Region region, bool read_ahead)
      : files_(std::move(files)), region_(std::move(region)), read_ahead_(read_ahead), is_local_(files_->is_local()) {
    first_ = find_first_sample(*this, [&](int64_t i) {
      const NpyFile file(storage::open(files_->path(i)), false);
      outputs_[0].dtype = file.header().dtype;
      outputs_[0].ndim = file.header().shape.size();
    });
  }

  const char* name() const override { return "readers.Numpy"; }
  int64_t size() const override { return files_->size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->path(index); }
  bool is_local() const override { return is_local_; }
  void name_needs(int64_t index, storage::Needs& needs) const override {
    if (region_.is_whole())
      needs.whole(files_->path(index));
    else
      needs.beginning(files_->path(index), kSmallFile);
  }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    auto sample = std::make_unique<NumpySample>(fetched.open(files_->path(index)), region_, read_ahead_);
    check_like_first(*this, first_, 0, sample->header().dtype, sample->header().shape);
    return sample;
  }

 private:
  const std::shared_ptr<const FileList> files_;
  const Region region_;
  const bool read_ahead_, is_local_;
  std::vector<Meta> outputs_ = std::vector<Meta>(1);
  int64_t first_ = 0;  // the file that determines type and rank
};

std::shared_ptr<Source> source_of_args(const NumpyArgs& args, const Opening& opening) {
  return std::make_shared<NumpySource>(args.find(opening), Region(args), args.read_ahead);
}

}  // namespace

AVIDA_READER(Numpy, NumpyArgs) {
  declare_index(reader);
  reader
      .doc(R"(Reads arrays from ``.npy`` files, or a region of each array.

Shapes may differ; element type and rank are those of the first file.

The files are those in ``file_root`` and in its folders, sorted, or those that ``file_list`` or ``files`` name.
Booleans, integers and floats of 16 to 64 bits in either byte order are read; arrays in Fortran's order are brought
into C's. Of a region, only the rows that are needed are read. Its arguments hold for all samples.)")
      .ignored("cache_header_information", "bool | None")
      .arg("confine", &NumpyArgs::confine,
           "Refuse a name in ``file_list`` that leads outside of ``file_root``, or of the list's folder: by being "
           "absolute, by ``..`` or by a symbolic link. Checked when the reader is made.")
      .arg("file_filter", &NumpyArgs::file_filter,
           "A pattern that a file's name in ``file_root`` must match. Default: ``\"*.npy\"``.")
      .path("file_list", &NumpyArgs::file_list,
            "A text file with a file name in each line. Names are relative to ``file_root``, or else to the folder of "
            "the list.")
      .path("file_root", &NumpyArgs::file_root,
            "The folder to search; the base of relative names in ``file_list`` and ``files``.")
      .path("files", &NumpyArgs::files, "The files, in this order.")
      .arg("fill_value", &NumpyArgs::fill_value, "What the policy \"pad\" fills with.")
      .arg("out_of_bounds_policy", &NumpyArgs::out_of_bounds_policy,
           "What to do where the region reaches beyond the array: \"error\"; \"pad\" fills it up with ``fill_value``; "
           "\"trim_to_shape\" leaves out what is not there.")
      .ignored("register_buffers", "bool | None")
      .arg("rel_roi_end", &NumpyArgs::rel_roi_end, "Where the region ends, in parts of the extents.")
      .arg("rel_roi_shape", &NumpyArgs::rel_roi_shape, "The extents of the region, in parts of the array's.")
      .arg("rel_roi_start", &NumpyArgs::rel_roi_start, "Where the region starts, in parts of the extents.")
      .arg("roi_axes", &NumpyArgs::roi_axes, "The axes that the other arguments are about. Default: all.")
      .arg("roi_end", &NumpyArgs::roi_end, "Where the region ends.")
      .arg("roi_shape", &NumpyArgs::roi_shape, "The extents of the region.")
      .arg("roi_start", &NumpyArgs::roi_start, "Where the region starts. Default: at 0.")
      .ignored("use_o_direct", "bool | None")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> for i in range(3):
...     np.save(pathlib.Path(folder.name, f"{i}.npy"), np.full((2, 4 + i), i))
>>> reader = avida.readers.Numpy(file_root=folder.name, roi_start=[2], roi_axes=[1])
>>> for (arrays,) in reader.next_epoch(batch_size=3):
...     print(arrays.shape)
[(2, 2), (2, 3), (2, 4)])")
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
