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
    constexpr int kMost = 2;
    for (int i = 0; i < kMost; i++) {
      std::unique_ptr<JpegEngine> engine =
          gpu.architecture() == "none" ? std::make_unique<FakeEngine>() : JpegEngine::open(gpu);
      if (engine) engines.push_back(std::move(engine));
    }
  }
  static Decoders& of(Gpu& gpu) {
    static std::mutex mutex;
    static auto* all = new std::map<int, std::unique_ptr<Decoders>>;
    std::lock_guard lock(mutex);
    auto& found = (*all)[gpu.device];
    if (!found) found = std::make_unique<Decoders>(gpu);
    return *found;
  }

  std::mutex busy;
  const std::shared_ptr<GpuStream> copies;           // from the CPU; what is decoded lies in its memory
  std::vector<std::unique_ptr<JpegEngine>> engines;  // of one piece of hardware, if there is one
  double engine_speed = 1.5e9, thread_speed = 8e7;   // bytes of files in a second, of the hardware and of one thread
};

void learn(double& speed, double bytes, double seconds) {
  if (bytes > 0 && seconds > 0) speed = 0.7 * speed + 0.3 * bytes / seconds;
}

struct Picture {
  codecs::Bytes file;
  codecs::ImageRequest request;
  codecs::Roi roi;  // of the upright image
  codecs::Extents extents;
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
  if (!codecs::is_plain_jpeg(picture.file, picture.planes)) return;  // the engine may read it in another way
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
  Queue(const std::vector<Picture>& pictures, const Decoders& decoders) : pictures_(pictures), decoders_(decoders) {
    order_.resize(pictures.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      // What only threads decode comes first, the large ones before the small ones. Of the rest they get the small
      // ones, so that none begins something long at the end.
      const bool first = pictures[a].for_engine, second = pictures[b].for_engine;
      if (first != second) return second;
      const size_t one = pictures[a].file.size(), other = pictures[b].file.size();
      return first ? one < other : one > other;
    });
    end_ = order_.size();
    for (const Picture& picture : pictures)
      if (picture.for_engine) waiting_ += double(picture.file.size());
  }

  // For a thread: one, or -1. What the engine will have done earlier is left to it.
  int take_one() {
    std::lock_guard lock(mutex_);
    if (begin_ == end_) return -1;
    const Picture& picture = pictures_[order_[begin_]];
    const auto bytes = double(picture.file.size());
    if (picture.for_engine) {
      if ((waiting_ + in_engine_) / decoders_.engine_speed < bytes / decoders_.thread_speed) return -1;
      waiting_ -= bytes;
    }
    return order_[begin_++];
  }

  // For one of the engine's drivers: most of what it will get if all goes on as it did, but not too few at once.
  std::vector<int> take_many(int drivers, int threads) {
    constexpr size_t kLeast = 12, kMost = 128;
    std::lock_guard lock(mutex_);
    const double engine = decoders_.engine_speed, others = decoders_.thread_speed * threads;
    double wanted = 0.8 * waiting_ * engine / (engine + others) / drivers;
    std::vector<int> taken;
    while (begin_ < end_ && pictures_[order_[end_ - 1]].for_engine && taken.size() < kMost &&
           (wanted > 0 || taken.size() < kLeast)) {
      taken.push_back(order_[--end_]);
      const auto bytes = double(pictures_[taken.back()].file.size());
      wanted -= bytes;
      waiting_ -= bytes;
      in_engine_ += bytes;
    }
    return taken;
  }
  void engine_has_done(double bytes) {
    std::lock_guard lock(mutex_);
    in_engine_ -= bytes;
  }

 private:
  const std::vector<Picture>& pictures_;
  const Decoders& decoders_;
  std::mutex mutex_;
  std::vector<int> order_;
  size_t begin_ = 0, end_ = 0;
  double waiting_ = 0, in_engine_ = 0;  // bytes that the engine may decode, and those that it decodes
};

// What a thread has read, gathered to be copied together.
class Basket {
 public:
  Basket(Gpu& gpu, StreamHandle stream) : gpu_(gpu), stream_(stream) {}
  Basket(const Basket&) = delete;

  // What is in it, if anything; at the end too.
  void send() {
    if (filled_) parcel_->send(on_gpu_.get(), filled_, stream_);
    parcel_.reset();
    filled_ = 0;
  }

