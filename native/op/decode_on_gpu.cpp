#include "op/decode_on_gpu.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <numeric>

#include "codecs/jpeg_coefficients.h"
#include "cuda/nvjpeg.h"
#include "op/jpeg_item.h"
#include "op/launches.h"
#include "op/sample.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The CPU plays an engine too, for tests.
class FakeEngine : public JpegEngine {
 public:
  void begin_after(StreamHandle) override {}
  void end_before(StreamHandle) override {}
  bool decode(std::span<const File> files, std::span<const Planes> out) override {
    for (size_t i = 0; i < files.size(); i++)
      if (!decode(files[i], out[i])) return false;
    return true;
  }

 private:
  static bool decode(File file, const Planes& out) {
    const auto planes = codecs::jpeg_planes(codecs::read_jpeg_header(file), *codecs::jpeg_sampling(file));
    std::vector<int16_t> numbers(static_cast<size_t>(planes.samples()));
    if (!codecs::read_jpeg_coefficients(file, planes, numbers.data())) return false;
    const int16_t* from = numbers.data();
    for (int c = 0; c < 3; from += planes.plane[c++].samples())
      for (int64_t i = 0; i < planes.plane[c].samples() / codecs::kJpegBlock; i++)
        JpegBlocks::run({out.at[c], from, static_cast<int>(planes.plane[c].stride / 8)}, i);
    return true;
  }
};

// What decodes on one GPU, one batch at a time, and how fast it was so far.
struct Decoders {
  explicit Decoders(Gpu& gpu) : copies(gpu.create_stream()) {
    for (auto& engine : engines)
      engine = gpu.architecture() == "none" ? std::make_unique<FakeEngine>() : JpegEngine::open(gpu);
  }
  bool has_engine() const { return engines[0] != nullptr; }
  static Decoders& of(Gpu& gpu) {
    static std::mutex mutex;
    static auto* all = new std::map<int, std::unique_ptr<Decoders>>;
    std::lock_guard lock(mutex);
    auto& found = (*all)[gpu.device];
    if (!found) found = std::make_unique<Decoders>(gpu);
    return *found;
  }

  std::mutex busy;
  const std::shared_ptr<GpuStream> copies;  // from the CPU; what is decoded lies in its memory
  std::unique_ptr<JpegEngine> engines[2];   // of one piece of hardware; null: there is none
  double engine_speed = 6e9, thread_speed = 0.3e9;  // pixels in a second, of the hardware and of one thread
};

void learn(double& speed, double pixels, double seconds) {
  if (seconds > 0) speed = 0.7 * speed + 0.3 * pixels / seconds;
}

struct Picture {
  codecs::Bytes file;
  codecs::ImageRequest request;
  codecs::Roi roi;  // of the upright image
  codecs::Extents extents;
  double pixels = 0;  // of the whole image
  // Where its planes become pixels on the GPU.
  bool planar = false, for_engine = false, whole = false;
  codecs::JpegSampling sampling;
  codecs::JpegPlanes planes;
  int64_t place = 0;   // of the planes, in the memory for all of them
  Block coefficients;  // on the GPU, where the planes are to be made of them
};

// The engine does not tell when a file ends early.
bool ends_well(codecs::Bytes file) {
  constexpr size_t kMostAfterEnd = 64;
  for (size_t i = file.size(); i >= 2 && i + kMostAfterEnd > file.size(); i--)
    if (file[i - 2] == 0xFF && file[i - 1] == 0xD9) return true;
  return false;
}

