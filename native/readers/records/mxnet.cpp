#include "readers/records/mxnet.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "readers/declare.h"

namespace avida {
namespace {

constexpr uint32_t kMagic = 0xCED7230A;
constexpr int64_t kHeader = 8;        // bytes, of a part
constexpr int64_t kImageHeader = 24;  // number of labels, the label if that is zero, two ids
enum Position : uint32_t { whole = 0, first = 1, middle = 2, last = 3 };

template <class T>
T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

struct Part {
  Position position;
  int64_t length;
  int64_t padded() const { return (length + 3) / 4 * 4; }
};

// `available` bytes are in the file from the header on.
Part parse_header(const char* header, int64_t available) {
  if (load<uint32_t>(header) != kMagic)
    refuse("expected the magic number of a record: the record is damaged, or none begins here");
  auto word = load<uint32_t>(header + 4);
  if (word >> 29 > last) refuse("the header of the record is damaged: its parts are out of order");
  Part part{static_cast<Position>(word >> 29), word & ((1u << 29) - 1)};
  if (part.length > available - kHeader)
    refuse("the record has ", part.length, " bytes of data, but only ", available - kHeader, " are left in the file");
  return part;
}

class PackedImage : public Source::Sample {
 public:
  PackedImage(storage::ObjectPtr file, int64_t offset, bool read_ahead)
      : file_(std::move(file)), data_at_(offset + kHeader) {
    int64_t available = file_->size() - offset;
    if (available < kHeader)
      refuse("expected a record at byte ", offset, ", but the file has only ", file_->size(), " bytes");
    int64_t beginning = std::min<int64_t>(sizeof(beginning_), available);
    file_->read_at(offset, beginning_, beginning);
    known_ = beginning - kHeader;
    Part part = parse_header(beginning_, available);
    length_ = part.length;
    if (part.position == Position::first)
      join_parts(offset, part);
    else if (part.position != Position::whole)
      refuse("expected the beginning of a record, found the middle of one");
    find_labels();
    if (read_ahead && length_ > known_ && joined_.empty()) file_->read_ahead(data_at_ + known_, length_ - known_);
  }

  Shape shape(int output) const override { return {output == 0 ? length_ - labels_end_ : std::max(labels_, 1u)}; }

  void read(int output, void* to) override {
    if (output == 0)
      copy(labels_end_, length_ - labels_end_, to);
    else if (labels_ > 0)
      copy(kImageHeader, labels_end_ - kImageHeader, to);
    else
      copy(4, sizeof(float), to);
  }

 private:
  void find_labels() {
    if (length_ < kImageHeader) refuse("expected at least ", kImageHeader, " bytes of data, got ", length_);
    copy(0, sizeof(labels_), &labels_);
    labels_end_ = kImageHeader + int64_t{labels_} * static_cast<int64_t>(sizeof(float));
    if (labels_end_ > length_)
      refuse("expected ", labels_, " labels, but the record has only ", length_, " bytes of data");
  }

  // A record is split where its data contains the magic number.
  void join_parts(int64_t offset, Part part) {
    const storage::Object& file = *file_;
    char header[kHeader];
    while (true) {
      size_t size = joined_.size();
      joined_.resize(size + static_cast<size_t>(part.length));
      file.read_at(offset + kHeader, joined_.data() + size, part.length);
      if (part.position == Position::last) break;
      offset += kHeader + part.padded();
      if (offset + kHeader > file.size()) refuse("the file ends before the last part of the record");
      file.read_at(offset, header, kHeader);
      part = parse_header(header, file.size() - offset);
      if (part.position != Position::middle && part.position != Position::last)
        refuse("another record begins before the last part of this one");
      joined_.append(reinterpret_cast<const char*>(&kMagic), sizeof(kMagic));
    }
    length_ = static_cast<int64_t>(joined_.size());
  }

  void copy(int64_t begin, int64_t bytes, void* to) const {
    if (!joined_.empty()) {
      std::memcpy(to, joined_.data() + begin, static_cast<size_t>(bytes));
      return;
    }
    int64_t known = std::clamp<int64_t>(known_ - begin, 0, bytes);
    if (known > 0) std::memcpy(to, beginning_ + kHeader + begin, static_cast<size_t>(known));
    if (known < bytes) file_->read_at(data_at_ + begin + known, static_cast<char*>(to) + known, bytes - known);
  }

