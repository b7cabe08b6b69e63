#include <numeric>
#include <vector>

#include "codecs/decoded_images.h"
#include "ops/decode/decode.h"

namespace avida {
namespace ops {

enum class CacheType { threshold, largest };
AVIDA_CHOICES(CacheType, "threshold", "largest", {"", CacheType::threshold})

// The frames of an animation: their numbers, or all of them.
struct FrameChoice {
  bool all = false;
  std::vector<int> numbers;
};

}  // namespace ops

// True stands for all frames.
template <>
struct arg::Traits<ops::FrameChoice> {
  using Numbers = Traits<std::vector<int>>;
  static constexpr ArgType type = Numbers::type;
  static void assign(ops::FrameChoice& member, const ArgValue& value) {
    member = {};
    const auto* all = std::get_if<bool>(&value);
    if (all && !*all) value_error("expected True, for all frames, or their numbers, got False");
    all ? void(member.all = true) : Numbers::assign(member.numbers, value);
  }
  static void from_sample(ops::FrameChoice& member, const void* data, const Shape& shape, DType dtype) {
    member = {};
    Numbers::from_sample(member.numbers, data, shape, dtype);
  }
  static std::string text(const ops::FrameChoice& member) { return Numbers::text(member.numbers); }
};

namespace ops {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
constexpr int64_t kMostMegabytes = int64_t{1} << 40;

struct DecodeImageArgs : DecodeArgs {
  int64_t cache_size = 0, cache_threshold = 0;
  CacheType cache_type = CacheType::threshold;
  std::optional<FrameChoice> frames;
  int page = 0;
  Vec<int> reduce_to;
};

bool wants_frames(const DecodeImageArgs& args) { return args.frames.has_value(); }

codecs::Roi whole(const Sample<DecodeImageArgs>&, const codecs::Extents& image) {
  return {0, 0, image.height, image.width};
}

codecs::ImageRequest request(const DecodeImageArgs& args) {
  codecs::ImageRequest request = image_request(args);
  request.page = args.page;
  const Vec<int>& least = args.reduce_to;
  if (least.size() > 2) refuse("expected one number or two, (H, W), in \"reduce_to\", got ", least.size());
  for (int extent : least)
    if (extent < 0) refuse("expected extents of 0 or more in \"reduce_to\", got ", extent);
  if (least.size() == 1) request.least_side = least[0];
  if (least.size() == 2) {
    request.least_height = least[0];
    request.least_width = least[1];
  }
  return request;
}

// Decodes images that may be kept as wholes.
struct KeptImagePlan : DecodePlan<whole, request, DecodeImageArgs> {
  using Decoding = DecodePlan<whole, request, DecodeImageArgs>;
  using Decoding::Decoding;

  void run(const Sample<DecodeImageArgs>& sample) const {
    const DecodeImageArgs& args = sample.args;
    if (args.cache_size == 0) return Decoding::run(sample);
    const SampleView &in = sample.in[0], &out = sample.out[0];
    codecs::DecodedImages& kept = codecs::DecodedImages::instance();
    const codecs::DecodedImages::Rules rules{args.cache_size * kMegabyte, args.cache_threshold,
                                             args.cache_type == CacheType::largest};
    if (kept.find(codecs::DecodedImages::key(encoded_bytes(in), image.request()), out.data, out.bytes())) return;
    if (!kept.wants(in.bytes(), out.bytes(), rules)) return Decoding::run(sample);
    decode_copy(sample, rules);
  }

