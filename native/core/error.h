// The one exception of the native side. `kind` names the Python exception it becomes.
#pragma once
#include <exception>
#include <sstream>
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

// str("axis ", 3, " is out of range"): the pieces of a message, joined.
template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, str(parts...));
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
