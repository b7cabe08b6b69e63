// The elements of a listing in XML. What surrounds them does not matter.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace avida::storage {

// Calls the function with the content of each element of this name, from first to last.
void each_element(std::string_view xml, std::string_view name, const std::function<void(std::string_view)>& take);
// The text of the first element of this name, without entities; empty if there is none.
std::string element_text(std::string_view xml, std::string_view name);

}  // namespace avida::storage
