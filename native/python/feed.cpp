#include "python/feed.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "runtime/fork.h"

namespace avida::python {
namespace {

constexpr std::chrono::milliseconds kBetweenSignals{20};

void follow_threading(const char* getter, const char* setter) {
  nb::object function = nb::module_::import_("threading").attr(getter)();
  if (!function.is_none()) nb::module_::import_("sys").attr(setter)(function);
}

// The values in an item: a Tensor or Batch, or a tuple, list or dictionary of such.
void collect_values(nb::handle item, UserLoop::Item& values) {
  if (PyTuple_Check(item.ptr()) || PyList_Check(item.ptr())) {
    for (nb::handle part : nb::borrow<nb::sequence>(item)) collect_values(part, values);
  } else if (PyDict_Check(item.ptr())) {
    for (auto [key, part] : nb::borrow<nb::dict>(item)) collect_values(part, values);
  } else if (const ValuePtr* value = value_of(item)) {
    values.push_back(*value);
  }
}

UserLoop::Item values_in(nb::handle item) {
  UserLoop::Item values;
  collect_values(item, values);
  return values;
}

}  // namespace

// threading.Thread.start() waits in Python code, where an exception would leave it unclear whether a thread was
// started.
void start_python_thread(std::function<void()> work) {
  Ambient settings;
  settings.mode = Ambient::here().mode;
  settings.context = Ambient::here().current();
  nb::object body = nb::cpp_function([work = std::move(work), settings = std::move(settings)] {
    pthread_setname_np(pthread_self(), "avida-source");
    Ambient::here() = settings;
    try {
      follow_threading("gettrace", "settrace");
      follow_threading("getprofile", "setprofile");
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("a thread of a source");
    }
    work();
  });
  nb::object run = nb::steal(PyContext_CopyCurrent()).attr("run");
  nb::module_::import_("_thread").attr("start_new_thread")(run, nb::make_tuple(body));
}

nb::object exception_of(const nb::python_error& error) {
  nb::object exception = nb::borrow(error.value());
  if (error.traceback().is_valid()) PyException_SetTraceback(exception.ptr(), error.traceback().ptr());
  return exception;
}

bool is_fault_of_item(const nb::python_error& error) {
  if (!error.matches(PyExc_Exception)) return false;
  nb::object of_signal = nb::module_::import_("avida._running.background").attr("raised_by_signal_handler");
  return !nb::cast<bool>(call_python(of_signal, {exception_of(error).ptr()}));
}

Feed::~Feed() {
  if (loop_) loop_->close();
}

void Feed::run_ahead(std::shared_ptr<UserLoop> loop, int depth, bool grows) {
  UserLoop::Peek function = peek();
  if (!function) return;
  loop_ = std::move(loop);
  loop_->open(std::move(function), depth, grows);
  when_read([weak = std::weak_ptr(loop_)] {
    if (auto loop = weak.lock()) loop->advance();
  });
}

nb::object Feed::take(nb::handle make, nb::handle commit, nb::handle end) {
  while (true) {
    nb::object item;
    if (!returned_.empty()) {
      item = std::move(returned_.front());
      returned_.pop_front();
      changes_++;
    } else if (!ended_) {
      profile::Span taking;
      if (profile::on()) taking.begin(at_user_line(taking_item()));
      item = next();
      if (!item.is_valid() && is_retired()) return {};
      ended_ |= !item.is_valid();
      if (ended_) taking.cancel();
    }
    Busy busy(*this);
    if (!item.is_valid()) {
      if (auto loop = std::exchange(loop_, nullptr)) loop->close();  // the next epoch may open it again
      if (this->end(end)) return {};
      throw nb::stop_iteration();
    }
    if (loop_) loop_->begin(values_in(item));
    nb::object made = hand_over(std::move(item), make, commit);
    if (!made.is_none()) return made;
  }
}

nb::object Feed::hand_over(nb::object item, nb::handle make, nb::handle commit) {
  try {
    nb::object made;
    try {
      made = call_python(make, {item.ptr()});
    } catch (nb::python_error& error) {
      if (!is_fault_of_item(error)) throw;
      this->commit(commit, item, nb::none());
      item.reset();
      throw;
    }
    this->commit(commit, item, made);
    return made;
  } catch (...) {
    if (item.is_valid()) returned_.push_back(std::move(item));
    throw;
  }
}

int Feed::traverse(visitproc visit, void* arg) const {
  for (auto& item : returned_) Py_VISIT(item.ptr());
  return 0;
}

namespace {

// Items of a Python function, which a background thread calls, or which is called on demand if the depth is 0.
class BackgroundItems : public Feed, ForkAware {
 public:
  BackgroundItems(nb::object function, int depth) : function_(std::move(function)), depth_(depth) {
    all().insert(this);
  }
  ~BackgroundItems() override { all().erase(this); }

