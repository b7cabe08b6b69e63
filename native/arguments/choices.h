// Enumerations as arguments: the names of their members stand once, beside the enumeration.
//
//   enum class Border { zero, clamp, reflect };
//   AVIDA_CHOICES(Border, "zero", "clamp", "reflect")
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.h"

namespace avida {

// One name. Without a value it stands for the member at the same position.
struct Choice {
  constexpr Choice(const char* name) : name(name) {}
  template <class E>
  constexpr Choice(const char* name, E value) : name(name), value(static_cast<int>(value)) {}

  std::string_view name;
  int value = -1;
};

struct ChoiceRules {
  bool any_case = false;                 // letters may be capital or small
  ErrorKind error = ErrorKind::runtime;  // what a name that is none of them raises
  // The class of Python whose numbers are accepted as well, and what its names may begin with; they are in any case.
  const char* enumeration = nullptr;
  const char* prefix = "";
};
inline constexpr ChoiceRules kAnyCase{.any_case = true};
inline constexpr ChoiceRules kRaisesValueError{.error = ErrorKind::value};
inline constexpr ChoiceRules kInterpType{.enumeration = "DALIInterpType", .prefix = "interp_"};
inline constexpr ChoiceRules kImageType{.enumeration = "DALIImageType"};

class Choices {
 public:
  constexpr Choices(std::span<const Choice> list, ChoiceRules rules) : list_(list), rules_(rules) {}

  // Both raise an error that lists the names, such as: must be "zero" or "clamp", got "wrap".
  int number_of(std::string_view name) const;
  int checked(int64_t number) const;

  std::string_view name_of(int number) const;  // the first one of it
  std::span<const Choice> list() const { return list_; }
  constexpr const char* enumeration() const { return rules_.enumeration; }

 private:
  int value(size_t i) const { return list_[i].value < 0 ? static_cast<int>(i) : list_[i].value; }
  bool matches(std::string_view known, std::string_view name) const;
  std::string listed() const;

  std::span<const Choice> list_;
  ChoiceRules rules_;
};

// In the namespace of the enumeration. A member may have several names: {"edge", Border::clamp}.
#define AVIDA_CHOICES(ENUM, ...) AVIDA_CHOICES_WITH(ENUM, ::avida::ChoiceRules(), __VA_ARGS__)
#define AVIDA_CHOICES_WITH(ENUM, RULES, ...)                                 \
  inline constexpr ::avida::Choice kNamesOf##ENUM[] = {__VA_ARGS__};         \
  inline constexpr ::avida::Choices kChoicesOf##ENUM(kNamesOf##ENUM, RULES); \
  [[maybe_unused]] constexpr const ::avida::Choices& choices_of(ENUM) { return kChoicesOf##ENUM; }

template <class E>
concept HasChoices = std::is_enum_v<E> && requires(E member) { choices_of(member); };

// The name of a member, as messages show it.
template <HasChoices E>
std::string_view name_of(E member) {
  return choices_of(member).name_of(static_cast<int>(member));
}

}  // namespace avida
