// libpng as a class: a file in memory, and errors as exceptions.
#pragma once
#include <png.h>

#include <csetjmp>

#include "codecs/bytes.h"

namespace avida::codecs {

// libpng reports errors by longjmp to run(), so the functions it calls must not own resources.
class PngReader {
 public:
  explicit PngReader(Bytes file)
      : rest_(file),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, [](png_structp, png_const_charp) {})) {
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      fail(ErrorKind::memory, "PNG: no memory for the decoder");
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;

  template <class Work>
  void run(const Work& work) {
    if (setjmp(png_jmpbuf(png_))) refuse("PNG: ", message_);
    work(png_, info_);
  }

  static void read(png_structp png, png_bytep to, size_t size) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (size > self.rest_.size()) png_error(png, "the file is truncated");
    std::memcpy(to, self.rest_.data(), size);
    self.rest_ = self.rest_.subspan(size);
  }

 private:
  static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(self.message_, message, sizeof(self.message_) - 1);
    png_longjmp(png, 1);
  }

  Bytes rest_;
  char message_[128] = {};
  png_structp png_;
  png_infop info_ = nullptr;
};

}  // namespace avida::codecs
