#include "operator/gpu_call.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "operator/call.h"
#include "operator/launches.h"
#include "operator/sample.h"
#include "runtime/memory.h"

namespace avida {
namespace {

// Ragged samples and the data of kernels are aligned as blocks on the CPU are.
int64_t stepped(int64_t bytes) {
  constexpr auto step = static_cast<int64_t>(kAlignment);
  return (bytes + step - 1) / step * step;
}

std::atomic<int64_t> launched{0}, launched_blocks{0};

class GpuLaunches : public Launches {
 public:
  GpuLaunches(Gpu& gpu, StreamHandle stream) : gpu_(gpu), stream_(stream) {}

  // Small requests are served from larger blocks, since every sample may make some.
  void* scratch(int64_t bytes) override {
    constexpr int64_t kPiece = 64 << 10, kCut = 1 << 20;
    if (bytes > kPiece) return kept_.emplace_back(gpu_.allocate(bytes, stream_)).get();
    bytes = stepped(bytes);
    if (cut_left_ < bytes) {
      cut_ = static_cast<char*>(kept_.emplace_back(gpu_.allocate(kCut, stream_)).get());
      cut_left_ = kCut;
    }
    char* piece = cut_;
    cut_ += bytes;
    cut_left_ -= bytes;
    return piece;
  }
  Block allocate(int64_t bytes) override { return gpu_.allocate(bytes, stream_); }
  void clear(void* memory, int64_t bytes) override { gpu_.clear(memory, static_cast<size_t>(bytes), stream_); }
  void then() override { step_++; }
  void next_sample() override { step_ = 0; }

  bool empty() const { return steps_.empty(); }
  // Copies what the kernels read, and starts them.
  void start() {
    for (auto& step : steps_)
      for (Launch& launch : step) launch.placed = upload_bytes(launch.items.data(), launch.items.size());
    for (Chunk& chunk : chunks_) gpu_.copy_in(chunk.on_gpu, chunk.bytes.data(), chunk.bytes.size(), stream_);
    for (auto& step : steps_)
      for (Launch& launch : step) {
        gpu_.launch(*launch.kernel, launch.placed, static_cast<int>(launch.items.size() / launch.kernel->bytes),
                    launch.most_items, stream_);
        launched.fetch_add(1, std::memory_order_relaxed);
        if (launch.kernel->block_threads) launched_blocks.fetch_add(1, std::memory_order_relaxed);
      }
  }

 protected:
  void append(const Kernel& kernel, const void* items, int64_t count) override {
    if (steps_.size() <= step_) steps_.resize(step_ + 1);
    auto& step = steps_[step_];
    Launch* launch = nullptr;
    for (Launch& other : step)
      if (other.kernel == &kernel) launch = &other;
    if (!launch) launch = &step.emplace_back(Launch{&kernel, {}, 0, nullptr});
    auto* bytes = static_cast<const std::byte*>(items);
    launch->items.insert(launch->items.end(), bytes, bytes + kernel.bytes);
    launch->most_items = std::max(launch->most_items, count);
  }

  // Samples often need the same tables: those of the last uploads are not copied again.
  const void* upload_bytes(const void* bytes, size_t size) override {
    for (const Table& table : tables_)
      if (table.size == size && size > 0 && std::memcmp(table.bytes, bytes, size) == 0) return table.on_gpu;
    auto rounded = static_cast<size_t>(stepped(static_cast<int64_t>(size)));
    if (chunks_.empty() || chunks_.back().bytes.size() + rounded > chunks_.back().capacity) {
      size_t capacity = std::max(kChunk, rounded);
      chunks_.push_back({scratch(static_cast<int64_t>(capacity)), capacity, {}});
      chunks_.back().bytes.reserve(capacity);
    }
    Chunk& chunk = chunks_.back();
    size_t at = chunk.bytes.size();
    chunk.bytes.resize(at + rounded);
    if (size) std::memcpy(chunk.bytes.data() + at, bytes, size);
    const void* on_gpu = static_cast<const char*>(chunk.on_gpu) + at;
    if (size >= kTable) tables_[next_table_++ % std::size(tables_)] = {chunk.bytes.data() + at, size, on_gpu};
    return on_gpu;
  }