  bool is_lost() const { return lost_; }

  // Ends the thread after its current item. Returns the items that were not taken, the exception behind them, if any,
  // and a number for retire(). They stay here, and whoever takes them starts the thread again.
  nb::tuple pause() {
    {
      WithoutGil released;
      std::unique_lock lock(mutex_);
      paused_ = true;
      changed_.notify_all();
      while (thread_ || is_busy()) wait(lock, answer_signals());
    }
    nb::list items;
    nb::object error = ended() ? nb::steal(PyObject_CallNoArgs(PyExc_StopIteration)) : nb::none();
    for (auto& item : returned()) items.append(item);
    for (auto& outcome : done_) {
      if (outcome.error.is_none())
        items.append(outcome.item);
      else
        error = outcome.error;
    }
    return nb::make_tuple(items, error, changes_);
  }
  // Stores attributes, (object, name, value) each, by which another feed gets what pause() has returned, and ends this
  // one. Does neither and returns false if something was taken since. No other thread comes in between, nor a signal.
  bool retire(uint64_t changes, const nb::list& stores) {
    if (retired_ || changes_ != changes || thread_ || is_busy()) return false;
    for (nb::handle store : stores)
      if (PyObject_SetAttr(nb::object(store[0]).ptr(), nb::object(store[1]).ptr(), nb::object(store[2]).ptr()))
        throw nb::python_error();
    retired_ = true;
    Feed::clear();
    stop();
    return true;
  }

  void stop() {
    std::deque<Outcome> dropped;  // destroyed outside the lock
    std::lock_guard lock(mutex_);
    stopped_ = true;
    dropped.swap(done_);
    changed_.notify_all();
  }
  void join(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt) {
    std::unique_lock lock(mutex_);
    while (thread_ && std::chrono::steady_clock::now() < latest) wait(lock, interrupt);
  }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(function_.ptr());
    for (auto& outcome : done_) {
      Py_VISIT(outcome.item.ptr());
      Py_VISIT(outcome.error.ptr());
    }
    return Feed::traverse(visit, arg);
  }
  void clear() override {
    Feed::clear();
    stop();
    function_.reset();
  }

  static std::set<BackgroundItems*>& all() {  // guarded by the GIL
    static auto* found = new std::set<BackgroundItems*>;
    return *found;
  }

