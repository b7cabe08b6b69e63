#include "op/decode_on_gpu.h"

#include <chrono>

#include "codecs/jpeg_header.h"
#include "cuda/nvjpeg.h"
#include "op/sample.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

// Whether the engine may decode the file: upright, three colours, eight bits, one pass.
bool suits_engine(JpegEngine& engine, codecs::Bytes file, bool adjust_orientation) {
  if (!codecs::is_jpeg(file)) return false;
  const codecs::JpegHeader header = codecs::read_jpeg_header(file);
  return header.frame == 0xC0 && header.precision == 8 && header.components == 3 &&
         (header.orientation == 1 || !adjust_orientation) && engine.takes(file);
}

}  // namespace

std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const codecs::ImageRequest& request) {
  Gpu& gpu = Gpu::at(stream.device);
  JpegEngine* engine = JpegEngine::of(gpu);
  const Data& in = *run.in[0];
  if (!engine || request.type != codecs::ImageType::rgb || request.dtype != DType::uint8 ||
      in.device.kind != Device::Kind::cpu || run.samples < 2)
    return {};

  auto claimed = engine->claim();
  const int n = run.samples;
  std::vector<codecs::Bytes> files(n);
  ShapeList shapes(n, 3);
  std::vector<int> suited, others;
  double pixels = 0;  // of those that suit the engine
  for (int i = 0; i < n; i++)
    at_sample(run, i, [&] {
      const int at = run.index_in(0, i);
      files[i] = {static_cast<const uint8_t*>(in.at(at)), static_cast<size_t>(in.bytes(at))};
      const codecs::Extents extents = codecs::EncodedImage(files[i], request).extents();
      shapes.set(i, {extents.height, extents.width, extents.channels});
      const bool suits = suits_engine(*engine, files[i], request.adjust_orientation);
      (suits ? suited : others).push_back(i);
      if (suits) pixels += double(extents.height) * extents.width;
    });

  Data out = allocate_on_gpu(run.out[0], shapes, stream);
  std::vector<JpegEngine::File> own_files;
  std::vector<uint8_t*> own_out;
  std::vector<int64_t> pitches;
  double own_pixels = 0;
  for (int i : suited) {
    if (own_pixels >= engine->share() * pixels) {
      others.push_back(i);
      continue;
    }
    own_pixels += static_cast<double>(volume(shapes.dims(i)) / 3);
    own_files.push_back(files[i]);
    own_out.push_back(static_cast<uint8_t*>(out.at(i)));
    pitches.push_back(shapes[i][1] * 3);
  }
  // Whatever happens below, nothing is given back that the engine still uses.
  struct Wait {
    JpegEngine& engine;
    bool started = false;
    ~Wait() {
      if (started) engine.wait_quietly();
    }
  } waiting{*engine};
  if (!own_files.empty()) {
    waiting.started = true;
    engine->start(own_files, own_out, pitches, stream.handle);
  }

  const auto start = std::chrono::steady_clock::now();
  run.pool.parallel_for(std::ssize(others), [&](int64_t k) {
    const int i = others[k];
    at_sample(run, i, [&] {
      thread_local std::vector<uint8_t> decoded;
      decoded.resize(static_cast<size_t>(out.bytes(i)));
      const Shape shape = shapes[i];
      codecs::EncodedImage(files[i], request)
          .decode({0, 0, static_cast<int>(shape[0]), static_cast<int>(shape[1])}, decoded.data());
      gpu.copy_in(out.at(i), decoded.data(), decoded.size(), stream.handle);
    });
  });
  const double cpu_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (waiting.started) {
    const double own_seconds = engine->wait();
    waiting.started = false;
    double cpu_pixels = 0;
    for (int i : others) cpu_pixels += static_cast<double>(volume(shapes.dims(i)) / 3);
    engine->learn(own_pixels, own_seconds, cpu_pixels, cpu_seconds);
  }
  std::vector<Data> results;
  results.push_back(std::move(out));
  return results;
}

}  // namespace avida
