// What profiles record: calls, the work for them, and waits. While none is open, that costs one load of a flag.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/data.h"

namespace avida {

// The user's file and line; the text is never freed.
struct Location {
  const char* file = nullptr;
  int line = 0;
};

namespace profile {

inline std::atomic<bool> recording{false};
// Whether a profile is open.
inline bool on() { return recording.load(std::memory_order_relaxed); }

// What an event is about. Texts are never freed.
struct Label {
  const char* name = nullptr;  // of the operator or reader; of a fallback, of the file
  Location where;              // of its call
  int samples = 0;
  Device device;
};

enum class Kind : uint8_t {
  call,      // a line makes a call
  work,      // a thread works for a call
  part,      // another thread helps it
  gpu,       // a GPU works for a call
  wait,      // a line waits for the result of a call
  item,      // a line takes an item of a reader
  read,      // a thread reads an item
  ahead,     // a call was made ahead of the loop, or was not
  fallback,  // the CPU decodes what a GPU was asked to decode
};

// too_early: the loop had not made the call often enough to be expected to repeat it.
enum class Ahead : uint8_t { used, dropped, not_predicted, too_early };

struct Event {
  Kind kind;
  Label label;
  Location at;                  // the line that takes an item, or waits
  const void* queue = nullptr;  // the executor or reader that does the work, or whose work is waited for
  bool ahead = false;           // work that nobody had asked for yet
  bool nested = false;          // within the work for another call, or within another wait
  int64_t begin = 0, end = 0;   // in nanoseconds
  int64_t bytes = 0;            // of the results
  int64_t in_use = 0;           // bytes of the device's memory at the end
  Ahead outcome = Ahead::used;
  const char* reason = nullptr;
};

// The present moment, in nanoseconds.
int64_t now();
// A copy of the text that is never freed; null if there is no memory for it.
const char* intern(std::string_view text) noexcept;
// Adds an event, if a profile is open.
void record(const Event& event) noexcept;

// Tells open profiles what became of a call that was made ahead, or why the loop's call was not: which argument
// differed, for example.
void note_ahead(Location where, std::string_view name, Ahead outcome, std::string_view reason = {}) noexcept;

// Tells open profiles why the CPU decodes a file, or one that an operator was given, in place of a GPU.
void note_fallback(std::string_view name, std::string_view reason) noexcept;

// The time of work that a GPU has been given.
class Later {
 public:
  virtual ~Later() = default;
  virtual bool done() = 0;
  virtual std::pair<int64_t, int64_t> begin_and_end() = 0;  // waits until it is done
};
// Adds an event whose time is not known yet.
void record_later(const Event& event, std::unique_ptr<Later> later) noexcept;

// An event from begin() to end() or to the end of the scope.
class Span {
 public:
  Span() = default;
  ~Span() { end(); }
  Span(const Span&) = delete;
  void begin(const Event& event);
  void end() {
    if (event_) finish();
  }
  void cancel();  // records nothing

 private:
  void finish();
  std::optional<Event> event_;
};

// The work of this thread for a task, or for the tasks of a chain in turn.
class Work {
 public:
  Work() = default;
  ~Work() { end(); }
  Work(const Work&) = delete;

  struct Task {
    Label label;
    bool ahead;
  };
  // Begins with the first of the tasks.
  void begin(std::vector<Task> tasks, const void* queue);
  // What the tasks have made: a single one may have several results, those of a chain have one each.
  void made(const std::vector<Data>& results);
  // Records nothing.
  void cancel();
  void end() {
    if (!turns_.empty()) finish();
  }

  // From here on this thread works for another task of its chain.
  static void turn_to(size_t task) {
    if (innermost_) innermost_->turn(task);
  }
  // An event for what is done for the task at work, if there is one.
  static std::optional<Event> event(Kind kind);

 private:
  struct Turn {
    size_t task;
    Event event;
  };
  Event event_of(size_t task, Kind kind) const;
  void turn(size_t task);
  void finish();

  std::vector<Task> tasks_;
  std::vector<Turn> turns_;  // empty if nothing is recorded
  const void* queue_ = nullptr;
  Work* outer_ = nullptr;
  static thread_local Work* innermost_;
};

// Records what all threads of this process do from start() to stop(). Several may overlap. A forked child records
// nothing.
class Recording {
 public:
  static constexpr int64_t kMostEvents = 1 << 20;  // of all recordings together, to bound their memory

  Recording() = default;
  ~Recording();
  Recording(const Recording&) = delete;

  void start();
  void stop();  // waits for the work that GPUs were given
  int64_t begin() const { return begin_; }
  int64_t end() const;                        // the present moment while it runs
  int64_t thread() const { return thread_; }  // the system's number of the thread that started it

  struct Thread {
    int64_t id;  // the system's
    std::vector<Event> events;
    std::shared_ptr<const void> texts;  // that events of fallbacks point into
  };
  struct Recorded {
    std::vector<Thread> threads;
    bool complete = true;  // nothing was left out for lack of room
  };
  // What has been recorded so far.
  Recorded recorded() const;

 private:
  enum class State { fresh, running, stopping, stopped };
  std::atomic<State> state_{State::fresh};
  uint64_t session_ = 0;
  int64_t begin_ = 0, thread_ = 0;
  std::atomic<int64_t> end_{0};
  Recorded recorded_;  // once it is stopped
};

}  // namespace profile
}  // namespace avida
