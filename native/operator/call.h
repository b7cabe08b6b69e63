// One invocation of an operator: arguments bound, inputs checked, outputs promised.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "op/spec.h"
#include "runtime/context.h"
#include "runtime/value.h"

namespace avida {

struct GpuStream;

// The user's file and line; the text lives as long as the process.
struct Location {
  const char* file = nullptr;
  int line = 0;
};

// The operator's name in messages. Hidden operators are known by the last part of theirs: "add", "subscript".
std::string shown_name(const OpSpec& spec);

// What Python hands over for one argument: nothing, a fixed value, or a value per sample.
using BoundArg = std::variant<std::monostate, ArgValue, ValuePtr>;

class Call : public Task {
 private:
  struct Key {};  // only make() has one

 public:
  Call(Key, const OpSpec& spec) : spec_(spec) {}

  // Where the numbers of a random operator come from.
  struct Draws {
    RandomKey random;              // the generator's seed and position
    std::vector<RandomKey> keyed;  // or, for a keyed call, the stream of each sample
    LineagePtr lineage;            // and who the samples are
  };

  // What a call runs on.
  struct Place {
    const Context& context;
    std::optional<Device> device;  // as asked for
  };

  // Checks what can be checked without data; throws Error for the rest of the line that made the call.
  static std::shared_ptr<Call> make(const OpSpec& spec, std::span<ValuePtr> inputs, std::span<const BoundArg> args,
                                    int batch_size, Place place, Location where, Draws draws = {});

  std::vector<ValuePtr> promises();

 protected:
  std::vector<Data> run() override;
  Failure describe_failure(std::exception_ptr error) const override;
  Task::Chain chain() const override;
  std::vector<Data> run_chain(std::span<Task* const> tasks, std::span<const bool> kept) override;

 private:
  struct Bound;
  void infer(std::span<const Meta> in);
  void find_device(const Place& place);
  void find_per_frame();
  bool joins_frames(std::span<const Meta> in) const;

  const OpSpec& spec_;
  std::shared_ptr<ThreadPool> pool_;
  Device device_;                      // of the results
  std::shared_ptr<GpuStream> stream_;  // null on the CPU
  Location where_;
  std::shared_ptr<void> args_;                  // the fixed arguments
  std::pmr::vector<int> tensor_args_{&memory};  // arguments that come per sample; their values follow the inputs
  std::pmr::vector<int> slots_{&memory};        // for each declared input: where it stands in `inputs`, or -1
  std::pmr::vector<Meta> out_{&memory};         // empty until inferred
  int outputs_ = 1;
  Draws draws_;
  std::optional<bool> per_frame_ = false;  // something comes per frame that the operator does not take as it is
  int samples_ = 1;
  bool is_batch_ = false;
};

// A value for user code run by an operator: kind and message of any exception.
Failure describe(std::exception_ptr error);

}  // namespace avida
