#include "loops/decoding/decode_on_gpu.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "codecs/jpeg/jpeg_header.h"
#include "codecs/jpeg/scan/plain_jpeg.h"
#include "codecs/jpeg/scan/progressive_scans.h"
#include "codecs/pixels.h"
#include "loops/decoding/jpeg_batch.h"
#include "loops/decoding/jpeg_item.h"
#include "operator/launches.h"
#include "operator/sample.h"
#include "runtime/thread_pool.h"

namespace avida {
namespace {

std::atomic<int64_t> decodes{0};

// What the kernels need of a file; nothing where a thread has to decode it.
std::optional<codecs::PlainJpeg> plain_jpeg(const codecs::EncodedImage& image) {
  using enum codecs::ImageType;
  const codecs::ImageRequest& request = image.request();
  const bool is_plain = request.type == rgb || request.type == bgr || request.type == gray || request.type == any;
  const auto* jpeg = dynamic_cast<const codecs::JpegFile*>(&image.file());
  const codecs::ImageInfo &made = image.info(), &stored = image.file().info();
  const bool is_whole = made.height == stored.height && made.width == stored.width;  // not downscaled
  if (!jpeg || !is_plain || !is_whole || request.fast_idct) return {};
  return codecs::plain_jpeg(jpeg->header());
}

struct Picture : ImagePart {
  explicit Picture(ImagePart&& part) : ImagePart(std::move(part)), plain(plain_jpeg(image)) {
    if (plain) chunks.resize(static_cast<size_t>(plain->chunks()));
  }
  int channels() const { return image.extents().channels; }
  const codecs::JpegHeader& header() const { return static_cast<const codecs::JpegFile&>(image.file()).header(); }
  bool is_gray() const { return plain->planes == 1 || channels() == 1; }

  std::optional<codecs::PlainJpeg> plain;  // where the GPU decodes it
  Block scan;                              // on the GPU
  struct Chunk : codecs::PlainJpeg::Chunk {
    Block bytes;  // on the GPU
  };
  std::vector<Chunk> chunks;

  // Adds it to a batch, once it is copied; returns false if it is broken.
  bool add_to(JpegBatch& batch) const {
    const auto* header = static_cast<const JpegScan*>(scan.get());
    const int needed = is_gray() ? 1 : plain->planes;
    if (plain->progressive) {
      if (!chunks[0].bytes) return false;
      batch.add(*plain, header, static_cast<const int16_t*>(chunks[0].bytes.get()), needed);
      return true;
    }
    const auto found = segments();
    if (found) batch.add(*plain, header, *found, needed);
    return found.has_value();
  }

 private:
  // All of them; nothing if they are broken.
  std::optional<std::vector<JpegSegment>> segments() const {
    std::vector<JpegSegment> all;
    for (const Chunk& chunk : chunks) {
      all.insert(all.end(), chunk.segments.begin(), chunk.segments.end());
      if (chunk.marker == codecs::PlainJpeg::kEndOfImage) return all;
      if (chunk.marker != codecs::PlainJpeg::kGoesOn) return {};
    }
    return {};
  }
};
using Pictures = std::vector<std::optional<Picture>>;

// Pinned memory that gathers what a thread has read, and is copied to the GPU a megabyte at a time.
class Basket {
 public:
  Basket(Gpu& gpu, StreamHandle stream) : gpu_(gpu), stream_(stream) {}
  Basket(const Basket&) = delete;

  // Sends what was not sent yet. Must be called at the end.
  void close() {
    send();
    parcel_.reset();
  }

  // Memory on the GPU for what fill(memory) writes.
  template <class Fill>
  Block put(size_t bytes, const Fill& fill) {
    bytes = (bytes + kStep - 1) / kStep * kStep;
    if (bytes > Gpu::Parcel::kBytes) {
      const std::unique_ptr<char[]> filled(new char[bytes]);
      fill(filled.get());
      Block block = gpu_.allocate(static_cast<int64_t>(bytes), stream_);
      gpu_.copy_in(block.get(), filled.get(), bytes, stream_);
      return block;
    }
    if (!parcel_ || filled_ + bytes > Gpu::Parcel::kBytes) {
      close();  // before the next parcel is taken: their count is limited
      on_gpu_ = gpu_.allocate(Gpu::Parcel::kBytes, stream_);
      parcel_ = gpu_.parcel();
      filled_ = sent_ = 0;
    }
    fill(parcel_->memory + filled_);
    Block block(on_gpu_, static_cast<char*>(on_gpu_.get()) + filled_);
    filled_ += bytes;
    constexpr size_t kWorthACopy = 1 << 20;
    if (filled_ - sent_ >= kWorthACopy) send();
    return block;
  }

 private:
  void send() {
    if (filled_ > sent_) parcel_->send(on_gpu_.get(), sent_, filled_ - sent_, stream_);
    sent_ = filled_;
  }

