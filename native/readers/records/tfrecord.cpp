#include "readers/records/tfrecord.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/crc32c.h"
#include "readers/declare.h"
#include "readers/records/late_bytes.h"
#include "runtime/memory.h"

namespace avida {
namespace {

constexpr int64_t kHeader = 12, kFooter = 4;

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Checksums are stored masked (rotated and shifted), since checksums of data that contains checksums would be weak.
bool is_stored(uint32_t crc, const char* stored) {
  return (crc >> 15 | crc << 17) + 0xA282EAD8u == load<uint32_t>(stored);
}

void check_data(uint32_t crc, int64_t length, const char* footer) {
  if (!is_stored(crc, footer))
    refuse("the checksum of the ", length, " bytes of data of the record is wrong: the record is damaged");
}

// The length of the data after a header; at most `available` bytes are left in the file.
int64_t length_of(const char* header, int64_t available) {
  if (!is_stored(crc32c(header, 8), header + 8))
    refuse("the checksum of the length of the record is wrong: the record is damaged, or none begins here");
  auto length = load<uint64_t>(header);
  if (available < 0 || length > static_cast<uint64_t>(available))
    refuse("the record has ", length, " bytes of data, but only ", std::max<int64_t>(available, 0),
           " are left in the file");
  return static_cast<int64_t>(length);
}

// One record with its header and footer.
class Record : public LateBytes {
 public:
  Record(const storage::Object& file, const RecordFiles::Place& at) : LateBytes(file, at.offset) {
    int64_t available = file.size() - at.offset;
    if (available < kHeader + kFooter || at.size > available)
      refuse("expected a record of ", std::max(at.size, kHeader + kFooter), " bytes or more, but the file has only ",
             file.size(), " bytes");
    if (at.size >= kHeader + kFooter) available = at.size;
    char beginning[kWindow];
    const int64_t known = std::min(available, kWindow);
    file.read_at(at.offset, beginning, known);
    start(kHeader + length_of(beginning, available - kHeader - kFooter) + kFooter,
          {beginning, static_cast<size_t>(known)});
  }

  std::string_view data() const { return all().substr(kHeader, all().size() - kHeader - kFooter); }
  void need_footer() { need(all().substr(all().size() - kFooter)); }

