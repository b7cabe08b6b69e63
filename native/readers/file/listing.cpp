#include "readers/file/listing.h"

#include <cstring>
#include <stdexcept>

#include "core/crc32c.h"
#include "core/error.h"
#include "readers/file/steps.h"
#include "storage/names.h"
#include "storage/storage.h"

namespace avida {
namespace {

using namespace std::string_view_literals;

// Of a file: a line, the root, and then each folder with its files and an empty name. All names end with a null.
constexpr std::string_view kBeginning = "avida listing ";
constexpr std::string_view kVersion = "1\n";

// The root, as a file at this path names it: paths are relative, so that both may be moved.
std::string name_of_root(const std::string& path, const std::string& root) {
  std::string full = storage::full_name(root);
  while (full.size() > 1 && full.ends_with('/')) full.pop_back();
  return storage::relative_name(full, storage::folder_of(storage::full_name(path)));
}

// The text up to a null; moves on behind it.
std::string_view next_name(std::string_view& text) {
  const size_t end = text.find('\0');
  if (end == text.npos) throw std::out_of_range("name");
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end + 1);
  return name;
}

// The names up to an empty one; moves on behind that.
std::string_view next_names(std::string_view& text) {
  const size_t found = text.find("\0\0"sv);
  if (text.empty() || (!text.starts_with('\0') && found == text.npos)) throw std::out_of_range("names");
  const size_t end = text.starts_with('\0') ? 0 : found + 1;
  const std::string_view names = text.substr(0, end);
  text.remove_prefix(end + 1);
  return names;
}

uint32_t checksum_of(std::string_view text) { return crc32c(text.data(), std::ssize(text)); }

}  // namespace

void Listing::add_file(std::string_view folder, std::string_view name) {
  auto files = files_.find(folder);
  if (files == files_.end()) files = files_.emplace(folder, std::string()).first;
  if (name.find('/') == name.npos) files->second.append(name) += '\0';  // what lies deeper is no sample
}

std::shared_ptr<const Listing> Listing::of(const std::string& root, const Interrupt& interrupt) {
  auto listing = std::make_shared<Listing>();
  Steps steps(interrupt);
  const auto add = [&](std::string_view folder, std::string_view name) {
    steps.next();
    if (name.find('\0') != name.npos || folder.find('\0') != folder.npos)
      value_error("expected names of files in ", root, ", got one with a null character");
    listing->add_file(folder, name);
  };
  if (!storage::is_local(root)) {
    storage::list(root, true, [&](const storage::Entry& entry) {
      const size_t end = entry.name.find('/');
      end == entry.name.npos ? add("", entry.name) : add(entry.name.substr(0, end), entry.name.substr(end + 1));
    });
    return listing;
  }
  storage::list(root, false, [&](const storage::Entry& entry) {
    entry.is_folder ? void(listing->files_[std::string(entry.name)]) : add("", entry.name);
  });
  for (auto& [folder, files] : listing->files_)
    if (!folder.empty())
      storage::list(storage::name_in(root, folder), false, [&](const storage::Entry& entry) {
        if (!entry.is_folder) add(folder, entry.name);
      });
  return listing;
}

std::shared_ptr<const Listing> Listing::kept(const std::string& path, const std::string& root) {
  if (!storage::exists(path)) return nullptr;
  const std::string content = storage::read_text(path);
  if (!content.starts_with(kBeginning)) refuse(path, ": expected a listing of ", root, ", found another file");
  std::string_view rest = std::string_view(content).substr(kBeginning.size());
  if (!rest.starts_with(kVersion)) return nullptr;
  auto listing = std::make_shared<Listing>();
  try {
    uint32_t checksum;
    if (rest.size() < kVersion.size() + sizeof(checksum)) throw std::out_of_range("checksum");
    std::memcpy(&checksum, content.data() + content.size() - sizeof(checksum), sizeof(checksum));
    if (checksum_of(std::string_view(content).substr(0, content.size() - sizeof(checksum))) != checksum)
      throw std::out_of_range("checksum");
    rest.remove_suffix(sizeof(checksum));
    rest.remove_prefix(kVersion.size());
    const std::string_view found = next_name(rest);
    if (found != name_of_root(path, root))
      refuse(path, ": expected the listing of ", root, ", found that of ",
             storage::name_in(storage::folder_of(path), std::string(found)), ". Each folder needs a file of its own");
    listing->parse(rest);
  } catch (const std::out_of_range&) {
    refuse(path, ": the listing is damaged; remove the file, and it will be made again");
  }
  return listing;
}

void Listing::parse(std::string_view text) {
  while (!text.empty()) {
    const std::string_view folder = next_name(text), files = next_names(text);
    if (folder == "." || folder == ".." || folder.find('/') != folder.npos || files.find('/') != files.npos)
      throw std::out_of_range("slash");
    files_.emplace(folder, files);
  }
}

std::string Listing::content(const std::string& path, const std::string& root) const {
  std::string content = str(kBeginning, kVersion, name_of_root(path, root), '\0');
  for (auto& [folder, files] : files_) ((content.append(folder) += '\0') += files) += '\0';
  const uint32_t checksum = checksum_of(content);
  content.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  return content;
}

void Listing::each_folder(const Take& take) const {
  for (auto& [folder, files] : files_)
    if (!folder.empty()) take(folder);
}

void Listing::each_file(std::string_view folder, const Take& take) const {
  const auto found = files_.find(folder);
  if (found == files_.end()) return;
  for (std::string_view text = found->second; !text.empty();) take(next_name(text));
}

}  // namespace avida
