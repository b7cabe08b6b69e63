// A step of a loop: a call that its iterations make, apart from the values of each.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/call.h"

namespace avida {

class UserLoop;

// A function of Python, with all its arguments but the values.
class PythonFunction {
 public:
  virtual ~PythonFunction() = default;
  virtual std::string_view name() const = 0;
  // Null if it may be called ahead. Else the reason, for messages; the functions below are then not called.
  virtual const char* why_not_ahead() const = 0;
  // Whether it is the same function with the same arguments. Runs no code of users.
  virtual bool same(const PythonFunction& other) const = 0;
  // A task that calls it, and the promises of that: see make_task(). Needs no GIL.
  virtual std::shared_ptr<Task> call(std::span<const ValuePtr> inputs, int samples, const Context& context,
                                     Location where, std::vector<ValuePtr>& promises) const = 0;
};

// A call as Python makes it: all that its results depend on.
struct Request {
  const OpSpec* spec = nullptr;                    // null: `function`, or a transfer to `device` if that is null, too
  std::shared_ptr<const PythonFunction> function;  // null unless it is called
  std::span<const ValuePtr> inputs;
  std::span<const BoundArg> args;
  int samples = -1;                 // as asked for; -1: not
  const Value* sized_by = nullptr;  // whose number of samples that is, if it was not given as a number
  std::optional<Device> device;
  std::shared_ptr<Context> context;
  Location where;
  const Call::Draws* draws = nullptr;

  // Of a keyed draw.
  struct Keyed {
    ValuePtr value;
    uint64_t seed = 0;
    std::string_view name;
    std::span<const unsigned> numbers;
  };
  const Keyed* keyed = nullptr;

  // All values that it takes: inputs (null if not given), arguments, and that of a keyed draw.
  std::vector<ValuePtr> values() const;
};

// The task that makes the call; its promises are added to `results`. Needs no GIL.
std::shared_ptr<Task> make_task(const Request& request, std::vector<ValuePtr>& results);

// Where a step takes a value from.
struct Operand {
  bool is_given = false;
  // An output of a step of an iteration, or of the item itself if `step` is 0.
  const UserLoop* loop = nullptr;
  int64_t lag = 0;  // the number of that loop's iteration minus that of the step's own loop
  uint64_t step = 0;
  int output = 0;
  // Otherwise the same value as last time, or a copy if that is a few numbers.
  std::weak_ptr<Value> value;
  ValuePtr copy;
};

// For messages: the name of an operator, of a function, or of a copy to a device if it is neither; and that of a value
// that a call takes, in the order of Request::values().
std::string name_of_call(const OpSpec* spec, const PythonFunction* function, const std::optional<Device>& device);
std::string name_of_value(const Request& request, size_t index);

struct Step {
  Step(const Request& request, uint64_t id);

  // Whether the step makes this call, its values and its draw aside.
  bool has_form_of(const Request& request) const;
  // What is different in the call, for a person; empty if it is only the values.
  std::string difference(const Request& request) const;
  // Whether results depend on the draw of a generator.
  bool draws() const { return spec && spec->random && !keyed; }

  const uint64_t id;
  const OpSpec* const spec;
  const std::shared_ptr<const PythonFunction> function;
  const std::vector<BoundArg> args;  // null where an argument is a value
  const size_t inputs;               // how many, counting those not given
  const int samples;
  const std::optional<size_t> sized_by;  // the index of the value
  const std::optional<Device> device;
  const std::weak_ptr<Context> context;
  const Location where;
  const bool keyed;
  const uint64_t seed;
  const std::string name;

  // As last seen.
  std::vector<Operand> operands;
  RandomKey drawn;                 // from a generator
  uint64_t stride = 0;             // from one iteration's position of the generator to the next one's
  std::optional<unsigned> number;  // of the keyed draw; nullopt if samples differ in it
  int64_t seen = 0;                // the number of the iteration
  std::optional<int> decodes_on;   // the GPU, if the call decodes images on one

  int streak = 0;  // the number of iterations in a row that made this call
  int misses = 0;  // how often in a row it was made ahead in vain
  // Whether users have read a result that only the next call of a chain seemed to take.
  const std::shared_ptr<std::atomic<bool>> is_read = std::make_shared<std::atomic<bool>>(false);
};

// Whether the two values are equal and few numbers, of which nobody has the origin.
bool same_numbers(const Value& a, const Value& b);
// A copy of a value that has few numbers and no origin; null for others.
ValuePtr copy_of_numbers(const Value& value);
// Whether code outside of avida may have written to a value since it was made.
bool may_have_changed(const Value& value);

}  // namespace avida
