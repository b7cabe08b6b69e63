#include "readers/prefetcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>

#include "op/call.h"
#include "op/sample.h"
#include "runtime/fork.h"

namespace avida {
namespace {

constexpr int kMostThreads = 8;                   // of one prefetcher
constexpr int64_t kMostBytes = int64_t{1} << 40;  // of one sample

struct Stopped {};

// Reads the samples of a batch. With `skipped`, those that cannot be read are left out and noted there.
class BatchReader {
 public:
  BatchReader(const Source& source, std::vector<SampleId> ids, bool is_batch, const std::atomic<bool>* stop,
              std::vector<Prefetcher::Skipped>* skipped)
      : source_(source), ids_(std::move(ids)), is_batch_(is_batch), stop_(stop), skipped_(skipped) {}

  // Each output in one block; nothing when no sample is left.
  std::vector<Data> read() {
    while (true) {
      open();
      if (ids_.empty()) return {};
      std::vector<Data> outputs = allocate();
      if (fill(outputs)) return outputs;
    }
  }

 private:
  void open() {
    samples_.clear();
    auto kept = ids_.begin();
    for (size_t i = 0; i < ids_.size(); i++) {
      auto sample = attempt(i, [&] {
        auto opened = source_.open(ids_[i].index);
        for (size_t k = 0; k < source_.outputs().size(); k++) check_size(source_.outputs()[k], *opened, k);
        return opened;
      });
      if (!sample) continue;
      samples_.push_back(std::move(*sample));
      *kept++ = ids_[i];
    }
    ids_.erase(kept, ids_.end());
  }

  std::vector<Data> allocate() {
    auto origins = std::make_shared<std::vector<Origin>>(ids_.size());
    for (size_t i = 0; i < ids_.size(); i++) {
      (*origins)[i].source = source_.describe(ids_[i].index);
      (*origins)[i].index = ids_[i].index;
      (*origins)[i].epoch = ids_[i].pass;
    }
    std::vector<Data> results;
    for (Meta meta : source_.outputs()) {
      int k = static_cast<int>(results.size()), n = static_cast<int>(ids_.size());
      meta.is_batch = is_batch_;
      meta.samples = n;
      ShapeList shapes(n, meta.ndim);
      for (int i = 0; i < n; i++) shapes.set(i, samples_[i]->shape(k));
      results.push_back(allocate_data(meta, shapes));
      results.back().origins = origins;
    }
    return results;
  }

  // Whether all samples could be read; those that could not are gone from the list, and the rest is to be read again.
  bool fill(std::vector<Data>& outputs) {
    std::vector<SampleId> good;
    for (size_t i = 0; i < ids_.size(); i++) {
      auto done = attempt(i, [&] {
        for (size_t k = 0; k < outputs.size(); k++) samples_[i]->read(static_cast<int>(k), outputs[k].at(i));
        return true;
      });
      samples_[i].reset();
      if (done) good.push_back(ids_[i]);
    }
    if (good.size() == ids_.size()) return true;
    ids_ = std::move(good);
    return false;
  }

  // One sample must not be beyond all memory, or its batch could not be laid out.
  static void check_size(const Meta& meta, const Source::Sample& sample, size_t output) {
    Shape shape = sample.shape(static_cast<int>(output));
    if (checked_volume(shape) > kMostBytes / size_of(meta.dtype))
      fail(ErrorKind::value, "a sample of the shape ", shape, " is larger than any memory");
  }

  template <class Function>
  auto attempt(size_t i, Function&& function) -> std::optional<decltype(function())> {
    if (stop_ && *stop_) throw Stopped();
    try {
      return function();
    } catch (const std::exception&) {
      Failure failure = describe(std::current_exception());
      std::string name = source_.describe(ids_[i].index);
      if (!skipped_)
        throw Error(failure.kind, str(is_batch_ ? str("sample ", i, " (", name, ")") : name, ": ", failure.message));
      skipped_->push_back({std::move(name), ids_[i], std::move(failure.message)});
      return {};
    }
  }

  const Source& source_;
  std::vector<SampleId> ids_;
  bool is_batch_;
  const std::atomic<bool>* stop_;
  std::vector<Prefetcher::Skipped>* skipped_;
  std::vector<std::unique_ptr<Source::Sample>> samples_;
};

}  // namespace

std::vector<ValuePtr> read_batch(const Source& source, const std::vector<SampleId>& ids, bool batches) {
  std::vector<ValuePtr> values;
  try {
    for (Data& data : BatchReader(source, ids, batches, nullptr, nullptr).read())
      values.push_back(std::make_shared<Value>(std::move(data), batches));
  } catch (const Error& error) {
    throw Error(error.kind, str(source.name(), ": ", error.message));
  }
  return values;
}

class Prefetcher::Queue : public std::enable_shared_from_this<Queue>, ForkAware {
 public:
  Queue(std::shared_ptr<const Source> source, const Plan& plan, const Cursor& start, const Options& options)
      : source_(std::move(source)), plan_(plan), options_(options), last_epoch_(start.epoch), end_(start) {
    fill();
  }

  Cursor cursor() {
    std::lock_guard lock(mutex_);
    return slots_.empty() ? end_ : slots_.front()->item.cursor;
  }

  bool one_epoch() const { return options_.one_epoch; }

