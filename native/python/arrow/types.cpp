// Schemas of Arrow as types of columns.
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "python/arrow/columns.h"

namespace avida::python::arrow {
namespace {

using Level = RowType::Level;

DType dtype_of_format(std::string_view format) {
  if (format.size() != 1) return DType::none;
  switch (format[0]) {
    case 'b':
      return DType::boolean;
    case 'c':
      return DType::int8;
    case 'C':
      return DType::uint8;
    case 's':
      return DType::int16;
    case 'S':
      return DType::uint16;
    case 'i':
      return DType::int32;
    case 'I':
      return DType::uint32;
    case 'l':
      return DType::int64;
    case 'L':
      return DType::uint64;
    case 'e':
      return DType::float16;
    case 'f':
      return DType::float32;
    case 'g':
      return DType::float64;
    default:
      return DType::none;
  }
}

// What a type that is not supported is called, and what to do about it.
std::string text_of(std::string_view format) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"n", "null; leave the column out"},       {"d", "decimal; cast it to float64"},
      {"ts", "timestamp; cast it to int64"},     {"td", "date; cast it to int32 or int64"},
      {"tt", "time; cast it to int32 or int64"}, {"tD", "duration; cast it to int64"},
      {"ti", "interval; leave the column out"},  {"+m", "map; leave the column out"},
      {"+u", "union; leave the column out"},     {"+r", "run-end encoded; pyarrow.compute.run_end_decode expands it"},
      {"+v", "list view; cast it to list"},      {"+s", "struct in lists; take its fields apart"},
  };
  for (auto& [begin, text] : names)
    if (format.starts_with(begin)) return std::string(text);
  return str("unknown (\"", format, "\"); leave the column out");
}

[[noreturn]] void refuse_type(const ColumnType& column, std::string_view format) {
  type_error("expected numbers, bytes, texts or lists of numbers in ", column.name(), ", got the type ",
             text_of(format));
}

const ArrowSchema& child_of(const ArrowSchema& schema, int64_t i) {
  if (i >= schema.n_children || !schema.children || !schema.children[i] || !schema.children[i]->format)
    value_error("expected a schema of Arrow with all its parts: it lacks a child");
  return *schema.children[i];
}

int64_t width_of(const ColumnType& column, std::string_view format, std::string_view digits) {
  int64_t width = -1;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), width);
  if (error != std::errc() || end != digits.data() + digits.size() || width < 0 || width > (int64_t{1} << 40))
    refuse_type(column, format);
  return width;
}

// The value of a key in the metadata of a schema: a number of pairs, and each text after its length.
std::optional<std::string> metadata_of(const ArrowSchema& schema, std::string_view wanted) {
  const char* at = schema.metadata;
  if (!at) return {};
  auto number = [&] {
    int32_t n;
    std::memcpy(&n, at, sizeof n);
    at += sizeof n;
    return n < 0 ? 0 : n;
  };
  auto text = [&] {
    const auto length = static_cast<size_t>(number());
    at += length;
    return std::string_view(at - length, length);
  };
  for (int32_t left = number(); left > 0; left--) {
    const std::string_view key = text(), value = text();
    if (key == wanted) return std::string(value);
  }
  return {};
}

// The items of a list in the JSON of an extension type, without quotes.
std::vector<std::string> items_in(std::string_view json, std::string_view key) {
  std::vector<std::string> items;
  size_t at = json.find(str('"', key, '"'));
  if (at == std::string_view::npos) return items;
  at = json.find_first_not_of(" :", at + key.size() + 2);
  if (at == std::string_view::npos || json[at] != '[') return items;  // null
  const std::string_view list = json.substr(at + 1, json.find(']', at) - at - 1);
  std::string item;
  for (char c : list) {
    if (c == ',') items.push_back(std::exchange(item, {}));
    if (c != ',' && c != '"' && c != ' ') item += c;
  }
  if (!item.empty()) items.push_back(item);
  return items;
}

// The extents and names of axes of arrow.fixed_shape_tensor, which is a fixed list beneath.
void read_tensor_type(std::string_view json, ColumnType& column) {
  Shape extents;
  for (const std::string& item : items_in(json, "shape")) extents.push_back(width_of(column, "tensor", item));
  if (column.rows.levels.empty() || column.rows.levels[0].kind != Level::fixed ||
      checked_volume(extents) != volume(column.rows.levels[0].extents))
    value_error("expected tensors of the shape ", extents, " in ", column.name(), ", got other lists");
  column.rows.levels[0].extents = extents;
}

