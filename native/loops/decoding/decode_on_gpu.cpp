#include "loops/decoding/decode_on_gpu.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include "codecs/jpeg/jpeg_header.h"
#include "loops/decoding/jpeg_item.h"
#include "loops/decoding/plain_jpeg.h"
#include "operator/launches.h"
#include "operator/sample.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

// Of one GPU; decodes one batch at a time.
struct Decoder {
  explicit Decoder(Gpu& gpu) : stream(gpu.create_stream()) {}
  static Decoder& of(Gpu& gpu) {
    static std::mutex mutex;
    static auto* all = new std::map<int, std::unique_ptr<Decoder>>;
    std::lock_guard lock(mutex);
    auto& found = (*all)[gpu.device];
    if (!found) found = std::make_unique<Decoder>(gpu);
    return *found;
  }

  std::mutex busy;
  const std::shared_ptr<GpuStream> stream;
};

// What the kernels need of a file; nothing where a thread has to decode it.
std::optional<codecs::PlainJpeg> plain_jpeg(const codecs::EncodedImage& image) {
  const codecs::ImageRequest& request = image.request();
  if (!codecs::is_jpeg(image.file()) || !image.upright() || request.type > codecs::ImageType::bgr || request.fast_idct)
    return {};
  auto plain = codecs::read_plain_jpeg(image.file());
  const codecs::Extents extents = image.extents();
  if (plain && (extents.height != plain->plane[0].height || extents.width != plain->plane[0].width)) return {};
  return plain;
}

struct Picture : ImagePart {
  explicit Picture(const ImagePart& part) : ImagePart(part), plain(plain_jpeg(image)) {}
  // Where the GPU decodes it.
  std::optional<codecs::PlainJpeg> plain;
  Block sent;  // what is needed for that: a JpegScan, a JpegBits for each interval, and bytes
};
using Pictures = std::vector<std::optional<Picture>>;

// Pinned memory that gathers what a thread has read, and is copied to the GPU a megabyte at a time.
class Basket {
 public:
  Basket(Gpu& gpu, StreamHandle stream) : gpu_(gpu), stream_(stream) {}
  Basket(const Basket&) = delete;

  // Starts the copy of what was not sent yet. Must be called at the end.
  void send() {
    if (filled_ > sent_) parcel_->send(on_gpu_.get(), sent_, filled_ - sent_, stream_);
    sent_ = filled_;
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
    if (!parcel_ || filled_ + bytes > Gpu::Parcel::kBytes) {
      send();
      on_gpu_ = gpu_.allocate(Gpu::Parcel::kBytes, stream_);
      parcel_.reset();  // before the next is taken: their count is limited
      parcel_ = gpu_.parcel();
      filled_ = sent_ = 0;
    }
    if (!fill(parcel_->memory + filled_)) return nullptr;
    Block block(on_gpu_, static_cast<char*>(on_gpu_.get()) + filled_);
    filled_ += bytes;
    constexpr size_t kWorthACopy = 1 << 20;
    if (filled_ - sent_ >= kWorthACopy) send();
    return block;
  }

 private:
  Gpu& gpu_;
  const StreamHandle stream_;
  Block on_gpu_;
  std::unique_ptr<Gpu::Parcel> parcel_;
  size_t filled_ = 0, sent_ = 0;
};

template <int columns, int rows>
void add_pixels(Launches& launches, const Picture& picture, const uint8_t* planes, uint8_t* out) {
  using Item = JpegPixels<columns, rows>;
  const auto& plane = picture.plain->plane;
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
       picture.image.request().type == codecs::ImageType::bgr});
}

class Batch {
 public:
  Batch(const Run& run, const GpuStream& stream, Decoder& decoder, Pictures& pictures, Data& out)
      : run_(run),
        stream_(stream),
        gpu_(Gpu::at(stream.device)),
        decoder_(decoder),
        pictures_(pictures),
        out_(out),
        errors_(pictures.size()) {}

