#include "readers/tfrecord.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "readers/crc32c.h"
#include "readers/protobuf.h"
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

// Checksums are stored rotated and shifted: data with checksums in it would have weak ones.
bool checksum_holds(const char* data, int64_t bytes, const char* stored) {
  uint32_t crc = crc32c(data, bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8u == load<uint32_t>(stored);
}

// The length of the data behind a header, of which at most `available` bytes can be there.
int64_t length_of(const char* header, int64_t available) {
  if (!checksum_holds(header, 8, header + 8))
    fail(ErrorKind::runtime, "the length of the record has a wrong checksum: it is damaged, or no record begins here");
  auto length = load<uint64_t>(header);
  if (available < 0 || length > static_cast<uint64_t>(available))
    fail(ErrorKind::runtime, "the record has ", length, " bytes of data, but only ", std::max<int64_t>(available, 0),
         " are there");
  return static_cast<int64_t>(length);
}

// The values of one feature of one example, still encoded: a message with a repeated field 1.
struct Values {
  uint32_t kind = 0;  // the field in the feature that holds them; 0: none does
  std::string_view list;
};

constexpr const char* kKindNames[] = {"no values", "strings", "float32 numbers", "int64 numbers"};

uint32_t field_of(TFFeature::Kind kind) {
  return kind == TFFeature::Kind::string ? 1 : kind == TFFeature::Kind::float32 ? 2 : 3;
}

Values values_of(std::string_view feature) {
  Values values;
  ProtobufField field;
  for (ProtobufReader message(feature); message.next(field);)
    if (field.number <= 3) values = {field.number, field.as_bytes()};
  return values;
}

std::string_view first_string(const Values& values, const std::string& otherwise) {
  ProtobufField field;
  for (ProtobufReader message(values.list); message.next(field);)
    if (field.number == 1) return field.as_bytes();
  return otherwise;
}

Shape find_shape(const TFFeature& feature, int64_t count) {
  int64_t in_shape = volume(feature.shape);
  Shape shape = feature.shape;
  if (feature.fixed) {
    if (count > in_shape)
      fail(ErrorKind::runtime, "expected at most ", in_shape, " values for the shape ", shape, ", got ", count);
  } else {
    if (count % in_shape)
      fail(ErrorKind::runtime, "expected a multiple of ", in_shape, " values for the partial shape ", shape, ", got ",
           count);
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

// The data of one record, and where they are in the file.
struct Record {
  Block block;
  std::string_view data;
  int64_t offset;
};

Record load_record(const File& file, const RecordFiles::Place& at) {
  int64_t available = file.size() - at.offset;
  if (available < kHeader + kFooter || at.size > available)
    fail(ErrorKind::runtime, "expected a record of ", std::max(at.size, kHeader + kFooter),
         " bytes or more, but the file has only ", file.size(), " bytes");
  int64_t size = at.size;
  if (size < kHeader + kFooter) {
    char header[kHeader];
    file.read_at(at.offset, header, kHeader);
    size = kHeader + length_of(header, available - kHeader - kFooter) + kFooter;
  }
  Block block = allocate(size);
  auto bytes = static_cast<char*>(block.get());
  file.read_at(at.offset, bytes, size);
  int64_t length = length_of(bytes, size - kHeader - kFooter);
  const char* data = bytes + kHeader;
  if (!checksum_holds(data, length, data + length))
    fail(ErrorKind::runtime, "the ", length, " bytes of data of the record have a wrong checksum");
  return {std::move(block), {data, static_cast<size_t>(length)}, at.offset + kHeader};
}

void parse_entry(const std::vector<TFFeature>& features, std::string_view entry, std::vector<Values>& values) {
  std::string_view key, value;
  ProtobufField field;
  for (ProtobufReader message(entry); message.next(field);) {
    if (field.number == 1) key = field.as_bytes();
    if (field.number == 2) value = field.as_bytes();
  }
  for (size_t k = 0; k < features.size(); k++)
    if (features[k].name == key) values[k] = values_of(value);
}

// example.features.feature is a map: entries with a key and a value.
std::vector<Values> parse(const std::vector<TFFeature>& features, std::string_view example) {
  std::vector<Values> values(features.size());
  ProtobufField field, entry;
  for (ProtobufReader message(example); message.next(field);) {
    if (field.number != 1) continue;
    for (ProtobufReader map(field.as_bytes()); map.next(entry);)
      if (entry.number == 1) parse_entry(features, entry.as_bytes(), values);
  }
  return values;
}

// Strings from this size on are read a second time, straight to where they stay: with the record at hand in a cache,
// that is faster than keeping all records of a batch and copying from them.
constexpr size_t kLongString = 16 * 1024;

class Example : public Source::Sample {
 public:
  Example(const std::vector<TFFeature>& features, std::shared_ptr<const File> file, const RecordFiles::Place& at)
      : file_(std::move(file)), outputs_(features.size()) {
    Record record = load_record(*file_, at);
    std::vector<Values> values = parse(features, record.data);
    for (size_t k = 0; k < features.size(); k++) {
      try {
        decode(features[k], values[k], record, outputs_[k]);
      } catch (const Error& error) {
        throw Error(error.kind, str("feature \"", features[k].name, "\": ", error.message));
      }
    }
  }

  Shape shape(int output) const override { return outputs_[output].shape; }

  void read(int output, void* to) override {
    const Output& out = outputs_[output];
    if (out.in_file)
      file_->read_at(out.begin, to, out.bytes);
    else if (out.bytes > 0)
      std::memcpy(to, decoded_.data() + out.begin, static_cast<size_t>(out.bytes));
  }

 private:
  struct Output {
    Shape shape;
    bool in_file = false;  // otherwise in decoded_
    int64_t begin = 0, bytes = 0;
  };

  void decode(const TFFeature& feature, const Values& values, const Record& record, Output& out) {
    uint32_t expected = field_of(feature.kind);
    if (values.kind != 0 && values.kind != expected)
      fail(ErrorKind::runtime, "expected ", kKindNames[expected], ", got ", kKindNames[values.kind]);
    if (feature.kind == TFFeature::Kind::float32) return decode_numbers(feature, values, feature.default_float, out);
    if (feature.kind == TFFeature::Kind::int64) return decode_numbers(feature, values, feature.default_int, out);
    std::string_view text = first_string(values, feature.default_string);
    out.bytes = static_cast<int64_t>(text.size());
    out.shape = {out.bytes};
    out.in_file = text.size() >= kLongString && text.data() != feature.default_string.data();
    out.begin = out.in_file ? record.offset + (text.data() - record.data.data()) : append(text.size());
    if (!out.in_file) std::copy(text.begin(), text.end(), decoded_.data() + out.begin);
  }

  template <class T>
  void decode_numbers(const TFFeature& feature, const Values& values, T otherwise, Output& out) {
    int64_t count = count_numbers<T>(values);
    out.shape = find_shape(feature, count);
    int64_t all = volume(out.shape);
    out.bytes = all * static_cast<int64_t>(sizeof(T));
    out.begin = append(static_cast<size_t>(out.bytes));
    T* to = reinterpret_cast<T*>(decoded_.data() + out.begin);
    std::fill(copy_numbers(values, to), to + all, otherwise);
  }

  // Room for so many bytes, where numbers of any type may stand.
  int64_t append(size_t bytes) {
    size_t begin = (decoded_.size() + 7) / 8 * 8;
    decoded_.resize(begin + bytes);
    return static_cast<int64_t>(begin);
  }

  std::shared_ptr<const File> file_;
  std::vector<Output> outputs_;
  std::vector<char> decoded_;
};

class TFRecordSource : public Source {
 public:
  TFRecordSource(RecordFiles records, std::vector<TFFeature> features)
      : records_(std::move(records)), features_(std::move(features)), outputs_(features_.size()) {
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
  int64_t size() const override { return records_.size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return records_.describe(index); }
  std::unique_ptr<Sample> open(int64_t index) const override {
    RecordFiles::Place at = records_.place(index);
    return std::make_unique<Example>(features_, records_.open(at.file), at);
  }

 private:
  RecordFiles records_;
  std::vector<TFFeature> features_;
  std::vector<Meta> outputs_;
};

void check(const TFFeature& feature) {
  auto wrong = [&](const auto&... parts) { fail(ErrorKind::runtime, "feature \"", feature.name, "\": ", parts...); };
  for (int64_t extent : feature.shape)
    if (extent < 0 || (extent == 0 && !feature.fixed))
      wrong("expected positive extents, got the shape ", feature.shape);
  int64_t values = checked_volume(feature.shape);
  if (feature.kind == TFFeature::Kind::string && (!feature.fixed || values != 1))
    wrong("expected a FixedLenFeature of one string, as arrays of strings cannot be read");
}

}  // namespace

std::shared_ptr<Source> tfrecord_source(std::vector<std::string> paths, const std::vector<std::string>& index_paths,
                                        std::vector<TFFeature> features, bool keep_damaged) {
  for (auto& feature : features) check(feature);
  RecordFiles records(std::move(paths));
  for (size_t i = 0; i < index_paths.size(); i++)
    read_pairs(index_paths[i], [&](int64_t offset, int64_t size) { records.add(static_cast<int>(i), offset, size); });
  if (index_paths.empty()) records.search(find_tfrecords, keep_damaged);
  return std::make_shared<TFRecordSource>(std::move(records), std::move(features));
}

void find_tfrecords(const std::string& path, const File& file, const FoundRecord& record) {
  FileWindow window(file);
  for (int64_t at = 0; at < file.size();) {
    int64_t available = file.size() - at - kHeader - kFooter;
    try {
      if (available < 0) fail(ErrorKind::runtime, "the file ends within a record");
      int64_t size = kHeader + length_of(window.at(at, kHeader), available) + kFooter;
      record(at, size);
      at += size;
    } catch (const Error& error) {
      throw Error(error.kind, str(path, ", byte ", at, ": ", error.message));
    }
  }
}

}  // namespace avida
