#include "ops/decode/audio.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "core/clones.h"
#include "op/op.h"
#include "op/resample_audio.h"
#include "ops/decode/decode.h"
#include "runtime/memory.h"

namespace avida::ops {
namespace {

constexpr int64_t kChunk = 4096;  // elements that are worked on at a time: they stay in the nearest cache

bool resamples(const codecs::AudioInfo& info, const AudioRequest& request) {
  return request.sample_rate > 0 && request.sample_rate != info.rate;
}

// How many signals come out: the channels, or one.
int signals(const codecs::AudioInfo& info, const AudioRequest& request) { return request.downmix ? 1 : info.channels; }

AVIDA_CLONES void mix(const float* from, int channels, float* to, int64_t frames) {
  for (int64_t i = 0; i < frames; i++, from += channels) {
    float sum = 0;
    for (int c = 0; c < channels; c++) sum += from[c];
    to[i] = sum / static_cast<float>(channels);
  }
}

template <class T>
AVIDA_INLINE void scale_to(const float* from, T* to, int64_t n) {
  constexpr float full = static_cast<float>(TypeTraits<T>::highest());
  for (int64_t i = 0; i < n; i++) to[i] = convert<T>(from[i] * full);
}
AVIDA_CLONES void store(const float* from, int16_t* to, int64_t n) { scale_to(from, to, n); }
AVIDA_CLONES void store(const float* from, int32_t* to, int64_t n) { scale_to(from, to, n); }
void store(const float* from, float* to, int64_t n) { std::copy_n(from, n, to); }

// Calls take(samples, first frame, frames) for one chunk after another, mixed down where that is asked for.
template <class Take>
void each_chunk(codecs::AudioFile& file, const AudioRequest& request, int64_t frames, Take&& take) {
  const int channels = file.info().channels;
  const bool mixes = request.downmix && channels > 1;
  const int64_t step = std::max<int64_t>(1, kChunk / channels);
  std::vector<float> chunk(step * channels), mixed(mixes ? step : 0);
  for (int64_t at = 0, n; at < frames; at += n) {
    n = std::min(step, frames - at);
    file.read(chunk.data(), n);
    if (mixes) mix(chunk.data(), channels, mixed.data(), n);
    take(mixes ? mixed.data() : chunk.data(), at, n);
  }
}

template <class T>
void decode_resampled(codecs::AudioFile& file, const AudioRequest& request, int64_t frames, T* out) {
  const codecs::AudioInfo& info = file.info();
  const int count = signals(info, request);
  // One signal after the other, for the filter takes neighbours.
  Block block = allocate(frames * count * static_cast<int64_t>(sizeof(float)));
  auto* whole = static_cast<float*>(block.get());
  each_chunk(file, request, frames, [&](const float* chunk, int64_t at, int64_t n) {
    for (int s = 0; s < count; s++)
      for (int64_t i = 0; i < n; i++) whole[s * frames + at + i] = chunk[i * count + s];
  });
  const ResamplingFilter& filter = ResamplingFilter::shared(resampling_lobes(request.quality));
  const int64_t length = resampled_length(frames, info.rate, request.sample_rate);
  const int64_t step = std::max<int64_t>(1, kChunk / count);
  std::vector<float> chunk(step * count);
  for (int64_t at = 0; at < length; at += step) {
    int64_t end = std::min(length, at + step);
    for (int s = 0; s < count; s++)
      filter.run(whole + s * frames, frames, info.rate, request.sample_rate, at, end, chunk.data() + s, count);
    store(chunk.data(), out + at * count, (end - at) * count);
  }
}

template <class T>
void decode_as(codecs::AudioFile& file, const AudioRequest& request, int64_t frames, T* out) {
  const codecs::AudioInfo& info = file.info();
  const int count = signals(info, request);
  if (resamples(info, request)) return decode_resampled(file, request, frames, out);
  // Integers from floats: the library would neither scale them to the whole range nor keep them from overflowing.
  if (count == info.channels && (!info.floats || same_type<T, float>)) return file.read(out, frames);
  each_chunk(file, request, frames,
             [&](const float* chunk, int64_t at, int64_t n) { store(chunk, out + at * count, n * count); });
}

}  // namespace

void check_audio_request(const AudioRequest& request) {
  if (request.dtype != DType::float32 && request.dtype != DType::int16 && request.dtype != DType::int32)
    fail(ErrorKind::runtime, "expected float32, int16 or int32 as dtype, got ", request.dtype);
  resampling_lobes(request.quality);
}

Shape audio_shape(const codecs::AudioInfo& info, const AudioRequest& request, AudioSegment segment) {
  int64_t frames = segment.end - segment.begin;
  if (resamples(info, request)) {
    // A rate of nearly nothing in a header must not cost memory.
    constexpr int64_t kAlwaysAllowed = int64_t{4} << 20, kMostGrowth = 256;
    int64_t length = resampled_length(frames, info.rate, request.sample_rate);
    if (length > kAlwaysAllowed && length / kMostGrowth > frames)
      fail(ErrorKind::runtime, "expected a rate that is not more than ", kMostGrowth, " times the ", info.rate,
           " Hz of the file, got ", request.sample_rate, " Hz");
    frames = length;
  }
  if (request.downmix) return {frames};
  return {frames, info.channels};
}

void decode_audio(codecs::AudioFile& file, const AudioRequest& request, AudioSegment segment, void* out) {
  if (segment.begin == segment.end) return;
  file.seek(segment.begin);
  int64_t frames = segment.end - segment.begin;
  switch (request.dtype) {
    case DType::int16:
      return decode_as(file, request, frames, static_cast<int16_t*>(out));
    case DType::int32:
      return decode_as(file, request, frames, static_cast<int32_t*>(out));
    default:
      return decode_as(file, request, frames, static_cast<float*>(out));
  }
}

namespace {

struct AudioArgs {
  bool downmix = false;
  DType dtype = DType::float32;
  std::string on_error = "raise";
  float quality = 50, sample_rate = 0;
};

AudioRequest request_of(const AudioArgs& args) { return {args.dtype, args.downmix, args.quality, args.sample_rate}; }

void infer(Infer<AudioArgs>& call) {
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    fail(ErrorKind::runtime, "expected the bytes of sound files (uint8, one axis), got ", in.dtype, " with ", in.ndim,
         " axes");
  check_audio_request(request_of(call.args));
  check_on_error(call.args.on_error);
  call.out[0].dtype = call.args.dtype;
  call.out[0].ndim = call.args.downmix ? 1 : 2;
  call.out[1].dtype = DType::float32;
  call.out[1].ndim = 0;
  for (Meta& out : call.out) out.layout = {};
}

// Opening takes long in some formats: a file stays open from finding its shape to decoding it, but not too many do.
constexpr int kMostOpen = 128;

std::vector<Data> decode_files(const Run& run) {
  std::vector<std::unique_ptr<codecs::AudioFile>> files(run.samples);
  auto args_of = [](const SampleWork& work) -> const AudioArgs& { return *static_cast<const AudioArgs*>(work.args); };
  auto open = [](const SampleWork& work) { return std::make_unique<codecs::AudioFile>(encoded_bytes(work.in[0])); };
  SampleLoop loop;
  loop.shape = [&](SampleWork& work) {
    auto file = open(work);
    work.out[0].shape = audio_shape(file->info(), request_of(args_of(work)), {0, file->info().frames});
    work.out[1].shape = {};
    if (work.index < kMostOpen) files[work.index] = std::move(file);
  };
  loop.body = [&](const SampleWork& work) {
    auto file = std::move(files[work.index]);
    if (!file) file = open(work);
    AudioRequest request = request_of(args_of(work));
    AudioSegment whole{0, file->info().frames};
    if (audio_shape(file->info(), request, whole) != work.out[0].shape)
      fail(ErrorKind::runtime, "the bytes of the file changed while it was decoded");
    decode_audio(*file, request, whole, work.out[0].data);
    *work.out[1].as<float>() = static_cast<float>(request.sample_rate > 0 ? request.sample_rate : file->info().rate);
  };
  loop.replace = [&](SampleWork& work) {
    if (args_of(work).on_error != "placeholder") return false;
    work.out[0].shape = args_of(work).downmix ? Shape{0} : Shape{0, 1};
    work.out[1].shape = {};
    return true;
  };
  loop.largest_first = true;
  loop.cost = kDecodeCost;
  return run_samples(run, loop);
}

}  // namespace

AVIDA_OP_IN(decoders, audio, AudioArgs) {
  op.doc("Decodes sound, WAV, FLAC, Ogg, MP3 and others, to samples (frames, channels) and their rate in Hz.")
      .input("input", "The bytes of sound files.")
      .outputs(2)
      .arg("downmix", &AudioArgs::downmix, "Return the mean of the channels, without an axis for them.", fixed)
      .arg("dtype", &AudioArgs::dtype,
           "float32, from -1 to 1, or int16 or int32, which use the whole range of their type.")
      .arg("on_error", &AudioArgs::on_error,
           "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\": the sample becomes empty, "
           "`batch.errors` tells why, and `avida.drop_failed` removes it.")
      .arg("quality", &AudioArgs::quality,
           "Of resampling: 0 takes 3 lobes of the sinc filter on each side, 50 takes 16, 100 takes 64.", fixed)
      .arg("sample_rate", &AudioArgs::sample_rate, "The rate in Hz to resample to; 0 keeps the file's own.")
      .example(
          "avida.decoders.audio(np.frombuffer(b\".snd\\0\\0\\0\\x18\\0\\0\\0\\2\\0\\0\\0\\2\\0\\0\\x1f@\\0\\0\\0\\1@"
          "\\xc0\", np.uint8))")
      .infer(infer)
      .custom(decode_files);
}

}  // namespace avida::ops