// Reads what the headers say.
void examine(Picture& picture, bool has_engine) {
  picture.pixels = double(picture.extents.height) * picture.extents.width;
  if (!codecs::is_jpeg(picture.file) || picture.request.type > codecs::ImageType::bgr) return;
  const codecs::JpegHeader header = codecs::read_jpeg_header(picture.file);
  constexpr int kBaseline = 0xC0;
  if (header.frame != kBaseline || header.precision != 8 || picture.request.fast_idct ||
      picture.extents.height != header.height || picture.extents.width != header.width ||
      (header.orientation != 1 && picture.request.adjust_orientation))
    return;
  const auto sampling = codecs::jpeg_sampling(picture.file);
  if (!sampling || !sampling->one_scan || sampling->columns > 2 || sampling->rows > sampling->columns) return;
  picture.sampling = *sampling;
  picture.planes = codecs::jpeg_planes(header, *sampling);
  picture.whole = picture.roi.height == header.height && picture.roi.width == header.width;
  constexpr int kLeast = 3;  // samples in a row, for libjpeg to interpolate
  const bool wide = picture.planes.plane[1].width >= kLeast;
  picture.for_engine = wide && has_engine && ends_well(picture.file);
  // The CPU decodes a part of an image straight to pixels, since it need not compute the rest.
  picture.planar = wide && (picture.whole || picture.for_engine);
}

// What is still to be decoded. The engine takes from the end, threads from the front.
class Queue {
 public:
  Queue(const std::vector<Picture>& pictures, Decoders& decoders) : pictures_(pictures), decoders_(decoders) {
    order_.resize(pictures.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      const bool first = pictures[a].for_engine, second = pictures[b].for_engine;
      return first != second ? second : pictures[a].pixels > pictures[b].pixels;
    });
    end_ = order_.size();
    for (const Picture& picture : pictures)
      if (picture.for_engine) pixels_ += picture.pixels;
  }

  // For a thread: one, or -1. The last ones are left to the engine where it will be done earlier.
  int take_one() {
    std::lock_guard lock(mutex_);
    if (begin_ == end_) return -1;
    const Picture& picture = pictures_[order_[begin_]];
    if (picture.for_engine) {
      if (pixels_ / decoders_.engine_speed < picture.pixels / decoders_.thread_speed) return -1;
      pixels_ -= picture.pixels;
    }
    return order_[begin_++];
  }

  // For one of the engine's drivers: half of what it will get if all goes on as it did, but not too few at once.
  std::vector<int> take_many(int drivers, int threads) {
    constexpr size_t kLeast = 8, kMost = 64;
    std::lock_guard lock(mutex_);
    const double engine = decoders_.engine_speed, others = decoders_.thread_speed * threads;
    double wanted = 0.5 * pixels_ * engine / (engine + others) / drivers;
    std::vector<int> taken;
    while (begin_ < end_ && pictures_[order_[end_ - 1]].for_engine && taken.size() < kMost &&
           (wanted > 0 || taken.size() < kLeast)) {
      taken.push_back(order_[--end_]);
      wanted -= pictures_[taken.back()].pixels;
      pixels_ -= pictures_[taken.back()].pixels;
    }
    return taken;
  }

  void learn_engine_speed(double pixels, double seconds) {
    std::lock_guard lock(mutex_);
    learn(decoders_.engine_speed, pixels, seconds);
  }

 private:
  const std::vector<Picture>& pictures_;
  Decoders& decoders_;
  std::mutex mutex_;
  std::vector<int> order_;
  size_t begin_ = 0, end_ = 0;
  double pixels_ = 0;  // left that the engine may decode
};

template <int columns, int rows>
void add_pixels(Launches& launches, const Picture& picture, const uint8_t* planes, uint8_t* out) {
  using Item = JpegPixels<columns, rows>;
  const auto& plane = picture.planes.plane;
  const uint8_t *blue = planes + plane[0].samples(), *red = blue + plane[1].samples();
  launches.add<Item>(
      0, int64_t{picture.roi.height} * Item::items_per_row(picture.roi.width),
      {out,
       {planes, blue, red},
       {static_cast<int>(plane[0].stride), static_cast<int>(plane[1].stride), static_cast<int>(plane[2].stride)},
       plane[1].width,
       plane[1].height,
       picture.roi.y,
       picture.roi.x,
       picture.roi.width,
       picture.request.type == codecs::ImageType::bgr});
}

