// readers.Caffe and readers.Caffe2: records in LMDBs.
#include <algorithm>
#include <climits>
#include <cstring>

#include "readers/declare.h"
#include "readers/first_sample.h"
#include "readers/lmdb/lmdb.h"
#include "readers/records/late_bytes.h"

namespace avida {
namespace {

struct CaffeArgs : ReaderArgs {
  std::vector<std::string> path;
  bool image_available = true, label_available = true;
};

// Types of labels; between them, rows of numbers.
constexpr int kOneLabel = 0, kClasses = 1, kWeightedClasses = 3, kNoLabels = 4;

struct Caffe2Args : ReaderArgs {
  std::vector<std::string> path;
  bool image_available = true, bbox = false;
  int64_t label_type = kOneLabel, num_labels = 1, additional_inputs = 0;
};

// One output of a record: the position of its elements in the value, and how they are converted.
struct Part {
  DType dtype = DType::none;
  Shape shape;
  std::string_view bytes;              // the elements of an image, possibly not read yet
  std::vector<ProtobufField> numbers;  // the fields with the numbers of a label or another tensor
  bool integers = false;               // the numbers are int32, else float
  bool sparse = false;                 // the numbers are the indices of the weights, or of ones
  std::vector<ProtobufField> weights;
};

template <class T>
std::vector<T> numbers_of(const std::vector<ProtobufField>& fields) {
  int64_t n = 0;
  for (auto& field : fields) n += field.count<T>();
  std::vector<T> numbers(n);
  T* end = numbers.data();
  for (auto& field : fields) end = field.copy_to(end);
  return numbers;
}

template <class From, class To>
void write_sparse(const Part& part, To* to) {
  int64_t classes = part.shape[0];
  std::fill_n(to, classes, To(0));
  std::vector<From> places = numbers_of<From>(part.numbers);
  std::vector<float> weights = numbers_of<float>(part.weights);
  for (size_t i = 0; i < places.size(); i++) {
    if (!(places[i] >= 0 && static_cast<double>(places[i]) < static_cast<double>(classes)))
      refuse("expected labels from 0 to ", classes - 1, ", got ", places[i]);
    to[static_cast<int64_t>(places[i])] = weights.empty() ? To(1) : static_cast<To>(weights[i]);
  }
}

template <class T>
void write_numbers(const Part& part, void* to) {
  T* end = static_cast<T*>(to);
  for (auto& field : part.numbers) end = field.copy_to(end);
}

void write(const LateBytes& bytes, const Part& part, void* to) {
  bytes.copy(part.bytes, to);
  if (!part.sparse) return part.integers ? write_numbers<int32_t>(part, to) : write_numbers<float>(part, to);
  if (part.dtype == DType::int32) return write_sparse<int32_t>(part, static_cast<int32_t*>(to));
  if (part.integers) return write_sparse<int32_t>(part, static_cast<float*>(to));
  write_sparse<float>(part, static_cast<float*>(to));
}

// The shape of the stored pixels: (height, width, channels).
Part pixels(const Shape& shape, std::string_view bytes) {
  int64_t volume = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(volume, extent, &volume)) volume = -1;
  if (volume != std::ssize(bytes))
    refuse("expected the pixels of an image of shape ", shape, ", got ", bytes.size(), " bytes");
  return {.dtype = DType::uint8, .shape = shape, .bytes = bytes};
}

Part encoded_image(std::string_view bytes) {
  return {.dtype = DType::uint8, .shape = {std::ssize(bytes)}, .bytes = bytes};
}

class RecordSample : public Source::Sample {
 public:
  // `parse` finds the outputs in a record.
  template <class Parse>
  RecordSample(const Lmdb& database, int64_t index, Parse&& parse)
      : database_(database), record_(database.record(index)) {
    try {
      parts_ = parse(record_);
    } catch (const Error& error) {
      database_.check_unchanged();
      throw Error(error.kind, str("key \"", record_.key, "\": ", error.message));
    }
    if (std::none_of(parts_.begin(), parts_.end(), [&](auto& part) { return record_.bytes.is_late(part.bytes); }))
      database_.check_unchanged();
  }

  const std::vector<Part>& parts() const { return parts_; }
  Shape shape(int output) const override { return parts_[output].shape; }
  void read(int output, void* to) override {
    const Part& part = parts_[output];
    write(record_.bytes, part, to);
    if (record_.bytes.is_late(part.bytes)) database_.check_unchanged();
  }

