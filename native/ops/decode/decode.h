// What the image decoders have in common: they differ in the rectangle of the image that they decode.
#pragma once
#include <string>

#include "codecs/image.h"
#include "op/decode_on_gpu.h"
#include "op/op.h"

namespace avida::ops {

struct DecodeArgs {
  bool adjust_orientation = true;
  DType dtype = DType::uint8;
  std::string on_error = "raise";
  int output_type = 0;
  bool use_fast_idct = false;
  // Without effect: decoders on a GPU do not need them here.
  bool affine = true, jpeg_fancy_upsampling = false, memory_stats = false, split_stages = false;
  bool use_chunk_allocator = false;
  int device_memory_padding = 16777216, device_memory_padding_jpeg2k = 0, host_memory_padding = 8388608;
  int host_memory_padding_jpeg2k = 0, hybrid_huffman_threshold = 1000000, preallocate_height_hint = 0;
  int preallocate_width_hint = 0;
  float hw_decoder_load = 0.65f;
};

codecs::ImageType image_type(int number);
codecs::Bytes encoded_bytes(const SampleView& in);
codecs::ImageRequest image_request(const DecodeArgs& args);

void check_on_error(const std::string& on_error);
void infer_decode(const DecodeArgs& args, std::span<const Meta> in, Meta& out);
bool go_on_without(const DecodeArgs& args, SampleView& out);

codecs::Roi part_roi(const Part& part);

constexpr const char* kGpuOnlyText = "A setting that decoders on a GPU do not need here.";

template <class Args>
Op<Args>& decode_args(Op<Args>& op) {
  return op
      .arg("adjust_orientation", &Args::adjust_orientation,
           "Turn the image as its EXIF data says, so that it is upright.", fixed)
      .arg("affine", &Args::affine, kGpuOnlyText, fixed | deprecated)
      .arg("device_memory_padding", &Args::device_memory_padding, kGpuOnlyText, fixed | deprecated)
      .arg("device_memory_padding_jpeg2k", &Args::device_memory_padding_jpeg2k, kGpuOnlyText, fixed | deprecated)
      .arg("dtype", &DecodeArgs::dtype,
           "The element type. Integers use the whole range of their type, float32 goes from 0 to 1.")
      .arg("host_memory_padding", &Args::host_memory_padding, kGpuOnlyText, fixed | deprecated)
      .arg("host_memory_padding_jpeg2k", &Args::host_memory_padding_jpeg2k, kGpuOnlyText, fixed | deprecated)
      .arg("hw_decoder_load", &Args::hw_decoder_load,
           "The share of a GPU's engine, which follows from measured speed here.", fixed | deprecated)
      .arg("hybrid_huffman_threshold", &Args::hybrid_huffman_threshold, kGpuOnlyText, fixed | deprecated)
      .arg("jpeg_fancy_upsampling", &Args::jpeg_fancy_upsampling,
           "Interpolate the colours of JPEG images, which is always done.", fixed | deprecated)
      .arg("memory_stats", &Args::memory_stats, kGpuOnlyText, fixed | deprecated)
      .arg("on_error", &DecodeArgs::on_error,
           "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\": the sample becomes an empty "
           "image, `batch.errors` tells why, and `avida.drop_failed` removes it.")
      .arg("output_type", &Args::output_type,
           "The colours: RGB, BGR, GRAY, YCbCr (ITU-R BT.601) or ANY_DATA (all channels of the file) of `avida.types`.",
           fixed)
      .arg("preallocate_height_hint", &Args::preallocate_height_hint, kGpuOnlyText, fixed | deprecated)
      .arg("preallocate_width_hint", &Args::preallocate_width_hint, kGpuOnlyText, fixed | deprecated)
      .arg("split_stages", &Args::split_stages, kGpuOnlyText, fixed | deprecated)
      .arg("use_chunk_allocator", &Args::use_chunk_allocator, kGpuOnlyText, fixed | deprecated)
      .arg("use_fast_idct", &Args::use_fast_idct, "Decode JPEG images a little faster and less exactly.", fixed);
}

constexpr double kDecodeCost = 16;  // of a byte, against moving it

template <class Args>
const Args& args_of(const Run& run, int i) {
  return *static_cast<const Args*>(run.args.at(i));
}

// The output is the rectangle that find(sample, extents) returns, of the image that request(args) asks for.
template <auto find, auto request, class Args>
Op<Args>& decodes(Op<Args>& op) {
  return decode_args(op)
      .each_sample(
          [](Sample<Args>& sample) {
            codecs::EncodedImage image(encoded_bytes(sample.in[0]), request(sample.args));
            codecs::Roi roi = find(sample, image.extents());
            sample.out[0].shape = {roi.height, roi.width, image.extents().channels};
          },
          [](const Sample<Args>& sample) {
            codecs::EncodedImage image(encoded_bytes(sample.in[0]), request(sample.args));
            codecs::Roi roi = find(sample, image.extents()), needed;
            if (Shape{roi.height, roi.width, image.extents().channels} != sample.out[0].shape)
              fail(ErrorKind::runtime, "the bytes of the file changed while it was decoded");
            if (sample.needed) needed = part_roi(*sample.needed);
            image.decode(roi, sample.out[0].data, sample.needed ? &needed : nullptr);
          })
      .replace([](Sample<Args>& sample) { return go_on_without(sample.args, sample.out[0]); })
      .largest_first()
      .cost(kDecodeCost)
      .leads_chains([](const Args& args) { return args.on_error == "raise"; })
      .gpu_run([](const Run& run, const GpuStream& stream) {
        for (int i = 0; i < run.samples; i++)
          if (args_of<Args>(run, i).on_error != "raise") return std::optional<std::vector<Data>>();
        for (const Data* in : run.in)
          if (in && in->device.kind != Device::Kind::cpu) return std::optional<std::vector<Data>>();
        return decode_on_gpu(run, stream, [&](int i) {
          const Args& args = args_of<Args>(run, i);
          return DecodeRequest{request(args), [&run, &args, i](const codecs::Extents& extents) {
                                 SampleView in[3];  // as many as image_slice has
                                 input_views(run, i, in);
                                 return find(Sample<Args>{args, in, {}, 0, 0, i, run.random_key(i), nullptr, nullptr},
                                             extents);
                               }};
        });
      });
}

}  // namespace avida::ops