void read_axes(std::string_view json, ColumnType& column) {
  int64_t axis = 0;
  for (const std::string& item : items_in(json, "permutation"))
    if (item != std::to_string(axis++))
      type_error("expected tensors in C order in ", column.name(), ", got the permutation of axes in ", json);
  std::string letters;
  for (const std::string& item : items_in(json, "dim_names"))
    if (item.size() == 1) letters += item;
  if (static_cast<int>(letters.size()) == column.ndim()) column.layout = Layout(letters);
}

// What is more than lists: tensors of Arrow, and those of Ray, whose metadata are the shape alone.
void read_tensor(const ArrowSchema& schema, ColumnType& column) {
  const std::string name = metadata_of(schema, "ARROW:extension:name").value_or("");
  const std::string json = metadata_of(schema, "ARROW:extension:metadata").value_or("");
  if (name == "arrow.fixed_shape_tensor") {
    read_tensor_type(json, column);
    read_axes(json, column);
  } else if (name == "ray.data.arrow_tensor" || name == "ray.data.arrow_tensor_v2") {
    const std::string labelled = str("\"shape\":", json);
    column.has_shapes = true;
    for (const std::string& item : items_in(labelled, "shape"))
      column.extents.push_back(width_of(column, "tensor", item));
  }
}

RowType rows_of(const ArrowSchema& schema, const ColumnType& column) {
  RowType rows;
  const ArrowSchema* at = &schema;
  while (true) {
    const std::string_view format = at->format;
    if (at->dictionary)
      type_error("expected no dictionary-encoded values in the lists of ", column.name(), "; cast it to a plain type");
    if (format == "+l" || format == "+L") {
      rows.levels.push_back({format == "+l" ? Level::list32 : Level::list64, {}});
    } else if (format.starts_with("+w:")) {
      rows.levels.push_back({Level::fixed, {width_of(column, format, format.substr(3))}});
    } else {
      break;
    }
    at = &child_of(*at, 0);
  }
  const std::string_view format = at->format;
  rows.bytes = true;
  rows.dtype = DType::uint8;
  if (format == "z" || format == "u") {
    rows.levels.push_back({Level::list32, {}});
  } else if (format == "Z" || format == "U") {
    rows.levels.push_back({Level::list64, {}});
  } else if (format == "vz" || format == "vu") {
    rows.levels.push_back({Level::views, {}});
  } else if (format.starts_with("w:")) {
    rows.levels.push_back({Level::fixed, {width_of(column, format, format.substr(2))}});
  } else {
    rows.bytes = false;
    rows.dtype = dtype_of_format(format);
    if (rows.dtype == DType::none) refuse_type(column, format);
  }
  if (rows.levels.size() > kMaxDim) value_error("lists in ", column.name(), " are deeper than ", kMaxDim);
  return rows;
}

bool holds(const ArrowSchema& schema, std::string_view name, std::string_view formats) {
  const std::string_view format = schema.format;
  return schema.name && schema.name == name && !schema.dictionary && !format.empty() && format.size() <= 2 &&
         formats.find(format.back()) != std::string_view::npos && (format.size() == 1 || format[0] == 'v');
}

// The place of the bytes in a struct of bytes and a path; -1 in others.
int64_t bytes_field(const ArrowSchema& schema) {
  if (schema.n_children != 2) return -1;
  for (int64_t i = 0; i < 2; i++)
    if (holds(child_of(schema, i), "bytes", "zZ") && holds(child_of(schema, 1 - i), "path", "uU")) return i;
  return -1;
}

// Tensors of various shapes: a struct of flat lists and shapes.
bool is_shaped_tensor(const ArrowSchema& schema) {
  const std::string name = metadata_of(schema, "ARROW:extension:name").value_or("");
  return name == "arrow.variable_shape_tensor" || name == "ray.data.arrow_variable_shaped_tensor";
}

