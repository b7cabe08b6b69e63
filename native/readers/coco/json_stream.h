// Streams the elements of a JSON file, with memory for one element only.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/error.h"
#include "runtime/executor.h"
#include "storage/storage.h"

namespace avida {

// Parses the outer brackets of a file and finds the ends of values, but does not parse the values.
class JsonStream {
 public:
  static constexpr int64_t kPadding = 64;  // readable bytes after a value

  // `interrupt` is called regularly, and may throw.
  explicit JsonStream(const std::string& path, Interrupt interrupt = {});

  // Calls for each key of an object; the function must take the value.
  template <class Function>
  void object(Function&& function) {
    expect('{', "an object");
    for (bool first = true; more('}', first); first = false) {
      if (peek() != '"') fail_here("expected a name in quotes");
      std::string key(value());
      expect(':', "':'");
      function(std::string_view(key).substr(1, key.size() - 2));
    }
  }
  // Calls for each element of an array; the function must take it.
  template <class Function>
  void array(Function&& function) {
    expect('[', "an array");
    for (bool first = true; more(']', first); first = false) function();
  }
  // The text of the next value. Valid until the next call; followed by kPadding readable bytes.
  std::string_view value() { return next_value(true); }
  void skip_value() { next_value(false); }
  // Throws if anything but blanks follows.
  void end();

  const std::string& path() const { return path_; }
  int64_t value_offset() const { return value_offset_; }  // in the file, of the last value
  [[noreturn]] void fail_at(int64_t offset, const std::string& message, ErrorKind kind = ErrorKind::runtime) const;

 private:
  char peek();  // the next character that is not blank; 0 at the end of the file
  void expect(char c, const char* what);
  bool more(char closing, bool first);
  bool fill(bool keep);  // false at the end of the file
  std::string_view next_value(bool keep);
  [[noreturn]] void fail_here(const std::string& message) const { fail_at(start_ + at_, message); }

  std::string path_;
  storage::ObjectPtr file_;
  Interrupt interrupt_;
  std::string window_;
  int64_t start_ = 0;  // the offset of the window in the file
  int64_t at_ = 0, end_ = 0,
          begin_ = 0;  // in the window: the current position, the end, the beginning of the current value
  int64_t value_offset_ = 0;
  int windows_ = 0;
};

}  // namespace avida
