// How members of an arguments struct are converted from and to Python. One specialisation per kind of member.
#pragma once
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "arguments/arg_spec.h"
#include "core/layout.h"

namespace avida::arg {

template <class M>
struct Traits;  // type, assign(M&, ArgValue), from_sample(M&, data, shape, dtype), text(M)

std::string text_of(double number);

template <class To>
To to_number(const ArgValue& value) {
  return std::visit(
      [](const auto& v) -> To {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, bool>) {
          return static_cast<To>(v);
        } else if constexpr (std::is_same_v<V, int64_t>) {
          if constexpr (std::is_same_v<To, int>)
            if (v != static_cast<int>(v)) value_error("the number ", v, " does not fit into 32 bits");
          return static_cast<To>(v);
        } else if constexpr (std::is_same_v<V, double> && std::is_floating_point_v<To>) {
          return static_cast<To>(v);
        } else {
          type_error("expected a number");
        }
      },
      value);
}

// Element i of a sample of arguments, converted as by a cast: fractions are rounded.
template <class To>
To element(const void* data, DType dtype, int64_t i) {
  return with_dtype(dtype, [&](auto t) -> To {
    using From = typename decltype(t)::type;
    return convert<To>(static_cast<const From*>(data)[i]);
  });
}

template <class M>
  requires std::is_arithmetic_v<M>
struct Traits<M> {
  static constexpr ArgType type = std::is_same_v<M, bool>       ? ArgType::boolean
                                  : std::is_floating_point_v<M> ? ArgType::real
                                                                : ArgType::integer;
  static void assign(M& member, const ArgValue& value) { member = to_number<M>(value); }
  static void from_sample(M& member, const void* data, const Shape& shape, DType dtype) {
    if (volume(shape) != 1) refuse("expected one number per sample, got the shape ", shape);
    member = element<M>(data, dtype, 0);
  }
  static std::string text(M member) {
    if constexpr (std::is_same_v<M, bool>)
      return member ? "True" : "False";
    else if constexpr (std::is_integral_v<M>)
      return std::to_string(member);
    else
      return text_of(member);
  }
};

template <class List, class Item>
struct ListTraits {
  static constexpr ArgType type = std::is_floating_point_v<Item> ? ArgType::reals : ArgType::integers;
  static void assign(List& member, const ArgValue& value) {
    List list{};
    auto add = [&](const ArgValue& item) {
      if (std::is_same_v<List, Vec<Item>> && static_cast<int>(list.size()) == kMaxDim)
        value_error("expected at most ", kMaxDim, " numbers");
      list.push_back(to_number<Item>(item));
    };
    if (auto* integers = std::get_if<std::vector<int64_t>>(&value))
      for (int64_t item : *integers) add(item);
    else if (auto* reals = std::get_if<std::vector<double>>(&value))
      for (double item : *reals) add(item);
    else
      add(value);
    member = list;
  }
  static void from_sample(List& member, const void* data, const Shape& shape, DType dtype) {
    int64_t n = volume(shape);
    if (shape.size() > 1) refuse("expected a list of numbers per sample, got the shape ", shape);
    if (std::is_same_v<List, Vec<Item>> && n > kMaxDim)
      refuse("expected at most ", kMaxDim, " numbers per sample, got ", n);
    List list{};
    for (int64_t i = 0; i < n; i++) list.push_back(element<Item>(data, dtype, i));
    member = list;
  }
  static std::string text(const List& member) {
    std::string out = "[";
    for (auto& item : member) out += (out.size() > 1 ? ", " : "") + Traits<Item>::text(item);
    return out + "]";
  }
};
template <class T>
struct Traits<Vec<T>> : ListTraits<Vec<T>, T> {};
template <class T>
struct Traits<std::vector<T>> : ListTraits<std::vector<T>, T> {};

