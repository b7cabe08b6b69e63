// Objects in the memory of this process, by names that begin with memory://.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace avida::storage {

// Replaces the object that had the name. Readers that have opened that one go on reading it.
void put_in_memory(const std::string& name, std::span<const uint8_t> bytes);
bool remove_from_memory(const std::string& name);
std::optional<std::string> find_in_memory(const std::string& name);
std::vector<std::string> names_in_memory();

}  // namespace avida::storage
