// Notices: what calls on threads without Python have to tell the user, which is shown as a warning.
#pragma once
#include <string>
#include <vector>

namespace avida {

void post_notice(std::string text);
// Those posted since the last time, in order. Costs one load where there are none.
std::vector<std::string> take_notices();

}  // namespace avida
