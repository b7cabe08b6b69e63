// experimental.readers.Fits: images in FITS files.
#include <algorithm>
#include <climits>
#include <optional>
#include <utility>

#include "core/byte_order.h"
#include "readers/file/file_args.h"
#include "readers/first_sample.h"
#include "readers/fits/fits_header.h"
#include "readers/fits/fits_pixels.h"
#include "readers/fits/fits_tiles.h"

namespace avida {
namespace {

constexpr int64_t kAtATime = 64 << 10;  // bytes that are read and converted at a time, while they are in cache

void check_output(DType dtype) {
  if (!is_integer(dtype) && dtype != DType::float32 && dtype != DType::float64)
    refuse("expected integers, float32 or float64 as dtypes, got ", dtype);
}

class FitsImage {
 public:
  FitsImage(int hdu, const FitsUnit& unit, FitsBytes& file) : data_(unit.data) {
    const FitsHeader& header = unit.header;
    std::string extension = header.text("XTENSION");
    if (TiledImage::is_in(header)) {
      if (!file.has(unit.data + unit.bytes)) refuse("the file is truncated: it ends within its compressed image");
      tiles_.emplace(unit);
      stored_ = tiles_->stored();
      shape_ = tiles_->shape();
    } else {
      if (!extension.empty() && extension != "IMAGE") refuse("expected an image in HDU ", hdu, ", got a table");
      stored_ = header.element_type("BITPIX");
      int64_t axes = header.integer("NAXIS");
      if (axes == 0) refuse("expected an image in HDU ", hdu, ", it has no data");
      if (axes > kMaxDim) refuse("the image has more than ", kMaxDim, " axes: ", axes);
      for (int64_t d = axes; d >= 1; d--)
        shape_.push_back(header.integer(str("NAXIS", d)));         // the first axis changes fastest
      if (checked_volume(shape_) > unit.bytes / size_of(stored_))  // there may be no groups
        refuse("expected an image of shape ", shape_, " in HDU ", hdu, ", got ", unit.bytes, " bytes of data");
    }
    scaling_ = {header.number("BSCALE", 1), header.number("BZERO", 0)};
    dtype = fits_value_type(stored_, scaling_);
  }

  DType dtype;  // element type of the output
  const Shape& shape() const { return shape_; }

  // Returns false if a number does not fit.
  bool read(FitsBytes& file, void* to) const {
    if (tiles_) return tiles_->read(file, scaling_, dtype, to);
    int stored_bytes = size_of(stored_);
    bool in_place = fits_same_bits(stored_, scaling_, dtype);
    std::vector<char> buffer(in_place ? 0 : kAtATime);
    int64_t elements = volume(shape_);
    for (int64_t done = 0; done < elements; done += kAtATime / stored_bytes) {
      int64_t some = std::min(kAtATime / stored_bytes, elements - done);
      char* target = static_cast<char*>(to) + done * size_of(dtype);
      char* source = in_place ? target : buffer.data();
      file.read_at(data_ + done * stored_bytes, source, some * stored_bytes);
      swap_bytes(source, some, stored_bytes);
      if (!convert_fits_pixels(stored_, source, some, scaling_, dtype, target)) return false;
    }
    return true;
  }

 private:
  int64_t data_;  // its offset
  DType stored_;
  FitsScaling scaling_;
  Shape shape_;
  std::optional<TiledImage> tiles_;
};

class FitsSample : public Source::Sample {
 public:
  // Without dtypes, elements have the type of the file.
  FitsSample(storage::ObjectPtr file, const std::vector<int>& hdus, const std::vector<DType>& dtypes)
      : file_(std::move(file)), hdus_(hdus) {
    std::vector<FitsUnit> units = find_fits_units(file_, hdus_);
    for (size_t k = 0; k < hdus_.size(); k++) {
      images_.emplace_back(hdus_[k], units[k], file_);
      if (!dtypes.empty()) images_.back().dtype = dtypes[k];
    }
  }

  const std::vector<FitsImage>& images() const { return images_; }
  Shape shape(int output) const override { return images_[output].shape(); }

  void read(int output, void* to) override {
    const FitsImage& image = images_[output];
    bool all_fit = true;
    try {
      all_fit = image.read(file_, to);
    } catch (const Error& error) {
      fail(error.kind, "HDU ", hdus_[output], ": ", error.message);
    }
    if (!all_fit) refuse("HDU ", hdus_[output], " has numbers outside of the range of ", image.dtype);
    if (output + 1 == std::ssize(images_)) file_.close();
  }

