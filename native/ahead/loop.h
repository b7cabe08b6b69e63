// Speculative execution: the calls that a loop made for its last items are made for the next ones before it asks.
//
// Each iteration of a loop over a reader is recorded as a list of steps. Steps that the last iterations have in common
// are made for the items that follow, as far as those have been read, at low priority. When the loop makes a call that
// was made ahead, of the same values, arguments and random numbers, it gets those results; whatever it does not ask for
// is dropped. Calls are pure, so results, errors and states do not depend on what was made ahead.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "ahead/step.h"

namespace avida {

class UserLoop : public std::enable_shared_from_this<UserLoop> {
 public:
  using Item = std::vector<ValuePtr>;
  // The next items that have been read already, without waiting; at most as many as given.
  using Peek = std::function<std::vector<Item>(int)>;

  UserLoop();
  UserLoop(const UserLoop&) = delete;
  ~UserLoop();

  // Begins an epoch, of which `depth` items are to be prepared ahead; more, if it `grows`, where the loop decodes
  // images on a GPU.
  void open(Peek peek, int depth, bool grows);
  // Ends it: what was made ahead is dropped. What was learned is kept for the next epoch, but for functions of Python:
  // what they refer to may refer to the reader.
  void close();
  bool is_open() const;

  // This thread is given an item: an iteration begins.
  void begin(const Item& item);
  // More items have been read.
  void advance();

  // Whether this thread is in a loop that prepares items ahead.
  static bool here();
  // The results of a call of this thread's innermost loop if it was made ahead, else none.
  static std::vector<ValuePtr> take(const Request& request);
  // Records a call that was not.
  static void record(const Request& request, std::span<const ValuePtr> results);

  struct Counts {
    uint64_t made = 0, used = 0, dropped = 0;
  };
  // How many calls were made ahead in this process, and how many of them were asked for or dropped.
  static Counts counts();

 private:
  struct Thread;
  struct Slot;
  struct Made;
  struct Ahead;
  struct Dropped;

  void leave_thread();
  void end_iteration(Dropped& dropped);
  void drop(std::deque<Ahead>::iterator end, Dropped& dropped);
  void peek();
  void make_all(Ahead& ahead);
  std::optional<Made> make(const std::shared_ptr<Step>& step, const Ahead& ahead) const;
  std::shared_ptr<Context> place(const std::shared_ptr<Context>& own, const Ahead& ahead) const;
  ValuePtr find(const Operand& operand, const Ahead& ahead) const;
  static bool computed_elsewhere(const ValuePtr& value, const Ahead& ahead, const std::shared_ptr<Executor>& executor);
  ValuePtr output(int64_t number, uint64_t step, int index) const;
  void expect_chains(Ahead& ahead, size_t first) const;
  void advance_thread();
  std::vector<Operand> operands_of(const std::vector<ValuePtr>& values, bool is_view) const;
  bool same_operands(const Step& step, const std::vector<Operand>& operands, const std::vector<ValuePtr>& values) const;
  std::string why_not(const Request& request, const Step* known, const std::vector<Operand>& operands,
                      const std::vector<ValuePtr>& values) const;
  std::string why_not(const Operand& operand, const std::string& name) const;
  bool was_made_ahead(uint64_t step) const;
  void note(const std::shared_ptr<Step>& step, std::span<const ValuePtr> results);

  Peek peek_;  // null between epochs
  int depth_ = 0;
  bool grows_ = false;
  std::shared_ptr<Thread> thread_;      // null outside of a loop
  std::shared_ptr<Thread> learned_on_;  // the thread of the steps
  int64_t number_ = 0;                  // of this iteration, or the last one
  bool in_iteration_ = false;
  std::vector<Slot> slots_;  // the values of this iteration
  std::vector<std::shared_ptr<Step>> current_, previous_;
  std::vector<Ahead> now_;   // what was made for this iteration: one or none
  std::deque<Ahead> ahead_;  // what was made for the next ones
};

}  // namespace avida
