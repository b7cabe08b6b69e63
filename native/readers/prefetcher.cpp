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

#include "core/made_once.h"
#include "gpu/gpu.h"
#include "readers/batch_reader.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"
#include "storage/waiting.h"

namespace avida {
Data Source::allocate(const Meta& meta, const ShapeList& shapes) const {
  const bool is_file = meta.dtype == DType::uint8 && meta.ndim == 1;
  Gpu* gpu = is_file ? nullptr : Gpu::that_copies();
  if (!gpu) return allocate_data(meta, shapes);
  return allocate_data(meta, shapes, [gpu](int64_t bytes) { return gpu->allocate_for_copies(bytes); });
}

void Source::start_thread(std::function<void()> work) const {
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& error) {
    refuse("cannot start a thread for the reader: ", error.what());
  }
}

namespace {

std::vector<ValuePtr> read_by(BatchReader& reader, bool batches, const Interrupt& interrupt) {
  std::vector<ValuePtr> values;
  for (Data& data : storage::interruptibly(interrupt, [&] { return reader.read(); }))
    values.push_back(std::make_shared<Value>(std::move(data), batches));
  begin_lineage(values);
  return values;
}

}  // namespace

std::vector<ValuePtr> read_batch(const Source& source, const std::vector<SampleId>& slots, bool batches,
                                 const Interrupt& interrupt) {
  const auto open_and_read = [&](std::vector<SampleId> ids) -> Source::Request::Opened {
    try {
      auto pool = ids.size() > 1 ? pool_for(source) : nullptr;
      BatchReader reader(source, std::move(ids), batches, nullptr, nullptr, pool.get());
      auto values = read_by(reader, batches, interrupt);
      return {std::move(values), reader.ids()};
    } catch (const Error& error) {
      throw Error(error.kind, str(source.name(), ": ", error.message));
    }
  };
  const std::vector<SampleId> ids = source.samples_in(slots);
  auto made = source.read_batch({.ids = ids, .batches = batches, .open_and_read = open_and_read});
  return made ? std::move(*made) : open_and_read(ids).first;
}

class Prefetcher::Queue : public std::enable_shared_from_this<Queue>, ForkAware {
 public:
  Queue(std::shared_ptr<const Source> source, const Schedule& schedule, const Cursor& start, const Options& options)
      : source_(std::move(source)),
        schedule_(schedule),
        options_(options),
        depth_(options.depth),
        pool_(pool_for(*source_)),
        blocks_(FetchedParts::of(source_, schedule_, depth_)),
        last_epoch_(start.epoch),
        end_(start),
        announced_(start) {
    if (blocks_)
      for (int64_t i = 0; i < blocks_->samples_ahead(); i += options_.batch_size) announce();
    fill();
  }

  Cursor cursor() {
    std::lock_guard lock(mutex_);
    return slots_.empty() ? end_ : slots_.front()->item.cursor;
  }

  bool one_epoch() const { return options_.one_epoch; }
  bool prefetches() const { return depth_ > 0; }

  profile::Event event(profile::Kind kind) const {
    return {.kind = kind, .label = {source_->name(), {}, options_.batch_size, {}}, .queue = this};
  }

  std::optional<Item> take(int64_t epoch, const Interrupt& interrupt) {
    std::unique_lock lock(mutex_);
    std::shared_ptr<Slot> first;
    while (true) {
      if (stop_) refuse(source_->name(), ": the interpreter is shutting down");
      if (slots_.empty()) return {};
      first = slots_.front();  // again after each wait, since another thread may have taken it
      if (first->item.cursor.epoch != epoch) return {};
      if (first->state == Slot::done) break;
      if (depth_ == 0 && first->state == Slot::open) {
        read_into(*first, lock, interrupt);
        continue;
      }
      if (start_threads(lock)) continue;
      wait(lock, interrupt);
      work_.notify_all();  // pthread_cond_signal of glibc before 2.41 may wake nobody
    }
    slots_.pop_front();
    fill();
    work_.notify_one();
    return std::move(first->item);
  }

