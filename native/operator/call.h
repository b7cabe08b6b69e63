// One invocation of an operator: arguments bound, inputs checked, outputs promised.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "operator/spec.h"
#include "runtime/context.h"
#include "runtime/value.h"

namespace avida {

struct GpuStream;

// The operator's name in messages. For hidden operators it is the last part: "add", "subscript".
std::string shown_name(const OpSpec& spec);

// One argument from Python: nothing, a fixed value, or a value per sample.
using BoundArg = std::variant<std::monostate, ArgValue, ValuePtr>;

class Call : public Task {
 private:
  struct Key {};  // only make() can create one

 public:
  Call(Key, const OpSpec& spec) : spec_(spec) {}

  // The source of the numbers of a random operator.
  struct Draws {
    RandomKey random;              // the generator's seed and position
    std::vector<RandomKey> keyed;  // or, for a keyed call, the stream of each sample
    LineagePtr lineage;            // and the origins of the samples
  };

  // Where a call runs.
  struct Place {
    const Context& context;
    std::optional<Device> device;  // as requested
  };

  // Checks everything that does not need data. Throws Error, which is raised at the line of the call.
  static std::shared_ptr<Call> make(const OpSpec& spec, std::span<const ValuePtr> inputs,
                                    std::span<const BoundArg> args, int batch_size, Place place, Location where,
                                    Draws draws = {});

  std::vector<ValuePtr> promises();

  // Whether it can be part of a chain, and other than as its first call.
  bool chains() const { return chain() != Chain::no; }
  bool joins_chain() const { return chain() == Chain::joins; }

 protected:
  std::vector<Data> run() override;
  Failure describe_failure(std::exception_ptr error) const override;
  bool pure() const override { return !spec_.writes_files; }
  bool runs_anywhere() const override { return !stream_; }
  int64_t copies_up_to() const override;
  profile::Label label() const override;
  Task::Chain chain() const override;
  std::vector<Data> run_chain(std::span<Task* const> tasks, std::span<const bool> kept) override;

 private:
  struct Bound;
  void infer(std::span<const Meta> in);
  void take(const ValuePtr& value, std::string_view name, std::string_view& sized_by);
  void take_inputs(std::span<const ValuePtr> given, std::string_view& sized_by);
  void take_args(std::span<const BoundArg> args, std::string_view& sized_by);
  void count_outputs();
  void infer_if_known();
  void find_device(const Place& place);
  void find_per_frame();
  bool joins_frames(std::span<const Meta> in) const;

  const OpSpec& spec_;
  std::shared_ptr<ThreadPool> pool_;
  Device device_;                      // of the results
  std::shared_ptr<GpuStream> stream_;  // null on the CPU
  ResultMemory results_in_;            // on the CPU
  Location where_;
  std::shared_ptr<void> args_;                  // the fixed arguments
  std::pmr::vector<int> tensor_args_{&memory};  // arguments with a value per sample; their values follow the inputs
  std::pmr::vector<int> slots_{&memory};        // for each declared input: its index in `inputs`, or -1
  std::pmr::vector<Meta> out_{&memory};         // empty until inferred
  int outputs_ = 1;
  Draws draws_;
  std::optional<bool> per_frame_ = false;  // whether the call must be run frame by frame; unknown until metadata is
  int samples_ = 1;
  bool is_batch_ = false;
};

}  // namespace avida