 private:
  const Lmdb& database_;
  Lmdb::Record record_;
  std::vector<Part> parts_;
};

// The records of several databases, one after another. Types and ranks are those of the first record that can be read.
class LmdbSource : public Source {
 public:
  explicit LmdbSource(const std::vector<std::string>& paths)
      : is_local_(std::ranges::all_of(paths, storage::is_local)) {
    for (auto& path : paths) {
      databases_.push_back(std::make_unique<Lmdb>(path));
      ends_.push_back(size() + databases_.back()->size());
    }
  }

  int64_t size() const override { return ends_.empty() ? 0 : ends_.back(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override {
    auto [database, number] = find(index);
    return str(database->path(), ", record ", number);
  }
  bool is_local() const override { return is_local_; }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched&) const override {
    auto sample = find_sample(index);
    for (int k = 0; const Part& part : sample->parts()) check_like_first(*this, first_, k++, part.dtype, part.shape);
    return sample;
  }

 protected:
  // The outputs of a record.
  virtual std::vector<Part> parse(Lmdb::Record& record) const = 0;

  void set_outputs() {
    first_ = find_first_sample(*this, [&](int64_t i) {
      for (auto sample = find_sample(i); const Part& part : sample->parts()) {
        Meta meta;
        meta.dtype = part.dtype;
        meta.ndim = part.shape.size();
        outputs_.push_back(meta);
      }
    });
  }

 private:
  struct Place {
    const Lmdb* database;
    int64_t number;
  };
  Place find(int64_t index) const {
    size_t k = std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin();
    return {databases_[k].get(), index - (k == 0 ? 0 : ends_[k - 1])};
  }
  std::unique_ptr<RecordSample> find_sample(int64_t index) const {
    auto [database, number] = find(index);
    return std::make_unique<RecordSample>(*database, number, [&](Lmdb::Record& record) { return parse(record); });
  }

  const bool is_local_;
  std::vector<std::unique_ptr<Lmdb>> databases_;
  std::vector<int64_t> ends_;  // the cumulative number of records
  std::vector<Meta> outputs_;
  int64_t first_ = 0;  // the record that determines types and ranks
};

// A message Datum: channels = 1, height = 2, width = 3, data = 4, label = 5, float_data = 6, encoded = 7.
class CaffeSource : public LmdbSource {
 public:
  CaffeSource(const std::vector<std::string>& paths, bool images, bool labels)
      : LmdbSource(paths), images_(images), labels_(labels) {
    set_outputs();
  }
  const char* name() const override { return "readers.Caffe"; }

 private:
  std::vector<Part> parse(Lmdb::Record& record) const override {
    Part label{.dtype = DType::int32, .shape = {0}, .integers = true};
    std::string_view data;
    int64_t channels = 0, height = 0, width = 0;
    bool encoded = true;
    ProtobufField field;
    for (ProtobufReader datum(record.value, &record.bytes); datum.next(field);) {
      if (field.number == 1) channels = field.as<int32_t>();
      if (field.number == 2) height = field.as<int32_t>();
      if (field.number == 3) width = field.as<int32_t>();
      if (field.number == 4) data = field.as_bytes();
      if (field.number == 5) {
        field.as<int32_t>();  // checks the type
        label.numbers = {field};
        label.shape[0] = 1;
      }
      if (field.number == 7) encoded = field.as<bool>();
    }
    std::vector<Part> parts;
    if (images_) parts.push_back(encoded ? encoded_image(data) : pixels({height, width, channels}, data));
    if (labels_) parts.push_back(std::move(label));
    return parts;
  }

  const bool images_, labels_;
};

// A message TensorProtos has any number of TensorProto = 1: dims = 1, data_type = 2, float_data = 3, int32_data = 4,
// byte_data = 5, string_data = 6.
struct TensorProto {
  enum Type { none = 0, floats = 1, int32s = 2, bytes = 3, strings = 4 };
  int type = none;
  std::vector<ProtobufField> dims, float_data, int32_data;
  std::string_view byte_data, first_string;
  bool has_string = false;