  const storage::ObjectPtr file_;
  int64_t data_at_, length_ = 0, labels_end_ = 0;
  uint32_t labels_ = 0;
  std::string joined_;    // the data of a record in several parts
  int64_t known_ = 0;     // the number of bytes of data in:
  char beginning_[2048];  // small records need no second read
};

class MXNetSource : public RecordsSource {
 public:
  MXNetSource(RecordFiles records, bool read_ahead) : RecordsSource(std::move(records)), read_ahead_(read_ahead) {
    outputs_[0].dtype = DType::uint8;
    outputs_[1].dtype = DType::float32;
    for (auto& meta : outputs_) meta.ndim = 1;
  }
  const char* name() const override { return "readers.MXNet"; }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    RecordFiles::Place at = records_.place(index);
    return std::make_unique<PackedImage>(records_.file_of(at, fetched), at.offset, read_ahead_);
  }

 private:
  bool read_ahead_;
  std::vector<Meta> outputs_ = std::vector<Meta>(2);
};

// Adds the records of an index, in the order of the files.
void add_indexed(RecordFiles& records, const std::string& index_path) {
  std::vector<int64_t> offsets;
  read_pairs(index_path, {}, [&](int64_t, int64_t offset) { offsets.push_back(offset); });
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
  int file = 0;
  int64_t begin = 0;
  for (int64_t offset : offsets) {
    auto bytes = [&] { return records.file(file)->size(); };
    for (; offset - begin >= bytes() && file + 1 < records.files(); file++) begin += bytes();
    if (offset - begin != bytes()) records.add(file, offset - begin, 0);  // an index may end with the end of the files
  }
}

struct MXNetArgs : ReaderArgs {
  std::vector<std::string> path;
  std::optional<std::vector<std::string>> index_path;
};

void check_args(MXNetArgs& args) {
  if (args.index_path && args.index_path->size() != 1)
    refuse("expected one index for all files, got ", args.index_path->size());
}

std::shared_ptr<Source> source_of_args(const MXNetArgs& args, const Opening&) {
  RecordFiles records(args.path);
  if (args.index_path)
    add_indexed(records, args.index_path->front());
  else
    records.search(find_recordio, args.skip_errors);
  return std::make_shared<MXNetSource>(std::move(records), args.read_ahead);
}

}  // namespace

void find_recordio(const std::string& path, const storage::Object& file, const FoundRecord& record) {
  FileWindow window(file);
  int64_t begin = -1;  // of a record in several parts
  int64_t at = 0;
  try {
    while (at < file.size()) {
      if (file.size() - at < kHeader) refuse("the file ends within a record");
      Part part = parse_header(window.at(at, kHeader), file.size() - at);
      bool begins = part.position == Position::whole || part.position == Position::first;
      if (begins != (begin < 0)) refuse("the parts of a record are not in order");
      if (begins) begin = at;
      at = std::min(at + kHeader + part.padded(), file.size());
      if (part.position == Position::whole || part.position == Position::last) {
        record(begin, at - begin);
        begin = -1;
      }
    }
    if (begin >= 0) refuse("the file ends before the last part of a record");
  } catch (const Error& error) {
    throw Error(error.kind, str(path, ", byte ", at, ": ", error.message));
  }
}

AVIDA_READER(MXNet, MXNetArgs) {
  reader
      .doc(R"(Reads images and labels from RecordIO files of MXNet.

The outputs are the bytes of each image (uint8), and its label or labels (float32).

Records are read in the order in which they are in the files. A damaged record makes its batch fail when that is
used, with a message that names the file, the record and its place.)")
      .path("index_path", &MXNetArgs::index_path,
            "The index, with a number and an offset for each record; ``avida index`` makes one. With several files, "
            "offsets count on from file to file. Default: the files are searched for their records, which takes a read "
            "for each of them.")
      .path("path", &MXNetArgs::path, "The files.", ReaderArg::required)
      .example(R"(>>> import struct, tempfile
>>> file = tempfile.NamedTemporaryFile()
>>> for label in [3.0, 5.0]:
...     record = struct.pack("<IfQQ", 0, label, 0, 0) + b"some image  "
...     _ = file.write(struct.pack("<II", 0xCED7230A, len(record)) + record)
>>> file.flush()
>>> reader = avida.readers.MXNet(path=file.name)
>>> for images, labels in reader.next_epoch(batch_size=2):
...     print(images.shape, labels.torch().flatten().tolist())
[(12,), (12,)] [3.0, 5.0])")
      .archive()
      .blocks()
      .check(check_args)
      .source(source_of_args);
}

}  // namespace avida
