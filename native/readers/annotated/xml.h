// XML as far as annotations need it: elements with texts, without declarations of types and entities.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace avida {

// An element: the texts in it, without its attributes, and the elements in it.
struct XmlElement {
  std::string name, text;  // blanks at the ends of the text are left out
  int64_t line = 1;
  std::vector<XmlElement> elements;

  // The first one of that name; null without one.
  const XmlElement* find(std::string_view name) const;
};

// Throws Error, which names the line, beginning with ":". What a document could grow by (entities of its own) and what
// would exhaust the stack (elements in one another) is refused, so that memory is in proportion to the text.
XmlElement parse_xml(std::string_view text);

}  // namespace avida
