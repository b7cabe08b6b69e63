#include "core/error.h"

#include <sstream>

namespace avida {

std::string join(std::span<const MessagePart> parts) {
  std::ostringstream out;
  for (const MessagePart& part : parts) out << part;
  return std::move(out).str();
}

void raise(ErrorKind kind, std::span<const MessagePart> parts) { throw Error(kind, join(parts)); }

}  // namespace avida
