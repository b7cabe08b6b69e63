#include "runtime/profile.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <tuple>

#include "core/error.h"
#include "core/made_once.h"
#include "runtime/fork.h"
#include "runtime/memory.h"

namespace avida::profile {
namespace {

// The events of one thread, which alone adds to them.
struct Buffer {
  Buffer(uint64_t session, int64_t thread) : session(session), thread(thread) {}
  const uint64_t session;
  const int64_t thread;
  std::mutex mutex;
  std::deque<Event> events;
  // Of fallbacks, which have names of files: there may be any number of them, so they end with the recordings.
  const std::shared_ptr<std::set<std::string>> texts = std::make_shared<std::set<std::string>>();
};

// The events of all open recordings; they are dropped when the last one is closed.
class Collector : ForkAware {
 public:
  uint64_t open() {
    std::lock_guard lock(mutex_);
    if (open_++ == 0) {
      session_++;
      buffers_.clear();  // of threads that were adding an event when the last recording was closed
      room_ = Recording::kMostEvents;
      recording = true;
    }
    return session_;
  }

  void close(uint64_t session) {
    std::vector<std::shared_ptr<Buffer>> dropped;  // destroyed after the lock is released
    std::deque<Pending> pending;
    std::lock_guard lock(mutex_);
    if (session != session_ || --open_ > 0) return;  // of the parent process, or there are others
    recording = false;
    session_++;
    dropped.swap(buffers_);
    pending.swap(pending_);
  }