// Members that have one value for the whole batch.
template <class M>
struct FixedTraits {
  static void from_sample(M&, const void*, const Shape&, DType) { type_error("cannot differ between samples"); }
};
template <>
struct Traits<std::string> : FixedTraits<std::string> {
  static constexpr ArgType type = ArgType::string;
  static void assign(std::string& member, const ArgValue& value) {
    if (!std::holds_alternative<std::string>(value)) type_error("expected a string");
    member = std::get<std::string>(value);
  }
  static std::string text(const std::string& member) { return "'" + member + "'"; }
};
template <>
struct Traits<Layout> : FixedTraits<Layout> {
  static constexpr ArgType type = ArgType::layout;
  static void assign(Layout& member, const ArgValue& value) {
    if (!std::holds_alternative<std::string>(value)) type_error("expected a string");
    member = Layout(std::get<std::string>(value));
  }
  static std::string text(const Layout& member) { return str('\'', member.view(), '\''); }
};
template <>
struct Traits<DType> : FixedTraits<DType> {
  static constexpr ArgType type = ArgType::dtype;
  static void assign(DType& member, const ArgValue& value) {
    if (!std::holds_alternative<DType>(value)) type_error("expected a data type");
    member = std::get<DType>(value);
  }
  static std::string text(DType member) { return member == DType::none ? "" : std::string(name_of(member)); }
};

// One of the choices, by its name; or also by its number, where Python has an enum of them.
template <HasChoices M>
struct Traits<M> {
  static constexpr ArgType type = choices_of(M()).enumeration() ? ArgType::enumeration : ArgType::choice;
  static void assign(M& member, const ArgValue& value) {
    if (auto* name = std::get_if<std::string>(&value))
      member = static_cast<M>(choices_of(M()).number_of(*name));
    else
      member = static_cast<M>(choices_of(M()).checked(to_number<int64_t>(value)));
  }
  static void from_sample(M& member, const void* data, const Shape& shape, DType dtype) {
    int number;
    Traits<int>::from_sample(number, data, shape, dtype);
    member = static_cast<M>(choices_of(M()).checked(number));
  }
  static std::string text(M member) { return str('\'', name_of(member), '\''); }
};

// Optional members: empty unless the user passes a value.
template <class M>
struct Traits<std::optional<M>> {
  static constexpr ArgType type = Traits<M>::type;
  static void assign(std::optional<M>& member, const ArgValue& value) { Traits<M>::assign(member.emplace(), value); }
  static void from_sample(std::optional<M>& member, const void* data, const Shape& shape, DType dtype) {
    Traits<M>::from_sample(member.emplace(), data, shape, dtype);
  }
  static std::string text(const std::optional<M>& member) { return member ? Traits<M>::text(*member) : ""; }
};

constexpr bool always_fixed(ArgType type) {
  return type == ArgType::dtype || type == ArgType::layout || type == ArgType::string || type == ArgType::choice;
}

// The choices of a member; null if there are none.
template <class M>
constexpr const Choices* choices = nullptr;
template <HasChoices M>
constexpr const Choices* choices<M> = &choices_of(M());
template <class M>
constexpr const Choices* choices<std::optional<M>> = choices<M>;

template <class M>
const MemberKind& kind_of() {
  static constexpr MemberKind kind = {
      Traits<M>::type,
      choices<M>,
      [](void* member, const ArgValue& value) { Traits<M>::assign(*static_cast<M*>(member), value); },
      [](void* member, const void* data, const Shape& shape, DType dtype) {
        Traits<M>::from_sample(*static_cast<M*>(member), data, shape, dtype);
      },
      [](const ArgValue& value) {
        M checked{};
        Traits<M>::assign(checked, value);
      },
      [](const void* member) { return Traits<M>::text(*static_cast<const M*>(member)); },
  };
  return kind;
}

// Compiled once, in traits.cpp: the types of most members.
#define AVIDA_EACH_MEMBER_TYPE(X) \
  X(bool)                         \
  X(int)                          \
  X(int64_t)                      \
  X(float)                        \
  X(double)                       \
  X(std::string)                  \
  X(Layout)                       \
  X(DType) X(Vec<int>) X(Vec<int64_t>) X(Vec<float>) X(std::vector<int>) X(std::vector<float>) X(std::vector<double>)
#define AVIDA_X(...)                                        \
  extern template const MemberKind& kind_of<__VA_ARGS__>(); \
  extern template const MemberKind& kind_of<std::optional<__VA_ARGS__>>();
AVIDA_EACH_MEMBER_TYPE(AVIDA_X)
#undef AVIDA_X

}  // namespace avida::arg