  // Reads the rest of the record, and checks its checksum.
  void complete() {
    need_all();
    check_data(crc32c(data().data(), std::ssize(data())), std::ssize(data()), data().data() + data().size());
  }
};

// The values of one feature of one example, still encoded: a message with a repeated field 1.
struct Values {
  uint32_t kind = 0;  // the field of the feature with the values; 0 if there is none
  std::string_view list;
};

constexpr const char* kKindNames[] = {"no values", "strings", "float32 numbers", "int64 numbers"};

uint32_t field_of(TFFeature::Kind kind) {
  return kind == TFFeature::Kind::string ? 1 : kind == TFFeature::Kind::float32 ? 2 : 3;
}

Values values_of(std::string_view feature, Record& record) {
  Values values;
  ProtobufField field;
  for (ProtobufReader message(feature, &record); message.next(field);)
    if (field.number <= 3) values = {field.number, field.as_bytes()};
  return values;
}

std::string_view first_string(const Values& values, const std::string& otherwise, Record& record) {
  ProtobufField field;
  for (ProtobufReader message(values.list, &record); message.next(field);)
    if (field.number == 1) return field.as_bytes();
  return otherwise;
}

Shape find_shape(const TFFeature& feature, int64_t count) {
  int64_t in_shape = volume(feature.shape);
  Shape shape = feature.shape;
  if (feature.fixed) {
    if (count > in_shape) refuse("expected at most ", in_shape, " values for the shape ", shape, ", got ", count);
  } else {
    if (count % in_shape)
      refuse("expected a multiple of ", in_shape, " values for the partial shape ", shape, ", got ", count);
    shape.insert(0, count / in_shape);
  }
  return shape;
}

template <class T>
int64_t count_numbers(const Values& values) {
  int64_t count = 0;
  ProtobufField field;
  for (ProtobufReader message(values.list); message.next(field);)
    if (field.number == 1) count += field.count<T>();
  return count;
}

template <class T>
T* copy_numbers(const Values& values, T* to) {
  ProtobufField field;
  for (ProtobufReader message(values.list); message.next(field);)
    if (field.number == 1) to = field.copy_to(to);
  return to;
}

void parse_entry(const std::vector<TFFeature>& features, std::string_view entry, Record& record,
                 std::vector<Values>& values) {
  std::string_view key, value;
  ProtobufField field;
  for (ProtobufReader message(entry, &record); message.next(field);) {
    if (field.number == 1) key = field.as_bytes();
    if (field.number == 2) value = field.as_bytes();
  }
  record.need(key);
  for (size_t k = 0; k < features.size(); k++)
    if (features[k].name == key) values[k] = values_of(value, record);
}

// example.features.feature is a map: entries with a key and a value.
std::vector<Values> parse(const std::vector<TFFeature>& features, Record& record) {
  std::vector<Values> values(features.size());
  ProtobufField field, entry;
  for (ProtobufReader message(record.data(), &record); message.next(field);) {
    if (field.number != 1) continue;
    for (ProtobufReader map(field.as_bytes(), &record); map.next(entry);)
      if (entry.number == 1) parse_entry(features, entry.as_bytes(), record, values);
  }
  return values;
}

// At most one long string is read late: the gap in its record.
class Example : public Source::Sample {
 public:
  Example(const std::vector<TFFeature>& features, storage::ObjectPtr file, const RecordFiles::Place& at)
      : file_(std::move(file)), outputs_(features.size()) {
    Record record(*file_, at);
    std::vector<std::string_view> texts(features.size());
    try {
      decode(features, record, texts);
    } catch (const Error&) {
      record.complete();  // throws if the record is damaged
      throw;
    }
    record.need_footer();
    late_ = find_late(texts, record.gap());
    if (late_ < 0)
      record.complete();
    else
      keep(record, at.offset, texts[late_]);
    for (size_t k = 0; k < texts.size(); k++)
      if (static_cast<int>(k) != late_ && !texts[k].empty())
        std::memcpy(append(outputs_[k], texts[k].size()), texts[k].data(), texts[k].size());
  }

  Shape shape(int output) const override { return outputs_[output].shape; }

  void read(int output, void* to) override {
    const Output& out = outputs_[output];
    if (output == late_)
      read_late(static_cast<char*>(to));
    else if (out.bytes > 0)
      std::memcpy(to, decoded_.data() + out.begin, static_cast<size_t>(out.bytes));
  }

 private:
  struct Output {
    Shape shape;
    int64_t begin = 0, bytes = 0;  // in decoded_
  };

  // Finds the shapes, the numbers, and the positions of the strings.
  void decode(const std::vector<TFFeature>& features, Record& record, std::vector<std::string_view>& texts) {
    std::vector<Values> values = parse(features, record);
    for (size_t k = 0; k < features.size(); k++) {
      const TFFeature& feature = features[k];
      try {
        uint32_t expected = field_of(feature.kind);
        if (values[k].kind != 0 && values[k].kind != expected)
          refuse("expected ", kKindNames[expected], ", got ", kKindNames[values[k].kind]);
        if (feature.kind == TFFeature::Kind::string) {
          texts[k] = first_string(values[k], feature.default_string, record);
          outputs_[k].shape = {static_cast<int64_t>(texts[k].size())};
          continue;
        }
        record.need(values[k].list);
        if (feature.kind == TFFeature::Kind::float32)
          decode_numbers(feature, values[k], feature.default_float, outputs_[k]);
        else
          decode_numbers(feature, values[k], feature.default_int, outputs_[k]);
      } catch (const Error& error) {
        throw Error(error.kind, str("feature \"", feature.name, "\": ", error.message));
      }
    }
  }