  static constexpr size_t kStep = 16;  // what is put begins at multiples of it
  Gpu& gpu_;
  const StreamHandle stream_;
  Block on_gpu_;
  std::unique_ptr<Gpu::Parcel> parcel_;
  size_t filled_ = 0, sent_ = 0;
};

template <class Body>
void add_pixels(Launches& launches, const JpegPicture& picture) {
  launches.add<Body>(0, int64_t{picture.height} * Body::items_per_row(picture.width), picture);
}

// What the pixels of a picture are made of, and where they go.
void add_pixels(Launches& launches, const Picture& picture, const uint8_t* planes, uint8_t* out) {
  const auto& plane = picture.plain->plane;
  const codecs::Orientation orientation = picture.image.orientation();
  const codecs::Roi stored = orientation.stored(picture.roi);
  const codecs::PixelWalk walk = orientation.walk_upright(stored, picture.channels());
  const uint8_t *blue = planes + plane[0].samples(), *red = blue + plane[1].samples();
  const JpegPicture made{
      out + walk.first,
      walk.down,
      walk.right,
      {planes, blue, red},
      {static_cast<int>(plane[0].stride), static_cast<int>(plane[1].stride), static_cast<int>(plane[2].stride)},
      plane[1].width,
      plane[1].height,
      stored.y,
      stored.x,
      stored.height,
      stored.width,
      picture.image.request().type == codecs::ImageType::bgr};
  if (picture.is_gray())
    return picture.channels() == 1 ? add_pixels<JpegGray<1>>(launches, made) : add_pixels<JpegGray<3>>(launches, made);
  if (picture.plain->columns == 1) return add_pixels<JpegPixels<1, 1>>(launches, made);
  if (picture.plain->rows == 1) return add_pixels<JpegPixels<2, 1>>(launches, made);
  if (!JpegColors::takes(made)) return add_pixels<JpegPixels<2, 2>>(launches, made);
  const JpegColors::Params params = JpegColors::params(made);
  launches.add<JpegColors>(0, JpegColors::items(params), params);
}

class Batch {
 public:
  Batch(const Run& run, const GpuStream& stream, Pictures& pictures, Data& out)
      : run_(run),
        stream_(stream),
        gpu_(Gpu::at(stream.device)),
        own_{gpu_.create_stream(), gpu_.create_stream()},
        pictures_(pictures),
        out_(out),
        errors_(pictures.size()) {}

