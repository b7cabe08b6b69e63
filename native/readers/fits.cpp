#include "readers/fits.h"

#include <fitsio.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <utility>

#include "readers/first_sample.h"
#include "readers/fits_header.h"
#include "runtime/file.h"
#include "runtime/fork.h"

namespace avida {
namespace {

constexpr int kMostOpen = 64;  // files; each takes some 100 KB. Beyond it, they are opened again to be read
constexpr int64_t kMostCompression = 10'000;  // a header that claims more is not believed
std::atomic<int> open_files{0};

// cfitsio has locks of its own, or none at all, depending on how it was built. A fork must not find them taken.
class Library : ForkAware {
 public:
  static Library& instance() {
    static Library* library = new Library;
    return *library;
  }
  std::shared_mutex mutex;
  const bool many_threads = fits_is_reentrant();

 private:
  void before_fork() override { mutex.lock(); }
  void after_fork(bool in_child) override {
    if (in_child)
      new (&mutex) std::shared_mutex;
    else
      mutex.unlock();
  }
  ForkRegistration fork_{this, Rank::reader};
};

// Held while the library is used.
class LibraryLock {
 public:
  LibraryLock() {
    Library& library = Library::instance();
    if (library.many_threads)
      shared_ = std::shared_lock(library.mutex);
    else
      alone_ = std::unique_lock(library.mutex);
  }

 private:
  std::shared_lock<std::shared_mutex> shared_;
  std::unique_lock<std::shared_mutex> alone_;
};

void check(int status) {
  if (status == 0) return;
  char text[FLEN_STATUS] = "";
  fits_get_errstatus(status, text);
  fits_clear_errmsg();
  fail(ErrorKind::runtime, "cannot be read: ", text);
}

struct ElementType {
  DType dtype;
  int image;   // how an image says that it has such elements, scaled or not
  int memory;  // how they are asked for
};
constexpr ElementType kTypes[] = {
    {DType::uint8, BYTE_IMG, TBYTE},
    {DType::int8, SBYTE_IMG, TSBYTE},
    {DType::uint16, USHORT_IMG, TUSHORT},
    {DType::int16, SHORT_IMG, TSHORT},
    {DType::uint32, ULONG_IMG, TUINT},
    {DType::int32, LONG_IMG, TINT},
    {DType::uint64, ULONGLONG_IMG, TULONGLONG},
    {DType::int64, LONGLONG_IMG, TLONGLONG},
    {DType::float32, FLOAT_IMG, TFLOAT},
    {DType::float64, DOUBLE_IMG, TDOUBLE},
};

int memory_type(DType dtype) {
  for (auto& type : kTypes)
    if (type.dtype == dtype) return type.memory;
  fail(ErrorKind::runtime, "expected integers, float32 or float64 as dtypes, got ", dtype);
}

// The lock is held by whoever uses one.
class FitsFile {
 public:
  explicit FitsFile(const std::string& path) {
    int status = 0;
    fits_open_diskfile(&file_, path.c_str(), READONLY, &status);
    check(status);
    open_files++;
  }
  ~FitsFile() {
    int status = 0;
    fits_close_file(file_, &status);
    open_files--;
  }
  FitsFile(const FitsFile&) = delete;

  fitsfile* get() const { return file_; }
  void go_to(int hdu) {
    int status = 0;
    fits_movabs_hdu(file_, hdu, nullptr, &status);
    if (status != END_OF_FILE && status != BAD_HDU_NUM) return check(status);
    fits_clear_errmsg();
    fail(ErrorKind::runtime, "there is no HDU ", hdu, hdu < 1 ? ", the first is 1" : "");
  }

