#include "readers/webdataset/webdataset_samples.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "core/error.h"

namespace avida {
namespace {

constexpr std::string_view kBlanks = " \t\r\v\f\n";

// The position of the first dot in the file name without its folders, or npos.
size_t dot_of(std::string_view name) {
  size_t slash = name.rfind('/');
  return name.find('.', slash == name.npos ? 0 : slash + 1);
}

// Removes leading "/" and "../", which would lead out of the archive.
std::string_view inside(std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.starts_with("../")) name.remove_prefix(3);
  return name;
}

// Iterates over the words of a line.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view next() {  // empty at the end
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
    std::string_view word = rest_.substr(0, rest_.find_first_of(kBlanks));
    rest_.remove_prefix(word.size());
    return word;
  }

  std::optional<int64_t> next_number() {
    std::string_view word = next();
    int64_t value = 0;
    auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
  }

 private:
  std::string_view rest_;
};

// The name repeats the extension, and the key of the sample: a damaged index contradicts itself.
void check_name(std::string_view extension, std::string_view name, WebdatasetSample& sample) {
  const WebdatasetName parsed = parse_webdataset_name(name);
  if (parsed.extension != inside(extension))
    refuse("expected \"", extension, "\" as the extension of \"", name, "\", whose bytes it describes");
  if (sample.members.empty()) sample.key = parsed.key;
  if (parsed.key != sample.key) refuse("expected components of one sample, found ", sample.key, " and ", parsed.key);
}

// The components of one line: extension, offset, size, and in the newer version the name.
void read_line(std::string_view line, bool with_names, int64_t archive_bytes, WebdatasetSample& sample) {
  Words words(line);
  for (auto extension = words.next(); !extension.empty(); extension = words.next()) {
    auto offset = words.next_number(), size = words.next_number();
    std::string_view name = with_names ? words.next() : "";
    if (!offset || !size || (with_names && name.empty()))
      refuse("expected an extension, an offset", with_names ? ", a size and a name" : " and a size",
             " for each component, after \"", extension, "\"");
    if (*offset < kTarBlock || *offset % kTarBlock != 0)
      refuse("expected an offset that is a multiple of 512, after a header, for \"", extension, "\", found ", *offset);
    if (*size < 0 || *offset > archive_bytes || *size > archive_bytes - *offset)
      refuse("the ", *size, " bytes of \"", extension, "\" from byte ", *offset, " on exceed the archive, which has ",
             archive_bytes, " bytes");
    if (with_names) check_name(extension, name, sample);
    sample.members.push_back({std::string(name), std::string(extension), *offset, *size});
  }
  if (sample.members.empty()) refuse("expected at least one component, found none");
}

// The form that an index uses.
char without_blank(char c) { return kBlanks.find(c) == kBlanks.npos ? c : '_'; }

}  // namespace

WebdatasetName parse_webdataset_name(std::string_view name) {
  name = inside(name);
  size_t dot = dot_of(name);
  // Without a dot, the whole name is also the extension.
  return {name.substr(0, dot), name.substr(dot == name.npos ? 0 : dot + 1)};
}

uint64_t hash_of_webdataset_name(std::string_view name) {
  if (name.empty()) return 0;
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char c : inside(name)) hash = (hash ^ static_cast<uint8_t>(without_blank(c))) * 1099511628211u;
  return std::max<uint64_t>(hash, 1);
}

void find_webdataset_samples(const storage::Object& archive, WebdatasetSample& sample,
                             const OnWebdatasetSample& on_sample, const ScanProgress& on_progress) {
  sample = {};
  auto end_sample = [&] {
    if (!sample.members.empty()) on_sample(sample);
    sample.members.clear();
    sample.key.clear();
  };
  auto add = [&](const TarMember& member) {
    auto [key, extension] = parse_webdataset_name(member.name);
    if (key.empty()) return;  // a hidden file
    if (key != sample.key) end_sample();
    if (sample.members.empty()) sample.key = key;
    sample.members.push_back({std::string(inside(member.name)), std::string(extension), member.offset, member.size});
  };
  scan_tar(archive, add, on_progress);
  end_sample();
}

void list_webdataset_samples(std::string_view index, int64_t archive_bytes, WebdatasetSample& sample,
                             const OnWebdatasetSample& on_sample) {
  sample = {};
  auto next_line = [&] {
    size_t end = std::min(index.find('\n'), index.size());
    std::string_view line = index.substr(0, end);
    index.remove_prefix(std::min(end + 1, index.size()));
    return line;
  };
  Words head(next_line());
  std::string_view version = head.next();
  if (version != "v1.1" && version != "v1.2")
    refuse("line 1: expected an index of version v1.1 or v1.2, found \"", version.substr(0, 20), "\"");
  auto samples = head.next_number();
  if (!samples || *samples < 1) refuse("line 1: expected the number of samples after the version");
  for (int64_t i = 0; i < *samples; i++) {
    sample.key.clear();
    sample.members.clear();
    try {
      read_line(next_line(), version == "v1.2", archive_bytes, sample);
    } catch (const Error& error) {
      fail(error.kind, "line ", i + 2, ": ", error.message);
    }
    on_sample(sample);
  }
  if (const std::string_view more = next_line(); !more.empty())
    refuse("line ", *samples + 2, ": expected the end after ", *samples, " samples, found \"", more.substr(0, 40),
           "\"");
}

std::string webdataset_index(const storage::Object& archive, const ScanProgress& on_progress) {
  std::string lines;
  int64_t samples = 0;
  WebdatasetSample sample;
  auto add = [&](const WebdatasetSample& found) {
    samples++;
    for (auto& member : found.members) {
      if (member.extension.empty() || member.extension.find_first_of(kBlanks) != std::string::npos)
        refuse("byte ", member.offset - 512, ", member ", member.name,
               ": an index cannot hold an extension that is empty or contains blanks");
      if (&member != found.members.data()) lines += ' ';
      lines += str(member.extension, ' ', member.offset, ' ', member.size, ' ');
      size_t begin = lines.size();
      lines += member.name;
      // Blanks separate fields; the name is informational.
      for (char& c : std::span(lines).subspan(begin)) c = without_blank(c);
    }
    lines += '\n';
  };
  find_webdataset_samples(archive, sample, add, on_progress);
  if (samples == 0) refuse("expected an archive with at least one sample, found none");
  return str("v1.2 ", samples, "\n", lines);
}

}  // namespace avida
