// Notices: what calls on threads without Python have to tell the user, which is shown as a warning.
#pragma once
#include <string>
#include <vector>

namespace avida {

// Only the first of a kind, which is a literal, is ever told.
void post_notice(const char* kind, std::string text);
// Those posted since the last time. Costs one load where there are none.
std::vector<std::string> take_notices();

}  // namespace avida
