// readers.MDS: samples of MosaicML Streaming's format, by column.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

#include "readers/declare.h"
#include "readers/first_sample.h"
#include "readers/mds/mds_shards.h"

namespace avida {
namespace {

using Kind = MdsColumn::Kind;

struct MdsArgs : ReaderArgs {
  std::vector<std::string> paths;
  std::optional<std::vector<std::string>> columns;
  int64_t memory_limit = int64_t{2} << 30;
};

constexpr int64_t kSmall = 16 << 10;     // samples up to this size are read at once
constexpr int64_t kBeginning = 4 << 10;  // of larger ones
constexpr int64_t kLongestNumber = 400;  // as text

template <class T>
void parse_number(std::string_view text, const MdsColumn& column, void* to) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *static_cast<T*>(to));
  if (error == std::errc() && end == text.data() + text.size()) return;
  fail(ErrorKind::value, "expected a number of type ", column.dtype, " as text, found \"", text.substr(0, 40), '"',
       error == std::errc::result_out_of_range ? ", which is out of its range" : "");
}

// The columns of some shards that are read.
struct MdsLayout {
  std::shared_ptr<const MdsShard::Columns> columns;
  std::vector<size_t> outputs;  // the column of each output
  int64_t sizes = 0;            // bytes of the table of sizes in front of each sample
};

class MdsSample : public Source::Sample {
 public:
  MdsSample(const MdsLayout& layout, MdsShards::Bytes bytes, bool read_ahead) : bytes_(std::move(bytes)) {
    const MdsShard::Columns& columns = *layout.columns;
    const int64_t size = bytes_.end - bytes_.begin;
    if (read_ahead) bytes_.object->read_ahead(bytes_.begin, size);
    if (layout.sizes > size) refuse("expected ", layout.sizes, " bytes of sizes, the sample has only ", size);
    start_.resize(static_cast<size_t>(size <= kSmall ? size : std::max(kBeginning, layout.sizes)));
    bytes_.object->read_at(bytes_.begin, start_.data(), std::ssize(start_));
    std::vector<Value> values(columns.size());
    int64_t at = layout.sizes, in_table = 0;
    for (size_t k = 0; k < columns.size(); k++) {
      uint32_t stored = 0;
      if (columns[k].bytes < 0) std::memcpy(&stored, start_.data() + std::exchange(in_table, in_table + 4), 4);
      values[k] = {&columns[k], at, columns[k].bytes < 0 ? stored : columns[k].bytes};
      at += values[k].bytes;
    }
    if (at != size) refuse("expected values of ", at, " bytes together, the sample has ", size);
    for (size_t column : layout.outputs) add(values[column]);
  }

  DType dtype(size_t output) const { return values_[output].dtype; }
  Shape shape(int output) const override { return values_[static_cast<size_t>(output)].shape; }

  void read(int output, void* to) override {
    const Value& value = values_[static_cast<size_t>(output)];
    if (value.column->kind != Kind::integer_text && value.column->kind != Kind::real_text)
      return fetch(value.at, to, value.bytes);
    std::string text(static_cast<size_t>(std::min(value.bytes, kLongestNumber)), 0);
    fetch(value.at, text.data(), std::ssize(text));
    try {
      if (value.column->kind == Kind::integer_text)
        parse_number<int64_t>(text, *value.column, to);
      else
        parse_number<double>(text, *value.column, to);
    } catch (const Error& error) {
      throw in_column(*value.column, error);
    }
  }

 private:
  struct Value {
    const MdsColumn* column;
    int64_t at, bytes;  // of its elements, in the sample
    DType dtype = DType::uint8;
    Shape shape{};
  };

  static Error in_column(const MdsColumn& column, const Error& error) {
    return Error(error.kind, str("column \"", column.name, "\": ", error.message));
  }

  void add(Value value) {
    const MdsColumn& column = *value.column;
    value.dtype = column.dtype;
    value.shape = column.shape;
    if (column.kind == Kind::bytes) value.shape = {value.bytes};
    if (column.kind == Kind::pixels || column.kind == Kind::shaped_array || column.kind == Kind::typed_array) {
      char beginning[MdsArray::kLongest];
      const int64_t known = std::min(value.bytes, MdsArray::kLongest);
      fetch(value.at, beginning, known);
      try {
        const MdsArray array(column, {beginning, static_cast<size_t>(known)}, value.bytes);
        value.dtype = array.dtype;
        value.shape = array.shape;
        value.at += array.header;
        value.bytes -= array.header;
      } catch (const Error& error) {
        throw in_column(column, error);
      }
    }
    values_.push_back(value);
  }