  std::vector<std::vector<ValuePtr>> peek(int64_t epoch, int most) {
    std::lock_guard lock(mutex_);
    if (options_.grows && most > 1 && 2 * most > depth_) {
      depth_ = 2 * most;
      fill();
      work_.notify_all();
    }
    std::vector<std::vector<ValuePtr>> items;
    for (auto& slot : slots_) {
      if (slot->state != Slot::done || slot->item.cursor.epoch != epoch || std::ssize(items) == most) break;
      if (!slot->item.values.empty()) items.push_back(slot->item.values);
    }
    return items;
  }

  void when_read(std::function<void()> function) {
    std::lock_guard lock(mutex_);
    when_read_.swap(function);
  }

  void stop() {
    stop_ = true;
    if (blocks_) blocks_->stop();
    std::lock_guard lock(mutex_);
    work_.notify_all();
  }
  void join(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt) {
    std::unique_lock lock(mutex_);
    while (threads_ > 0 && std::chrono::steady_clock::now() < latest) wait(lock, interrupt);
    if (blocks_) blocks_->join(latest);
  }

 private:
  struct Slot {
    enum State { open, reading, done } state = open;
    Item item;  // its cursor is set at once
    int64_t number = 0;
  };

  void wait(std::unique_lock<std::mutex>& lock, const Interrupt& interrupt) {
    if (ready_.wait_for(lock, std::chrono::milliseconds(20)) == std::cv_status::no_timeout) return;
    lock.unlock();
    interrupt();
    lock.lock();
  }

  void fill() {
    while (static_cast<int>(slots_.size()) < std::max<int>(depth_, 1) && !ended()) {
      slots_.push_back(std::make_shared<Slot>());
      slots_.back()->item.cursor = end_;
      slots_.back()->number = filled_++;
      move(end_);
      if (blocks_) announce();
    }
  }

  std::vector<SampleId> samples_at(const Cursor& at) const {
    return source_->samples_in(schedule_.batch(at, options_.batch_size));
  }

  bool ended() const { return is_over(end_); }
  bool is_over(const Cursor& at) const { return options_.one_epoch && at.epoch != last_epoch_; }
  // To the next batch that is taken.
  void move(Cursor& at) const {
    for (int i = 0; i < options_.stride && !is_over(at); i++) at = schedule_.after(at, options_.batch_size);
  }

  // The batches that lie up to a window behind the one that is read next.
  void announce() {
    if (is_over(announced_)) return;
    blocks_->announce(announcements_++, samples_at(announced_));
    move(announced_);
  }

