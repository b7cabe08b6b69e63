#include "ahead/loop.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include "codecs/limits.h"
#include "core/made_once.h"
#include "gpu/streams.h"
#include "operator/keyed.h"
#include "runtime/executor.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "runtime/profile.h"

namespace avida {
namespace {

constexpr size_t kMostSteps = 256;  // of an iteration; what follows is not made ahead
constexpr int kMostMisses = 5;
constexpr int kOnGpu = 4;  // items ahead of a loop that decodes on a GPU: fewer leave it idle

// One for all loops. Loops of Python have the GIL anyway; it keeps the threads of readers apart from them.
ForkSafe<>& mutex() {
  static constinit MadeOnce<ForkSafe<>> made;
  return made.get([] { return std::make_unique<ForkSafe<>>(ForkAware::Rank::loops); });
}

[[maybe_unused]] const bool made_at_load = (mutex(), true);

uint64_t steps_so_far = 0;  // these are guarded by the lock
UserLoop::Counts totals;

// The stream that a call of the step would use now.
StreamHandle stream_now(const Context& context, const Device& device) {
  return device.kind == Device::Kind::gpu ? stream_of(context, device.id)->handle : nullptr;
}

bool same(const RandomKey& a, const RandomKey& b) {
  return a.seed == b.seed && a.position == b.position && a.sample == b.sample;
}

bool same_draws(const Call::Draws& a, const Call::Draws& b) {
  return same(a.random, b.random) && a.lineage == b.lineage &&
         std::ranges::equal(a.keyed, b.keyed, [](auto& x, auto& y) { return same(x, y); });
}

// Tells open profiles what became of a call that a loop made (Request) or might have made (Step).
void note_ahead(const auto& call, profile::Ahead outcome, std::string_view reason = {}) {
  profile::note_ahead(call.where, name_of_call(call.spec, call.function.get(), call.device), outcome, reason);
}

// Whether a call takes a value from where the call before took it.
bool same_operand(const Operand& before, const Operand& now, const ValuePtr& value) {
  if (now.copy) return before.copy && same_numbers(*before.copy, *now.copy);
  const bool located = now.loop && before.loop == now.loop && before.lag == now.lag && before.step == now.step &&
                       before.output == now.output;
  return located || (before.value.lock() == value && !before.copy);
}

// Whether there is memory to spare for work ahead.
bool within_budget(const Device& device) {
  if (MemoryUse use = memory_use(); use.in_use > use.budget) return false;
  if (device.kind != Device::Kind::gpu) return true;
  Gpu& gpu = Gpu::at(device.id);
  return gpu.bytes_in_use() <= gpu.memory_budget();
}

// Whether the GPU has room for more items at the same time than for those in use, and much is left to others.
bool has_room(int device) {
  Gpu& gpu = Gpu::at(device);
  const int64_t in_use = gpu.bytes_in_use();
  return in_use > 0 && gpu.bytes_left() / 8 > in_use;
}

}  // namespace

// The loops that a thread is in, the innermost last.
struct UserLoop::Thread {
  std::vector<UserLoop*> loops;
  static const std::shared_ptr<Thread>& here() {
    static thread_local auto thread = std::make_shared<Thread>();
    return thread;
  }
};

struct UserLoop::Slot {
  std::weak_ptr<Value> value;
  const Value* address;  // not reused as long as there is a weak pointer to it
  uint64_t step;
  int output;
};

// A call that was made ahead.
struct UserLoop::Made {
  uint64_t id;  // of the step
  std::shared_ptr<Step> step;
  std::shared_ptr<Executor> executor;
  std::shared_ptr<Task> task;
  std::vector<ValuePtr> values, results;
  std::vector<bool> is_copy;  // of what the loop gave to the call before
  int samples;
  Call::Draws draws;
  StreamHandle stream;
  uint64_t limits = codecs::decode_limits_version();
  bool is_used = false;
};

struct UserLoop::Ahead {
  int64_t number;
  Item item;
  std::vector<Made> calls;
};

// What is destroyed outside the lock, since that may run code of Python.
struct UserLoop::Dropped {
  std::vector<Ahead> ahead;
  std::vector<std::shared_ptr<Step>> steps;
};

UserLoop::UserLoop() = default;

UserLoop::~UserLoop() { close(); }

void UserLoop::open(Peek peek, int depth, bool grows) {
  std::lock_guard lock(mutex());
  peek_ = std::move(peek);
  depth_ = depth;
  grows_ = grows;
}

void UserLoop::close() {
  Dropped dropped;
  Peek peek;
  std::lock_guard lock(mutex());
  leave_thread();
  if (in_iteration_ && current_.size() < previous_.size()) current_ = previous_;  // it was left early
  end_iteration(dropped);
  drop(ahead_.end(), dropped);
  auto functions = std::ranges::stable_partition(previous_, [](auto& step) { return !step->function; });
  std::ranges::move(functions, std::back_inserter(dropped.steps));
  previous_.erase(functions.begin(), functions.end());
  peek.swap(peek_);
}

bool UserLoop::is_open() const {
  std::lock_guard lock(mutex());
  return static_cast<bool>(peek_);
}

bool UserLoop::here() { return !Thread::here()->loops.empty(); }

UserLoop::Counts UserLoop::counts() {
  std::lock_guard lock(mutex());
  return totals;
}

void UserLoop::leave_thread() {
  if (thread_) std::erase(thread_->loops, this);
  thread_.reset();
}

void UserLoop::end_iteration(Dropped& dropped) {
  if (!in_iteration_) return;
  in_iteration_ = false;
  for (Ahead& ahead : now_)
    for (Made& made : ahead.calls) {
      if (made.is_used) continue;
      if (profile::on()) note_ahead(*made.step, profile::Ahead::dropped, "the loop did not make this call");
      totals.dropped++;
      made.step->misses = std::min(made.step->misses + 1, kMostMisses);
      made.step->streak = 0;
    }
  std::ranges::move(now_, std::back_inserter(dropped.ahead));
  now_.clear();
  slots_.clear();
  std::ranges::move(previous_, std::back_inserter(dropped.steps));
  previous_ = std::move(current_);
  current_.clear();
}

// Drops what was made for the next items, up to this one.
void UserLoop::drop(std::deque<Ahead>::iterator end, Dropped& dropped) {
  for (auto ahead = ahead_.begin(); ahead != end; ++ahead) totals.dropped += ahead->calls.size();
  std::move(ahead_.begin(), end, std::back_inserter(dropped.ahead));
  ahead_.erase(ahead_.begin(), end);
}

void UserLoop::begin(const Item& item) {
  Dropped dropped;
  std::lock_guard lock(mutex());
  if (!peek_ || depth_ == 0) return;
  if (learned_on_ != Thread::here()) {  // steps of several threads would be mixed up
    for (auto* steps : {&current_, &previous_}) {
      std::ranges::move(*steps, std::back_inserter(dropped.steps));
      steps->clear();
    }
  }
  leave_thread();
  thread_ = learned_on_ = Thread::here();
  thread_->loops.push_back(this);
  end_iteration(dropped);
  auto expected = std::ranges::find(ahead_, item, &Ahead::item);
  const bool found = expected != ahead_.end();
  number_++;
  in_iteration_ = true;
  drop(expected, dropped);
  if (found) {
    number_ = ahead_.front().number;
    now_.push_back(std::move(ahead_.front()));
    ahead_.pop_front();
  }
  for (size_t i = 0; i < item.size(); i++) slots_.push_back({item[i], item[i].get(), 0, static_cast<int>(i)});
  peek();
  advance_thread();
}

void UserLoop::advance() {
  std::lock_guard lock(mutex());
  if (!peek_ || !thread_) return;
  peek();
  advance_thread();
}

void UserLoop::advance_thread() {
  for (UserLoop* loop : thread_->loops)
    for (Ahead& ahead : loop->ahead_) loop->make_all(ahead);
}

// What is known of the items stays: the next one may have been taken, by a thread that is about to begin with it.
void UserLoop::peek() {
  for (Item& item : peek_(depth_)) {
    if (std::ssize(ahead_) == depth_) return;
    if (std::ranges::find(ahead_, item, &Ahead::item) == ahead_.end())
      ahead_.push_back({number_ + 1 + std::ssize(ahead_), std::move(item), {}});
  }
}

void UserLoop::make_all(Ahead& ahead) {
  const size_t first = ahead.calls.size();
  for (auto& step : previous_) {
    if (step->streak < 2 << step->misses) continue;
    if (std::ranges::find(ahead.calls, step, &Made::step) != ahead.calls.end()) continue;
    if (auto made = make(step, ahead)) ahead.calls.push_back(std::move(*made));
  }
  if (ahead.calls.size() == first) return;
  totals.made += ahead.calls.size() - first;
  expect_chains(ahead, first);
  std::vector<std::shared_ptr<Task>> tasks;
  for (size_t i = first; i < ahead.calls.size(); i++) {
    tasks.push_back(ahead.calls[i].task);
    if (i + 1 < ahead.calls.size() && ahead.calls[i + 1].executor == ahead.calls[i].executor) continue;
    Executor::submit_ahead(tasks, ahead.calls[i].executor);
    tasks.clear();
  }
}

std::optional<UserLoop::Made> UserLoop::make(const std::shared_ptr<Step>& step, const Ahead& ahead) const {
  const auto own = step->context.lock();
  if (!own) return {};
  const std::shared_ptr<Context> context = place(own, ahead);
  Made made{step->id, step, context->executor, {}, {}, {}, {}, step->samples, {}, nullptr};
  for (const Operand& operand : step->operands) {
    made.values.push_back(operand.is_given ? find(operand, ahead) : nullptr);
    made.is_copy.push_back(operand.copy != nullptr);
    if (!operand.is_given) continue;
    const ValuePtr& value = made.values.back();
    if (!value || may_have_changed(*value) || computed_elsewhere(value, ahead, made.executor)) return {};
  }
  if (step->sized_by) made.samples = made.values[*step->sized_by]->meta().samples;
  try {
    if (step->draws()) {
      made.draws.random = step->drawn;
      made.draws.random.position += step->stride * static_cast<uint64_t>(ahead.number - step->seen);
    } else if (step->keyed) {
      made.draws.lineage = made.values.back()->lineage;
      if (!step->number || !made.draws.lineage || made.draws.lineage->permuted) return {};
      check_keyed(*made.draws.lineage);
      std::vector<unsigned> numbers(made.draws.lineage->draws.size(), *step->number);
      made.draws.keyed = keyed_streams(step->seed, *made.draws.lineage, step->name, numbers);
    }
    std::vector<BoundArg> args = step->args;
    auto value = made.values.begin() + static_cast<ptrdiff_t>(step->inputs);
    for (BoundArg& arg : args)
      if (std::holds_alternative<ValuePtr>(arg)) arg = *value++;
    Request request;
    request.spec = step->spec;
    request.function = step->function;
    request.inputs = std::span(made.values).first(step->inputs);
    request.args = args;
    request.samples = made.samples;
    request.device = step->device;
    request.context = context;
    request.where = step->where;
    request.draws = &made.draws;
    made.task = make_task(request, made.results);
    const Device device = made.results[0]->meta().device;
    if (!within_budget(device)) return {};
    made.stream = stream_now(*own, device);
    return made;
  } catch (const std::exception&) {  // which the loop's own call will raise
    return {};
  }
}

// Where a call is made ahead. Decoding on a GPU is work for threads, copies and kernels in turn: if the loop does that,
// each batch has a lane of its own, so that the work for neighbouring batches overlaps.
std::shared_ptr<Context> UserLoop::place(const std::shared_ptr<Context>& own, const Ahead& ahead) const {
  const auto decoder = std::ranges::find_if(previous_, [](auto& step) { return step->decodes_on.has_value(); });
  if (decoder == previous_.end()) return own;
  std::shared_ptr<Context> lane = own->lane(static_cast<size_t>(ahead.number % (depth_ + 1)));
  if (!lane->stream) lane->stream = Gpu::at(*(*decoder)->decodes_on).create_stream();
  return lane;
}

ValuePtr UserLoop::find(const Operand& operand, const Ahead& ahead) const {
  if (operand.copy) return operand.copy;
  if (!operand.loop) {
    ValuePtr value = operand.value.lock();
    return value && !may_have_changed(*value) ? value : nullptr;
  }
  if (operand.loop != this) {
    if (std::ranges::find(thread_->loops, operand.loop) == thread_->loops.end()) return nullptr;
    return operand.loop->output(ahead.number + operand.lag, operand.step, operand.output);
  }
  if (operand.step == 0) return operand.output < std::ssize(ahead.item) ? ahead.item[operand.output] : nullptr;
  auto made = std::ranges::find(ahead.calls, operand.step, &Made::id);
  return made == ahead.calls.end() ? nullptr : made->results[operand.output];
}

// Whether another executor has yet to compute the value. Waiting for it would hold up what the loop asks of this one.
bool UserLoop::computed_elsewhere(const ValuePtr& value, const Ahead& ahead,
                                  const std::shared_ptr<Executor>& executor) {
  if (!value->pending()) return false;
  for (const Made& made : ahead.calls)
    if (std::ranges::find(made.results, value) != made.results.end()) return made.executor != executor;
  return Executor::computed_elsewhere(*value, *executor);
}

// An output of this iteration or of one that is made ahead; null if there is none.
ValuePtr UserLoop::output(int64_t number, uint64_t step, int index) const {
  if (number == number_) {
    for (const Slot& slot : slots_)
      if (slot.step == step && slot.output == index) return slot.value.lock();
    return nullptr;
  }
  auto ahead = std::ranges::find(ahead_, number, &Ahead::number);
  return ahead == ahead_.end() ? nullptr : find({true, this, 0, step, index, {}, nullptr}, *ahead);
}

// Results that only the next call of a chain takes are not made as a whole, unless users have read them before.
void UserLoop::expect_chains(Ahead& ahead, size_t first) const {
  for (size_t i = first; i < ahead.calls.size(); i++) {
    Made& made = ahead.calls[i];
    auto* call = made.step->spec ? static_cast<Call*>(made.task.get()) : nullptr;
    if (!call || !call->chains() || *made.step->is_read) continue;
    int uses = 0;
    bool joined = false;
    for (const Made& other : ahead.calls)
      for (size_t k = 0; k < other.values.size(); k++)
        if (other.values[k] == made.results[0]) {
          uses++;
          joined = k == 0 && other.step->spec && static_cast<Call*>(other.task.get())->joins_chain();
        }
    if (uses == 1 && joined) made.results[0]->expect_one_use(made.step->is_read);
  }
}

std::vector<ValuePtr> UserLoop::take(const Request& request) {
  std::unique_lock lock(mutex());
  auto& loops = Thread::here()->loops;
  if (loops.empty() || loops.back()->now_.empty()) return {};
  if (request.function && request.function->why_not_ahead()) return {};
  UserLoop& loop = *loops.back();
  std::vector<ValuePtr> values;
  const uint64_t limits = codecs::decode_limits_version();
  for (Made& made : loop.now_[0].calls) {
    if (made.is_used || made.limits != limits || !made.step->has_form_of(request)) continue;
    if (made.step->spec && !same_draws(made.draws, *request.draws)) continue;
    if (made.step->sized_by && made.samples != request.samples) continue;
    if (values.empty()) values = request.values();
    bool equal = values.size() == made.values.size();
    for (size_t i = 0; i < values.size() && equal; i++) {
      if (made.is_copy[i])
        equal = values[i] && same_numbers(*values[i], *made.values[i]);
      else
        equal = values[i] == made.values[i] && (!values[i] || !may_have_changed(*values[i]));
    }
    if (!equal || made.stream != stream_now(*request.context, made.results[0]->meta().device)) continue;
    totals.used++;
    if (profile::on()) note_ahead(request, profile::Ahead::used);
    Step& step = *made.step;
    step.misses = 0;
    if (request.draws) step.drawn = request.draws->random;
    step.seen = loop.number_;
    step.streak++;
    loop.note(made.step, made.results);
    Made used = std::move(made);  // so that the loop alone keeps the values
    made.is_used = true;
    lock.unlock();
    Executor::promote(*used.task);
    return std::move(used.results);
  }
  return {};
}

void UserLoop::record(const Request& request, std::span<const ValuePtr> results) {
  std::lock_guard lock(mutex());
  auto& loops = Thread::here()->loops;
  if (loops.empty() || loops.back()->current_.size() >= kMostSteps) return;
  if (request.spec && (request.spec->reads_files || request.spec->writes_files)) return;
  if (const char* reason = request.function ? request.function->why_not_ahead() : nullptr) {
    if (profile::on()) note_ahead(request, profile::Ahead::not_predicted, reason);
    return;
  }
  UserLoop& loop = *loops.back();
  const std::vector<ValuePtr> values = request.values();
  std::vector<Operand> operands = loop.operands_of(values, request.spec ? request.spec->view : !request.function);
  std::shared_ptr<Step> step;
  for (auto& known : loop.previous_)
    if (known->seen != loop.number_ && known->has_form_of(request) && loop.same_operands(*known, operands, values)) {
      step = known;
      break;
    }
  if (profile::on()) {
    const std::string reason = loop.why_not(request, step.get(), operands, values);
    note_ahead(request, reason.empty() ? profile::Ahead::too_early : profile::Ahead::not_predicted, reason);
  }
  if (!step) step = std::make_shared<Step>(request, ++steps_so_far);
  bool repeats = step->seen == loop.number_ - 1 && step->streak > 0;
  if (step->draws()) {
    const RandomKey& drawn = request.draws->random;
    const uint64_t stride = drawn.position - step->drawn.position;
    repeats &= drawn.seed == step->drawn.seed && (step->streak == 1 || stride == step->stride);
    step->stride = stride;
    step->drawn = drawn;
  }
  if (request.keyed) {
    auto numbers = request.keyed->numbers;
    std::optional<unsigned> number;
    if (numbers.empty())
      number = 0;  // named draws are not counted
    else if (std::ranges::all_of(numbers, [&](unsigned n) { return n == numbers[0]; }))
      number = numbers[0];
    repeats &= number == step->number;
    step->number = number;
  }
  step->streak = repeats ? step->streak + 1 : 1;
  step->seen = loop.number_;
  for (size_t i = 0; i < operands.size(); i++) {
    if (step->operands.size() != operands.size()) break;
    // What is the same value as last time is taken as that, even if it comes from another loop.
    const Operand& before = step->operands[i];
    if (values[i] && !before.copy && before.value.lock() == values[i])
      operands[i] = {true, nullptr, 0, 0, 0, values[i], {}};
  }
  step->operands = std::move(operands);
  loop.note(step, results);
}

// Why the loop's call was not made ahead, for a person; empty if the loop has only begun to make it. `known`: the step
// of the last iteration that it repeats, or null.
std::string UserLoop::why_not(const Request& request, const Step* known, const std::vector<Operand>& operands,
                              const std::vector<ValuePtr>& values) const {
  if (!known) {
    auto similar = std::ranges::find_if(previous_, [&](auto& step) {
      return step->spec == request.spec && !step->function == !request.function &&
             step->where.file == request.where.file && step->where.line == request.where.line && step->seen != number_;
    });
    if (previous_.empty()) return {};
    if (similar == previous_.end()) return "the iteration before did not make this call";
    if (std::string text = (*similar)->difference(request); !text.empty()) return text;
    const std::vector<Operand>& before = (*similar)->operands;
    for (size_t i = 0; i < std::min(before.size(), values.size()); i++)
      if (!same_operand(before[i], operands[i], values[i])) return why_not(operands[i], name_of_value(request, i));
    return {};
  }
  if (known->streak < 2 << known->misses) return known->misses ? "it was made ahead in vain lately" : "";
  if (now_.empty()) return "the batch was not read in time";
  for (size_t i = 0; i < operands.size(); i++)
    if (operands[i].loop == this && operands[i].step && !was_made_ahead(operands[i].step))
      return why_not(operands[i], name_of_value(request, i));
  for (size_t i = 0; i < operands.size(); i++)
    if (auto maker = std::ranges::find(current_, operands[i].loop == this ? operands[i].step : 0, &Step::id);
        maker != current_.end() && (*maker)->context.lock() != request.context)
      return name_of_value(request, i) + " comes from another EvalContext";
  if (known->streak == 2 << known->misses) return {};  // the item was read before the loop had made the call again
  return "its random generator, its stream, the memory budget or the memory of an input changed";
}

bool UserLoop::was_made_ahead(uint64_t step) const {
  return !now_.empty() && std::ranges::find(now_[0].calls, step, &Made::id) != now_[0].calls.end();
}

// The same because of a value that the call takes.
std::string UserLoop::why_not(const Operand& operand, const std::string& name) const {
  auto maker = std::ranges::find(current_, operand.loop == this ? operand.step : 0, &Step::id);
  if (maker != current_.end() && !was_made_ahead(operand.step))
    return str(name, " comes from ", name_of_call((*maker)->spec, (*maker)->function.get(), (*maker)->device),
               " (line ", (*maker)->where.line, "), which was not made ahead");
  if (ValuePtr value = operand.value.lock(); value && may_have_changed(*value))
    return name + " was given to other code as an array or tensor, which may have changed it";
  if (operand.copy || operand.loop) return name + " changed";
  return name + " is made anew in each iteration, and not from the batch";
}

void UserLoop::note(const std::shared_ptr<Step>& step, std::span<const ValuePtr> results) {
  current_.push_back(step);
  const Device device = results[0]->meta().device;
  if (step->spec && step->spec->leads && device.kind == Device::Kind::gpu) {
    step->decodes_on = device.id;
    if (grows_ && depth_ < kOnGpu && has_room(device.id)) depth_ = kOnGpu;
  }
  for (size_t i = 0; i < results.size(); i++)
    slots_.push_back({results[i], results[i].get(), step->id, static_cast<int>(i)});
}

std::vector<Operand> UserLoop::operands_of(const std::vector<ValuePtr>& values, bool is_view) const {
  std::vector<Operand> operands;
  for (auto& value : values) {
    Operand& operand = operands.emplace_back();
    if (!value) continue;
    operand.is_given = true;
    operand.value = value;
    for (auto loop = thread_->loops.rbegin(); loop != thread_->loops.rend() && !operand.loop; ++loop) {
      auto slot = std::ranges::find((*loop)->slots_, value.get(), &Slot::address);
      if (slot == (*loop)->slots_.end() || may_have_changed(*value)) continue;
      operand.loop = *loop;
      operand.lag = (*loop)->number_ - number_;
      operand.step = slot->step;
      operand.output = slot->output;
    }
    // Views share the memory of what the loop gave them.
    if (!operand.loop && !is_view) operand.copy = copy_of_numbers(*value);
  }
  return operands;
}

bool UserLoop::same_operands(const Step& step, const std::vector<Operand>& operands,
                             const std::vector<ValuePtr>& values) const {
  if (step.operands.size() != operands.size()) return false;
  for (size_t i = 0; i < operands.size(); i++)
    if (!same_operand(step.operands[i], operands[i], values[i])) return false;
  return true;
}

}  // namespace avida