 protected:
  nb::object next() override {
    if (depth_ == 0) return retired_ ? nb::object() : call();
    while (done_.empty()) {
      if (retired_) return {};
      if (lost_)
        refuse(
            "the process was forked while the source was running in the background, and the source cannot resume in "
            "the child process; begin another epoch there");
      if (stopped_)
        refuse("the background thread of the source has stopped: the source was moved, or the interpreter is exiting");
      if (!thread_) start();
      WithoutGil released;
      std::unique_lock lock(mutex_);
      while (done_.empty() && thread_ && !stopped_) wait(lock, answer_signals());
    }
    Outcome outcome;
    {
      std::lock_guard lock(mutex_);
      outcome = std::move(done_.front());
      done_.pop_front();
      changes_++;
      changed_.notify_all();
    }
    if (outcome.error.is_none()) return outcome.item;
    if (PyErr_GivenExceptionMatches(outcome.error.ptr(), PyExc_StopIteration)) return {};
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(outcome.error.ptr())), outcome.error.ptr());
    throw nb::python_error();
  }

  bool is_retired() const override { return retired_; }
  profile::Event taking_item() const override { return event(profile::Kind::item); }
  UserLoop::Peek peek() override {
    if (depth_ == 0) return nullptr;
    return [this](int most) {
      std::vector<UserLoop::Item> items;
      std::lock_guard lock(mutex_);
      for (auto& outcome : done_) {
        if (std::ssize(items) == most || !outcome.error.is_none()) break;
        items.push_back(outcome.values);
      }
      return items;
    };
  }
  void when_read(std::function<void()> function) override { when_read_ = std::move(function); }

 private:
  struct Outcome {
    nb::object item, error;
    // Of the item. Whoever peeks holds the lock of loops, and must not make Python objects: that may start a garbage
    // collection, which may close other loops.
    UserLoop::Item values;
  };

  profile::Event event(profile::Kind kind) const {
    return {.kind = kind, .label = {.name = "ExternalSource"}, .queue = this};
  }

  nb::object call() {
    Busy busy(*this);
    changes_++;
    try {
      return call_python(function_, {});
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_StopIteration)) throw;
      return {};
    }
  }

  void start() {
    set_thread(true);
    try {
      start_python_thread([this, self = nb::find(this)] { work(); });
    } catch (...) {
      set_thread(false);
      throw;
    }
  }

  // The thread: it does not know the owner, which must not be kept alive by it.
  void work() {
    const nb::object function = function_;
    nb::object error = nb::none();
    while (error.is_none() && wait_for_room()) {
      nb::object item = nb::none();
      try {
        item = call_python(function, {});
      } catch (nb::python_error& raised) {
        error = exception_of(raised);
      }
      put(std::move(item), error);
    }
    std::lock_guard lock(mutex_);
    inside_ = thread_ = false;
    changed_.notify_all();
  }

  // Returns whether another item is wanted.
  bool wait_for_room() {
    WithoutGil released;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return static_cast<int>(done_.size()) < depth_ || stopped_ || paused_; });
    inside_ = !stopped_ && !paused_;
    if (inside_ && profile::on()) reading_.begin(event(profile::Kind::read));
    return inside_;
  }

  void put(nb::object item, nb::object error) {
    reading_.end();
    UserLoop::Item values = values_in(item);
    {
      std::unique_lock lock(mutex_);
      inside_ = false;
      if (!stopped_) done_.push_back({std::move(item), std::move(error), std::move(values)});
      changed_.notify_all();
    }
    if (when_read_) when_read_();
  }

  void set_thread(bool is_there) {
    std::lock_guard lock(mutex_);
    thread_ = is_there;
    paused_ = false;
    changes_++;
    changed_.notify_all();
  }

  void wait(std::unique_lock<std::mutex>& lock, const Interrupt& interrupt) {
    if (changed_.wait_for(lock, kBetweenSignals) == std::cv_status::no_timeout) return;
    lock.unlock();
    interrupt();
    lock.lock();
  }

  bool try_before_fork() override { return mutex_.try_lock(); }
  void after_fork(bool in_child) override {
    if (in_child) {
      new (&changed_) std::condition_variable;
      lost_ |= inside_;
      thread_ = inside_ = false;
    }
    mutex_.unlock();
  }

  nb::object function_;
  std::function<void()> when_read_;
  profile::Span reading_;  // by the thread
  const int depth_;
  // Written with the GIL and the mutex held, so that either is enough to read. No thread waits for the GIL while it
  // holds the mutex.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Outcome> done_;
  bool thread_ = false, stopped_ = false, paused_ = false;
  bool inside_ = false;  // the thread is calling the function
  bool lost_ = false;    // it was calling the function at a fork, and this is the child
  bool retired_ = false;
  ForkRegistration fork_{this, Rank::reader};
};

