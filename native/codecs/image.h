// Decodes images of any format: upright, in the requested colour space and element type, whole or in part.
#pragma once
#include "codecs/codec.h"
#include "codecs/pixels.h"

namespace avida::codecs {

struct ImageRequest {
  ImageType type = ImageType::rgb;
  DType dtype = DType::uint8;  // uint8, int8, uint16, int16, uint32, int32 (the whole range) or float32 (0 to 1)
  bool adjust_orientation = true;
  bool fast_idct = false;
  // If not 0: the image may be downscaled, at less cost, but not below this.
  int least_height = 0, least_width = 0;
  int least_side = 0;  // the same for the shorter side
  int page = 0;

  bool operator==(const ImageRequest&) const = default;
};

struct Extents {
  int height, width, channels;
};

// An opened file, and how to decode it. The bytes must outlive it. They may change: decode() then fails, or decodes
// what it finds, within the memory that the header asked for.
class EncodedImage {
 public:
  EncodedImage(Bytes file, const ImageRequest& request);

  const ImageFile& file() const { return *opened_.file; }
  const ImageRequest& request() const { return request_; }
  // With the extents after downscaling.
  const ImageInfo& info() const { return info_; }
  Orientation orientation() const { return {info_.orientation, info_.height, info_.width}; }
  // Of the image as it will be decoded.
  Extents extents() const;
  // Throws Error if decoding the rectangle would exceed the limit of memory. To be called before the result is
  // allocated.
  void check_memory(const Roi& roi) const;
  // Writes a rectangle of the decoded image, densely. Pixels outside of `needed`, a rectangle within the rectangle, may
  // be left undefined. Idle threads of `pool` may help.
  void decode(const Roi& roi, void* out, const Roi* needed = nullptr, ThreadPool* pool = nullptr) const;

  std::string_view format() const { return opened_.codec.name; }
  // Of frames, which are composed with alpha: those of an image with gray and alpha have four.
  int frame_channels() const;
  // Throws Error if decoding so many frames would exceed the limit of memory.
  void check_memory_of_frames(int64_t count) const;
  // Writes whole frames, in any order, which may repeat. One picture is one frame.
  void decode_frames(std::span<const int64_t> frames, void* out) const;

 private:
  void want_indices();
  void convert_frame(const uint8_t* canvas, void* out) const;
  bool is_direct() const;  // whether the codec writes the requested form

  OpenedImage opened_;
  ImageRequest request_;
  ImageInfo info_;
  DecodeOptions options_;
};

}  // namespace avida::codecs
