#include "python/submit.h"

#include "ahead/loop.h"
#include "gpu/gpu.h"
#include "runtime/executor.h"

namespace avida::python {
namespace {

// Runs the task according to this thread's evaluation mode, and in all of them before the caller can write to memory
// that it reads.
void launch(const std::shared_ptr<Task>& task) {
  Ambient& ambient = Ambient::here();
  auto& executor = ambient.current()->executor;
  if (ambient.mode == EvalMode::sync_cpu || ambient.mode == EvalMode::sync_full) {
    WithoutGil released;
    return executor->run_here(task, answer_signals());
  }
  if (task->keeps_borrowed()) {
    WithoutGil released;
    return executor->run_at_once(task, answer_signals());
  }
  if (ambient.mode == EvalMode::deferred) return executor->defer(task);
  executor->submit(task);
}

// After a call in one of the modes that wait: raises its error.
void finish(const Value& result, EvalMode mode) {
  const Data& data = result.ready();
  if (mode != EvalMode::sync_full || data.device.kind != Device::Kind::gpu) return;
  WithoutGil released;
  Gpu::at(data.device.id).synchronize(data.stream);
}

}  // namespace

std::vector<ValuePtr> submit(const Request& request) {
  const EvalMode mode = Ambient::here().mode;
  const bool in_loop = mode == EvalMode::eager && UserLoop::here();
  std::vector<ValuePtr> results;
  if (in_loop) results = UserLoop::take(request);
  if (!results.empty()) return results;
  launch(make_task(request, results));
  if (in_loop) UserLoop::record(request, results);  // from now on, threads of readers may see it
  if (mode == EvalMode::sync_cpu || mode == EvalMode::sync_full) finish(*results[0], mode);
  return results;
}

}  // namespace avida::python
