#include <algorithm>
#include <vector>

#include "core/rows.h"
#include "loops/pixels/byte_table.h"
#include "operator/declare.h"
#include "operator/launches.h"
#include "ops/color/equalize.h"

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

// Looks pixels of three channels up, plane by plane while they are in the cache: whole vectors then use one table.
void look_up_triples(uint8_t* out, const uint8_t* in, int64_t pixels, const ByteTable* table) {
  constexpr int64_t kBlock = 1024;
  uint8_t planes[3][kBlock], made[3 * kBlock];
  for (int64_t i = 0; i < pixels; i += kBlock) {
    const int64_t n = std::min(kBlock, pixels - i);
    {
      const PastCache in_cache(0);
      split(planes[0], planes[1], planes[2], in + 3 * i, n);
      for (int c = 0; c < 3; c++) look_up_bytes(planes[c], planes[c], n, table[c].value);
    }
    interleave(made, planes[0], planes[1], planes[2], n);
    store_row(out + 3 * i, made, 3 * n);
  }
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
  if (channels == 3) return look_up_triples(out, in, pixels, table);
  for (i = 0; i < pixels; i++)
    for (int64_t c = 0; c < channels; c++) out[i * channels + c] = table[c].value[in[i * channels + c]];
}

void launch(Launches& launches, uint8_t* out, const uint8_t* in, const Planes& planes) {
  if (planes.channels >> 31) refuse("expected fewer than 2**31 channels, got ", planes.channels);
  constexpr int64_t part_bytes = 64 << 10, step = PlanePart::kTogether;
  const int64_t part_pixels = part_bytes / std::min<int64_t>(planes.channels, PlaneParts::kMostChannels) / step * step;
  const int64_t parts = (planes.pixels + part_pixels - 1) / part_pixels;
  const PlaneParts cut{planes.pixels, static_cast<int>(planes.channels), static_cast<int>(parts),
                       static_cast<int>(part_pixels)};
  const int64_t items = planes.planes * cut.groups() * parts, channels = planes.planes * planes.channels;
  const int64_t counts_bytes = items * CountBytes::kCounts * static_cast<int64_t>(sizeof(int));
  auto* scratch = static_cast<uint8_t*>(launches.scratch(counts_bytes + channels * kByteValues));
  auto* counts = reinterpret_cast<int*>(scratch);
  uint8_t* tables = scratch + counts_bytes;
  launches.add<CountBytes>(0, items, {in, counts, cut});
  launches.then();
  launches.add<EqualizingTable>(0, channels, {tables, counts, cut});
  launches.then();
  launches.add<ApplyTables>(0, items, {out, in, tables, cut});
}

class EqualizePlan {
 public:
  explicit EqualizePlan(const Sample<NoArgs>& sample) : planes_(planes_of(sample.in[0])) {}

  int64_t rows() const { return planes_.planes; }
  void run(const Sample<NoArgs>& sample) const {
    const int64_t plane_bytes = planes_.pixels * planes_.channels;
    if (planes_.planes * plane_bytes == 0) return;
    auto* out = sample.out[0].as<uint8_t>();
    auto* in = sample.in[0].as<uint8_t>();
    if (sample.launches) return launch(*sample.launches, out, in, planes_);
    auto equalize = planes_.channels == 1   ? equalize_plane<1>
                    : planes_.channels == 3 ? equalize_plane<3>
                                            : equalize_plane<0>;
    for (int64_t plane = sample.begin; plane < sample.end; plane++)
      equalize(out + plane * plane_bytes, in + plane * plane_bytes, planes_.pixels, planes_.channels);
  }

 private:
  const Planes planes_;
};

}  // namespace

AVIDA_OP(equalize, NoArgs) {
  op.doc("Equalizes the histogram of each channel. All values become about equally frequent.")
      .input("input", "Images or videos of bytes.", {"HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"})
      .example("avida.equalize(image)")
      .infer([](Infer<NoArgs>& call) {
        if (call.in[0].dtype != DType::uint8) refuse("expected uint8, got ", call.in[0].dtype);
      })
      .each_sample<EqualizePlan>()
      .cost(4)
      .chains();
}

}  // namespace avida::ops