  void fetch(int64_t at, void* to, int64_t bytes) const {
    const int64_t known = std::clamp<int64_t>(std::ssize(start_) - at, 0, bytes);
    if (known > 0) std::memcpy(to, start_.data() + at, static_cast<size_t>(known));
    if (known < bytes) bytes_.object->read_at(bytes_.begin + at + known, static_cast<char*>(to) + known, bytes - known);
  }

  const MdsShards::Bytes bytes_;
  std::vector<char> start_;
  std::vector<Value> values_;  // of each output
};

class MdsSource : public Source {
 public:
  explicit MdsSource(const MdsArgs& args)
      : shards_(find_mds_shards(args.paths), args.memory_limit, args.skip_errors),
        names_(args.columns),
        read_ahead_(args.read_ahead) {
    if (size() == 0) refuse("expected at least one sample, the index has none");
    choose(*shards_.shards()[0].columns);
    for (const MdsShard& shard : shards_.shards())
      if (!layouts_.contains(shard.columns.get())) add_layout(shard);
    if (std::ranges::any_of(columns_, [](const MdsColumn& column) { return !is_known(column); })) find_types();
  }

  const char* name() const override { return "readers.MDS"; }
  int64_t size() const override { return shards_.samples(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return shards_.describe(index); }
  bool is_local() const override { return shards_.is_local(); }
  void name_needs(int64_t index, storage::Needs& needs) const override { shards_.name_needs(index, needs); }
  std::vector<int64_t> blocks() const override { return shards_.blocks(); }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    auto sample = open_sample(index, fetched);
    for (size_t k = 0; k < outputs_.size(); k++)
      check_like_first(*this, first_, static_cast<int>(k), sample->dtype(k), sample->shape(static_cast<int>(k)));
    return sample;
  }
  std::vector<Column> columns() const override {
    std::vector<Column> columns;
    for (const MdsColumn& column : columns_) columns.emplace_back(column.name, column.encoding);
    return columns;
  }

 private:
  // Whether type and rank follow from the index.
  static bool is_known(const MdsColumn& column) {
    return column.kind != Kind::shaped_array && column.kind != Kind::typed_array;
  }

  std::unique_ptr<MdsSample> open_sample(int64_t index, const storage::Fetched& fetched) const {
    const MdsShard& shard = shards_.shards()[shards_.place(index).shard];
    return std::make_unique<MdsSample>(layouts_.at(shard.columns.get()), shards_.open(index, fetched), read_ahead_);
  }

  // The columns of the first shard are those of all. Other shards may have more, and in another order.
  void add_layout(const MdsShard& shard) {
    try {
      MdsLayout layout{.columns = shard.columns, .outputs = {}};
      for (const MdsColumn& column : columns_) layout.outputs.push_back(find(*shard.columns, column));
      for (const MdsColumn& column : *shard.columns) layout.sizes += column.bytes < 0 ? 4 : 0;
      layouts_.emplace(shard.columns.get(), std::move(layout));
    } catch (const Error& error) {
      fail(error.kind, shard.name, ": ", error.message);
    }
  }

  void choose(const MdsShard::Columns& all) {
    if (!names_) columns_ = all;
    if (names_ && names_->empty()) value_error("expected the names of columns in columns, got an empty list");
    for (const std::string& wanted : names_.value_or(std::vector<std::string>())) {
      const auto found = std::ranges::find(all, wanted, &MdsColumn::name);
      if (found == all.end()) value_error("there is no column \"", wanted, "\", only ", names_of(all));
      if (std::ranges::count(columns_, wanted, &MdsColumn::name)) value_error("columns names \"", wanted, "\" twice");
      columns_.push_back(*found);
    }
    for (const MdsColumn& column : columns_) {
      column.check_is_readable();
      Meta meta;
      meta.dtype = column.dtype;
      meta.ndim = column.kind == Kind::bytes ? 1 : column.kind == Kind::pixels ? 3 : column.shape.size();
      if (column.kind == Kind::pixels) meta.layout = "HWC";
      outputs_.push_back(meta);
    }
  }

