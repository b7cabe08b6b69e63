#include "readers/file/file.h"

#include <cstring>
#include <set>
#include <utility>

#include "codecs/audio/audio_formats.h"
#include "codecs/codec.h"
#include "readers/file/file_args.h"

namespace avida {
namespace {

class FileSample : public Source::Sample {
 public:
  FileSample(storage::ObjectPtr file, int32_t label, bool read_ahead)
      : file_(std::move(file)), bytes_(file_->size()), label_(label) {
    if (read_ahead) file_->read_ahead(0, bytes_);
  }

  Shape shape(int output) const override { return {output == 0 ? bytes_ : 1}; }

  void read(int output, void* to) override {
    if (output == 1) {
      std::memcpy(to, &label_, sizeof(label_));
      return;
    }
    file_->read_at(0, to, bytes_);
    file_.reset();
  }

 private:
  storage::ObjectPtr file_;  // null once it is read
  const int64_t bytes_;
  const int32_t label_;
};

class FileSource : public Source {
 public:
  FileSource(std::shared_ptr<const FileList> files, bool read_ahead)
      : files_(std::move(files)), read_ahead_(read_ahead), is_local_(files_->is_local()) {
    outputs_[0].dtype = DType::uint8;
    outputs_[1].dtype = DType::int32;
    for (auto& meta : outputs_) meta.ndim = 1;
  }
  const char* name() const override { return "readers.File"; }
  int64_t size() const override { return files_->size(); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return files_->path(index); }
  std::optional<Classes> classes() const override { return classes_of_folders(*files_); }
  bool is_local() const override { return is_local_; }
  void name_needs(int64_t index, storage::Needs& needs) const override { needs.whole(files_->path(index)); }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    return std::make_unique<FileSample>(fetched.open(files_->path(index)), files_->label(index), read_ahead_);
  }

 private:
  std::shared_ptr<const FileList> files_;
  bool read_ahead_, is_local_;
  std::vector<Meta> outputs_ = std::vector<Meta>(2);
};

}  // namespace

std::optional<Source::Classes> classes_of_folders(const FileList& files) {
  if (files.classes().empty()) return {};
  Source::Classes names;
  for (const std::string& name : files.classes()) names.emplace(static_cast<int32_t>(names.size()), name);
  return names;
}

std::shared_ptr<Source> file_source(std::shared_ptr<const FileList> files, bool read_ahead) {
  return std::make_shared<FileSource>(std::move(files), read_ahead);
}

namespace {

struct FileArgs : FilesArgs {
  bool case_sensitive_filter = false;
  std::optional<std::vector<std::string>> classes, dir_filters, file_filters;
  std::optional<std::vector<int64_t>> labels;
};

std::vector<std::string> usual_files() {
  std::vector<std::string> patterns;
  for (std::string_view ending : codecs::image_endings()) patterns.push_back(str('*', ending));
  for (const codecs::AudioFormat& format : codecs::audio_formats())
    for (std::string_view ending : format.endings) patterns.push_back(str('*', ending));
  return patterns;
}

void check_classes(const FileArgs& args) {
  if (args.files || args.file_list)
    refuse("classes needs file_root alone: with files or file_list, labels are given and not found");
  if (args.classes->empty())
    refuse("classes must not be an empty list; leave it out to take the folders that are there");
  std::set<std::string_view> names;
  for (const std::string& name : *args.classes)
    if (!names.insert(name).second) refuse("expected each name once in classes, got \"", name, "\" twice");
}

void check_file_args(FileArgs& args) {
  args.check();
  if (args.labels && !args.files) refuse("labels needs files: otherwise they come from the folders or the list");
  if (args.classes) check_classes(args);
  for (auto& [name, filters] : {std::pair("dir_filters", &args.dir_filters), {"file_filters", &args.file_filters}})
    if (*filters && (*filters)->empty())
      refuse(name, " must not be an empty list; leave it out to accept the usual names");
}

constexpr const char* kRemedy = "file_filters= says which files are wanted, such as [\"*\"] or [\"*.jpg\", \"*.avif\"]";

std::shared_ptr<Source> source_of_args(const FileArgs& args, const Opening& opening) {
  FileList list = args.files ? args.named_files(args.labels)
                  : args.file_list
                      ? args.listed_files(true, opening)
                      : FileList::from_folders(
                            args.root(),
                            {args.file_filters ? *args.file_filters : usual_files(),
                             args.dir_filters.value_or(std::vector<std::string>()), args.case_sensitive_filter,
                             args.classes.value_or(std::vector<std::string>()), args.file_filters ? "" : kRemedy},
                            opening, args.listing);
  return file_source(std::make_shared<const FileList>(std::move(list)), args.read_ahead);
}

}  // namespace

AVIDA_READER(File, FileArgs) {
  declare_index(reader);
  reader
      .doc(R"(Reads files and their labels.

The outputs are the bytes of each file (uint8) and its label (int32, one element).

The files are those in the folders under ``file_root``, sorted, where a folder's number is the label of its files; or
those that ``file_list`` or ``files`` name. A folder keeps its number where all its files are left out. Files of other
endings, and files and folders that begin with a dot, are left out with a warning.

All batches are full: the last one of an epoch is filled up with the first samples of the next epoch, which then begins
behind them; see ``pad_last_batch``. A file that cannot be read makes its batch fail when that is used, with a message
that names the file; the batches after it are not affected.)")
      .arg("case_sensitive_filter", &FileArgs::case_sensitive_filter, "Whether filters tell upper from lower case.")
      .arg("classes", &FileArgs::classes,
           "The names of the folders in ``file_root``, in the order of their labels, such as ``classes`` of the reader "
           "of the training data. A folder that is not among them is an error, a name without a folder has no files. "
           "Default: the folders that are there, sorted.")
      .arg("confine", &FileArgs::confine, kConfineText)
      .arg("dir_filters", &FileArgs::dir_filters,
           "Patterns of which a folder's name must match one. Default: any name that does not begin with a dot.")
      .arg(
          "file_filters", &FileArgs::file_filters,
          "Patterns of which a file's name in ``file_root`` must match one; hidden files match those that begin with a "
          "dot. Default: the endings of the image and sound formats that this build decodes.")
      .path("file_list", &FileArgs::file_list,
            "A text file with a file name and a label in each line, separated by blanks. Names are relative to "
            "``file_root``, or else to the folder of the list.")
      .path("file_root", &FileArgs::file_root,
            "A folder with one folder of files for each label; the base of relative names in ``file_list`` and "
            "``files``.")
      .path("files", &FileArgs::files, "The files, in this order.")
      .arg("labels", &FileArgs::labels, "A label for each of ``files``. Default: their numbers.")
      .example(R"(>>> import pathlib, tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> for name in ["cat/1.jpg", "cat/2.jpg", "dog/1.jpg"]:
...     path = pathlib.Path(folder.name, name)
...     path.parent.mkdir(exist_ok=True)
...     _ = path.write_bytes(b"some bytes")
>>> reader = avida.readers.File(file_root=folder.name)
>>> for jpegs, labels in reader.next_epoch(batch_size=3):
...     print(labels.torch().flatten().tolist(), jpegs.shape)
[0, 0, 1] [(10,), (10,), (10,)]
>>> reader.classes
['cat', 'dog'])")
      .check(check_file_args)
      .source(source_of_args);
}

}  // namespace avida
