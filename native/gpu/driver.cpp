#include "gpu/driver.h"

#include <pthread.h>

#include <atomic>

#include "core/error.h"
#include "core/made_once.h"
#include "gpu/library.h"

namespace avida::cuda {
namespace {

Driver open_driver() {
  Driver driver;
  Library library({"libcuda.so.1"});
  if (!library.found()) {
    driver.missing = "no NVIDIA driver is installed (libcuda.so.1 was not found)";
    return driver;
  }
#define AVIDA_X(NAME, SYMBOL, PARAMETERS) library.find(driver.NAME, #SYMBOL);
  AVIDA_DRIVER_FUNCTIONS(AVIDA_X)
#undef AVIDA_X
  if (!library.missing().empty()) {
    driver.missing = "the NVIDIA driver is too old: it has no " + library.missing();
    return driver;
  }
  library.find(driver.context_record, "cuCtxRecordEvent");
  if (Result result = driver.init(0)) {
    const char* text = "unknown error";
    driver.error_text(result, &text);
    driver.missing = str("the NVIDIA driver finds no GPU that it can use: ", text);
    return driver;
  }
  if (driver.device_count(&driver.devices) || driver.devices == 0) driver.missing = "the NVIDIA driver finds no GPU";
  return driver;
}

std::atomic<bool> was_forked = false;

}  // namespace

const Driver& driver() {
  static constinit MadeOnce<const Driver> opened;
  return opened.get([] {
    pthread_atfork(nullptr, nullptr, [] { was_forked = true; });
    return std::make_unique<const Driver>(open_driver());
  });
}

bool forked() { return was_forked; }

void check_not_forked() {
  if (was_forked)
    refuse("CUDA does not work in a process that was forked from one that used a GPU; start processes with \"spawn\"");
}

int current_device() {
  if (!driver().missing.empty()) return 0;
  Context context = nullptr;
  if (driver().context_current(&context) || !context) return 0;
  DeviceNumber number = 0;
  return driver().context_device(&number) == 0 ? number : 0;
}

int device_of(const void* memory) {
  int number = -1;
  const auto pointer = reinterpret_cast<Pointer>(memory);
  const bool known = driver().missing.empty() && driver().pointer_attribute(&number, kPointerDevice, pointer) == 0;
  return known ? number : -1;
}

void check(Result result, const char* doing) {
  if (result == 0) return;
  const char* text = "unknown error";
  driver().error_text(result, &text);
  // Kernel failures are asynchronous, and all later calls report them too.
  const bool late = result >= kIllegalAddress && result <= kLaunchFailed;
  fail(result == kOutOfMemory ? ErrorKind::memory : ErrorKind::runtime, doing, ": CUDA says \"", text, "\" (", result,
       ")",
       late ? "; a kernel failed earlier, and this process can no longer use the GPU. Run again with "
              "EvalMode.sync_full, which "
              "names the operator"
            : "");
}

}  // namespace avida::cuda
