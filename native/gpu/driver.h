// The functions of the CUDA driver that are used here, loaded at run time. Types and constants are those of its API.
#pragma once
#include <cstddef>
#include <string>

namespace avida::cuda {

using Result = int;  // CUresult; 0 is success
using DeviceNumber = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using Module = void*;
using Function = void*;
using Pointer = unsigned long long;  // CUdeviceptr

constexpr Result kOutOfMemory = 2;
constexpr Result kNotReady = 600;
constexpr Result kCapturing = 900;
constexpr Result kIllegalAddress = 700, kLaunchFailed = 719;
constexpr int kComputeMajor = 75, kComputeMinor = 76, kProcessors = 16;  // CUdevice_attribute
constexpr int kPointerDevice = 9;                                        // CUpointer_attribute
constexpr int kRelaxed = 2;                                              // CUstreamCaptureMode
constexpr unsigned kNonBlocking = 1;                                     // CUstream_flags
constexpr unsigned kPortable = 1;                                        // of pinned memory: for all GPUs
constexpr unsigned kTiming = 0, kNoTiming = 2;                           // CUevent_flags

// X(result, name, exported name, parameters)
#define AVIDA_DRIVER_FUNCTIONS(X)                                                                              \
  X(init, cuInit, (unsigned flags))                                                                            \
  X(driver_version, cuDriverGetVersion, (int* version))                                                        \
  X(device_count, cuDeviceGetCount, (int* count))                                                              \
  X(device_get, cuDeviceGet, (DeviceNumber * device, int ordinal))                                             \
  X(device_name, cuDeviceGetName, (char* name, int length, DeviceNumber device))                               \
  X(device_attribute, cuDeviceGetAttribute, (int* value, int attribute, DeviceNumber device))                  \
  X(context_retain, cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))                        \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (DeviceNumber device))                                      \
  X(context_state, cuDevicePrimaryCtxGetState, (DeviceNumber device, unsigned* flags, int* is_active))         \
  X(context_push, cuCtxPushCurrent_v2, (Context context))                                                      \
  X(context_pop, cuCtxPopCurrent_v2, (Context * context))                                                      \
  X(context_current, cuCtxGetCurrent, (Context * context))                                                     \
  X(context_device, cuCtxGetDevice, (DeviceNumber * device))                                                   \
  X(capture_mode, cuThreadExchangeStreamCaptureMode, (int* mode))                                              \
  X(pointer_attribute, cuPointerGetAttribute, (void* value, int attribute, Pointer pointer))                   \
  X(memory_take, cuMemAlloc_v2, (Pointer * pointer, size_t bytes))                                             \
  X(memory_info, cuMemGetInfo_v2, (size_t* left, size_t* all))                                                 \
  X(memory_give, cuMemFree_v2, (Pointer pointer))                                                              \
  X(memory_clear, cuMemsetD8Async, (Pointer pointer, unsigned char value, size_t bytes, Stream stream))        \
  X(pinned_take, cuMemHostAlloc, (void** pointer, size_t bytes, unsigned flags))                               \
  X(pinned_give, cuMemFreeHost, (void* pointer))                                                               \
  X(copy_in, cuMemcpyHtoDAsync_v2, (Pointer to, const void* from, size_t bytes, Stream stream))                \
  X(copy_out, cuMemcpyDtoHAsync_v2, (void* to, Pointer from, size_t bytes, Stream stream))                     \
  X(copy, cuMemcpyDtoDAsync_v2, (Pointer to, Pointer from, size_t bytes, Stream stream))                       \
  X(stream_create, cuStreamCreate, (Stream * stream, unsigned flags))                                          \
  X(stream_synchronize, cuStreamSynchronize, (Stream stream))                                                  \
  X(stream_wait, cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                              \
  X(event_create, cuEventCreate, (Event * event, unsigned flags))                                              \
  X(event_record, cuEventRecord, (Event event, Stream stream))                                                 \
  X(event_query, cuEventQuery, (Event event))                                                                  \
  X(event_synchronize, cuEventSynchronize, (Event event))                                                      \
  X(event_elapsed, cuEventElapsedTime, (float* milliseconds, Event begin, Event end))                          \
  X(event_destroy, cuEventDestroy_v2, (Event event))                                                           \
  X(module_load, cuModuleLoadData, (Module * module, const void* image))                                       \
  X(module_function, cuModuleGetFunction, (Function * function, Module module, const char* name))              \
  X(launch, cuLaunchKernel,                                                                                    \
    (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters, void** extra))                 \
  X(error_text, cuGetErrorString, (Result error, const char** text))

struct Driver {
#define AVIDA_X(NAME, SYMBOL, PARAMETERS) Result(*NAME) PARAMETERS = nullptr;
  AVIDA_DRIVER_FUNCTIONS(AVIDA_X)
#undef AVIDA_X
  // Records the work of all streams of a context; null for drivers before CUDA 12.5.
  Result (*context_record)(Context context, Event event) = nullptr;
  std::string missing;  // why the driver cannot be used; empty if it can
  int devices = 0;
};

// Loaded on first use.
const Driver& driver();
// Whether this process was forked from one that used the driver.
bool forked();
// Raises an error in a process that was forked from one that used the driver: CUDA does not work there.
void check_not_forked();

// The GPU that is selected for this thread (cudaSetDevice, torch.cuda.set_device); 0 if none is.
int current_device();
// The GPU that owns the memory; -1 if the driver does not know it.
int device_of(const void* memory);

// Raises an error for a result other than success. `doing` describes the failed action.
void check(Result result, const char* doing);

}  // namespace avida::cuda
