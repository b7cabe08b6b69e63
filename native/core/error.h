// The one exception of the native side. `kind` names the Python exception it becomes.
#pragma once
#include <exception>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <utility>

namespace avida {

enum class ErrorKind { value, type, index, overflow, runtime, memory, key, os, not_implemented };

class Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind(kind), message(std::move(message)) {}
  const char* what() const noexcept override { return message.c_str(); }

  ErrorKind kind;
  std::string message;
};

// A part of a message: anything that can be written to a stream. Messages are formatted out of line, since errors are
// raised in hundreds of places, and rarely.
class MessagePart {
 public:
  template <class T>
  MessagePart(const T& value) : value_(&value), write_(&write<T>) {}
  friend std::ostream& operator<<(std::ostream& out, const MessagePart& part) {
    part.write_(out, part.value_);
    return out;
  }

 private:
  template <class T>
  static void write(std::ostream& out, const void* value) {
    out << *static_cast<const T*>(value);
  }
  const void* value_;
  void (*write_)(std::ostream&, const void*);
};

std::string join(std::span<const MessagePart> parts);
[[noreturn]] void raise(ErrorKind kind, std::span<const MessagePart> parts);

// str("axis ", 3, " is out of range"): the parts of a message, joined.
template <class... Parts>
std::string str(const Parts&... parts) {
  return join(std::initializer_list<MessagePart>{parts...});
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  raise(kind, std::initializer_list<MessagePart>{parts...});
}
// Raises a runtime error: the operator cannot do what was requested.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  fail(ErrorKind::runtime, parts...);
}
template <class... Parts>
[[noreturn]] void value_error(const Parts&... parts) {
  fail(ErrorKind::value, parts...);
}
template <class... Parts>
[[noreturn]] void type_error(const Parts&... parts) {
  fail(ErrorKind::type, parts...);
}

}  // namespace avida