  // Kernels decode some files while threads copy the next ones, and decode what is left for them.
  void decode() {
    std::vector<int> some, others;
    int64_t samples = 0;
    const auto queue_some = [&] {
      queue(some, {});
      some.clear();
      samples = 0;
    };
    for (int i = 0; i < static_cast<int>(pictures_.size()); i++) {
      if (!pictures_[i]->plain) {
        others.push_back(i);
        continue;
      }
      const int64_t more = pictures_[i]->plain->samples();
      if (!some.empty() && samples + more > kMostSamples) queue_some();
      some.push_back(i);
      samples += more;
    }
    queue(some, others);
    decode_failed();
    for (const auto& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  static constexpr int64_t kMostSamples = int64_t{1} << 27;  // that kernels make at once
  // Work of a thread: to copy a chunk of a file, or to decode the file.
  struct Job {
    int picture, chunk;
    size_t cost;
  };
  static constexpr int kWhole = -1;

  // Has threads copy the data of plain files and decode the others; then queues the kernels.
  void queue(const std::vector<int>& plain, const std::vector<int>& others) {
    std::vector<Job> jobs;
    for (int i : others)
      jobs.push_back({i, kWhole, 100 * pictures_[i]->image.file().bytes().size()});  // as much as copying
    for (int i : plain)
      for (int chunk = 0; chunk < pictures_[i]->plain->chunks(); chunk++)
        jobs.push_back({i, chunk, pictures_[i]->plain->room(chunk) * (pictures_[i]->plain->progressive ? 10 : 1)});
    std::ranges::stable_sort(jobs, std::ranges::greater(), &Job::cost);
    std::atomic<size_t> next = 0;
    const auto threads = std::min<int64_t>(run_.pool.threads(), std::ssize(jobs));
    run_.pool.parallel_for(threads, [&](int64_t) {
      Basket basket(gpu_, own().handle);
      for (size_t k; (k = next++) < jobs.size();) {
        if (jobs[k].chunk != kWhole) {
          copy(*pictures_[jobs[k].picture], jobs[k].chunk, basket);
          continue;
        }
        basket.close();  // who decodes takes a parcel, and their count is limited
        decode_here(jobs[k].picture);
      }
      basket.close();
    });
    if (!plain.empty()) decode_there(plain);
  }

  static void copy(Picture& picture, int number, Basket& basket) {
    const codecs::PlainJpeg& plain = *picture.plain;
    if (number == 0)
      picture.scan = basket.put(sizeof(JpegScan), [&](char* to) { std::memcpy(to, &plain.scan, sizeof(JpegScan)); });
    Picture::Chunk& chunk = picture.chunks[number];
    if (plain.progressive) {
      bool valid = false;
      Block there = basket.put(plain.room(number), [&](char* to) {
        const std::span coefficients(reinterpret_cast<int16_t*>(to), static_cast<size_t>(plain.samples()));
        valid = codecs::ProgressiveScans().read(picture.header(), coefficients);
      });
      if (valid) chunk.bytes = std::move(there);
      return;
    }
    uint8_t* here = nullptr;
    Block there = basket.put(plain.room(number), [&](char* to) {
      here = reinterpret_cast<uint8_t*>(to);
      static_cast<codecs::PlainJpeg::Chunk&>(chunk) = plain.copy(number, here);
    });
    for (JpegSegment& segment : chunk.segments)
      segment.bytes = static_cast<const uint8_t*>(there.get()) + (segment.bytes - here);
    chunk.bytes = std::move(there);
  }

  // On the CPU, by the calling thread.
  void decode_here(int i) {
    const Picture& picture = *pictures_[i];
    try {
      at_sample(run_, i, [&] {
        const auto bytes = static_cast<size_t>(out_.bytes(i));
        if (bytes <= Gpu::Parcel::kBytes) {
          const auto parcel = gpu_.parcel();
          picture.image.decode(picture.roi, parcel->memory);
          return parcel->send(out_.at(i), 0, bytes, stream_.handle);
        }
        thread_local std::vector<uint8_t> made;
        made.resize(bytes);
        picture.image.decode(picture.roi, made.data());
        gpu_.copy_in(out_.at(i), made.data(), bytes, stream_.handle);
      });
    } catch (const Error&) {
      errors_[i] = std::current_exception();
    }
  }

  // Queues the kernels for files that have been copied.
  void decode_there(const std::vector<int>& which) {
    if (queued_.size() >= own_.size()) free_planes(queued_.size() - own_.size());
    const GpuStream& own = this->own();
    Queued& queued = queued_.emplace_back();
    for (int i : which) {
      const bool added = pictures_[i]->add_to(queued.files);
      (added ? queued.pictures : failed_).push_back(i);
    }
    if (queued.pictures.empty()) return queued_.pop_back();
    queued.files.decode(gpu_, own);
    gpu_.wait(stream_.handle, own.handle);
    launch_on_gpu(stream_, [&](Launches& launches) {
      for (size_t k = 0; k < queued.pictures.size(); k++) {
        const int i = queued.pictures[k];
        add_pixels(launches, *pictures_[i], queued.files.planes(k), static_cast<uint8_t*>(out_.at(i)));
        launches.next_sample();
      }
    });
    for (int i : queued.pictures) {
      pictures_[i]->scan.reset();
      pictures_[i]->chunks.clear();
    }
  }

  // The stream of the files that are queued next, or were queued as number k.
  const GpuStream& own(size_t k) const { return *own_[k % own_.size()]; }
  const GpuStream& own() const { return own(queued_.size()); }

  // Before their memory is used again, the pixels have to be made.
  void free_planes(size_t k) {
    gpu_.wait(own(k).handle, stream_.handle);
    queued_[k].files.free_planes();
  }

  // The files that kernels found broken or unusual: whatever they wrote is overwritten.
  void decode_failed() {
    for (size_t n = 0; n < queued_.size(); n++) {
      const std::vector<int> failed = queued_[n].files.failed(gpu_, own(n));
      for (size_t k = 0; k < failed.size(); k++)
        if (failed[k]) failed_.push_back(queued_[n].pictures[k]);
      decodes.fetch_add(std::ranges::count(failed, 0), std::memory_order_relaxed);
    }
    for (size_t n = queued_.size() - std::min(queued_.size(), own_.size()); n < queued_.size(); n++) free_planes(n);
    run_.pool.parallel_for(std::ssize(failed_), [&](int64_t k) { decode_here(failed_[k]); });
  }

  struct Queued {
    std::vector<int> pictures;
    JpegBatch files;
  };

  const Run& run_;
  const GpuStream& stream_;
  Gpu& gpu_;
  // So that waiting for them does not wait for what others have queued, and that neighbours overlap.
  const std::array<std::shared_ptr<GpuStream>, 2> own_;
  Pictures& pictures_;
  Data& out_;
  std::vector<std::exception_ptr> errors_;
  std::vector<Queued> queued_;
  std::vector<int> failed_;
};

}  // namespace

std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream,
                                               const std::function<ImagePart(int sample)>& plan) {
  const Data& in = *run.in[0];
  if (in.device.kind != Device::Kind::cpu || run.out[0].dtype != DType::uint8) return {};
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
  Batch(run, stream, pictures, out).decode();
  return results;
}

int64_t jpegs_decoded_by_kernels() { return decodes.load(std::memory_order_relaxed); }

}  // namespace avida