 private:
  static constexpr size_t kChunk = 64 << 10, kTable = 128;
  struct Launch {
    const Kernel* kernel;
    std::vector<std::byte> items;
    int64_t most_items;
    const void* placed;
  };
  struct Chunk {  // of parameters that are copied to the GPU
    void* on_gpu;
    size_t capacity;
    std::vector<std::byte> bytes;  // never reallocated
  };
  struct Table {  // of at least kTable bytes, in a chunk
    const std::byte* bytes = nullptr;
    size_t size = 0;
    const void* on_gpu = nullptr;
  };

  Gpu& gpu_;
  StreamHandle stream_;
  size_t step_ = 0;
  std::vector<std::vector<Launch>> steps_;
  std::vector<Chunk> chunks_;
  Table tables_[8];
  size_t next_table_ = 0;
  std::vector<Block> kept_;
  char* cut_ = nullptr;  // the unused rest of the last block
  int64_t cut_left_ = 0;
};

// Whether the samples are laid out as operators lay out ragged ones, so that one copy moves all.
bool in_steps(const Data& data) {
  for (int i = 1; i < data.size(); i++)
    if (data.owner(i) != data.owner(0) ||
        data.at(i) != static_cast<const char*>(data.at(i - 1)) + stepped(data.bytes(i - 1)))
      return false;
  return data.size() > 0;
}

// The same samples in new memory that `copy(to, from, bytes)` fills.
template <class Copy>
Data moved(const Data& data, Block block, const Copy& copy) {
  Data out;
  out.dtype = data.dtype;
  out.layout = data.layout;
  out.shapes = data.shapes;
  out.origins = data.origins;
  auto* first = static_cast<char*>(block.get());
  if (data.contiguous()) {
    copy(first, data.at(0), data.bytes(0) * data.size());
    out.place(std::move(block), first, data.bytes(0));
    return out;
  }
  if (in_steps(data)) {
    const char* begin = static_cast<const char*>(data.at(0));
    const int last = data.size() - 1;
    copy(first, begin, static_cast<const char*>(data.at(last)) + data.bytes(last) - begin);
    std::vector<void*> samples;
    for (int i = 0; i <= last; i++) samples.push_back(first + (static_cast<const char*>(data.at(i)) - begin));
    out.place(std::move(block), std::move(samples));
    return out;
  }
  std::vector<void*> samples;
  for (int i = 0; i < data.size(); i++) {
    samples.push_back(first);
    copy(first, data.at(i), data.bytes(i));
    first += stepped(data.bytes(i));
  }
  out.place(std::move(block), std::move(samples));
  return out;
}

int64_t bytes_of(const Data& data) {
  int64_t bytes = 0;
  for (int i = 0; i < data.size(); i++) bytes += stepped(data.bytes(i));
  return bytes;
}

}  // namespace

Data to_gpu(const Data& data, const GpuStream& stream) {
  Gpu& gpu = Gpu::at(stream.device);
  if (data.device.kind == Device::Kind::gpu) {
    if (data.device.id != stream.device) return to_gpu(to_cpu(data), stream);
    gpu.wait(stream.handle, data.stream);
    return data;
  }
  const bool pinned = Gpu::is_pinned(data) && !others_write(data);  // which is read after this has returned
  Data out = moved(data, gpu.allocate(bytes_of(data), stream.handle), [&](void* to, const void* from, int64_t bytes) {
    if (pinned)
      gpu.copy_in_pinned(to, from, static_cast<size_t>(bytes), stream.handle);
    else
      gpu.copy_in(to, from, static_cast<size_t>(bytes), stream.handle);
  });
  if (pinned) gpu.keep_until_done(std::make_shared<Data>(data), stream.handle);
  out.device = {Device::Kind::gpu, static_cast<int16_t>(stream.device)};
  out.stream = stream.handle;
  return out;
}

Data to_cpu(const Data& data) {
  if (data.device.kind == Device::Kind::cpu) return data;
  Gpu& gpu = Gpu::at(data.device.id);
  return moved(data, allocate(bytes_of(data)), [&](void* to, const void* from, int64_t bytes) {
    gpu.copy_out(to, from, static_cast<size_t>(bytes), data.stream);
  });
}

Data allocate_on_gpu(const Meta& meta, const ShapeList& shapes, const GpuStream& stream) {
  GpuLaunches launches(Gpu::at(stream.device), stream.handle);
  Data data = allocate_data(meta, shapes, [&](int64_t bytes) { return launches.allocate(bytes); });
  data.device = {Device::Kind::gpu, static_cast<int16_t>(stream.device)};
  data.stream = stream.handle;
  return data;
}

void launch_on_gpu(const GpuStream& stream, const std::function<void(Launches&)>& record) {
  GpuLaunches launches(Gpu::at(stream.device), stream.handle);
  record(launches);
  launches.start();
}

int64_t all_launches() { return launched.load(std::memory_order_relaxed); }

int64_t block_launches() { return launched_blocks.load(std::memory_order_relaxed); }

TimedOnGpu::TimedOnGpu(const Device& device, StreamHandle stream) : device_(device) {
  if (device.kind == Device::Kind::gpu && profile::on()) timer_ = Gpu::at(device.id).timer(stream);
}

TimedOnGpu::~TimedOnGpu() {
  if (!timer_) return;
  auto event = profile::Work::event(profile::Kind::gpu);
  if (!event || !timer_->end()) return;
  event->label.device = device_;
  event->in_use = Gpu::at(device_.id).bytes_in_use();
  profile::record_later(*event, std::move(timer_));
}

Transfer::Transfer(ValuePtr value, Device device, std::shared_ptr<GpuStream> stream, Location where)
    : device_(device), stream_(std::move(stream)), where_(where) {
  inputs.push_back(std::move(value));
}

ValuePtr Transfer::promised() {
  Meta meta = inputs[0]->meta();
  meta.device = device_;
  ValuePtr value = promise(meta);
  value->lineage = inputs[0]->lineage;
  return value;
}

profile::Label Transfer::label() const { return {name(device_), where_, inputs[0]->meta().samples, device_}; }

std::vector<Data> Transfer::run() {
  const Data& data = inputs[0]->ready();
  const TimedOnGpu timed(stream_ ? device_ : data.device, stream_ ? stream_->handle : data.stream);
  return {stream_ ? to_gpu(data, *stream_) : to_cpu(data)};
}

Failure Transfer::describe_failure(std::exception_ptr error) const {
  Failure failure = describe(error);
  failure.message = (stream_ ? "copying to the GPU: " : "copying to the CPU: ") + failure.message;
  return failure;
}

std::vector<Data> run_on_gpu(const OpSpec& spec, const Run& run, const GpuStream& stream) {
  if (spec.gpu_run)
    if (auto results = spec.gpu_run(run, stream)) return std::move(*results);
  const Device device{Device::Kind::gpu, static_cast<int16_t>(stream.device)};
  std::deque<Data> moved;
  std::vector<const Data*> in;
  for (size_t i = 0; i < run.in.size(); i++) {
    if (!run.in[i]) {
      in.push_back(nullptr);
      continue;
    }
    bool stays = spec.on_gpu && !spec.inputs[std::min(i, spec.inputs.size() - 1)].on_host;
    in.push_back(&moved.emplace_back(stays ? to_gpu(*run.in[i], stream) : to_cpu(*run.in[i])));
  }
  std::vector<Meta> out(run.out.begin(), run.out.end());
  for (Meta& meta : out) meta.device = spec.on_gpu ? device : Device();
  Gpu& gpu = Gpu::at(stream.device);
  GpuLaunches launches(gpu, stream.handle);
  Run here{in, run.samples, run.is_batch, run.args, out, run.pool, run.random, run.keyed, run.frames};
  if (spec.on_gpu) here.launches = &launches;
  std::vector<Data> results = spec.run(here);
  if (spec.on_gpu) {
    const bool made_any = std::ranges::any_of(results, [](const Data& result) { return bytes_of(result) > 0; });
    if (spec.loop && launches.empty() && made_any)
      refuse("the operator launched no kernel for its output; a body that accesses memory itself is declared on_cpu()");
    launches.start();
    // The other stream must not reuse the memory of an input before this stream has read it.
    for (const Data* data : in)
      if (data && data->device.kind == Device::Kind::gpu) gpu.wait(data->stream, stream.handle);
  }
  for (Data& result : results) {
    if (!spec.on_gpu) result = to_gpu(result, stream);
    result.device = device;
    if (!result.stream) result.stream = stream.handle;  // a view keeps the stream of its memory
  }
  return results;
}

}  // namespace avida