  template <class T>
  void decode_numbers(const TFFeature& feature, const Values& values, T otherwise, Output& out) {
    int64_t count = count_numbers<T>(values);
    out.shape = find_shape(feature, count);
    int64_t all = volume(out.shape);
    T* to = reinterpret_cast<T*>(append(out, static_cast<size_t>(all) * sizeof(T)));
    std::fill(copy_numbers(values, to), to + all, otherwise);
  }

  // Memory for the bytes of an output, aligned for any element type.
  char* append(Output& out, size_t bytes) {
    size_t begin = (decoded_.size() + 7) / 8 * 8;
    decoded_.resize(begin + bytes);
    out.begin = static_cast<int64_t>(begin);
    out.bytes = static_cast<int64_t>(bytes);
    return decoded_.data() + begin;
  }

  // The output whose string ends with the gap; -1 if the gap belongs to no output.
  static int find_late(const std::vector<std::string_view>& texts, std::string_view gap) {
    for (size_t k = 0; k < texts.size(); k++)
      if (static_cast<int64_t>(gap.size()) >= LateBytes::kLongString && texts[k].data() <= gap.data() &&
          texts[k].data() + texts[k].size() == gap.data() + gap.size())
        return static_cast<int>(k);
    return -1;
  }

  // The record except its gap; the checksum is verified when the gap is read.
  void keep(const Record& record, int64_t offset, std::string_view text) {
    kept_.reserve(record.before_gap().size() + record.after_gap().size());
    kept_.append(record.before_gap()).append(record.after_gap());
    gap_begin_ = static_cast<int64_t>(record.before_gap().size());
    gap_bytes_ = static_cast<int64_t>(record.gap().size());
    gap_offset_ = offset + gap_begin_;
    text_begin_ = text.data() - record.before_gap().data();
  }

  void read_late(char* to) const {
    int64_t known = gap_begin_ - text_begin_;
    std::memcpy(to, kept_.data() + text_begin_, static_cast<size_t>(known));
    file_->read_at(gap_offset_, to + known, gap_bytes_);
    int64_t before = gap_begin_ - kHeader, after = static_cast<int64_t>(kept_.size()) - gap_begin_ - kFooter;
    uint32_t crc = crc32c(kept_.data() + kHeader, before);
    crc = crc32c(to + known, gap_bytes_, crc);
    crc = crc32c(kept_.data() + gap_begin_, after, crc);
    check_data(crc, before + gap_bytes_ + after, kept_.data() + gap_begin_ + after);
  }

  const storage::ObjectPtr file_;
  std::vector<Output> outputs_;
  std::vector<char> decoded_;
  int late_ = -1;  // the output that is read late, from the gap, and its:
  std::string kept_;
  int64_t gap_begin_ = 0, gap_bytes_ = 0, gap_offset_ = 0, text_begin_ = 0;
};

class TFRecordSource : public RecordsSource {
 public:
  TFRecordSource(RecordFiles records, std::vector<TFFeature> features)
      : RecordsSource(std::move(records)), features_(std::move(features)), outputs_(features_.size()) {
    for (size_t k = 0; k < features_.size(); k++) {
      const TFFeature& feature = features_[k];
      bool text = feature.kind == TFFeature::Kind::string;
      outputs_[k].dtype = text                                       ? DType::uint8
                          : feature.kind == TFFeature::Kind::float32 ? DType::float32
                                                                     : DType::int64;
      outputs_[k].ndim = text ? 1 : feature.shape.size() + (feature.fixed ? 0 : 1);
    }
  }
  const char* name() const override { return "readers.TFRecord"; }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    RecordFiles::Place at = records_.place(index);
    return std::make_unique<Example>(features_, records_.file_of(at, fetched), at);
  }

