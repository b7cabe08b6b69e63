// What an argument is: its name, type, default and choices, and how to set it.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "arguments/choices.h"
#include "core/dtype.h"
#include "core/shape.h"

namespace avida {

// A list argument of at most kMaxDim numbers, kept inside the arguments struct.
template <class T>
class Vec {
 public:
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](int i) const { return items_[i]; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }
  void push_back(T item) { items_[size_++] = item; }

 private:
  int size_ = 0;
  T items_[kMaxDim];
};

// A fixed argument as Python gave it.
using ArgValue = std::variant<bool, int64_t, double, std::string, DType, std::vector<int64_t>, std::vector<double>>;

// choice: one of several names. enumeration: the same, or a number of an enum of Python.
enum class ArgType { boolean, integer, real, dtype, layout, string, choice, enumeration, integers, reals };

enum ArgFlag : unsigned {
  fixed = 1,  // one value for the whole batch
  required = 2,
  deprecated = 4,    // accepted, without effect
  takes_nan = 8,     // a number that becomes part of the data, not a parameter
  adds_output = 16,  // a boolean: there is one more output if it is true
};

// How members of one type are set and shown, for code that does not know the type; see arg::kind_of.
struct MemberKind {
  ArgType type;
  const Choices* choices;  // of a choice or an enumeration, else null
  void (*assign)(void* member, const ArgValue&);
  void (*from_sample)(void* member, const void* data, const Shape&, DType);
  void (*check)(const ArgValue&);  // whether it could be assigned
  std::string (*text)(const void* member);
};

struct ArgSpec {
  std::string name, doc;
  ArgType type;
  unsigned flags;
  const Choices* choices;
  std::string default_text;  // as written in Python; empty if the argument has no default
  const MemberKind* kind;
  size_t offset;  // of the member; deprecated arguments have none

  void set(void* args, const ArgValue& value) const {
    if (flags & deprecated) return kind->check(value);
    kind->assign(static_cast<char*>(args) + offset, value);
  }
  void set_from_sample(void* args, const void* data, const Shape& shape, DType dtype) const {
    kind->from_sample(static_cast<char*>(args) + offset, data, shape, dtype);
  }
};

}  // namespace avida
