// One letter per axis ("HWC"); empty when unknown.
#pragma once
#include <array>
#include <ostream>
#include <string_view>

#include "core/shape.h"

namespace avida {

class Layout {
 public:
  Layout() = default;
  Layout(std::string_view letters) {
    if (letters.size() > kMaxDim) value_error("a layout can have at most ", kMaxDim, " letters, got \"", letters, '"');
    for (char c : letters) letters_[size_++] = c;
  }
  Layout(const char* letters) : Layout(std::string_view(letters)) {}

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  char operator[](int i) const { return letters_[i]; }
  std::string_view view() const { return {letters_.data(), static_cast<size_t>(size_)}; }
  int find(char c) const {
    auto at = view().find(c);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  }
  void push_back(char c) { *this = Layout(std::string(view()) + c); }
  bool operator==(const Layout& other) const { return view() == other.view(); }

 private:
  int size_ = 0;
  std::array<char, kMaxDim> letters_{};
};

inline std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << '"' << layout.view() << '"'; }

}  // namespace avida