 private:
  // What is kept belongs to bytes that nobody changes while they are decoded.
  void decode_copy(const Sample<DecodeImageArgs>& sample, const codecs::DecodedImages::Rules& rules) const {
    const codecs::Bytes given = encoded_bytes(sample.in[0]);
    const std::vector<uint8_t> file(given.begin(), given.end());
    const codecs::EncodedImage copy(file, image.request());
    const codecs::Extents extents = copy.extents(), planned = image.extents();
    if (extents.height != planned.height || extents.width != planned.width || extents.channels != planned.channels)
      return Decoding::run(sample);
    const SampleView& out = sample.out[0];
    copy.decode(roi, out.data, nullptr, sample.pool);
    codecs::DecodedImages::instance().add(codecs::DecodedImages::key(file, image.request()), out.data, out.bytes(),
                                          rules);
  }
};

void check_cache(const DecodeImageArgs& args) {
  if (args.cache_size < 0 || args.cache_size > kMostMegabytes)
    value_error("cache_size must be 0 megabytes or more, got ", args.cache_size);
  if (args.cache_threshold < 0) value_error("cache_threshold must be 0 bytes or more, got ", args.cache_threshold);
}

std::vector<int64_t> chosen_frames(const FrameChoice& choice, const codecs::EncodedImage& image) {
  // Indices belong to the palette of one picture.
  const bool is_one = image.request().type == codecs::ImageType::indices;
  const int64_t count = is_one ? 1 : image.file().details().frames;
  if (choice.all) {
    image.check_memory_of_frames(count);
    std::vector<int64_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  for (int number : choice.numbers)
    if (number < 0 || number >= count) refuse("expected frames from 0 to ", count - 1, ", got ", number);
  return {choice.numbers.begin(), choice.numbers.end()};
}

class DecodeImagePlan : public KeptImagePlan {
 public:
  using Base = KeptImagePlan;

  explicit DecodeImagePlan(const Sample<DecodeImageArgs>& sample) : Base(sample) {
    if (!sample.args.frames) return;
    frames_ = chosen_frames(*sample.args.frames, image);
    image.check_memory_of_frames(static_cast<int64_t>(frames_->size()));
  }
  Shape shape() const {
    if (!frames_) return Base::shape();
    return {static_cast<int64_t>(frames_->size()), roi.height, roi.width, image.frame_channels()};
  }
  void run(const Sample<DecodeImageArgs>& sample) const {
    frames_ ? image.decode_frames(*frames_, sample.out[0].data) : Base::run(sample);
  }

 private:
  std::optional<std::vector<int64_t>> frames_;
};

void infer(Infer<DecodeImageArgs>& call) {
  check_cache(call.args);
  infer_decode(call.args, call.in, call.out[0]);
  if (!call.args.frames) return;
  if (call.args.reduce_to.size()) refuse("expected frames or reduce_to, got both");
  call.out[0].ndim = 4;
  call.out[0].layout = "FHWC";
}

}  // namespace

AVIDA_OP_IN(decoders, image, DecodeImageArgs) {
  op.doc(
        "Decodes images, in any of the formats that `avida info` lists. Of animations and files with several pages, "
        "the first image is decoded, unless `frames` or `page` says otherwise.")
      .input("input", "The bytes of image files.")
      .ignored("cache_batch_copy", true)
      .ignored("cache_debug", false)
      .arg("cache_size", &DecodeImageArgs::cache_size,
           "Keep decoded images for the next time the same bytes are decoded in the same way, on the CPU: so many "
           "megabytes of them, with their files, in the memory of the process. See "
           "`avida.decoders.cache_info`. 0 keeps none.",
           fixed)
      .arg("cache_threshold", &DecodeImageArgs::cache_threshold, "Images of fewer bytes, once decoded, are not kept.",
           fixed)
      .arg("cache_type", &DecodeImageArgs::cache_type,
           "What is kept where there is no room for all: \"threshold\", the first images, or \"largest\", the largest.",
           fixed)
      .arg("frames", &DecodeImageArgs::frames,
           "The frames of animations (GIF, WebP, PNG): True for all, or their numbers, in any order; they may repeat. "
           "The result has the layout FHWC, with frames composed as browsers show them; without alpha, what is "
           "transparent is black. Other files have one frame.")
      .arg("page", &DecodeImageArgs::page, "The page of files that have several (TIFF), from 0 on.")
      .arg("reduce_to", &DecodeImageArgs::reduce_to,
           "The least extents that are needed of images that will be downscaled: (H, W), or one number for the shorter "
           "side. Formats with reduced sizes, such as JPEG, are decoded at the smallest of the scales 1/8, 1/4, 3/8 "
           "and 1/2 that is not below it, which is faster. Where none of the scales suffices, and in other formats, "
           "images are decoded "
           "at full size.")
      .example("avida.decoders.image(np.frombuffer(b\"P5 2 1 255 ab\", np.uint8), output_type=avida.types.GRAY)")
      .infer(infer);
  decodes_by<DecodeImagePlan>(op).leads_chains([](const DecodeImageArgs& args) {
    return args.on_error == OnError::raise && args.cache_size == 0 && !wants_frames(args);
  });
}

}  // namespace ops
}  // namespace avida
