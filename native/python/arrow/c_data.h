// The structs of the Arrow C data interface, by which libraries in one process share columns. Their members are an ABI.
#pragma once
#include <cstdint>

namespace avida::python::arrow {

// The type of a column. Whoever holds a struct with a `release` calls that once; a moved one has none.
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  ArrowSchema **children, *dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

// The buffers of a column.
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  ArrowArray **children, *dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

// The columns of one type, part after part. Functions return 0 or an error of errno.h; the end is a released array.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

constexpr int64_t kNullable = 2;  // among the flags of a schema

}  // namespace avida::python::arrow