void read_shaped_tensor(const ArrowSchema& schema, ColumnType& column) {
  const std::string json = metadata_of(schema, "ARROW:extension:metadata").value_or("");
  column.has_shapes = true;
  for (int64_t i = 0; i < schema.n_children; i++) {
    const ArrowSchema& child = child_of(schema, i);
    const std::string_view field = child.name ? child.name : "";
    if (field == "shape") column.shape_field = i;
    (field == "shape" ? column.shapes : column.rows) = rows_of(child, column);
    if (field == "data") column.fields.push_back(i);
  }
  auto is_list = [](const RowType& rows, bool fixed) {
    return rows.levels.size() == 1 && !rows.bytes && (rows.levels[0].kind == Level::fixed) == fixed;
  };
  const bool of_arrow = is_list(column.shapes, true);
  if (schema.n_children != 2 || column.shape_field < 0 || !is_list(column.rows, false) ||
      !(of_arrow || is_list(column.shapes, false)) ||
      (column.shapes.dtype != DType::int32 && column.shapes.dtype != DType::int64))
    value_error("expected tensors with data and a shape in ", column.name(), ", got other fields");
  const int64_t axes = of_arrow ? volume(column.shapes.levels[0].extents) : width_of(column, "tensor", json);
  if (axes > kMaxDim) value_error("tensors in ", column.name(), " have more than ", kMaxDim, " axes");
  column.extents.resize(static_cast<int>(axes), 0);
  read_axes(json, column);
}

void add_columns(const ArrowSchema& schema, ColumnType column, bool is_table, std::vector<ColumnType>& out) {
  if (column.fields.size() > kMaxDim) value_error("structs in ", column.name(), " are deeper than ", kMaxDim);
  if (std::string_view(schema.format) == "+s") {
    const int64_t bytes = is_table ? -1 : bytes_field(schema);
    if (bytes >= 0) {
      column.is_file = true;
      column.path_field = 1 - bytes;
      column.fields.push_back(bytes);
      column.rows = rows_of(child_of(schema, bytes), column);
      column.paths = rows_of(child_of(schema, 1 - bytes), column);
      out.push_back(std::move(column));
      return;
    }
    if (is_shaped_tensor(schema)) {
      read_shaped_tensor(schema, column);
      out.push_back(std::move(column));
      return;
    }
    for (int64_t i = 0; i < schema.n_children; i++) {
      ColumnType field = column;
      const ArrowSchema& child = child_of(schema, i);
      field.path.emplace_back(child.name ? child.name : "");
      field.fields.push_back(i);
      add_columns(child, std::move(field), false, out);
    }
    return;
  }
  if (schema.dictionary) {
    column.index = dtype_of_format(schema.format);
    if (!is_integer(column.index) || !schema.dictionary->format) refuse_type(column, schema.format);
    column.rows = rows_of(*schema.dictionary, column);
  } else {
    column.rows = rows_of(schema, column);
    read_tensor(schema, column);
  }
  if (column.ndim() > kMaxDim) value_error("lists in ", column.name(), " are deeper than ", kMaxDim);
  out.push_back(std::move(column));
}

}  // namespace

std::string ColumnType::name() const {
  if (path.empty()) return "the column";
  std::string text = "column '";
  for (size_t i = 0; i < path.size(); i++) text += (i ? "." : "") + path[i];
  return text + "'";
}

int ColumnType::ndim() const {
  if (has_shapes) return extents.size();
  int axes = 0;
  for (const RowType::Level& level : rows.levels) axes += level.kind == Level::fixed ? level.extents.size() : 1;
  return axes;
}

Meta ColumnType::meta() const {
  Meta meta;
  meta.is_batch = true;
  meta.dtype = rows.dtype;
  meta.ndim = ndim();
  meta.layout = layout;
  return meta;
}

bool is_table(const ArrowSchema& schema) {
  // An array of structs may have nulls, a table has none; else they look the same.
  return schema.format && std::string_view(schema.format) == "+s" && !is_shaped_tensor(schema) &&
         !((schema.flags & kNullable) && bytes_field(schema) >= 0);
}

std::vector<ColumnType> columns_of(const ArrowSchema& schema) {
  if (!schema.format) value_error("expected a schema of Arrow, got one without a type");
  std::vector<ColumnType> columns;
  add_columns(schema, {}, is_table(schema), columns);
  return columns;
}

}  // namespace avida::python::arrow