  // Returns whether it has started some, for which it releases the lock: a thread may need the GIL to start. Those that
  // cannot be started are tried again after a wait.
  bool start_threads(std::unique_lock<std::mutex>& lock) {
    const int first = threads_, wanted = std::min<int>(depth_, source_->most_threads());
    if (first >= wanted) return false;
    threads_ = wanted;
    lock.unlock();
    int started = first;
    try {
      for (; started < wanted; started++) source_->start_thread([self = shared_from_this()] { self->loop(); });
    } catch (...) {
      lock.lock();
      threads_ -= wanted - started;
      if (threads_ == 0) throw;
      return false;
    }
    lock.lock();
    return true;
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
      profile::Span reading;
      if (profile::on()) reading.begin(event(profile::Kind::read));
      read_into(*slot, lock, {});
      reading.end();
      auto when_read = when_read_;
      lock.unlock();
      slot.reset();
      if (when_read) when_read();
      lock.lock();
    }
    threads_--;
    ready_.notify_all();
  }

  void read_into(Slot& slot, std::unique_lock<std::mutex>& lock, const Interrupt& interrupt) {
    slot.state = Slot::reading;
    lock.unlock();
    const Interrupt stop_or_interrupt = [&] {
      if (stop_) throw Stopped();
      if (interrupt) interrupt();
    };
    try {
      Item item = read(slot.item.cursor, slot.number, stop_or_interrupt);
      lock.lock();
      std::swap(slot.item, item);
      slot.state = Slot::done;
    } catch (...) {  // interrupted
      lock.lock();
      slot.state = Slot::open;
      ready_.notify_all();
      throw;
    }
    ready_.notify_all();
  }

  Item read(const Cursor& at, int64_t number, const Interrupt& interrupt) const {
    Item item{at, {}, {}};
    try {
      const auto ids = samples_at(at);
      auto* skipped = options_.skip_errors ? &item.skipped : nullptr;
      const auto open_and_read = [&](std::vector<SampleId> opened) -> Source::Request::Opened {
        BatchReader reader(*source_, std::move(opened), options_.batches, &stop_, skipped, pool_.get());
        reader.fetch_by(blocks_.get(), number);
        auto values = read_by(reader, options_.batches, interrupt);
        return {std::move(values), reader.ids()};
      };
      auto made = source_->read_batch({ids, options_.batches, &stop_, skipped, prefetches(), open_and_read});
      item.values = made ? std::move(*made) : open_and_read(ids).first;
    } catch (const Stopped&) {
    } catch (const FailureError& error) {
      item.values = failed(error.failure);
    } catch (...) {
      if (!prefetches()) throw;
      Failure failure = describe(std::current_exception());
      failure.message = str(source_->name(), ": ", failure.message);
      item.values = failed(std::make_shared<const Failure>(std::move(failure)));
    }
    return item;
  }

  std::vector<ValuePtr> failed(const std::shared_ptr<const Failure>& failure) const {
    std::vector<ValuePtr> values;
    for (Meta meta : source_->outputs()) {
      meta.is_batch = options_.batches;
      meta.samples = options_.batch_size;
      values.push_back(std::make_shared<Value>(meta, failure));
    }
    return values;
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
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
  const Schedule schedule_;
  const Options options_;
  std::atomic<int> depth_;
  const std::shared_ptr<ThreadPool> pool_;
  const std::shared_ptr<FetchedParts> blocks_;
  const int64_t last_epoch_;  // the epoch after which one_epoch ends
  std::mutex mutex_;
  std::condition_variable work_, ready_;
  std::deque<std::shared_ptr<Slot>> slots_;  // in the order in which they are taken
  Cursor end_;                               // of the batch after the last slot
  Cursor announced_;                         // of the first batch whose blocks are not named yet
  int64_t filled_ = 0, announcements_ = 0;   // batches
  int threads_ = 0;
  std::function<void()> when_read_;
  std::atomic<bool> stop_{false};
  ForkRegistration fork_{this, Rank::reader};
};

namespace {

// All queues, to be stopped at the end of the process.
using Everyone = AllOf<void, ForkAware::Rank::reader>;

[[maybe_unused]] const bool made_at_load = (Everyone::instance(), true);

}  // namespace

Prefetcher::Prefetcher(std::shared_ptr<const Source> source, const Schedule& schedule, const Cursor& start,
                       const Options& options)
    : queue_(std::make_shared<Queue>(std::move(source), schedule, start, options)) {
  Everyone::instance().add(queue_);
}

Prefetcher::~Prefetcher() { queue_->stop(); }

Cursor Prefetcher::cursor() const { return queue_->cursor(); }

bool Prefetcher::one_epoch() const { return queue_->one_epoch(); }

profile::Event Prefetcher::taking_item() const { return queue_->event(profile::Kind::item); }

std::optional<Prefetcher::Item> Prefetcher::take(int64_t epoch, const Interrupt& interrupt) {
  return queue_->take(epoch, interrupt);
}

std::function<std::vector<std::vector<ValuePtr>>(int)> Prefetcher::peek(int64_t epoch) const {
  if (!queue_->prefetches()) return nullptr;
  return [weak = std::weak_ptr(queue_), epoch](int most) {
    auto queue = weak.lock();
    return queue ? queue->peek(epoch, most) : std::vector<std::vector<ValuePtr>>();
  };
}

void Prefetcher::when_read(std::function<void()> function) { queue_->when_read(std::move(function)); }

void Prefetcher::stop_all(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt) {
  auto queues = Everyone::instance().alive();
  for (auto& queue : queues) static_cast<Queue*>(queue.get())->stop();
  for (auto& queue : queues) static_cast<Queue*>(queue.get())->join(latest, interrupt);
}

}  // namespace avida
