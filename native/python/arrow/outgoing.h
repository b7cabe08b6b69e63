// Outgoing: a column of Batches on its way to other libraries, and what it is called there.
#pragma once
#include <string>
#include <vector>

#include "core/data.h"
#include "python/arrow/c_data.h"

namespace avida::python::arrow {

// Whoever gets an array keeps its memory until it is released, by any thread.
class Outgoing {
 public:
  struct Wish {
    bool ragged = false;  // whether the type allows samples that differ in shape, whatever those are
    bool binary = true;   // whether uint8 with one axis is bytes, and not numbers
    bool rows = true;     // false: for the type alone
  };
  // The samples as rows, in memory: where they lie if that is possible.
  static Outgoing column(std::string name, const Data& samples, Wish wish);
  // Columns of one length as the fields of a struct; a table has no name.
  static Outgoing of(std::string name, std::vector<Outgoing> fields, int64_t rows);

  int64_t rows() const { return length_; }
  // A copy of the type, and the rows, which it gives away.
  ArrowSchema schema() const;
  ArrowArray array() &&;

 private:
  Outgoing(std::string name, std::string format, int64_t length)
      : name_(std::move(name)), format_(std::move(format)), length_(length) {}
  static Outgoing elements(std::string name, const Data& samples, bool rows);
  static Outgoing shapes(const Data& samples, bool rows);

  void add_buffer(Block block, const void* at);
  template <class T>
  void add_numbers(std::vector<T> numbers);
  template <class Offset>
  void add_offsets(const Data& samples, bool rows);

  std::string name_, format_, metadata_;
  int64_t length_ = 0;
  bool is_table_ = false;
  std::vector<const void*> buffers_{nullptr};  // the first tells nulls, of which there are none
  std::vector<Block> kept_;
  std::vector<Outgoing> children_;
};

}  // namespace avida::python::arrow
