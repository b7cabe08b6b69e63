// Parses the headers of a FITS file, and locates the data they describe.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "readers/fits/fits_bytes.h"

namespace avida {

// One header: lines ("cards") of 80 characters, such as "NAXIS1  =                   64 / comment".
class FitsHeader {
 public:
  explicit FitsHeader(std::string cards) : cards_(std::move(cards)) {}

  bool has(std::string_view key) const { return !card(key).empty(); }
  bool is_true(std::string_view key) const { return value(key) == "T"; }
  std::string text(std::string_view key) const;  // without quotes; empty if there is none
  // These throw if there is a value of another kind.
  int64_t integer(std::string_view key, std::optional<int64_t> otherwise = {}) const;
  int64_t positive(std::string_view key, std::optional<int64_t> otherwise = {}) const;  // at most 2^31 - 1
  double number(std::string_view key, double otherwise) const;
  // The type of image elements, from a key such as BITPIX.
  DType element_type(std::string_view key) const;

 private:
  std::string_view card(std::string_view key) const;   // empty if there is none
  std::string_view value(std::string_view key) const;  // without the comment

  std::string cards_;
};

// A header-data unit.
struct FitsUnit {
  FitsHeader header;
  int64_t data = 0;   // the offset of its data
  int64_t bytes = 0;  // the size of its data, which the file can hold
};

// The units with these numbers, counted from 1.
std::vector<FitsUnit> find_fits_units(FitsBytes& file, const std::vector<int>& hdus);

}  // namespace avida
