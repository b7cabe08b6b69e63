#include "readers/prefetcher.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "op/call.h"
#include "op/sample.h"
#include "runtime/fork.h"

namespace avida {
namespace {

constexpr int kMostThreads = 8;  // of one prefetcher

struct Stopped {};

// The samples with the given numbers, each output in one block.
std::vector<Data> read_samples(const Source& source, const std::vector<SampleId>& ids, bool is_batch,
                               const std::atomic<bool>& stop) {
  int n = static_cast<int>(ids.size());
  auto origins = std::make_shared<std::vector<Origin>>(n);
  std::vector<std::unique_ptr<Source::Sample>> samples(n);
  auto each = [&](auto&& fn) {
    for (int i = 0; i < n; i++) {
      if (stop) throw Stopped();
      try {
        fn(i);
      } catch (const Error& error) {
        std::string name = source.describe(ids[i].index);
        throw Error(error.kind, str(is_batch ? str("sample ", i, " (", name, ")") : name, ": ", error.message));
      }
    }
  };
  each([&](int i) {
    samples[i] = source.open(ids[i].index);
    (*origins)[i].source = source.describe(ids[i].index);
    (*origins)[i].index = ids[i].index;
    (*origins)[i].epoch = ids[i].pass;
  });
  int outputs = static_cast<int>(source.outputs().size());
  std::vector<Data> results;
  for (int k = 0; k < outputs; k++) {
    Meta meta = source.outputs()[k];
    meta.is_batch = is_batch;
    meta.samples = n;
    ShapeList shapes(n, meta.ndim);
    for (int i = 0; i < n; i++) shapes.set(i, samples[i]->shape(k));
    results.push_back(allocate_data(meta, shapes));
    results.back().origins = origins;
  }
  each([&](int i) {
    for (int k = 0; k < outputs; k++) samples[i]->read(k, results[k].at(i));
    samples[i].reset();
  });
  return results;
}

}  // namespace

class Prefetcher::Queue : public std::enable_shared_from_this<Queue>, ForkAware {
 public:
  Queue(std::shared_ptr<const Source> source, const Plan& plan, const Cursor& start, int batch_size, bool batches,
        int depth)
      : source_(std::move(source)),
        plan_(plan),
        batch_size_(batch_size),
        batches_(batches),
        depth_(depth),
        end_(start) {
    fill();
  }

  Cursor cursor() {
    std::lock_guard lock(mutex_);
    return slots_.front()->cursor;
  }

  std::vector<ValuePtr> take(const Interrupt& interrupt) {
    std::unique_lock lock(mutex_);
    std::shared_ptr<Slot> first;
    while (true) {
      if (stop_) fail(ErrorKind::runtime, source_->name(), ": the interpreter is shutting down");
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
    return std::move(first->values);
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
    Cursor cursor;
    std::vector<ValuePtr> values;
  };

  void fill() {
    while (static_cast<int>(slots_.size()) < depth_) {
      slots_.push_back(std::make_shared<Slot>());
      slots_.back()->cursor = end_;
      end_ = plan_.after(end_, batch_size_);
    }
  }

  void start_threads() {
    if (threads_ > 0) return;
    try {
      for (int n = std::min(depth_, kMostThreads); threads_ < n; threads_++)
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
      std::vector<ValuePtr> values = read(slot->cursor);
      lock.lock();
      slot->values.swap(values);
      slot->state = Slot::done;
      ready_.notify_all();
      lock.unlock();
      slot.reset();
      lock.lock();
    }
    threads_--;
    ready_.notify_all();
  }

  std::vector<ValuePtr> read(const Cursor& at) const {
    std::vector<ValuePtr> values;
    try {
      for (Data& data : read_samples(*source_, plan_.batch(at, batch_size_), batches_, stop_))
        values.push_back(std::make_shared<Value>(std::move(data), batches_));
    } catch (const Stopped&) {
    } catch (...) {
      Failure failure = describe(std::current_exception());
      failure.message = str(source_->name(), ": ", failure.message);
      auto shared = std::make_shared<const Failure>(std::move(failure));
      values.clear();
      for (Meta meta : source_->outputs()) {
        meta.is_batch = batches_;
        meta.samples = batch_size_;
        values.push_back(std::make_shared<Value>(meta, shared));
      }
    }
    return values;
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
  const int batch_size_;
  const bool batches_;
  const int depth_;
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

Prefetcher::Prefetcher(std::shared_ptr<const Source> source, const Plan& plan, const Cursor& start, int batch_size,
                       bool batches, int depth)
    : queue_(std::make_shared<Queue>(std::move(source), plan, start, batch_size, batches, std::max(1, depth))) {
  Everyone::instance().add(queue_);
}

Prefetcher::~Prefetcher() { queue_->stop(); }

Cursor Prefetcher::cursor() const { return queue_->cursor(); }

std::vector<ValuePtr> Prefetcher::take(const Interrupt& interrupt) { return queue_->take(interrupt); }

void Prefetcher::stop_all() {
  auto queues = Everyone::instance().alive();
  for (auto& queue : queues) static_cast<Queue*>(queue.get())->stop();
  for (auto& queue : queues) static_cast<Queue*>(queue.get())->wait_for_threads();
}

}  // namespace avida