  static std::string names_of(const MdsShard::Columns& columns) {
    std::string names;
    for (const MdsColumn& column : columns) names += str(names.empty() ? "\"" : ", \"", column.name, '"');
    return names;
  }

  static size_t find(const MdsShard::Columns& columns, const MdsColumn& wanted) {
    const auto found = std::ranges::find(columns, wanted.name, &MdsColumn::name);
    if (found == columns.end())
      refuse("expected the columns of the first shard, found only ", names_of(columns), ", and no \"", wanted.name,
             '"');
    if (found->encoding != wanted.encoding)
      refuse("expected the column \"", wanted.name, "\" encoded as ", wanted.encoding, " as in the first shard, found ",
             found->encoding);
    return static_cast<size_t>(found - columns.begin());
  }

  void find_types() {
    first_ = find_first_sample(*this, [&](int64_t i) {
      const auto sample = open_sample(i, {});
      for (size_t k = 0; k < outputs_.size(); k++) {
        outputs_[k].dtype = sample->dtype(k);
        outputs_[k].ndim = sample->shape(static_cast<int>(k)).size();
      }
    });
  }

  const MdsShards shards_;
  const std::optional<std::vector<std::string>> names_;  // of the columns that are asked for
  const bool read_ahead_;
  MdsShard::Columns columns_;  // of the outputs
  std::map<const MdsShard::Columns*, MdsLayout> layouts_;
  std::vector<Meta> outputs_;
  int64_t first_ = 0;  // the sample that determines types and ranks
};

void check_args(MdsArgs& args) {
  if (args.memory_limit < 0) value_error("memory_limit must be at least 0, got ", args.memory_limit);
}

std::shared_ptr<Source> source_of_args(const MdsArgs& args, const Opening&) {
  return std::make_shared<MdsSource>(args);
}

}  // namespace

AVIDA_READER(MDS, MdsArgs) {
  reader
      .doc(R"(Reads samples of MosaicML Streaming's format (MDS), by column.

Items are dictionaries with the columns.

Texts, JSON and encoded images are their bytes (uint8); numbers are scalars; ``ndarray`` is an array, whose element
type and rank are those of the first sample; images of Pillow (``pil``) have the layout HWC. Pickles are not read,
since reading one runs what its writer wants.

Shards without compression are read sample by sample. Those compressed by ``zstd`` or ``gz`` are read and decompressed
as a whole, and kept within ``memory_limit``: shuffle them by blocks, so that each is read once. Sizes, counts and offsets that do not agree are an
error that names the shard.)")
      .arg("columns", &MdsArgs::columns, "The columns to read, by name. Default: all.")
      .arg("memory_limit", &MdsArgs::memory_limit,
           "The most bytes of decompressed shards that are kept for further samples. At least those in use are.")
      .path("paths", &MdsArgs::paths,
            "The folder of ``index.json``, or a folder of such folders, whose samples follow one another, sorted by "
            "name; or several, or such files. Braces and wildcards are expanded.",
            ReaderArg::required | ReaderArg::positional)
      .example(R"(>>> import json, struct, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> samples = [struct.pack("<Iq", len(text), label) + text for text, label in [(b"a cat", 3), (b"a dog", 5)]]
>>> offsets = [16, 16 + len(samples[0]), 16 + len(samples[0] + samples[1])]
>>> shard = struct.pack("<4I", 2, *offsets) + b"".join(samples)
>>> with open(f"{folder.name}/shard.00000.mds", "wb") as file:
...     _ = file.write(shard)
>>> about = {"format": "mds", "compression": None, "samples": 2, "column_names": ["label", "text"]}
>>> about |= {"column_encodings": ["int", "str"], "column_sizes": [8, None], "zip_data": None}
>>> about |= {"raw_data": {"basename": "shard.00000.mds", "bytes": len(shard)}}
>>> with open(f"{folder.name}/index.json", "w") as file:
...     json.dump({"version": 2, "shards": [about]}, file)
>>> reader = avida.readers.MDS(folder.name)
>>> for batch in reader.next_epoch(batch_size=2):
...     print([bytes(text).decode() for text in batch["text"]], batch["label"].torch().tolist())
['a cat', 'a dog'] [3, 5])")
      .needs("simdjson, zlib or libzstd")
      .blocks()
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
