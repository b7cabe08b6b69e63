#include "readers/coco/json_stream.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace avida {
namespace {

constexpr int64_t kWindow = 1 << 20;
constexpr int kDeepest = 1000;
constexpr int kWindowsPerInterrupt = 8;

// The class of a character outside of strings.
enum Meaning : uint8_t { other, opening, closing, quote };
constexpr auto kMeanings = [] {
  std::array<Meaning, 256> meanings{};
  meanings['{'] = meanings['['] = opening;
  meanings['}'] = meanings[']'] = closing;
  meanings['"'] = quote;
  return meanings;
}();

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool ends_scalar(char c) { return c == ',' || c == ']' || c == '}' || is_blank(c); }

}  // namespace

JsonStream::JsonStream(const std::string& path, Interrupt interrupt)
    : path_(path), interrupt_(std::move(interrupt)), window_(kWindow + kPadding, ' ') {
  try {
    file_ = storage::in_order(storage::open(path));
  } catch (const Error& error) {
    fail(error.kind, path, ": ", error.message);
  }
}

void JsonStream::fail_at(int64_t offset, const std::string& message, ErrorKind kind) const {
  fail(kind, path_, ", byte ", offset, ": ", message);
}

// Moves the data from begin_ (or at_, if nothing is kept) to the front of the window and fills the rest of it.
bool JsonStream::fill(bool keep) {
  int64_t from = keep ? begin_ : at_;
  int64_t kept = end_ - from;
  int64_t bytes = std::min(std::max(kWindow, kept), file_->size() - start_ - end_);
  if (bytes <= 0) return false;
  if (interrupt_ && ++windows_ % kWindowsPerInterrupt == 0) interrupt_();
  if (static_cast<int64_t>(window_.size()) < kept + bytes + kPadding) window_.resize(kept + bytes + kPadding);
  std::memmove(window_.data(), window_.data() + from, kept);
  file_->read_at(start_ + end_, window_.data() + kept, bytes);
  start_ += from;
  at_ -= from;
  begin_ = 0;
  end_ = kept + bytes;
  return true;
}

char JsonStream::peek() {
  while (true) {
    while (at_ < end_ && is_blank(window_[at_])) at_++;
    if (at_ < end_) return window_[at_];
    if (!fill(false)) return 0;
  }
}

void JsonStream::expect(char c, const char* what) {
  char found = peek();
  if (found == 0) fail_here(str("expected ", what, ", but the file ends here"));
  if (found != c) fail_here(str("expected ", what, ", got '", found, "'"));
  at_++;
}

bool JsonStream::more(char closing, bool first) {
  char c = peek();
  if (c == closing) {
    at_++;
    return false;
  }
  if (!first) {
    if (c != ',')
      fail_here(c == 0 ? str("the file ends here, expected '", closing, "'")
                       : str("expected ',' or '", closing, "', got '", c, "'"));
    at_++;
  }
  return true;
}

std::string_view JsonStream::next_value(bool keep) {
  char first = peek();
  if (first == 0) fail_here("expected a value, but the file ends here");
  begin_ = at_;
  value_offset_ = start_ + begin_;
  int64_t offset = value_offset_;
  int depth = 0;
  bool in_string = false, done = false;
  bool scalar = kMeanings[static_cast<uint8_t>(first)] == other;
  if (scalar && ends_scalar(first)) fail_here(str("expected a value, got '", first, "'"));
  if (kMeanings[static_cast<uint8_t>(first)] == closing) fail_here(str("expected a value, got '", first, "'"));
  while (!done) {
    const char* text = window_.data();
    int64_t at = at_;
    while (at < end_ && !done) {
      if (in_string) {
        while (at < end_ && text[at] != '"' && text[at] != '\\') at++;
        if (at == end_) break;
        if (text[at] == '\\') {
          if (at + 1 == end_) break;  // the escaped character is not in the window yet
          at += 2;
          continue;
        }
        in_string = false;
        at++;
        done = depth == 0;
      } else if (scalar) {
        while (at < end_ && !ends_scalar(text[at])) at++;
        done = at < end_;
      } else {
        while (at < end_ && kMeanings[static_cast<uint8_t>(text[at])] == other) at++;
        if (at == end_) break;
        Meaning meaning = kMeanings[static_cast<uint8_t>(text[at++])];
        if (meaning == quote)
          in_string = true;
        else if (meaning == opening)
          depth++;
        else
          done = --depth == 0;
        if (depth > kDeepest) fail_at(start_ + at, str("more than ", kDeepest, " brackets in one another"));
      }
    }
    at_ = at;
    if (done || fill(keep)) continue;
    if (scalar) break;
    fail_at(offset, "this value does not end: the file is cut off or a bracket or quote is missing");
  }
  return keep ? std::string_view(window_).substr(begin_, at_ - begin_) : std::string_view();
}

void JsonStream::end() {
  if (char c = peek(); c != 0) fail_here(str("expected nothing more, got '", c, "'"));
}

}  // namespace avida