// Owned by those that want the items: when it is destroyed, the thread ends. Its destructor is C code, which no signal
// handler interrupts.
struct Background {
  Background(nb::object function, int depth)
      : items(nb::cast(new BackgroundItems(std::move(function), depth), nb::rv_policy::take_ownership)) {}
  Background(const Background&) = delete;
  ~Background() { clear(); }

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(items.ptr());
    return 0;
  }
  void clear() {
    if (nb::object dropped = std::move(items); dropped.is_valid()) nb::cast<BackgroundItems&>(dropped).stop();
  }

  nb::object items;
};

// Support for the garbage collector.
template <class T>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
}

template <class T>
int clear(PyObject* self) {
  nb::inst_ptr<T>(self)->clear();
  return 0;
}

template <class T>
PyType_Slot* collected_slots() {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse<T>)},
      {Py_tp_clear, reinterpret_cast<void*>(clear<T>)},
      {0, nullptr},
  };
  return slots;
}

// iterator.__next__ of a class with _feed(), _make(item), _commit(item, made) and _end(): see Feed::take.
nb::object next_item(nb::handle self) {
  while (true) {
    nb::object feed = call_python(self.attr("_feed"), {});
    nb::object made = nb::cast<Feed&>(feed).take(self.attr("_make"), self.attr("_commit"), self.attr("_end"));
    if (made.is_valid()) return made;
  }
}

}  // namespace

void stop_background_items(std::chrono::steady_clock::time_point latest, const Interrupt& interrupt) {
  std::vector<nb::object> found;
  for (BackgroundItems* items : BackgroundItems::all()) found.push_back(nb::find(items));
  for (auto& each : found) nb::cast<BackgroundItems&>(each).stop();
  for (auto& each : found) {
    auto& items = nb::cast<BackgroundItems&>(each);
    WithoutGil released;
    items.join(latest, interrupt);
  }
}

void bind_feeds(nb::module_& m) {
  nb::class_<UserLoop>(m, "UserLoop", "What the loops over a reader have in common.")
      .def(nb::new_([] { return std::make_shared<UserLoop>(); }))
      .def_prop_ro("is_open", &UserLoop::is_open);
  nb::class_<Feed>(m, "Feed")
      .def(
          "take", [](Feed& feed, nb::handle make, nb::handle commit) { return feed.take(make, commit, nb::none()); },
          nb::arg("make"), nb::arg("commit"),
          "made = make(item) for the next item, after commit(item, made), which stores attributes after all that can "
          "fail.")
      .def("run_ahead", &Feed::run_ahead, nb::arg("loop"), nb::arg("depth"), nb::arg("grows"),
           "Prepares up to `depth` items ahead of the loop that takes them, or more where the loop decodes on a GPU.");
  m.def(
      "ahead_counts",
      [] {
        UserLoop::Counts counts = UserLoop::counts();
        return std::make_tuple(counts.made, counts.used, counts.dropped);
      },
      "How many calls were made ahead so far, and how many of them were asked for or dropped.");
  nb::class_<BackgroundItems, Feed>(m, "BackgroundItems", nb::type_slots(collected_slots<BackgroundItems>()))
      .def_prop_ro("is_lost", &BackgroundItems::is_lost)
      .def("pause", &BackgroundItems::pause, nb::sig("def pause(self) -> tuple[list[Any], BaseException | None, int]"))
      .def("retire", &BackgroundItems::retire, nb::arg("changes"), nb::arg("stores"));
  nb::class_<Background>(m, "Background", nb::type_slots(collected_slots<Background>()))
      .def(nb::init<nb::object, int>(), nb::arg("function"), nb::arg("depth"))
      .def_ro("items", &Background::items, nb::sig("def items(self) -> BackgroundItems"));
  m.def("next_item", &next_item, nb::arg("iterator"));
  m.def(
      "as_method", [](nb::object function) { return nb::steal(PyInstanceMethod_New(function.ptr())); },
      nb::arg("function"), "A function of the core as a method of a Python class.");
}

}  // namespace avida::python
