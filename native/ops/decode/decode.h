// Arguments and plans that the image decoders share; they differ in the rectangle that they decode.
#pragma once
#include "codecs/image.h"
#include "loops/decoding/decode_on_gpu.h"
#include "operator/declare.h"

namespace avida::ops {

enum class OnError { raise, placeholder };
AVIDA_CHOICES_WITH(OnError, kRaisesValueError, "raise", "placeholder")

constexpr const char* kRaises =
    "RuntimeError: A file cannot be decoded: raised when the result is read, unless `on_error` is \"placeholder\".";

struct DecodeArgs {
  bool adjust_orientation = true;
  DType dtype = DType::uint8;
  OnError on_error = OnError::raise;
  codecs::ImageType output_type = codecs::ImageType::rgb;
  bool use_fast_idct = false;
};

codecs::Bytes encoded_bytes(const SampleView& in);
codecs::ImageRequest image_request(const DecodeArgs& args);

void check_encoded(const Meta& in);
void infer_decode(const DecodeArgs& args, std::span<const Meta> in, Meta& out);
// Sets the shape of an empty image in place of a file that failed; false where the error is to be raised.
bool set_placeholder(const DecodeArgs& args, SampleView& out);

codecs::Roi part_roi(const Part& part);

template <class Args>
Op<Args>& decode_args(Op<Args>& op) {
  return op
      .arg("adjust_orientation", &Args::adjust_orientation, "Rotate and mirror the image as its EXIF orientation says.",
           fixed)
      .ignored("affine", true)
      .ignored("device_memory_padding", 16777216)
      .ignored("device_memory_padding_jpeg2k", 0)
      .arg("dtype", &DecodeArgs::dtype,
           "The element type. Integers use the whole range of their type, float32 goes from 0 to 1.")
      .ignored("host_memory_padding", 8388608)
      .ignored("host_memory_padding_jpeg2k", 0)
      .ignored("hw_decoder_load", 0.65f)
      .ignored("hybrid_huffman_threshold", 1000000)
      .ignored("jpeg_fancy_upsampling", false)
      .ignored("memory_stats", false)
      .arg(
          "on_error", &DecodeArgs::on_error,
          "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\", which returns an empty image; "
          "`batch.errors` has the reason, and `avida.drop_failed` removes the sample.")
      .arg("output_type", &Args::output_type,
           "The colours: RGB, BGR, GRAY, YCbCr (ITU-R BT.601) or ANY_DATA (all channels of the file) of `avida.types`. "
           "INDICES, for label masks, returns one channel with the stored values, never scaled: the indices of an "
           "image with a palette, or the values of a grayscale image; other images are an error. Names are accepted, "
           "too: \"gray\".",
           fixed)
      .ignored("preallocate_height_hint", 0)
      .ignored("preallocate_width_hint", 0)
      .ignored("split_stages", false)
      .ignored("use_chunk_allocator", false)
      .arg("use_fast_idct", &Args::use_fast_idct, "Decode JPEG images with a faster, less accurate IDCT.", fixed)
      .takes_files()
      .raises(kRaises);
}

constexpr double kDecodeCost = 16;  // of a byte, against moving it

template <class Args>
const Args& args_of(const Run& run, int i) {
  return *static_cast<const Args*>(run.args.at(i));
}

// The rectangle that find(sample, extents) returns, of the image that request(args) asks for.
template <auto find, auto request, class Args>
struct DecodePlan : ImagePart {
  explicit DecodePlan(const Sample<Args>& sample) : ImagePart{{encoded_bytes(sample.in[0]), request(sample.args)}, {}} {
    roi = find(sample, image.extents());
    image.check_memory(roi);
  }
  void run(const Sample<Args>& sample) const {
    codecs::Roi needed;
    if (sample.needed) needed = part_roi(*sample.needed);
    image.decode(roi, sample.out[0].data, sample.needed ? &needed : nullptr, sample.pool);
  }
};

// Whether the result are frames of animations, which no GPU decodes and no chain takes in parts.
constexpr bool wants_frames(const DecodeArgs&) { return false; }

template <class Plan, class Args>
Op<Args>& decodes_by(Op<Args>& op) {
  return decode_args(op)
      .on_cpu()
      .template each_sample<Plan>()
      .replace([](Sample<Args>& sample) {
        if (!set_placeholder(sample.args, sample.out[0])) return false;
        if (wants_frames(sample.args)) sample.out[0].shape = {0, 0, 0, sample.out[0].shape[2]};
        return true;
      })
      .largest_first()
      .cost(kDecodeCost)
      .leads_chains([](const Args& args) { return args.on_error == OnError::raise && !wants_frames(args); })
      .gpu_run([](const Run& run, const GpuStream& stream) {
        for (int i = 0; i < run.samples; i++)
          if (args_of<Args>(run, i).on_error != OnError::raise || wants_frames(args_of<Args>(run, i)))
            return std::optional<std::vector<Data>>();
        for (const Data* in : run.in)
          if (in && in->device.kind != Device::Kind::cpu) return std::optional<std::vector<Data>>();
        return decode_on_gpu(run, stream, [&run](int i) -> ImagePart {
          SampleView in[3];  // as many as image_slice has
          input_views(run, i, in);
          return Plan(Sample<Args>({i, run.args.at(i), in, {}, run.random_key(i)}));
        });
      });
}

template <auto find, auto request, class Args>
Op<Args>& decodes(Op<Args>& op) {
  return decodes_by<DecodePlan<find, request, Args>>(op);
}

}  // namespace avida::ops
