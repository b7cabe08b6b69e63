#include "storage/http/xml.h"

#include <charconv>

namespace avida::storage {
namespace {

constexpr size_t kLongestEntity = 16;  // characters, from & to ;

void add_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
             static_cast<char>(0x80 | (code & 63))};
  } else {
    text += {static_cast<char>(0xF0 | (code >> 18 & 7)), static_cast<char>(0x80 | (code >> 12 & 63)),
             static_cast<char>(0x80 | (code >> 6 & 63)), static_cast<char>(0x80 | (code & 63))};
  }
}

std::string without_entities(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const size_t at = text.find('&');
    plain += text.substr(0, at);
    if (at == text.npos) break;
    text.remove_prefix(at);
    const size_t end = text.substr(0, kLongestEntity).find(';');  // no further: hostile text has many of these
    const std::string_view name = text.substr(1, end == text.npos ? 0 : end - 1);
    unsigned code = 0;
    if (name == "amp") code = '&';
    if (name == "lt") code = '<';
    if (name == "gt") code = '>';
    if (name == "quot") code = '"';
    if (name == "apos") code = '\'';
    if (name.starts_with("#x"))
      std::from_chars(name.data() + 2, name.data() + name.size(), code, 16);
    else if (name.starts_with('#'))
      std::from_chars(name.data() + 1, name.data() + name.size(), code);
    if (code == 0) {  // none that is known
      plain += '&';
      text.remove_prefix(1);
    } else {
      add_utf8(plain, code);
      text.remove_prefix(end + 1);
    }
  }
  return plain;
}

// The content of the next element of this name; nothing behind the last one. Moves on.
bool next_element(std::string_view& xml, std::string_view name, std::string_view& content) {
  while (true) {
    const size_t open = xml.find('<');
    if (open == xml.npos) return false;
    xml.remove_prefix(open + 1);
    if (!xml.starts_with(name)) continue;
    const std::string_view rest = xml.substr(name.size());
    if (rest.empty() || (rest[0] != '>' && rest[0] != ' ' && rest[0] != '/')) continue;
    const size_t close = xml.find('>');
    if (close == xml.npos) return false;
    const bool is_empty = xml[close - 1] == '/';
    xml.remove_prefix(close + 1);
    if (is_empty) {
      content = {};
      return true;
    }
    const std::string end = "</" + std::string(name) + ">";
    const size_t last = xml.find(end);
    if (last == xml.npos) return false;
    content = xml.substr(0, last);
    xml.remove_prefix(last + end.size());
    return true;
  }
}

}  // namespace

void each_element(std::string_view xml, std::string_view name, const std::function<void(std::string_view)>& take) {
  std::string_view content;
  while (next_element(xml, name, content)) take(content);
}

std::string element_text(std::string_view xml, std::string_view name) {
  std::string_view content;
  return next_element(xml, name, content) ? without_entities(content) : std::string();
}

}  // namespace avida::storage