 private:
  fitsfile* file_ = nullptr;
};

struct Image {
  DType dtype = DType::none;
  Shape shape;
};

Image image_of(FitsFile& file, int hdu, int64_t file_bytes, bool packed_file) {
  file.go_to(hdu);
  int status = 0, kind = 0, type = 0, axes = 0;
  fits_get_hdu_type(file.get(), &kind, &status);
  check(status);
  if (kind != IMAGE_HDU) fail(ErrorKind::runtime, "expected an image in HDU ", hdu, ", this is a table");
  fits_get_img_equivtype(file.get(), &type, &status);
  fits_get_img_dim(file.get(), &axes, &status);
  check(status);
  if (axes == 0) fail(ErrorKind::runtime, "expected an image in HDU ", hdu, ", it has no data");
  if (axes > kMaxDim) fail(ErrorKind::runtime, "the image has more than ", kMaxDim, " axes: ", axes);
  LONGLONG extents[kMaxDim];
  fits_get_img_sizell(file.get(), kMaxDim, extents, &status);
  bool packed = fits_is_compressed_image(file.get(), &status) || packed_file;
  check(status);

  // Unsigned numbers of 64 bits are signed ones with an offset; the library knows that of the smaller types only.
  double offset = 0;
  int no_offset = 0;
  if (type == LONGLONG_IMG && fits_read_key(file.get(), TDOUBLE, "BZERO", &offset, nullptr, &no_offset) == 0 &&
      offset == 0x1p63)
    type = ULONGLONG_IMG;
  if (no_offset) fits_clear_errmsg();

  Image image;
  for (auto& known : kTypes)
    if (known.image == type) image.dtype = known.dtype;
  if (image.dtype == DType::none) fail(ErrorKind::runtime, "unknown type of elements: ", type);
  int64_t elements = 1, most = file_bytes;
  if (packed && __builtin_mul_overflow(most, kMostCompression, &most)) most = INT64_MAX;
  for (int d = axes - 1; d >= 0; d--) {  // the first axis changes fastest
    image.shape.push_back(extents[d]);
    if (extents[d] < 0 || __builtin_mul_overflow(elements, static_cast<int64_t>(extents[d]), &elements) ||
        elements > most)
      fail(ErrorKind::runtime, "HDU ", hdu, " speaks of more elements than the file can hold, which has ", file_bytes,
           " bytes");
  }
  return image;
}

class FitsSample : public Source::Sample {
 public:
  // Without dtypes, elements are as in the file.
  FitsSample(std::string path, const std::vector<int>& hdus, const std::vector<DType>& dtypes)
      : path_(std::move(path)), hdus_(hdus) {
    File plain(path_);  // refuses pipes and folders
    unsigned char first = 0;
    if (plain.size() > 0) plain.read(&first, 1);
    bool packed = first == 0x1f;  // gzip, compress
    if (!packed) check_fits_headers(plain, *std::max_element(hdus_.begin(), hdus_.end()));
    LibraryLock lock;
    file_ = std::make_unique<FitsFile>(path_);
    for (size_t k = 0; k < hdus_.size(); k++) {
      images_.push_back(image_of(*file_, hdus_[k], plain.size(), packed));
      if (!dtypes.empty()) images_.back().dtype = dtypes[k];
    }
    if (open_files > kMostOpen) file_.reset();
  }
  ~FitsSample() override {
    LibraryLock lock;
    file_.reset();
  }

  const std::vector<Image>& images() const { return images_; }
  Shape shape(int output) const override { return images_[output].shape; }

  void read(int output, void* to) override {
    const Image& image = images_[output];
    int64_t elements = volume(image.shape);
    if (elements == 0) return;
    LibraryLock lock;
    if (!file_) file_ = std::make_unique<FitsFile>(path_);
    file_->go_to(hdus_[output]);
    int status = 0;
    LONGLONG first[kMaxDim];
    std::fill_n(first, kMaxDim, 1);
    fits_read_pixll(file_->get(), memory_type(image.dtype), first, elements, nullptr, to, nullptr, &status);
    if (status == NUM_OVERFLOW) fail(ErrorKind::runtime, "HDU ", hdus_[output], " has numbers beyond ", image.dtype);
    check(status);
  }

 private:
  const std::string path_;
  const std::vector<int>& hdus_;  // of the source
  std::unique_ptr<FitsFile> file_;
  std::vector<Image> images_;
};

class FitsSource : public Source {
 public:
  FitsSource(std::shared_ptr<const FileList> files, std::vector<int> hdus, std::vector<DType> dtypes)
      : files_(std::move(files)), hdus_(std::move(hdus)), dtypes_(std::move(dtypes)), outputs_(hdus_.size()) {
    for (DType dtype : dtypes_) memory_type(dtype);
    first_ = find_first_sample(*this, [&](int64_t i) {
      FitsSample sample(files_->path(i), hdus_, dtypes_);
      for (size_t k = 0; k < outputs_.size(); k++) {
        outputs_[k].dtype = sample.images()[k].dtype;
        outputs_[k].ndim = sample.images()[k].shape.size();
      }
    });
  }

  const char* name() const override { return "experimental.readers.Fits"; }
  int64_t size() const override { return files_->size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->path(index); }
  std::unique_ptr<Sample> open(int64_t index) const override {
    auto sample = std::make_unique<FitsSample>(files_->path(index), hdus_, dtypes_);
    for (int k = 0; k < std::ssize(outputs_); k++)
      check_like_first(*this, first_, k, sample->images()[k].dtype, sample->images()[k].shape);
    return sample;
  }

 private:
  const std::shared_ptr<const FileList> files_;
  const std::vector<int> hdus_;
  const std::vector<DType> dtypes_;
  std::vector<Meta> outputs_;
  int64_t first_ = 0;  // the file that tells types and ranks
};

}  // namespace

std::shared_ptr<Source> fits_source(std::shared_ptr<const FileList> files, std::vector<int> hdus,
                                    std::vector<DType> dtypes) {
  return std::make_shared<FitsSource>(std::move(files), std::move(hdus), std::move(dtypes));
}

}  // namespace avida
