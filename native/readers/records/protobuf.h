// The wire format of protobuf messages: iterates over the fields of one message without copying. Messages come from
// files, so every length is checked against the available bytes.
//
//   ProtobufField field;
//   for (ProtobufReader message(bytes); message.next(field);)
//     if (field.number == 4) label = field.as<int32_t>();
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "core/error.h"

namespace avida {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are in the file");

enum class WireType : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// The wire type of a number. Signed integers are varints of 64 bits (not the "sint" of protobuf).
template <class T>
constexpr WireType wire_type_of() {
  if (std::is_same_v<T, float>) return WireType::fixed32;
  if (std::is_same_v<T, double>) return WireType::fixed64;
  return WireType::varint;
}

struct ProtobufField {
  uint32_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;      // of a number; the bits of a floating-point one
  std::string_view bytes;  // of a string, a message or packed numbers

  // The value of a single number.
  template <class T>
  T as() const {
    if (type != wire_type_of<T>()) refuse("field ", number, " of the message has another type");
    if constexpr (std::is_same_v<T, float>)
      return std::bit_cast<float>(static_cast<uint32_t>(value));
    else if constexpr (std::is_same_v<T, double>)
      return std::bit_cast<double>(value);
    else
      return static_cast<T>(value);
  }
  // The bytes of a string or a message.
  std::string_view as_bytes() const {
    if (type != WireType::bytes) refuse("expected bytes in field ", number, ", got a number");
    return bytes;
  }

  // Repeated numbers are stored as one field each, or packed into the bytes of one field. count() is their
  // number in this field; copy_to() writes them and returns the end of the output.
  template <class T>
  int64_t count() const;
  template <class T>
  T* copy_to(T* to) const;
};

// The memory of a message that is filled on demand: the bytes of long strings need never be read.
class ProtobufPieces {
 public:
  virtual void need(std::string_view piece) = 0;

 protected:
  ~ProtobufPieces() = default;
};

class ProtobufReader {
 public:
  // With `pieces`, everything but the bytes of strings and messages is requested from them.
  explicit ProtobufReader(std::string_view message, ProtobufPieces* pieces = nullptr)
      : at_(message.data()), end_(at_ + message.size()), pieces_(pieces) {}

  // Returns false at the end of the message.
  bool next(ProtobufField& field) {
    if (at_ == end_) return false;
    if (pieces_) pieces_->need({at_, std::min(static_cast<size_t>(end_ - at_), size_t{2 * kLongestVarint})});
    uint64_t key = varint();
    if (key >> 3 == 0 || key >> 3 >= uint64_t{1} << 29) refuse("damaged message: no such field");
    field.number = static_cast<uint32_t>(key >> 3);
    field.type = static_cast<WireType>(key & 7);
    field.value = 0;
    field.bytes = {};
    switch (field.type) {
      case WireType::varint:
        field.value = varint();
        break;
      case WireType::fixed64:
        std::memcpy(&field.value, take(8), 8);
        break;
      case WireType::fixed32:
        std::memcpy(&field.value, take(4), 4);
        break;
      case WireType::bytes: {
        uint64_t size = varint();
        field.bytes = {take(size), static_cast<size_t>(size)};
        break;
      }
      default:
        refuse("damaged message: wire type ", key & 7, " in field ", field.number);
    }
    return true;
  }

  uint64_t varint() {
    uint64_t result = 0;
    for (int shift = 0; shift < 7 * kLongestVarint && at_ != end_; shift += 7) {
      auto byte = static_cast<uint8_t>(*at_++);
      result |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) return result;
    }
    refuse("damaged message: ", at_ == end_ ? "it ends within a number" : "a number has too many bytes");
  }

 private:
  static constexpr int kLongestVarint = 10;  // bytes

  const char* take(uint64_t bytes) {
    auto left = static_cast<uint64_t>(end_ - at_);
    if (bytes > left) refuse("damaged message: ", bytes, " bytes expected where ", left, " are left");
    at_ += bytes;
    return at_ - bytes;
  }

  const char *at_, *end_;
  ProtobufPieces* pieces_;
};

template <class T>
int64_t ProtobufField::count() const {
  if (type != WireType::bytes) return as<T>(), 1;
  if constexpr (wire_type_of<T>() == WireType::varint) {
    int64_t numbers = 0;
    for (char byte : bytes) numbers += static_cast<uint8_t>(byte) < 128;
    return numbers;
  }
  if (bytes.size() % sizeof(T)) refuse("damaged message: field ", number, " ends within a number");
  return static_cast<int64_t>(bytes.size() / sizeof(T));
}

template <class T>
T* ProtobufField::copy_to(T* to) const {
  if (type != WireType::bytes) {
    *to = as<T>();
    return to + 1;
  }
  int64_t numbers = count<T>();
  if constexpr (wire_type_of<T>() == WireType::varint) {
    ProtobufReader packed(bytes);
    for (int64_t i = 0; i < numbers; i++) to[i] = static_cast<T>(packed.varint());
    if (!bytes.empty() && static_cast<uint8_t>(bytes.back()) > 127)
      refuse("damaged message: field ", number, " ends within a number");
  } else if (numbers > 0) {
    std::memcpy(to, bytes.data(), bytes.size());
  }
  return to + numbers;
}

}  // namespace avida