  // Memory on the GPU for what `fill` writes; null if it returns false.
  template <class Fill>
  Block put(size_t bytes, const Fill& fill) {
    if (bytes > Gpu::Parcel::kBytes) {
      const std::unique_ptr<char[]> filled(new char[bytes]);
      if (!fill(filled.get())) return nullptr;
      Block block = gpu_.allocate(static_cast<int64_t>(bytes), stream_);
      gpu_.copy_in(block.get(), filled.get(), bytes, stream_);
      return block;
    }
    if (filled_ + bytes > Gpu::Parcel::kBytes) send();
    if (!parcel_) {
      on_gpu_ = gpu_.allocate(Gpu::Parcel::kBytes, stream_);
      parcel_ = gpu_.parcel();
    }
    if (!fill(parcel_->memory + filled_)) return nullptr;
    Block block(on_gpu_, static_cast<char*>(on_gpu_.get()) + filled_);
    filled_ += bytes;
    return block;
  }

 private:
  Gpu& gpu_;
  const StreamHandle stream_;
  Block on_gpu_;
  std::unique_ptr<Gpu::Parcel> parcel_;
  size_t filled_ = 0;
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
    // One that drives the engine gets more done than one that decodes, until the engine is busy.
    const int drivers = std::min(static_cast<int>(decoders_.engines.size()), threads < 6 ? 1 : 2);
    for (int i = 0; i < drivers; i++) decoders_.engines[i]->begin_after(decoders_.copies->handle);
    struct Done {
      double bytes = 0, seconds = 0;
    } by_engine, by_threads;
    std::mutex mutex;
    const auto start = Clock::now();
    run_.pool.parallel_for(threads, [&](int64_t worker) {
      Basket basket(gpu_, decoders_.copies->handle);
      double driven = 0, decoded = 0;
      if (worker < drivers) driven = drive(*decoders_.engines[worker], drivers, std::max(1, threads - drivers), basket);
      const double seconds = seconds_since(start);
      for (int i; (i = queue_.take_one()) >= 0;) {
        decode_here(i, basket);
        decoded += double(pictures_[i].file.size());
      }
      basket.send();
      std::lock_guard lock(mutex);
      by_engine.bytes += driven;
      if (driven > 0) by_engine.seconds = std::max(by_engine.seconds, seconds);
      by_threads.bytes += decoded;
      if (decoded > 0) by_threads.seconds += seconds_since(start) - seconds;
    });
    learn(decoders_.engine_speed, by_engine.bytes, by_engine.seconds);
    learn(decoders_.thread_speed, by_threads.bytes, by_threads.seconds);
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
  // Gives the engine something to do as long as there is something left. Returns how many bytes that was.
  double drive(JpegEngine& engine, int drivers, int other_threads, Basket& basket) {
    double all = 0;
    for (std::vector<int> taken; !(taken = queue_.take_many(drivers, other_threads)).empty();) {
      double bytes = 0;
      std::vector<JpegEngine::File> files;
      std::vector<JpegEngine::Planes> planes;
      for (int i : taken) {
        const Picture& picture = pictures_[i];
        files.push_back(picture.file);
        bytes += double(picture.file.size());
        auto& to = planes.emplace_back();
        uint8_t* at = planes_of(picture);
        for (int c = 0; c < 3; at += picture.planes.plane[c++].samples()) {
          to.at[c] = at;
          to.stride[c] = picture.planes.plane[c].stride;
        }
      }
      if (engine.decode(files, planes))
        all += bytes;
      else
        for (int i : taken) decode_here(i, basket);
      queue_.engine_has_done(bytes);
    }
    return all;
  }

  // On the CPU, by the thread that calls.
  void decode_here(int i, Basket& basket) {
    Picture& picture = pictures_[i];
    try {
      at_sample(run_, i, [&] {
        if (picture.planar && picture.whole && read_coefficients(picture, basket)) return;
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
  bool read_coefficients(Picture& picture, Basket& basket) {
    const auto bytes = static_cast<size_t>(picture.planes.samples()) * sizeof(int16_t);
    picture.coefficients = basket.put(bytes, [&](void* filled) {
      return codecs::read_jpeg_coefficients(picture.file, picture.planes, static_cast<int16_t*>(filled));
    });
    return picture.coefficients != nullptr;
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
    for (auto& engine : decoders_.engines) engine->end_before(stream_.handle);
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
      examine(picture, !decoders.engines.empty());
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