 private:
  FitsBytes file_;
  const std::vector<int>& hdus_;  // of the source
  std::vector<FitsImage> images_;
};

class FitsSource : public Source {
 public:
  FitsSource(std::shared_ptr<const FileList> files, std::vector<int> hdus, std::vector<DType> dtypes)
      : files_(std::move(files)), hdus_(std::move(hdus)), dtypes_(std::move(dtypes)), outputs_(hdus_.size()) {
    for (DType dtype : dtypes_) check_output(dtype);
    first_ = find_first_sample(*this, [&](int64_t i) {
      FitsSample sample(storage::open(files_->path(i)), hdus_, dtypes_);
      for (size_t k = 0; k < outputs_.size(); k++) {
        outputs_[k].dtype = sample.images()[k].dtype;
        outputs_[k].ndim = sample.images()[k].shape().size();
      }
    });
  }

  const char* name() const override { return "experimental.readers.Fits"; }
  int64_t size() const override { return files_->size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->path(index); }
  bool is_local() const override { return is_local_; }
  void name_needs(int64_t index, storage::Needs& needs) const override { needs.whole(files_->path(index)); }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    auto sample = std::make_unique<FitsSample>(fetched.open(files_->path(index)), hdus_, dtypes_);
    for (int k = 0; k < std::ssize(outputs_); k++)
      check_like_first(*this, first_, k, sample->images()[k].dtype, sample->images()[k].shape());
    return sample;
  }

 private:
  const std::shared_ptr<const FileList> files_;
  const std::vector<int> hdus_;
  const std::vector<DType> dtypes_;
  std::vector<Meta> outputs_;
  const bool is_local_ = files_->is_local();
  int64_t first_ = 0;  // the file that determines types and ranks
};

struct FitsArgs : UnlabelledFilesArgs {
  FitsArgs() { file_filter = "*.fits"; }

  std::vector<int64_t> hdu_indices = {2};  // counted from 1: the first extension
  std::vector<DType> dtypes;               // one for each, or none: those of the first readable file
};

void check_args(FitsArgs& args) {
  args.check();
  for (int64_t hdu : args.hdu_indices)
    if (hdu != static_cast<int>(hdu)) value_error("hdu_indices must be from ", INT_MIN, " to ", INT_MAX, ", got ", hdu);
  if (args.hdu_indices.empty()) fail(ErrorKind::index, "there is nothing to read: expected numbers in hdu_indices");
  if (!args.dtypes.empty() && args.dtypes.size() != args.hdu_indices.size())
    refuse("expected a type for each of ", args.hdu_indices.size(), " outputs in dtypes, got ", args.dtypes.size());
}

std::shared_ptr<Source> source_of_args(const FitsArgs& args, const Opening& opening) {
  return std::make_shared<FitsSource>(args.find(opening),
                                      std::vector<int>(args.hdu_indices.begin(), args.hdu_indices.end()), args.dtypes);
}

}  // namespace

AVIDA_READER_IN(experimental, Fits, FitsArgs) {
  declare_index(reader);
  reader
      .doc(R"(Reads images from FITS files, also compressed ones.

There is one output for each of ``hdu_indices``.

Shapes may differ; ranks are those of the first file that can be read.

The files are those in ``file_root`` and in its folders, sorted, or those that ``file_list`` or ``files`` name. Axes
are in the order of NumPy and astropy: the one that changes fastest is the last. Elements are scaled as the header
says (``BSCALE``, ``BZERO``). Files may be packed by gzip, and images by ``RICE_1``, ``GZIP_1`` or ``GZIP_2``,
but not by ``HCOMPRESS_1`` or ``PLIO_1``.)")
      .arg("confine", &FitsArgs::confine,
           "Refuse a name in ``file_list`` that leads outside of ``file_root``, or of the list's folder: by being "
           "absolute, by ``..`` or by a symbolic link. Checked when the reader is made.")
      .arg("dtypes", &FitsArgs::dtypes,
           "The element type of each output; numbers that do not fit are an error. Default: those of the first file.")
      .arg("file_filter", &FitsArgs::file_filter,
           "A pattern that a file's name in ``file_root`` must match. Default: ``\"*.fits\"``.")
      .path("file_list", &FitsArgs::file_list,
            "A text file with a file name in each line. Names are relative to ``file_root``, or else to the folder of "
            "the list.")
      .path("file_root", &FitsArgs::file_root,
            "The folder to search; the base of relative names in ``file_list`` and ``files``.")
      .path("files", &FitsArgs::files, "The files, in this order.")
      .arg("hdu_indices", &FitsArgs::hdu_indices,
           "The parts of the file to read, counted from ``1``, the primary one. Default: ``[2]``, the first extension.")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> cards = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "END"]
>>> header = "".join(card.ljust(80) for card in cards).ljust(2880).encode()
>>> _ = pathlib.Path(folder.name, "sky.fits").write_bytes(header + bytes(range(6)).ljust(2880, b"\0"))
>>> reader = avida.experimental.readers.Fits(file_root=folder.name, hdu_indices=[1])
>>> for (images,) in reader.next_epoch(batch_size=1):
...     print(np.asarray(images.tensors[0]).tolist())
[[0, 1, 2], [3, 4, 5]])")
      .needs("zlib")
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