class Batch {
 public:
  Batch(const Run& run, const GpuStream& stream, Decoders& decoders, std::vector<Picture> pictures, Data& out)
      : run_(run),
        stream_(stream),
        gpu_(Gpu::at(stream.device)),
        decoders_(decoders),
        pictures_(std::move(pictures)),
        out_(out),
        queue_(pictures_, decoders),
        errors_(pictures_.size()) {
    int64_t bytes = 0;
    for (Picture& picture : pictures_) {
      if (!picture.planar) continue;
      picture.place = bytes;
      bytes += (picture.planes.samples() + 63) / 64 * 64;
    }
    planes_ = gpu_.allocate(bytes, decoders.copies->handle);
  }

  ~Batch() {
    if (finished_) return;
    try {  // nothing is given back that is still used
      gather();
      finish();
    } catch (const Error&) {
    }
  }

  void decode() {
    const int threads = run_.pool.threads();
    // With few threads, one of them is enough to give up.
    const int engines = (decoders_.engines[0] != nullptr) + (decoders_.engines[1] != nullptr);
    const int drivers = std::min(engines, threads < 6 ? 1 : 2);
    for (int i = 0; i < drivers; i++) decoders_.engines[i]->begin_after(decoders_.copies->handle);
    double seconds = 0, pixels = 0;  // of all other threads
    std::mutex mutex;
    run_.pool.parallel_for(threads, [&](int64_t worker) {
      if (worker < drivers) drive(*decoders_.engines[worker], drivers, std::max(1, threads - drivers));
      const auto start = Clock::now();
      double own = 0;
      for (int i; (i = queue_.take_one()) >= 0;) {
        decode_here(i);
        own += pictures_[i].pixels;
      }
      std::lock_guard lock(mutex);
      if (own > 0) seconds += seconds_since(start);
      pixels += own;
    });
    if (pixels > 0) learn(decoders_.thread_speed, pixels, seconds);
    gather();
    launch_on_gpu(stream_, [&](Launches& launches) {
      for (size_t i = 0; i < pictures_.size(); i++)
        if (pictures_[i].planar) {
          add(launches, pictures_[i], static_cast<uint8_t*>(out_.at(static_cast<int>(i))));
          launches.next_sample();
        }
    });
    finish();
    for (const auto& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  // Gives the engine something to do as long as there is something left.
  void drive(JpegEngine& engine, int drivers, int other_threads) {
    for (std::vector<int> taken; !(taken = queue_.take_many(drivers, other_threads)).empty();) {
      const auto start = Clock::now();
      double pixels = 0;
      std::vector<JpegEngine::File> files;
      std::vector<JpegEngine::Planes> planes;
      for (int i : taken) {
        const Picture& picture = pictures_[i];
        files.push_back(picture.file);
        auto& to = planes.emplace_back();
        uint8_t* at = planes_of(picture);
        for (int c = 0; c < 3; at += picture.planes.plane[c++].samples()) {
          to.at[c] = at;
          to.stride[c] = picture.planes.plane[c].stride;
        }
        pixels += picture.pixels;
      }
      if (engine.decode(files, planes))
        queue_.learn_engine_speed(pixels * drivers, seconds_since(start));
      else
        for (int i : taken) decode_here(i);
    }
  }

  // On the CPU, by the thread that calls.
  void decode_here(int i) {
    Picture& picture = pictures_[i];
    try {
      at_sample(run_, i, [&] {
        if (picture.planar && picture.whole && read_coefficients(picture)) return;
        picture.planar = false;
        thread_local std::vector<uint8_t> made;
        made.resize(static_cast<size_t>(out_.bytes(i)));
        codecs::EncodedImage(picture.file, picture.request).decode(picture.roi, made.data());
        gpu_.copy_in(out_.at(i), made.data(), made.size(), stream_.handle);
      });
    } catch (const Error&) {
      errors_[i] = std::current_exception();
    }
  }

  // False: the file is not as simple as it looked.
  bool read_coefficients(Picture& picture) {
    const auto bytes = picture.planes.samples() * int64_t{sizeof(int16_t)};
    Block block = gpu_.allocate(bytes, decoders_.copies->handle);
    if (!gpu_.copy_in_filled(block.get(), static_cast<size_t>(bytes), decoders_.copies->handle, [&](void* filled) {
          return codecs::read_jpeg_coefficients(picture.file, picture.planes, static_cast<int16_t*>(filled));
        }))
      return false;
    picture.coefficients = std::move(block);
    return true;
  }

  void add(Launches& launches, const Picture& picture, uint8_t* out) {
    uint8_t* planes = planes_of(picture);
    if (picture.coefficients) {
      auto* numbers = static_cast<const int16_t*>(picture.coefficients.get());
      uint8_t* made = planes;
      for (const auto& plane : picture.planes.plane) {
        launches.add<JpegBlocks>(0, plane.samples() / codecs::kJpegBlock,
                                 {made, numbers, static_cast<int>(plane.stride / 8)});
        made += plane.samples();
        numbers += plane.samples();
      }
    }
    launches.then();
    if (picture.sampling.columns == 1)
      add_pixels<1, 1>(launches, picture, planes, out);
    else if (picture.sampling.rows == 1)
      add_pixels<2, 1>(launches, picture, planes, out);
    else
      add_pixels<2, 2>(launches, picture, planes, out);
  }

  // What comes next in the stream finds what the engine and the copies made.
  void gather() {
    for (auto& engine : decoders_.engines)
      if (engine) engine->end_before(stream_.handle);
    gpu_.wait(stream_.handle, decoders_.copies->handle);
  }
  // What the work in the queues reads stays until it is done.
  void finish() {
    gpu_.wait(decoders_.copies->handle, stream_.handle);  // before the planes' memory is used again
    gpu_.keep_until_done(std::make_shared<Data>(*run_.in[0]), stream_.handle);
    finished_ = true;
  }

  uint8_t* planes_of(const Picture& picture) const { return static_cast<uint8_t*>(planes_.get()) + picture.place; }

  const Run& run_;
  const GpuStream& stream_;
  Gpu& gpu_;
  Decoders& decoders_;
  std::vector<Picture> pictures_;
  Data& out_;
  Block planes_;
  Queue queue_;
  std::vector<std::exception_ptr> errors_;
  bool finished_ = false;
};

}  // namespace

std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const std::function<DecodeRequest(int sample)>& request_of) {
  const Data& in = *run.in[0];
  if (in.device.kind != Device::Kind::cpu || run.out[0].dtype != DType::uint8) return {};
  Gpu& gpu = Gpu::at(stream.device);
  Decoders& decoders = Decoders::of(gpu);
  std::lock_guard claimed(decoders.busy);

  const int n = run.samples;
  std::vector<Picture> pictures(n);
  run.pool.parallel_for(n, [&](int64_t k) {
    const int i = static_cast<int>(k);
    at_sample(run, i, [&] {
      Picture& picture = pictures[i];
      const int at = run.index_in(0, i);
      picture.file = {static_cast<const uint8_t*>(in.at(at)), static_cast<size_t>(in.bytes(at))};
      const DecodeRequest request = request_of(i);
      picture.request = request.image;
      picture.extents = codecs::EncodedImage(picture.file, picture.request).extents();
      picture.roi = request.roi(picture.extents);
      examine(picture, decoders.has_engine());
    });
  });
  ShapeList shapes(n, 3);
  for (int i = 0; i < n; i++)
    shapes.set(i, {pictures[i].roi.height, pictures[i].roi.width, pictures[i].extents.channels});
  std::vector<Data> results;
  Data& out = results.emplace_back(allocate_on_gpu(run.out[0], shapes, stream));
  Batch(run, stream, decoders, std::move(pictures), out).decode();
  return results;
}

}  // namespace avida
