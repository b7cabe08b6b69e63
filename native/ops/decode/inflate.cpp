#include <lz4.h>

#include "operator/declare.h"
#include "ops/decode/decode.h"

namespace avida::ops {
namespace {

constexpr int64_t kLz4Ratio = 255;  // an encoded byte stands for at most that many

enum class Compression { lz4 };
AVIDA_CHOICES(Compression, "LZ4")

struct InflateArgs {
  Compression algorithm = Compression::lz4;
  std::optional<std::vector<int64_t>> chunk_offsets, chunk_sizes;
  DType dtype = DType::uint8;
  Layout layout;
  Layout sequence_axis_name{"F"};
  Vec<int64_t> shape;
};

// The compressed chunks of a sample: as the arguments say, or the whole sample.
std::vector<codecs::Bytes> chunks_of(codecs::Bytes bytes, const InflateArgs& args) {
  const auto& offsets = args.chunk_offsets;
  const auto& sizes = args.chunk_sizes;
  if (!offsets && !sizes) return {bytes};
  if (offsets && sizes && offsets->size() != sizes->size())
    refuse("expected as many chunk_sizes as chunk_offsets, got ", sizes->size(), " and ", offsets->size());
  const size_t count = offsets ? offsets->size() : sizes->size();
  const int64_t length = std::ssize(bytes);
  std::vector<codecs::Bytes> chunks;
  int64_t end = 0;
  for (size_t i = 0; i < count; i++) {
    const int64_t begin = offsets ? (*offsets)[i] : end;
    const int64_t following = i + 1 < count && offsets ? (*offsets)[i + 1] : length;
    const bool fits = begin >= 0 && begin <= length;
    const int64_t size = sizes ? (*sizes)[i] : fits ? following - begin : 0;
    if (!fits || size < 0 || size > length - begin)
      refuse("expected chunk ", i, " within the sample of ", length, " bytes, got ", size, " bytes at offset ", begin);
    chunks.push_back(bytes.subspan(static_cast<size_t>(begin), static_cast<size_t>(size)));
    end = begin + size;
  }
  return chunks;
}

class InflatePlan {
 public:
  explicit InflatePlan(const Sample<InflateArgs>& sample)
      : chunks_(chunks_of(encoded_bytes(sample.in[0]), sample.args)),
        shape_(std::span<const int64_t>(sample.args.shape.begin(), sample.args.shape.end())) {
    chunk_bytes_ = checked_volume(shape_) * size_of(sample.out[0].dtype);
    if (chunk_bytes_ > LZ4_MAX_INPUT_SIZE)
      refuse("expected chunks of at most ", LZ4_MAX_INPUT_SIZE, " bytes, got the shape ", shape_);
    codecs::check_memory(std::ssize(chunks_), chunk_bytes_);
    for (codecs::Bytes chunk : chunks_) codecs::check_ratio(chunk, chunk_bytes_, kLz4Ratio);
    if (sample.args.chunk_offsets || sample.args.chunk_sizes) shape_.insert(0, std::ssize(chunks_));
  }
  Shape shape() const { return shape_; }
  int64_t rows() const { return std::ssize(chunks_); }
  void run(const Sample<InflateArgs>& sample) const {
    for (int64_t i = sample.begin; i < sample.end; i++) inflate(i, sample.out[0].as<char>() + i * chunk_bytes_);
  }

 private:
  void inflate(int64_t i, char* to) const {
    const codecs::Bytes chunk = chunks_[static_cast<size_t>(i)];
    char none;  // a chunk of no bytes is written to nowhere, but not to null
    const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(chunk.data()), chunk_bytes_ ? to : &none,
                                         static_cast<int>(chunk.size()), static_cast<int>(chunk_bytes_));
    if (made < 0)
      refuse("chunk ", i, " of ", chunk.size(), " bytes is no LZ4 block, or has more than the ", chunk_bytes_,
             " bytes of its shape");
    if (made != chunk_bytes_)
      refuse("expected chunk ", i, " to have ", chunk_bytes_, " bytes as its shape, got ", made);
  }

  const std::vector<codecs::Bytes> chunks_;
  Shape shape_;
  int64_t chunk_bytes_ = 0;
};

void infer(Infer<InflateArgs>& call) {
  const InflateArgs& args = call.args;
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    refuse("expected compressed bytes (uint8, one axis), got ", in.dtype, " with ", in.ndim, " axes");
  auto given = [&](const char* name, bool fixed) { return fixed || call.call.per_sample(name); };
  const bool sequence =
      given("chunk_offsets", args.chunk_offsets.has_value()) || given("chunk_sizes", args.chunk_sizes.has_value());
  Meta& out = call.out[0];
  out.dtype = args.dtype;
  out.ndim = call.call.per_sample("shape") ? -1 : args.shape.size() + sequence;
  out.layout = args.layout;
  if (args.layout.empty()) return;
  if (out.ndim >= 0 && args.layout.size() != args.shape.size())
    refuse("expected a layout of ", args.shape.size(), " axes as the shape has, got ", args.layout);
  if (!sequence) return;
  if (args.sequence_axis_name.size() != 1)
    refuse("expected one letter as sequence_axis_name, got ", args.sequence_axis_name);
  out.layout = Layout(str(args.sequence_axis_name.view(), args.layout.view()));
}

}  // namespace

AVIDA_OP_IN(decoders, inflate, InflateArgs) {
  op.doc(
        "Decompresses LZ4 blocks. A sample is one block, or several that have one shape when decompressed: with "
        "`chunk_offsets` or `chunk_sizes`, the result has an axis for them, the first one.")
      .input("input", "Compressed bytes, without a frame or a length before them.")
      .arg("algorithm", &InflateArgs::algorithm, "The compression: \"LZ4\".")
      .ignored("check_output_size", false)
      .arg("chunk_offsets", &InflateArgs::chunk_offsets,
           "Where each block begins. Without `chunk_sizes`, it ends where the next one begins, or with the sample.")
      .arg("chunk_sizes", &InflateArgs::chunk_sizes,
           "The compressed size of each block. Without `chunk_offsets`, they follow one another.")
      .arg("dtype", &InflateArgs::dtype, "The element type of the decompressed data.")
      .arg("layout", &InflateArgs::layout, "The layout of a decompressed block.")
      .arg("sequence_axis_name", &InflateArgs::sequence_axis_name,
           "The letter of the axis of the blocks, where there are several and `layout` is given.")
      .arg("shape", &InflateArgs::shape, "The shape of a decompressed block.", required)
      .example("avida.decoders.inflate(b\"\\x50hello\", shape=[5])")
      .takes_files()
      .infer(infer)
      .on_cpu()
      .each_sample<InflatePlan>();
}

}  // namespace avida::ops