 private:
  std::vector<TFFeature> features_;
  std::vector<Meta> outputs_;
};

void check(const TFFeature& feature) {
  auto wrong = [&](const auto&... parts) { refuse("feature \"", feature.name, "\": ", parts...); };
  for (int64_t extent : feature.shape)
    if (extent < 0 || (extent == 0 && !feature.fixed))
      wrong("expected positive extents, got the shape ", feature.shape);
  int64_t values = checked_volume(feature.shape);
  if (feature.kind == TFFeature::Kind::string && (!feature.fixed || values != 1))
    wrong("expected a FixedLenFeature of one string, as arrays of strings cannot be read");
}

struct TFRecordArgs : ReaderArgs {
  std::vector<std::string> path, index_path;
  std::vector<TFFeature> features;
};

void check_args(TFRecordArgs& args) {
  if (!args.index_path.empty() && args.index_path.size() != args.path.size())
    refuse("expected one index for each file, got ", args.path.size(), " files, ", args.index_path.size(), " indices");
}

std::shared_ptr<Source> source_of_args(const TFRecordArgs& args, const Opening&) {
  for (auto& feature : args.features) check(feature);
  RecordFiles records(args.path);
  storage::Needs needs;
  for (const std::string& path : args.index_path) needs.whole(path);
  const storage::Fetched indexes(needs);
  for (size_t i = 0; i < args.index_path.size(); i++)
    read_pairs(args.index_path[i], indexes,
               [&](int64_t offset, int64_t size) { records.add(static_cast<int>(i), offset, size); });
  if (args.index_path.empty()) records.search(find_tfrecords, args.skip_errors);
  return std::make_shared<TFRecordSource>(std::move(records), args.features);
}

}  // namespace

void find_tfrecords(const std::string& path, const storage::Object& file, const FoundRecord& record) {
  FileWindow window(file);
  for (int64_t at = 0; at < file.size();) {
    int64_t available = file.size() - at - kHeader - kFooter;
    try {
      if (available < 0) refuse("the file ends within a record");
      int64_t size = kHeader + length_of(window.at(at, kHeader), available) + kFooter;
      record(at, size);
      at += size;
    } catch (const Error& error) {
      throw Error(error.kind, str(path, ", byte ", at, ": ", error.message));
    }
  }
}

AVIDA_READER(TFRecord, TFRecordArgs) {
  reader
      .doc(R"(Reads ``tf.train.Example`` records from TFRecord files.

Items are dictionaries with the requested features.

A feature becomes int64 or float32 numbers, or the bytes of one string (uint8). Checksums are verified: a damaged
record makes its batch fail when that is used, with a message that names the file, the record and its place.)")
      .arg("features", &TFRecordArgs::features,
           "What to read, by name: ``tfrecord.FixedLenFeature`` or ``tfrecord.VarLenFeature``. Where an example has "
           "too few values for a fixed shape, or none, the feature's default value stands in their place; a feature of "
           "variable length is empty there.",
           ReaderArg::required)
      .typed("Mapping[str, tfrecord.Feature]")
      .path("index_path", &TFRecordArgs::index_path,
            "The index of each file, with the offset and size of a record in each line; ``avida index`` makes them. "
            "Default: the files are searched for their records, which takes a read for each of them.")
      .path("path", &TFRecordArgs::path, "The files.", ReaderArg::required)
      .ignored("read_ahead", "bool | None")
      .ignored("use_o_direct", "bool | None")
      .example(R"(>>> import struct, tempfile
>>> from avida import tfrecord
>>> def crc32c(data, crc=0xFFFFFFFF):
...     for byte in data:
...         crc ^= byte
...         for _ in range(8):
...             crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
...     crc ^= 0xFFFFFFFF
...     return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
>>> example = b"\x0a\x10\x0a\x0e\x0a\x05label\x12\x05\x1a\x03\x0a\x01\x07"  # {"label": [7]}
>>> length = struct.pack("<Q", len(example))
>>> file = tempfile.NamedTemporaryFile()
>>> _ = file.write(length + crc32c(length) + example + crc32c(example))
>>> file.flush()
>>> features = {"label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1)}
>>> reader = avida.readers.TFRecord(path=file.name, features=features)
>>> for sample in reader.next_epoch():
...     print(int(sample["label"][0]))
7)")
      .archive()
      .blocks()
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