  void add(const Event& event) {
    if (room_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
    const auto buffer = own_buffer();
    std::lock_guard lock(buffer->mutex);
    buffer->events.push_back(event);
  }

  void add_fallback(Event event, std::string_view name, std::string_view reason) {
    if (room_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
    const auto buffer = own_buffer();
    std::lock_guard lock(buffer->mutex);
    event.label.name = buffer->texts->emplace(name).first->c_str();
    event.reason = buffer->texts->emplace(reason).first->c_str();
    buffer->events.push_back(event);
  }

  void add_later(const Event& event, std::unique_ptr<Later> later) {
    std::vector<Pending> done;
    {
      std::lock_guard lock(mutex_);
      pending_.push_back({event, std::move(later)});
      while (!pending_.empty() && done.size() < 8 && pending_.front().later->done()) {
        done.push_back(std::move(pending_.front()));
        pending_.pop_front();
      }
    }
    for (auto& item : done) settle(item);
  }

  void settle_all() {
    std::deque<Pending> pending;
    {
      std::lock_guard lock(mutex_);
      pending.swap(pending_);
    }
    for (auto& item : pending) settle(item);
  }

  Recording::Recorded recorded(uint64_t session, int64_t since) {
    std::vector<std::shared_ptr<Buffer>> buffers;
    {
      std::lock_guard lock(mutex_);
      if (session != session_) return {};
      buffers = buffers_;
    }
    Recording::Recorded out;
    out.complete = room_ >= 0;
    for (auto& buffer : buffers) {
      std::lock_guard lock(buffer->mutex);
      auto& thread = out.threads.emplace_back(Recording::Thread{buffer->thread, {}, buffer->texts});
      for (const Event& event : buffer->events)
        if (event.begin >= since) thread.events.push_back(event);
    }
    return out;
  }

  const char* intern(std::string_view text) {
    std::lock_guard lock(mutex_);
    auto known = texts_.find(text);
    if (known == texts_.end()) known = texts_.emplace(text).first;
    return known->c_str();
  }

  static Collector& instance() {
    static constinit MadeOnce<Collector> collector;
    return collector.get();
  }

 private:
  struct Pending {
    Event event;
    std::unique_ptr<Later> later;
  };

  void settle(Pending& item) {
    try {
      std::tie(item.event.begin, item.event.end) = item.later->begin_and_end();
    } catch (const Error&) {  // the GPU has failed: its user will be told elsewhere
      return;
    }
    add(item.event);
  }

  std::shared_ptr<Buffer> own_buffer() {
    thread_local std::weak_ptr<Buffer> own;
    if (auto buffer = own.lock(); buffer && buffer->session == session_) return buffer;
    std::lock_guard lock(mutex_);
    auto buffer = std::make_shared<Buffer>(session_, syscall(SYS_gettid));
    own = buffer;
    buffers_.push_back(buffer);
    return buffer;
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {
    if (in_child) {
      recording = false;
      open_ = 0;
      session_++;
      // Not destroyed: threads that the child does not have may hold their locks, and CUDA does not work here.
      new (&buffers_) std::vector<std::shared_ptr<Buffer>>;
      new (&pending_) std::deque<Pending>;
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  int open_ = 0;                      // recordings
  std::atomic<uint64_t> session_{0};  // changes when all recordings are closed
  std::atomic<int64_t> room_{0};
  std::vector<std::shared_ptr<Buffer>> buffers_;
  std::deque<Pending> pending_;
  std::set<std::string, std::less<>> texts_;
  ForkRegistration fork_{this, Rank::profile};
};

[[maybe_unused]] const bool made_at_load = (Collector::instance(), true);

int64_t bytes_of(const Data& data) {
  int64_t bytes = 0;
  for (int i = 0; i < data.size(); i++) bytes += data.bytes(i);
  return bytes;
}

}  // namespace

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

const char* intern(std::string_view text) noexcept {
  try {
    return Collector::instance().intern(text);
  } catch (...) {
    return nullptr;
  }
}

// Without memory for events, a profile has fewer of them.
void record(const Event& event) noexcept {
  if (!on()) return;
  try {
    Collector::instance().add(event);
  } catch (...) {
  }
}

void record_later(const Event& event, std::unique_ptr<Later> later) noexcept {
  if (!on()) return;
  try {
    Collector::instance().add_later(event, std::move(later));
  } catch (...) {
  }
}

void note_ahead(Location where, std::string_view name, Ahead outcome, std::string_view reason) noexcept {
  if (!on()) return;
  Event event{.kind = Kind::ahead, .label = {intern(name), where, 0, {}}};
  event.begin = event.end = now();
  event.outcome = outcome;
  if (!reason.empty()) event.reason = intern(reason);
  record(event);
}

void note_fallback(std::string_view name, std::string_view reason) noexcept {
  if (!on()) return;
  Event event{.kind = Kind::fallback};
  event.begin = event.end = now();
  try {
    Collector::instance().add_fallback(event, name, reason);
  } catch (...) {
  }
}

namespace {

thread_local int waits = 0;  // that this thread is in: it may run the source of a reader, which waits for others

bool is_wait(const Event& event) { return event.kind == Kind::wait || event.kind == Kind::item; }

}  // namespace

void Span::begin(const Event& event) {
  event_ = event;
  if (is_wait(event)) event_->nested |= waits++ > 0;
  event_->begin = now();
}

void Span::finish() {
  event_->end = now();
  record(*event_);
  cancel();
}

void Span::cancel() {
  if (event_ && is_wait(*event_)) waits--;
  event_.reset();
}

thread_local Work* Work::innermost_ = nullptr;

void Work::begin(std::vector<Task> tasks, const void* queue) {
  tasks_ = std::move(tasks);
  turns_.reserve(2 * tasks_.size());  // calls of a chain make their plans first
  queue_ = queue;
  outer_ = std::exchange(innermost_, this);
  turns_.push_back({0, event_of(0, Kind::work)});
  turns_.back().event.begin = now();
}

void Work::turn(size_t task) {
  // A chain that began after the profile was closed may be within the work for another task.
  if (turns_.back().task == task || task >= tasks_.size()) return;
  const int64_t time = now();
  turns_.back().event.end = time;
  turns_.back().event.in_use = memory_use().in_use;
  turns_.push_back({task, event_of(task, Kind::work)});
  turns_.back().event.begin = time;
}

void Work::made(const std::vector<Data>& results) {
  if (turns_.empty()) return;
  for (size_t i = 0; i < results.size(); i++) {
    auto last = std::find_if(turns_.rbegin(), turns_.rend(),
                             [&](const Turn& turn) { return tasks_.size() == 1 || turn.task == i; });
    if (last != turns_.rend()) last->event.bytes += bytes_of(results[i]);
  }
}

void Work::cancel() {
  if (turns_.empty()) return;
  turns_.clear();
  innermost_ = outer_;
}

void Work::finish() {
  turns_.back().event.end = now();
  turns_.back().event.in_use = memory_use().in_use;
  for (const Turn& turn : turns_) record(turn.event);
  cancel();
}

Event Work::event_of(size_t task, Kind kind) const {
  Event event{.kind = kind, .label = tasks_[task].label};
  event.queue = queue_;
  event.ahead = tasks_[task].ahead;
  event.nested = outer_ != nullptr;
  return event;
}

std::optional<Event> Work::event(Kind kind) {
  if (!innermost_) return std::nullopt;
  return innermost_->event_of(innermost_->turns_.back().task, kind);
}

void Recording::start() {
  if (state_ != State::fresh) refuse("this profile has been used already; make another one with avida.profile()");
  thread_ = syscall(SYS_gettid);
  session_ = Collector::instance().open();
  begin_ = now();
  state_ = State::running;
}

void Recording::stop() {
  if (auto running = State::running; !state_.compare_exchange_strong(running, State::stopping)) return;
  end_ = now();
  auto& collector = Collector::instance();
  struct Close {
    Recording& recording;
    ~Close() {
      recording.state_ = State::stopped;
      Collector::instance().close(recording.session_);
    }
  } close{*this};
  collector.settle_all();
  recorded_ = collector.recorded(session_, begin_);
}

Recording::~Recording() {
  try {
    stop();
  } catch (const std::bad_alloc&) {  // nobody will ask for what was recorded
  }
}

int64_t Recording::end() const { return end_ || state_ == State::fresh ? end_.load() : now(); }

Recording::Recorded Recording::recorded() const {
  if (state_ == State::fresh || state_ == State::stopped) return recorded_;
  return Collector::instance().recorded(session_, begin_);
}

}  // namespace avida::profile
