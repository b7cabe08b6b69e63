// Modes, contexts and threads, as this Python thread sees them.
#include <nanobind/stl/shared_ptr.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "gpu/compiler.h"
#include "python/feed.h"
#include "python/python.h"
#include "readers/prefetcher.h"

namespace avida::python {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPatience = 2;  // seconds to wait at exit

std::atomic<bool> shutting_down{false}, out_of_patience{false};
std::thread::id shutting_down_by;
std::atomic<int> taking_gil{0};

// Guards making states of threads, during which Python has a lock without the GIL. Up to 3.11, a child that is forked
// meanwhile waits for that lock for ever. Forks of Python take this one, as they can wait for it without the GIL.
std::mutex& making_state = *new std::mutex;

void register_for_forks() {
  auto take = [] {
    WithoutGil released;
    making_state.lock();
  };
  auto give_back = [] { making_state.unlock(); };
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("before") = nb::cpp_function(take),
                                                      nb::arg("after_in_parent") = nb::cpp_function(give_back),
                                                      nb::arg("after_in_child") = nb::cpp_function(give_back));
}

// Stops all threads. Work that is not done within `seconds`, or when a signal handler raises an exception, is
// abandoned.
void shut_down(double seconds) {
  auto latest = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::exception_ptr interrupted;
  auto attempt = [&](auto&& stop) {
    try {
      stop(latest, answer_signals());
    } catch (nb::python_error&) {
      if (!interrupted) interrupted = std::current_exception();
      latest = Clock::now();
    }
  };
  attempt(stop_background_items);
  attempt([](auto until, const Interrupt& interrupt) {
    WithoutGil released;
    Prefetcher::stop_all(until, interrupt);
  });
  shutting_down_by = std::this_thread::get_id();
  shutting_down = true;
  {
    WithoutGil released;
    attempt(Executor::stop_all);
    finish_compiling();
    out_of_patience = true;
    while (taking_gil > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (interrupted) std::rethrow_exception(interrupted);
}

// The settings of the `with` blocks of a Python thread, and the former ones. CPython runs no signal handler between a C
// method that enters a block and the block, so that every setting is also restored.
struct Entered {
  std::vector<EvalMode> modes;
  std::vector<std::pair<nb::object, std::shared_ptr<Context>>> contexts;
  std::vector<std::pair<nb::object, Device>> devices;

  Entered() = default;
  Entered(const Entered&) = delete;
  ~Entered() {
    while (!contexts.empty()) leave_context();
  }

  void leave_context() {
    auto owner = owners().find(contexts.back().first.ptr());
    if (--owner->second.depth == 0) owners().erase(owner);
    contexts.pop_back();
  }

  struct Owner {
    Entered* thread = nullptr;
    int depth = 0;
  };
  static std::map<PyObject*, Owner>& owners() {  // of entered contexts; guarded by the GIL
    static auto* map = new std::map<PyObject*, Owner>;
    return *map;
  }

  static Entered& here() {
    static PyObject* key = PyUnicode_InternFromString("avida.entered");
    PyObject* settings = PyThreadState_GetDict();
    if (PyObject* found = PyDict_GetItemWithError(settings, key)) return *nb::inst_ptr<Entered>(found);
    nb::object made = nb::cast(new Entered, nb::rv_policy::take_ownership);
    if (PyDict_SetItem(settings, key, made.ptr())) throw nb::python_error();
    return *nb::inst_ptr<Entered>(made);
  }
};

void enter_mode(nb::handle mode) {
  auto wanted = static_cast<EvalMode>(nb::cast<int>(mode.attr("_value_")) - 1);
  Entered::here().modes.push_back(Ambient::here().mode);
  Ambient::here().mode = wanted;
}

void exit_mode(nb::handle, nb::args) {
  auto& modes = Entered::here().modes;
  if (modes.empty()) refuse("no EvalMode was entered in this thread");
  Ambient::here().mode = modes.back();
  modes.pop_back();
}

nb::object enter_context(nb::handle context) {
  auto& entered = Entered::here();
  auto native = nb::cast<std::shared_ptr<Context>>(context.attr("_native"));
  auto owner = Entered::owners().find(context.ptr());
  if (owner != Entered::owners().end() && owner->second.thread != &entered)
    refuse("this EvalContext is in use by another thread; create one for every thread");
  entered.contexts.emplace_back(nb::borrow(context), Ambient::here().current());
  Entered::owners()[context.ptr()] = {&entered, owner == Entered::owners().end() ? 1 : owner->second.depth + 1};
  Ambient::here().context = std::move(native);
  return nb::borrow(context);
}

void exit_context(nb::handle context, nb::args) {
  auto& entered = Entered::here();
  if (entered.contexts.empty() || !entered.contexts.back().first.is(context))
    refuse("this EvalContext is not the one that was entered last in this thread");
  Ambient::here().context = entered.contexts.back().second;
  entered.leave_context();
}

void enter_device(nb::handle device) {
  nb::object number = device.attr("device_id");
  Device wanted = number.is_none() ? Device() : Device{Device::Kind::gpu, nb::cast<int16_t>(number)};
  Entered::here().devices.emplace_back(nb::borrow(device), Ambient::here().device);
  Ambient::here().device = wanted;
}

void exit_device(nb::handle, nb::args) {
  auto& devices = Entered::here().devices;
  if (devices.empty()) refuse("no Device was entered in this thread");
  Ambient::here().device = devices.back().second;
  devices.pop_back();
}

template <class Blocks>
nb::object innermost(const Blocks& blocks) {
  return blocks.empty() ? nb::none() : blocks.back().first;
}

}  // namespace

TakingGil::TakingGil() {
  taking_gil++;
  if (!shutting_down || std::this_thread::get_id() == shutting_down_by ||
      (Executor::on_own_thread() && !out_of_patience))
    return;
  taking_gil--;
  while (true) pause();
}

TakingGil::~TakingGil() { taking_gil--; }

WithGil::WithGil() {
  TakingGil taking;
  if (PyGILState_GetThisThreadState()) {
    state_ = PyGILState_Ensure();
    return;
  }
  {
    std::lock_guard lock(making_state);
    made_ = PyThreadState_New(PyInterpreterState_Main());
  }
  PyEval_AcquireThread(made_);
}

WithGil::~WithGil() {
  if (!made_) {
    PyGILState_Release(state_);
    return;
  }
  PyThreadState_Clear(made_);
  PyThreadState_DeleteCurrent();
}

void bind_execution(nb::module_& m) {
  register_for_forks();
  nb::class_<ThreadPool>(m, "NativeThreadPool")
      .def(nb::new_([](int threads) { return std::make_shared<ThreadPool>(threads); }))
      .def_prop_ro("threads", &ThreadPool::threads);

  nb::class_<Context>(m, "NativeContext", nb::is_weak_referenceable())
      .def(nb::new_([](std::shared_ptr<ThreadPool> pool, int device_id) {
             return std::make_shared<Context>(std::move(pool), device_id);
           }),
           nb::arg("pool").none(), nb::arg("device_id"))
      .def_prop_ro("num_threads", [](Context& c) { return c.threads()->threads(); })
      .def("evaluate_all", [](Context& c) {
        c.executor->submit_deferred();
        profile::Span waiting;
        if (profile::on()) {
          profile::Event event{.kind = profile::Kind::wait, .label = {.name = "evaluate_all"}};
          event.queue = c.executor.get();
          event.nested = Executor::on_own_thread();
          waiting.begin(at_user_line(event));
        }
        WithoutGil released;
        c.executor->drain(answer_signals());
        for (auto& lane : c.lanes()) lane->executor->drain(answer_signals());
      });

  nb::class_<Entered>(m, "Entered");
  m.def("enter_mode", &enter_mode);
  m.def("exit_mode", &exit_mode);
  m.def("enter_context", &enter_context);
  m.def("exit_context", &exit_context);
  m.def("enter_device", &enter_device);
  m.def("exit_device", &exit_device);
  m.def("mode", [] { return static_cast<int>(Ambient::here().mode); });
  m.def("entered_context", [] { return innermost(Entered::here().contexts); });
  m.def("entered_device", [] { return innermost(Entered::here().devices); });
  m.def("current_context", [] { return Ambient::here().current(); });
  m.def(
      "default_context",
      [] {
        auto& contexts = Entered::here().contexts;
        return contexts.empty() ? Ambient::here().current() : contexts.front().second;
      },
      "The context that this thread uses outside of with blocks.");
  m.def("set_num_threads", [](int n) { set_num_threads(n); });
  m.def("num_threads", [] { return num_threads(); });
  m.def("available_cpus", &available_cpus);
  m.def("stop", &shut_down, nb::arg("seconds") = kPatience);
  pthread_atfork(nullptr, nullptr, [] { taking_gil = 0; });  // the child does not have the other threads
}

}  // namespace avida::python