  TensorProto(std::string_view message, LateBytes& bytes) {
    ProtobufField field;
    for (ProtobufReader tensor(message, &bytes); tensor.next(field);) {
      if (field.number == 1 || field.number == 3 || field.number == 4) bytes.need(field.bytes);
      if (field.number == 1) dims.push_back(field);
      if (field.number == 2) type = field.as<int32_t>();
      if (field.number == 3) float_data.push_back(field);
      if (field.number == 4) int32_data.push_back(field);
      if (field.number == 5) byte_data = field.as_bytes();
      if (field.number == 6 && !has_string) {
        first_string = field.as_bytes();
        has_string = true;
      }
    }
  }

  // Its numbers as a vector, for any dims.
  Part numbers(const char* what) const {
    Part part;
    if (type == floats) {
      part = {.dtype = DType::float32, .numbers = float_data};
    } else if (type == int32s) {
      part = {.dtype = DType::int32, .numbers = int32_data, .integers = true};
    } else {
      refuse("expected ", what, " of type FLOAT (1) or INT32 (2), got type ", type);
    }
    int64_t n = 0;
    for (auto& field : part.numbers) n += type == floats ? field.count<float>() : field.count<int32_t>();
    part.shape = {n};
    return part;
  }

  Part image() const {
    if (type == strings) {
      if (!has_string) refuse("expected an image, got a tensor of no strings");
      return encoded_image(first_string);
    }
    if (type != bytes) refuse("expected an image of type STRING (4) or BYTE (3), got type ", type);
    std::vector<int64_t> extents = numbers_of<int64_t>(dims);
    if (extents.size() == 2) extents.push_back(1);
    if (extents.size() != 3) refuse("expected pixels with 2 or 3 axes, got ", extents.size());
    return pixels(Shape(extents), byte_data);
  }
};

class Caffe2Source : public LmdbSource {
 public:
  explicit Caffe2Source(const Caffe2Args& args) : LmdbSource(args.path), args_(args) { set_outputs(); }
  const char* name() const override { return "readers.Caffe2"; }

 private:
  std::vector<Part> parse(Lmdb::Record& record) const override {
    std::vector<std::string_view> messages;
    ProtobufField field;
    for (ProtobufReader message(record.value, &record.bytes); message.next(field);)
      if (field.number == 1) messages.push_back(field.as_bytes());
    size_t used = 0;
    auto next = [&](const char* what) {
      if (used == messages.size()) refuse("expected ", what, " as tensor ", used, ", but the record has only ", used);
      return TensorProto(messages[used++], record.bytes);
    };

    std::vector<Part> parts;
    if (args_.image_available) parts.push_back(next("an image").image());
    if (args_.label_type != kNoLabels) {
      Part labels = next("labels").numbers("labels");
      int64_t count = labels.shape[0];
      if (args_.label_type == kOneLabel && count != 1)
        refuse("expected one label, got ", count, "; set label_type for several labels");
      if (args_.label_type == kWeightedClasses) add_weights(labels, next("weights").numbers("weights"));
      if (args_.label_type == kClasses || args_.label_type == kWeightedClasses) {
        labels.sparse = true;
        labels.shape = {args_.num_labels};
      }
      parts.push_back(std::move(labels));
    }
    for (int i = 0; i < args_.additional_inputs; i++)
      parts.push_back(next("an additional input").numbers("an additional input"));
    if (args_.bbox) {
      parts.push_back(next("a box").numbers("a box"));
      const Part& box = parts.back();
      if (box.dtype != DType::int32 || box.shape[0] != 4)
        refuse("expected 4 int32 numbers as the box, got ", box.shape[0], " of ", box.dtype);
    }
    return parts;
  }

  // Weights are floats, and so are labels with weights.
  static void add_weights(Part& labels, const Part& weights) {
    if (weights.dtype != DType::float32 || weights.shape[0] != labels.shape[0])
      refuse("expected ", labels.shape[0], " weights of type float32, got ", weights.shape[0], " of ", weights.dtype);
    labels.weights = weights.numbers;
    labels.dtype = DType::float32;
  }