  Item take(const Interrupt& interrupt) {
    std::unique_lock lock(mutex_);
    std::shared_ptr<Slot> first;
    while (true) {
      if (stop_) fail(ErrorKind::runtime, source_->name(), ": the interpreter is shutting down");
      if (slots_.empty()) fail(ErrorKind::runtime, source_->name(), ": the epoch has ended");
      first = slots_.front();  // anew after each wait, for another thread may have taken it
      if (first->state == Slot::done) break;
      start_threads();
      if (ready_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::timeout && interrupt) {
        lock.unlock();
        interrupt();
        lock.lock();
      }
    }
    slots_.pop_front();
    fill();
    work_.notify_one();
    return std::move(first->item);
  }

  void stop() {
    stop_ = true;
    std::lock_guard lock(mutex_);
    work_.notify_all();
  }
  void wait_for_threads() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [&] { return threads_ == 0; });
  }

 private:
  struct Slot {
    enum State { open, reading, done } state = open;
    Item item;  // its cursor is known from the start
  };

  void fill() {
    while (static_cast<int>(slots_.size()) < options_.depth && !(options_.one_epoch && end_.epoch != last_epoch_)) {
      slots_.push_back(std::make_shared<Slot>());
      slots_.back()->item.cursor = end_;
      end_ = plan_.after(end_, options_.batch_size);
    }
  }

  void start_threads() {
    if (threads_ > 0) return;
    try {
      for (int n = std::min(options_.depth, kMostThreads); threads_ < n; threads_++)
        std::thread([self = shared_from_this()] { self->loop(); }).detach();
    } catch (const std::system_error& error) {
      if (threads_ == 0) fail(ErrorKind::runtime, "the system allows no thread for the reader: ", error.what());
    }
  }

  void loop() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      auto open = std::find_if(slots_.begin(), slots_.end(), [](auto& slot) { return slot->state == Slot::open; });
      if (open == slots_.end()) {
        work_.wait(lock);
        continue;
      }
      std::shared_ptr<Slot> slot = *open;
      slot->state = Slot::reading;
      lock.unlock();
      Item item = read(slot->item.cursor);
      lock.lock();
      std::swap(slot->item, item);
      slot->state = Slot::done;
      ready_.notify_all();
      lock.unlock();
      slot.reset();
      lock.lock();
    }
    threads_--;
    ready_.notify_all();
  }

  Item read(const Cursor& at) const {
    Item item{at, {}, {}};
    try {
      BatchReader reader(*source_, plan_.batch(at, options_.batch_size), options_.batches, &stop_,
                         options_.skip_errors ? &item.skipped : nullptr);
      for (Data& data : reader.read())
        item.values.push_back(std::make_shared<Value>(std::move(data), options_.batches));
    } catch (const Stopped&) {
    } catch (...) {
      Failure failure = describe(std::current_exception());
      failure.message = str(source_->name(), ": ", failure.message);
      auto shared = std::make_shared<const Failure>(std::move(failure));
      item.values.clear();
      for (Meta meta : source_->outputs()) {
        meta.is_batch = options_.batches;
        meta.samples = options_.batch_size;
        item.values.push_back(std::make_shared<Value>(meta, shared));
      }
    }
    return item;
  }

  void before_fork() override { mutex_.lock(); }
  void after_fork(bool in_child) override {
    if (in_child) {
      new (&work_) std::condition_variable;
      new (&ready_) std::condition_variable;
      threads_ = 0;
      for (auto& slot : slots_)
        if (slot->state == Slot::reading) slot->state = Slot::open;
    }
    mutex_.unlock();
  }

  const std::shared_ptr<const Source> source_;
  const Plan plan_;
  const Options options_;
  const int64_t last_epoch_;  // where one_epoch ends
  std::mutex mutex_;
  std::condition_variable work_, ready_;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the order of taking
  Cursor end_;                               // of the batch after the last slot
  int threads_ = 0;
  std::atomic<bool> stop_{false};
  ForkRegistration fork_{this, Rank::reader};
};

namespace {

// All queues, for the end of the process.
class Everyone : ForkAware {
 public:
  void add(std::weak_ptr<void> queue) {
    std::lock_guard lock(mutex_);
    std::erase_if(list_, [](auto& weak) { return weak.expired(); });
    list_.push_back(std::move(queue));
  }
  std::vector<std::shared_ptr<void>> alive() {
    std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<void>> out;
    for (auto& weak : list_)
      if (auto queue = weak.lock()) out.push_back(std::move(queue));
    return out;
  }
  static Everyone& instance() {
    static Everyone* everyone = new Everyone;
    return *everyone;
  }

 private:
  void before_fork() override { mutex_.lock(); }
  void after_fork(bool) override { mutex_.unlock(); }
  std::mutex mutex_;
  std::vector<std::weak_ptr<void>> list_;
  ForkRegistration fork_{this, Rank::reader};
};

}  // namespace

Prefetcher::Prefetcher(std::shared_ptr<const Source> source, const Plan& plan, const Cursor& start,
                       const Options& options)
    : queue_(std::make_shared<Queue>(std::move(source), plan, start, options)) {
  Everyone::instance().add(queue_);
}

Prefetcher::~Prefetcher() { queue_->stop(); }

Cursor Prefetcher::cursor() const { return queue_->cursor(); }

bool Prefetcher::one_epoch() const { return queue_->one_epoch(); }

Prefetcher::Item Prefetcher::take(const Interrupt& interrupt) { return queue_->take(interrupt); }

void Prefetcher::stop_all() {
  auto queues = Everyone::instance().alive();
  for (auto& queue : queues) static_cast<Queue*>(queue.get())->stop();
  for (auto& queue : queues) static_cast<Queue*>(queue.get())->wait_for_threads();
}

}  // namespace avida
