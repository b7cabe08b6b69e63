#include "ops/decode/decode.h"

#include "codecs/pixels.h"

namespace avida::ops {

codecs::Roi part_roi(const Part& part) {
  return {static_cast<int>(part.y_begin), static_cast<int>(part.x_begin), static_cast<int>(part.y_end - part.y_begin),
          static_cast<int>(part.x_end - part.x_begin)};
}

codecs::Bytes encoded_bytes(const SampleView& in) { return {in.as<const uint8_t>(), static_cast<size_t>(in.bytes())}; }

codecs::ImageRequest image_request(const DecodeArgs& args) {
  codecs::ImageRequest request;
  request.type = args.output_type;
  request.dtype = args.dtype;
  request.adjust_orientation = args.adjust_orientation;
  request.fast_idct = args.use_fast_idct;
  return request;
}

void check_encoded(const Meta& in) {
  if (in.dtype != DType::uint8) refuse("expected the bytes of image files (uint8), got ", in.dtype);
  if (in.ndim != 1 && !(in.is_batch && in.samples == 0))
    refuse("expected the bytes of an image file (one axis), got ", in.ndim, " axes; several files are a Batch");
}

void infer_decode(const DecodeArgs& args, std::span<const Meta> in, Meta& out) {
  check_encoded(in[0]);
  switch (args.dtype) {
    case DType::uint8:
    case DType::int8:
    case DType::uint16:
    case DType::int16:
    case DType::uint32:
    case DType::int32:
    case DType::float32:
      break;
    default:
      refuse("expected uint8, int8, uint16, int16, uint32, int32 or float32 as dtype, got ", args.dtype);
  }
  out.dtype = args.dtype;
  out.ndim = 3;
  out.layout = "HWC";
}

bool set_placeholder(const DecodeArgs& args, SampleView& out) {
  if (args.on_error != OnError::placeholder) return false;
  out.shape = {0, 0, codecs::channels_of_type(args.output_type, 1)};
  return true;
}

}  // namespace avida::ops