  const Caffe2Args args_;
};

void check_caffe(CaffeArgs& args) {
  if (!args.image_available && !args.label_available)
    fail(ErrorKind::index, "there is nothing to read: expected image_available or label_available");
}

std::shared_ptr<Source> caffe_source(const CaffeArgs& args, const Opening&) {
  return std::make_shared<CaffeSource>(args.path, args.image_available, args.label_available);
}

void check_caffe2(Caffe2Args& args) {
  if (args.label_type < 0 || args.label_type > kNoLabels)
    refuse("label_type must be from 0 to ", kNoLabels, ", got ", args.label_type);
  for (auto& [name, number] : {std::pair("num_labels", args.num_labels), {"additional_inputs", args.additional_inputs}})
    if (number < 0 || number > INT_MAX) refuse(name, " must be from 0 to ", INT_MAX, ", got ", number);
  if (!args.image_available && args.label_type == kNoLabels && !args.bbox && args.additional_inputs == 0)
    fail(ErrorKind::index, "there is nothing to read: expected images, labels, a box or additional inputs");
}

std::shared_ptr<Source> caffe2_source(const Caffe2Args& args, const Opening&) {
  return std::make_shared<Caffe2Source>(args);
}

}  // namespace

AVIDA_READER(Caffe, CaffeArgs) {
  reader
      .doc(R"(Reads images and labels from Caffe's LMDBs, in the order of keys.

An image is the bytes of its file (uint8), or pixels (height, width, channels) where the record says that it is not
encoded; its label is an int32 with one element, or none where the record has no label. When others write to the
database, samples are those of the transaction that was the newest when the reader was made, or fail.)")
      .arg("image_available", &CaffeArgs::image_available, "Whether to read images.")
      .arg("label_available", &CaffeArgs::label_available, "Whether to read labels.")
      .path("path", &CaffeArgs::path,
            "The folder of an LMDB or its file, or several: their records follow one another.", ReaderArg::required)
      .example(R"(>>> import lmdb, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> with lmdb.open(folder.name) as database, database.begin(write=True) as records:
...     datum = bytes([34, 4]) + b"JPEG" + bytes([40, 7])  # as Caffe writes data and label
...     _ = records.put(b"00000000", datum)
>>> reader = avida.readers.Caffe(path=folder.name)
>>> for images, labels in reader.next_epoch(batch_size=1):
...     print(images.shape, labels.torch().tolist(), images.sources[0].name.endswith(", record 0"))
[(4,)] [[7]] True)")
      .check(check_caffe)
      .source(caffe_source);
}

AVIDA_READER(Caffe2, Caffe2Args) {
  reader
      .doc(R"(Reads images, labels and other tensors from LMDBs of Caffe2, by key order.

A record is a list of tensors: the image, its labels, the additional inputs, and the box. An image is the bytes of
its file (uint8) or pixels (height, width, channels); the others are rows of float32 or int32. When others write to
the database, samples are those of the transaction that was the newest when the reader was made, or fail.)")
      .arg("additional_inputs", &Caffe2Args::additional_inputs, "How many more tensors of numbers the records have.")
      .arg("bbox", &Caffe2Args::bbox, "Whether there is a box, four int32 numbers.")
      .arg("image_available", &Caffe2Args::image_available, "Whether there are images.")
      .arg("label_type", &Caffe2Args::label_type,
           "What the labels are: ``0``, one number; ``1``, the numbers of those classes that apply, read as "
           "``num_labels`` zeros and ones; ``2``, a row of numbers; ``3``, as ``1`` with weights for the ones; ``4``, "
           "there are none.")
      .arg("num_labels", &Caffe2Args::num_labels, "The number of classes, for the label types ``1`` and ``3``.")
      .path("path", &Caffe2Args::path,
            "The folder of an LMDB or its file, or several: their records follow one another.", ReaderArg::required)
      .example(R"(>>> import lmdb, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> with lmdb.open(folder.name) as database, database.begin(write=True) as records:
...     image = bytes([16, 4, 50, 4]) + b"JPEG"  # as Caffe2 writes a string
...     labels = bytes([16, 2, 34, 2, 0, 3])  # and the integers 0 and 3
...     tensors = [bytes([10, len(tensor)]) + tensor for tensor in (image, labels)]
...     _ = records.put(b"00000000", b"".join(tensors))
>>> reader = avida.readers.Caffe2(path=folder.name, label_type=1, num_labels=5)
>>> for images, labels in reader.next_epoch(batch_size=1):
...     print(images.shape, labels.torch().tolist())
[(4,)] [[1, 0, 0, 1, 0]])")
      .check(check_caffe2)
      .source(caffe2_source);
}

}  // namespace avida
