#include "codecs/audio/decode_audio.h"

#include <algorithm>
#include <vector>

#include "codecs/audio/resample_audio.h"
#include "codecs/limits.h"
#include "core/clones.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

constexpr int64_t kChunk = 4096;  // elements that are processed at a time: they stay in the L1 cache

bool resamples(const AudioInfo& info, const AudioRequest& request) {
  return request.sample_rate > 0 && request.sample_rate != info.rate;
}

// The number of output signals: the channels, or one.
int signals(const AudioInfo& info, const AudioRequest& request) { return request.downmix ? 1 : info.channels; }

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

// Calls take(samples, first frame, frames) for each chunk, downmixed if requested.
template <class Take>
void each_chunk(Sound& file, const AudioRequest& request, int64_t frames, Take&& take) {
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
void decode_resampled(Sound& file, const AudioRequest& request, int64_t frames, T* out) {
  const AudioInfo& info = file.info();
  const int count = signals(info, request);
  // One signal after the other, since the filter reads neighbouring samples.
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
void decode_as(Sound& file, const AudioRequest& request, int64_t frames, T* out) {
  const AudioInfo& info = file.info();
  const int count = signals(info, request);
  if (resamples(info, request)) return decode_resampled(file, request, frames, out);
  // Floats to integers: the library would neither scale them to the whole range nor saturate.
  if (count == info.channels && (!info.floats || same_type<T, float>)) return file.read(out, frames);
  each_chunk(file, request, frames,
             [&](const float* chunk, int64_t at, int64_t n) { store(chunk, out + at * count, n * count); });
}

}  // namespace

void check_audio_request(const AudioRequest& request) {
  if (request.dtype != DType::float32 && request.dtype != DType::int16 && request.dtype != DType::int32)
    refuse("expected float32, int16 or int32 as dtype, got ", request.dtype);
  resampling_lobes(request.quality);
}

Shape audio_shape(const AudioInfo& info, const AudioRequest& request, AudioSegment segment) {
  int64_t frames = segment.end - segment.begin;
  if (resamples(info, request)) {
    // A tiny sample rate in a header must not cost memory.
    constexpr int64_t kAlwaysAllowed = int64_t{4} << 20, kMostGrowth = 256;
    int64_t length = resampled_length(frames, info.rate, request.sample_rate);
    if (length > kAlwaysAllowed && length / kMostGrowth > frames)
      refuse("expected a rate that is not more than ", kMostGrowth, " times the ", info.rate, " Hz of the file, got ",
             request.sample_rate, " Hz");
    frames = length;
  }
  const int64_t not_resampled = resamples(info, request) ? (segment.end - segment.begin) * 4 : 0;
  check_memory(signals(info, request) * (frames * size_of(request.dtype) + not_resampled));
  if (request.downmix) return {frames};
  return {frames, info.channels};
}

void decode_audio(Sound& file, const AudioRequest& request, AudioSegment segment, void* out) {
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

}  // namespace avida::codecs
