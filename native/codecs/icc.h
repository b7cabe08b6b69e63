// What colour profiles (ICC) call themselves.
#pragma once
#include "codecs/codec.h"

namespace avida::codecs {

// The description in a profile; "" if it has none, or is damaged.
std::string profile_name(Bytes profile);

}  // namespace avida::codecs
