// Columns of Arrow: where their rows lie. No row has an object of its own, and nothing is copied.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/data.h"
#include "python/arrow/c_data.h"

namespace avida::python::arrow {

// A row is an element, or elements in lists of lists; bytes and texts are lists too.
struct RowType {
  struct Level {
    enum Kind { list32, list64, views, fixed } kind = list32;
    Shape extents;  // of a fixed list
  };
  std::vector<Level> levels;
  DType dtype = DType::none;
  bool bytes = false;  // which lie in an array with their offsets
};

struct ColumnType {
  std::vector<std::string> path;  // from the table to a field of a struct
  std::vector<int64_t> fields;    // the child at each level of structs
  RowType rows;
  DType index = DType::none;  // of a column with a dictionary
  // {"bytes": ..., "path": ...}, as in data sets of Hugging Face: the rows are the bytes, and have names.
  bool is_file = false;
  int64_t path_field = 0;
  RowType paths;
  // Tensors of Arrow or Ray: lists whose rows stand for arrays of one shape, or of shapes in a field beside them.
  bool has_shapes = false;
  Shape extents;
  int64_t shape_field = -1;  // below 0: of one shape
  RowType shapes;
  Layout layout;

  std::string name() const;  // for messages
  int ndim() const;
  Meta meta() const;
};

// The columns of a schema. Throws for what is neither numbers, bytes, texts nor lists of numbers.
std::vector<ColumnType> columns_of(const ArrowSchema& schema);
// Whether a schema is that of a table, and not that of a column.
bool is_table(const ArrowSchema& schema);

// A part of a column, in an array of Arrow that outlives it, as the type does.
class Column {
 public:
  struct Row {
    const char* at = nullptr;
    int64_t bit = 0;  // of bools
    Shape shape;
  };

  // `first` is the number of its first row. Throws if the array is not of the type.
  Column(const ColumnType& type, const ArrowArray& table, int64_t first);

  const ColumnType& type() const { return *type_; }
  int64_t size() const { return size_; }
  // Throws if there is a null, or if it is not a rectangle.
  Row row(int64_t i) const;
  // The name of a file; empty if it has none.
  std::string file_name(int64_t i) const;
  // Whether rows can be used where they lie.
  bool in_place() const { return in_place_; }
  // Where they lie if they also have one shape, lie one behind the other, and none is null.
  struct Even {
    const char* first;
    int64_t step;  // bytes from one to the next
    Shape shape;
  };
  const std::optional<Even>& even() const { return even_; }

 private:
  // An array at some depth.
  struct Part {
    const ArrowArray* array = nullptr;
    const uint8_t* validity = nullptr;  // null: nothing is null
    const void* data = nullptr;         // offsets, views or elements
    int64_t offset = 0, length = 0;
    bool is_null(int64_t i) const { return validity && !(validity[i / 8] >> (i % 8) & 1); }
  };
  struct Rows {
    const RowType* type = nullptr;
    std::vector<Part> levels;
    Part elements;
  };

  Part part_of(const ArrowArray& array, int buffers, int data) const;
  Rows rows_of(const RowType& type, const ArrowArray& array) const;
  const ArrowArray& child_of(const ArrowArray& array, int64_t i) const;
  Row find(const Rows& rows, int64_t i, int64_t number) const;
  Row view(const Part& views, int64_t i, int64_t number) const;
  Shape shape_at(int64_t i, int64_t number) const;
  bool is_even() const;
  int64_t number_in_dictionary(int64_t i, int64_t number) const;
  void check_nulls(const Part& part, int64_t begin, int64_t end, int64_t number) const;
  [[noreturn]] void refuse_null(int64_t number) const;
  [[noreturn]] void refuse_array() const;

  const ColumnType* type_;
  int64_t size_ = 0, first_ = 0;
  std::vector<Part> structs_;
  Part indices_;
  Rows rows_, paths_, shapes_;
  bool in_place_ = true;
  std::optional<Even> even_;
};

// Rows of several columns of one type as a batch of their own.
struct RowAt {
  const Column* column;
  int64_t row;
};
Data gather(const ColumnType& type, std::span<const RowAt> rows);

}  // namespace avida::python::arrow
