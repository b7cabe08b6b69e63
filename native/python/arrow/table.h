// Tables and columns that other libraries give through the Arrow C data interface.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "python/arrow/columns.h"
#include "python/python.h"

namespace avida::python::arrow {

// Its memory is released with the last reference, by a thread that has the GIL.
class Table {
 public:
  // What an object with __arrow_c_stream__ or __arrow_c_array__ has. `first` is the number of its first row.
  static std::shared_ptr<const Table> of(nb::handle object, int64_t first = 0);

  bool is_column() const { return is_column_; }  // and not a table of columns
  int64_t size() const { return size_; }
  const std::vector<ColumnType>& types() const { return types_; }
  // The parts of a column, which have all rows together.
  const std::vector<Column>& column(size_t k) const { return columns_[k]; }
  // The rows of a column as samples: where they lie if that is possible.
  Data batch(size_t k) const;
  // A row of a column.
  RowAt at(size_t k, int64_t row) const;
  // A block that keeps its memory as long as samples lie in it.
  Block memory() const;

 private:
  Data place(size_t k) const;

  std::shared_ptr<void> memory_;
  bool is_column_ = false;
  int64_t size_ = 0;
  std::vector<ColumnType> types_;
  std::vector<std::vector<Column>> columns_;
};

// The columns of an object with __arrow_c_schema__.
std::vector<ColumnType> types_of(nb::handle object);
// Rows of columns of one type as a batch: where they lie if that is possible. `memory` has the block of each.
Data pick(const ColumnType& type, std::span<const RowAt> rows, std::span<const Block> memory);

}  // namespace avida::python::arrow
