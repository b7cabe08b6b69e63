#include "arguments/traits.h"

#include <charconv>

namespace avida::arg {

std::string text_of(double number) {
  char buffer[32];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<float>(number)).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

#define AVIDA_X(...)                                 \
  template const MemberKind& kind_of<__VA_ARGS__>(); \
  template const MemberKind& kind_of<std::optional<__VA_ARGS__>>();
AVIDA_EACH_MEMBER_TYPE(AVIDA_X)
#undef AVIDA_X

}  // namespace avida::arg
