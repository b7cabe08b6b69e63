#include <vector>

#include "op/byte_table.h"
#include "op/op.h"
#include "ops/color/histogram.h"

namespace avida::ops {
namespace {

// `planes` times `pixels` times `channels` bytes; every channel of every plane has a histogram of its own.
struct Planes {
  int64_t planes = 1, pixels = 1, channels = 1;
};

Planes planes_of(const SampleView& sample) {
  Planes found;
  int h = sample.layout.find('H');
  for (int d = 0; d < sample.ndim(); d++) {
    char axis = sample.layout[d];
    (axis == 'H' || axis == 'W' ? found.pixels : d < h ? found.planes : found.channels) *= sample.shape[d];
  }
  return found;
}

// Odd and even pixels are counted apart: neighbours are often equal, and would wait for each other.
template <int64_t fixed_channels>
void equalize_plane(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t any_channels) {
  const int64_t channels = fixed_channels ? fixed_channels : any_channels;
  std::vector<ByteHistogram> counted(2 * channels);
  ByteHistogram *even = counted.data(), *odd = even + channels;
  int64_t i = 0;
  for (; i + 1 < pixels; i += 2)
    for (int64_t c = 0; c < channels; c++) {
      even[c].count[in[i * channels + c]]++;
      odd[c].count[in[(i + 1) * channels + c]]++;
    }
  if (i < pixels)
    for (int64_t c = 0; c < channels; c++) even[c].count[in[i * channels + c]]++;
  std::vector<ByteTable> tables(channels);
  for (int64_t c = 0; c < channels; c++) {
    for (int k = 0; k < kByteValues; k++) even[c].count[k] += odd[c].count[k];
    tables[c] = equalizing_table(even[c], pixels);
  }
  const ByteTable* table = tables.data();
  if (channels == 1) return look_up_bytes(out, in, pixels, table->value);
  for (i = 0; i < pixels; i++)
    for (int64_t c = 0; c < channels; c++) out[i * channels + c] = table[c].value[in[i * channels + c]];
}

}  // namespace

AVIDA_OP(equalize, NoArgs) {
  op.doc("Spreads the values of each channel, so that all become about equally frequent.")
      .input("input", "Images or videos of bytes.", {"HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"})
      .example("avida.equalize(image)")
      .infer([](Infer<NoArgs>& call) {
        if (call.in[0].dtype != DType::uint8) fail(ErrorKind::runtime, "expected uint8, got ", call.in[0].dtype);
      })
      .each_sample([](Sample<NoArgs>& sample) { sample.out[0].shape = sample.in[0].shape; },
                   [](const Sample<NoArgs>& sample) {
                     Planes planes = planes_of(sample.in[0]);
                     if (planes.pixels * planes.channels == 0) return;
                     auto equalize = planes.channels == 1   ? equalize_plane<1>
                                     : planes.channels == 3 ? equalize_plane<3>
                                                            : equalize_plane<0>;
                     for (int64_t plane = sample.begin; plane < sample.end; plane++) {
                       int64_t at = plane * planes.pixels * planes.channels;
                       equalize(sample.out[0].as<uint8_t>() + at, sample.in[0].as<uint8_t>() + at, planes.pixels,
                                planes.channels);
                     }
                   })
      .rows([](const Sample<NoArgs>& sample) { return planes_of(sample.in[0]).planes; })
      .cost(4)
      .chains();
}

}  // namespace avida::ops
