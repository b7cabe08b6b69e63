#include "readers/annotated/xml.h"

#include <charconv>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kBehindNames = " \t\r\n/>=<\"'";
constexpr std::pair<std::string_view, char> kEntities[] = {
    {"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}};

class XmlParser {
 public:
  explicit XmlParser(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    if (text_.find('\0') != text_.npos) fail("expected UTF-8, found null characters");
  }

  XmlElement document() {
    skip_around_root();
    if (!rest().starts_with('<'))
      fail(at_end() ? "expected an element, but the file ends here" : "expected an element");
    XmlElement root = element(1);
    skip_around_root();
    if (!at_end()) fail("expected nothing behind the first element");
    return root;
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }
  bool at_end() const { return at_ == text_.size(); }
  [[noreturn]] void fail(const std::string& message) const { refuse(':', line_, ": ", message); }
  void move(size_t count) {
    for (char c : text_.substr(at_, count)) line_ += c == '\n';
    at_ += count;
  }
  // Moves behind what ends a part; its line is that of the beginning if it does not end.
  std::string_view up_to(std::string_view end, const char* what) {
    const size_t found = rest().find(end);
    if (found == std::string_view::npos) fail(str("this ", what, " does not end"));
    const std::string_view part = rest().substr(0, found);
    move(found + end.size());
    return part;
  }
  void skip_blanks() { move(std::min(rest().find_first_not_of(kBlanks), rest().size())); }

  // A comment or an instruction.
  bool skip_other() {
    if (rest().starts_with("<!--")) return up_to("-->", "comment"), true;
    if (rest().starts_with("<?")) return up_to("?>", "instruction"), true;
    if (rest().starts_with("<!DOCTYPE") || rest().starts_with("<!ENTITY"))
      fail("expected annotations, found a declaration (DOCTYPE), which could define entities; remove it");
    return false;
  }
  void skip_around_root() {
    do skip_blanks();
    while (skip_other());
  }

  std::string name() {
    const size_t length = std::min(rest().find_first_of(kBehindNames), rest().size());
    if (length == 0) fail("expected the name of an element");
    const std::string found(rest().substr(0, length));
    move(length);
    return found;
  }

  // Returns whether the element has contents.
  bool skip_attributes() {
    while (true) {
      skip_blanks();
      if (rest().starts_with("/>")) return move(2), false;
      if (rest().starts_with('>')) return move(1), true;
      name();
      skip_blanks();
      if (!rest().starts_with('=')) fail("expected '=' behind the name of an attribute");
      move(1);
      skip_blanks();
      if (!rest().starts_with('"') && !rest().starts_with('\'')) fail("expected an attribute in quotes");
      const std::string quote(rest().substr(0, 1));
      move(1);
      up_to(quote, "attribute");
    }
  }

  XmlElement element(int depth) {
    if (depth > kDeepest) fail(str("more than ", kDeepest, " elements in one another"));
    XmlElement made;
    made.line = line_;
    move(1);
    made.name = name();
    if (skip_attributes()) contents(made, depth);
    const size_t begin = std::min(made.text.find_first_not_of(kBlanks), made.text.size());
    made.text = made.text.substr(begin, made.text.find_last_not_of(kBlanks) + 1 - begin);
    return made;
  }

  void contents(XmlElement& made, int depth) {
    while (true) {
      const size_t next = std::min(rest().find_first_of("<&"), rest().size());
      made.text += rest().substr(0, next);
      move(next);
      if (at_end()) refuse(':', made.line, ": the element <", made.name, "> does not end");
      if (rest().starts_with('&')) {
        made.text += entity();
      } else if (rest().starts_with("</")) {
        move(2);
        if (const std::string closed = name(); closed != made.name)
          fail(str("expected </", made.name, ">, got </", closed, '>'));
        skip_blanks();
        if (!rest().starts_with('>')) fail("expected '>'");
        return move(1);
      } else if (rest().starts_with("<![CDATA[")) {
        move(9);
        made.text += up_to("]]>", "section of characters");
      } else if (!skip_other()) {
        made.elements.push_back(element(depth + 1));
      }
    }
  }

  std::string entity() {
    constexpr size_t kLongest = 12;
    const size_t end = rest().substr(0, kLongest).find(';');
    if (end == std::string_view::npos) fail("expected a character such as &amp;, got '&' alone");
    const std::string_view name = rest().substr(1, end - 1);
    std::string made = name.starts_with('#') ? character(name.substr(1)) : std::string();
    for (auto [known, meant] : kEntities)
      if (name == known) made = std::string(1, meant);
    if (made.empty()) fail(str("the entity &", name, "; is unknown"));
    move(end + 1);
    return made;
  }

  // By its number, as UTF-8; empty for none.
  static std::string character(std::string_view number) {
    const int base = number.starts_with('x') ? 16 : 10;
    if (base == 16) number.remove_prefix(1);
    uint32_t code = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), code, base);
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    if (error != std::errc() || end != number.data() + number.size() || code == 0 || code > 0x10ffff || is_surrogate)
      return {};
    const auto byte = [](uint32_t bits) { return static_cast<char>(bits); };
    if (code < 0x80) return {byte(code)};
    if (code < 0x800) return {byte(0xc0 | code >> 6), byte(0x80 | (code & 63))};
    if (code < 0x10000) return {byte(0xe0 | code >> 12), byte(0x80 | (code >> 6 & 63)), byte(0x80 | (code & 63))};
    return {byte(0xf0 | code >> 18), byte(0x80 | (code >> 12 & 63)), byte(0x80 | (code >> 6 & 63)),
            byte(0x80 | (code & 63))};
  }

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

}  // namespace

const XmlElement* XmlElement::find(std::string_view name) const {
  for (const XmlElement& element : elements)
    if (element.name == name) return &element;
  return nullptr;
}

XmlElement parse_xml(std::string_view text) { return XmlParser(text).document(); }

}  // namespace avida