  void decode() {
    std::vector<int> order(pictures_.size());  // the largest first
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return work_of(a) > work_of(b); });
    std::atomic<size_t> next = 0;
    run_.pool.parallel_for(run_.pool.threads(), [&](int64_t) {
      Basket basket(gpu_, decoder_.stream->handle);
      for (size_t k; (k = next++) < order.size();) {
        Picture& picture = *pictures_[order[k]];
        if (picture.plain && copy_bytes(picture, basket)) continue;
        picture.plain.reset();
        decode_here(order[k]);
      }
      basket.send();
    });
    decode_there();
    for (const auto& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  // The cost of a file, in bytes that are copied: decoding one on the CPU costs as much as copying 100.
  size_t work_of(int i) const { return pictures_[i]->image.file().size() * (pictures_[i]->plain ? 1 : 100); }

  // The offset of the scan's bytes in what is sent.
  static size_t bytes_at(const codecs::PlainJpeg& plain) {
    return (sizeof(JpegScan) + sizeof(JpegBits) * static_cast<size_t>(plain.intervals()) + 15) / 16 * 16;
  }

  // Returns false where the scan is broken: the CPU will report it.
  bool copy_bytes(Picture& picture, Basket& basket) {
    const codecs::PlainJpeg& plain = *picture.plain;
    picture.sent = basket.put(bytes_at(plain) + (plain.room() + 15) / 16 * 16, [&](char* to) {
      std::memcpy(to, &plain.scan, sizeof(JpegScan));
      return plain.copy_bytes(reinterpret_cast<uint8_t*>(to) + bytes_at(plain),
                              reinterpret_cast<JpegBits*>(to + sizeof(JpegScan)));
    });
    return picture.sent != nullptr;
  }

  // On the CPU, by the calling thread.
  void decode_here(int i) {
    const Picture& picture = *pictures_[i];
    try {
      at_sample(run_, i, [&] {
        thread_local std::vector<uint8_t> made;
        made.resize(static_cast<size_t>(out_.bytes(i)));
        picture.image.decode(picture.roi, made.data());
        gpu_.copy_in(out_.at(i), made.data(), made.size(), stream_.handle);
      });
    } catch (const Error&) {
      errors_[i] = std::current_exception();
    }
  }

  // All files that were copied, in parts that bound the memory for coefficients.
  void decode_there() {
    constexpr int64_t kMostSamples = int64_t{1} << 28;
    std::vector<int> some;
    int64_t samples = 0;
    for (size_t i = 0; i < pictures_.size(); i++) {
      if (!pictures_[i]->plain) continue;
      const int64_t more = pictures_[i]->plain->samples();
      if (!some.empty() && samples + more > kMostSamples) {
        decode_there(some);
        some.clear();
        samples = 0;
      }
      some.push_back(static_cast<int>(i));
      samples += more;
    }
    if (!some.empty()) decode_there(some);
  }

  // On the GPU; then on the CPU those that the kernels found broken or unusual.
  void decode_there(const std::vector<int>& which) {
    const StreamHandle own = decoder_.stream->handle;
    int64_t samples = 0, blocks = 0;
    for (int i : which) {
      samples += pictures_[i]->plain->samples();
      blocks += int64_t{pictures_[i]->plain->groups} * pictures_[i]->plain->scan.blocks;
    }
    std::vector<int> failed(which.size());
    const size_t flag_bytes = failed.size() * sizeof(int);
    const int64_t zeros = (samples + blocks) * int64_t{sizeof(int16_t)} + static_cast<int64_t>(flag_bytes);
    const Block cleared = gpu_.allocate(zeros, own), planes = gpu_.allocate(samples, own);
    gpu_.clear(cleared.get(), static_cast<size_t>(zeros), own);
    auto* numbers = static_cast<int16_t*>(cleared.get());  // whole blocks: what comes after them is aligned
    int* const flags = reinterpret_cast<int*>(numbers + samples);
    launch_on_gpu(*decoder_.stream, [&](Launches& launches) {
      auto* made = static_cast<uint8_t*>(planes.get());
      int* flag = flags;
      auto* step = reinterpret_cast<int16_t*>(flags + which.size());
      for (int i : which) {
        const Picture& picture = *pictures_[i];
        const codecs::PlainJpeg& plain = *picture.plain;
        const auto* sent = static_cast<const unsigned char*>(picture.sent.get());
        launches.add<JpegReader>(0, plain.intervals(),
                                 {sent + bytes_at(plain), reinterpret_cast<const JpegScan*>(sent),
                                  reinterpret_cast<const JpegBits*>(sent + sizeof(JpegScan)), numbers, step, flag});
        launches.then();
        for (const auto& plane : plain.plane) {
          launches.add<JpegBlocks>(0, plane.samples() / 64, {made, numbers, static_cast<int>(plane.stride / 8), flag});
          made += plane.samples();
          numbers += plane.samples();
        }
        step += int64_t{plain.groups} * plain.scan.blocks;
        flag++;
        launches.next_sample();
      }
    });
    gpu_.copy_out(failed.data(), flags, flag_bytes, own);
    launch_on_gpu(stream_, [&](Launches& launches) {
      const auto* from = static_cast<const uint8_t*>(planes.get());
      for (size_t k = 0; k < which.size(); k++) {
        const Picture& picture = *pictures_[which[k]];
        if (!failed[k]) add(launches, picture, from, static_cast<uint8_t*>(out_.at(which[k])));
        launches.next_sample();
        from += picture.plain->samples();
      }
    });
    gpu_.wait(own, stream_.handle);  // before the planes' memory is used again
    run_.pool.parallel_for(static_cast<int64_t>(which.size()), [&](int64_t k) {
      if (failed[k]) decode_here(which[k]);
    });
  }

  static void add(Launches& launches, const Picture& picture, const uint8_t* planes, uint8_t* out) {
    if (picture.plain->columns == 1)
      add_pixels<1, 1>(launches, picture, planes, out);
    else if (picture.plain->rows == 1)
      add_pixels<2, 1>(launches, picture, planes, out);
    else
      add_pixels<2, 2>(launches, picture, planes, out);
  }

  const Run& run_;
  const GpuStream& stream_;
  Gpu& gpu_;
  Decoder& decoder_;
  Pictures& pictures_;
  Data& out_;
  std::vector<std::exception_ptr> errors_;
};

}  // namespace

std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const std::function<ImagePart(int sample)>& plan) {
  const Data& in = *run.in[0];
  if (in.device.kind != Device::Kind::cpu || run.out[0].dtype != DType::uint8) return {};
  Decoder& decoder = Decoder::of(Gpu::at(stream.device));
  std::lock_guard claimed(decoder.busy);

  const int n = run.samples;
  Pictures pictures(n);
  run.pool.parallel_for(n, [&](int64_t k) {
    const int i = static_cast<int>(k);
    at_sample(run, i, [&] { pictures[i].emplace(plan(i)); });
  });
  ShapeList shapes(n, 3);
  for (int i = 0; i < n; i++) shapes.set(i, pictures[i]->shape());
  std::vector<Data> results;
  Data& out = results.emplace_back(allocate_on_gpu(run.out[0], shapes, stream));
  Batch(run, stream, decoder, pictures, out).decode();
  return results;
}

}  // namespace avida
