// Calls on a GPU.
#pragma once
#include "gpu/gpu.h"
#include "operator/spec.h"
#include "runtime/value.h"

namespace avida {

// Copies the samples to the GPU of `stream`, for work in that stream; returns them unchanged if they are there already.
Data to_gpu(const Data& data, const GpuStream& stream);
// Copies the samples to CPU memory, and waits until the GPU has computed them; returns them unchanged if they are there
// already.
Data to_cpu(const Data& data);

// Allocates GPU memory for one output.
Data allocate_on_gpu(const Meta& meta, const ShapeList& shapes, const GpuStream& stream);

// Launches the work that `record` adds.
void launch_on_gpu(const GpuStream& stream, const std::function<void(Launches&)>& record);
// The launches so far, and those among them of kernels whose thread blocks share memory.
int64_t all_launches();
int64_t block_launches();

// Records for profiles what a GPU's stream does for the running task while this object exists.
class TimedOnGpu {
 public:
  TimedOnGpu(const Device& device, StreamHandle stream);  // does nothing for the CPU
  ~TimedOnGpu();
  TimedOnGpu(const TimedOnGpu&) = delete;

 private:
  const Device device_;
  std::unique_ptr<Gpu::Timer> timer_;
};

// A copy from one device to another.
class Transfer : public Task {
 public:
  Transfer(ValuePtr value, Device device, std::shared_ptr<GpuStream> stream, Location where);
  ValuePtr promised();

  static const char* name(const Device& to) {
    return to.kind == Device::Kind::gpu ? "copy to the GPU" : "copy to the CPU";
  }

 protected:
  std::vector<Data> run() override;
  Failure describe_failure(std::exception_ptr error) const override;
  profile::Label label() const override;

 private:
  Device device_;
  std::shared_ptr<GpuStream> stream_;  // null for the CPU
  Location where_;                     // for profiles
};

// Runs an operator for samples on a GPU: through its loop family or, if it has none, on the CPU with copies before and
// after.
std::vector<Data> run_on_gpu(const OpSpec& spec, const Run& run, const GpuStream& stream);

}  // namespace avida
