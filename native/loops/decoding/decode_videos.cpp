#include "loops/decoding/decode_videos.h"

#include "gpu/gpu.h"
#include "operator/sample.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

Data times_on_gpu(const Run& run, const GpuStream& stream, const std::vector<VideoPart>& parts) {
  ShapeList shapes(run.samples, 1);
  for (int i = 0; i < run.samples; i++) shapes.set(i, {std::ssize(parts[i].times)});
  Data times = allocate_on_gpu(run.out[1], shapes, stream);
  for (int i = 0; i < run.samples; i++)
    if (!parts[i].times.empty())
      Gpu::at(stream.device)
          .copy_in(times.at(i), parts[i].times.data(), parts[i].times.size() * sizeof(double), stream.handle);
  return times;
}

}  // namespace

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
  results.push_back(allocate_on_gpu(run.out[0], shapes, stream));
  if (run.out.size() > 1) results.push_back(times_on_gpu(run, stream, parts));
  const Data& out = results[0];
  each([&](int i) {
    parts[i].decode(out.at(i), stream);
    parts[i] = {};  // closes the video
  });
  return results;
}

}  // namespace avida
