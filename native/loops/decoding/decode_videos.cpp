#include "loops/decoding/decode_videos.h"

#include "operator/sample.h"
#include "runtime/thread_pool.h"

namespace avida {

std::vector<Data> decode_videos(const Run& run, const GpuStream& stream,
                                const std::function<VideoPart(int sample)>& plan) {
  std::vector<VideoPart> parts(static_cast<size_t>(run.samples));
  const auto each = [&](const std::function<void(int)>& work) {
    run.pool.parallel_for(run.samples, [&](int64_t k) {
      const int i = static_cast<int>(k);
      at_sample(run, i, [&] { work(i); });
    });
  };
  each([&](int i) { parts[i] = plan(i); });
  ShapeList shapes(run.samples, 4);
  for (int i = 0; i < run.samples; i++) shapes.set(i, parts[i].shape);
  std::vector<Data> results;
  Data& out = results.emplace_back(allocate_on_gpu(run.out[0], shapes, stream));
  each([&](int i) {
    parts[i].decode(out.at(i), stream);
    parts[i] = {};  // closes the video
  });
  return results;
}

}  // namespace avida
