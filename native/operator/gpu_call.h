// Calls on a GPU.
#pragma once
#include "cuda/gpu.h"
#include "op/spec.h"
#include "runtime/value.h"

namespace avida {

// The samples in the memory of a GPU, for the work of `stream`; themselves when they are there already.
Data to_gpu(const Data& data, const GpuStream& stream);
// The samples in the CPU's memory, when the GPU has made them; themselves when they are there already.
Data to_cpu(const Data& data);

// New memory of a GPU for one output.
Data allocate_on_gpu(const Meta& meta, const ShapeList& shapes, const GpuStream& stream);

// Starts the work that `take_down` gives to the launches.
void launch_on_gpu(const GpuStream& stream, const std::function<void(Launches&)>& take_down);

// A copy from one device to another.
class Transfer : public Task {
 public:
  Transfer(ValuePtr value, Device device, std::shared_ptr<GpuStream> stream);
  ValuePtr promised();

 protected:
  std::vector<Data> run() override;
  Failure describe_failure(std::exception_ptr error) const override;

 private:
  Device device_;
  std::shared_ptr<GpuStream> stream_;  // null for the CPU
};

// Runs an operator for samples on a GPU: through its loop family, or, where it has none, on the CPU with copies before
// and after.
std::vector<Data> run_on_gpu(const OpSpec& spec, const Run& run, const GpuStream& stream);

}  // namespace avida
