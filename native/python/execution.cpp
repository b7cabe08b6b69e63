// Modes, contexts and threads, as this Python thread sees them.
#include <nanobind/stl/shared_ptr.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cuda/compiler.h"
#include "python/python.h"
#include "readers/prefetcher.h"

namespace avida::python {
namespace {
std::atomic<bool> shutting_down{false};
std::thread::id shutting_down_by;
std::atomic<int> taking_gil{0};

void shut_down() {
  shutting_down_by = std::this_thread::get_id();
  shutting_down = true;
  WithoutGil released;
  Prefetcher::stop_all();
  Executor::stop_all();
  finish_compiling();
  while (taking_gil > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TakingGil::TakingGil() {
  taking_gil++;
  if (!shutting_down || std::this_thread::get_id() == shutting_down_by || Executor::on_own_thread()) return;
  taking_gil--;
  while (true) pause();
}

TakingGil::~TakingGil() { taking_gil--; }

void bind_execution(nb::module_& m) {
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
        WithoutGil released;
        c.executor->drain(answer_signals());
      });

  m.def("current_context", [] { return Ambient::here().current(); });
  m.def(
      "set_current_context", [](std::shared_ptr<Context> context) { Ambient::here().context = std::move(context); },
      nb::arg("context").none());
  m.def(
      "set_device",
      [](int gpu) {
        Ambient::here().device = gpu < 0 ? Device() : Device{Device::Kind::gpu, static_cast<int16_t>(gpu)};
      },
      "The device of operators without inputs: a GPU, or -1 for the CPU.");
  m.def("mode", [] { return static_cast<int>(Ambient::here().mode); });
  m.def("set_mode", [](int mode) { Ambient::here().mode = static_cast<EvalMode>(mode); });
  m.def("set_num_threads", [](int n) { set_num_threads(n); });
  m.def("num_threads", [] { return num_threads(); });
  m.def("available_cpus", &available_cpus);
  m.def("stop", &shut_down);
  pthread_atfork(nullptr, nullptr, [] { taking_gil = 0; });  // a child has none of the other threads
}

}  // namespace avida::python
