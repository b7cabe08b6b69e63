// The texts of index files.
#include "python/readers/readers.h"
#include "readers/records/mxnet.h"
#include "readers/records/records.h"
#include "readers/records/tfrecord.h"

namespace avida::python {
namespace {

constexpr int64_t kRecordsPerCall = 1024;  // between two calls of the progress function

using Line = std::string (*)(int64_t number, int64_t offset, int64_t size);

// A line for each record of a file. Calls progress(bytes done, all bytes) regularly; an exception in it ends the
// search.
template <FindRecords find, Line line>
nb::str index_text(nb::str path, nb::callable progress) {
  std::string name = path_of(path), text;
  int64_t records = 0;
  {
    WithoutGil released;
    RecordFiles files({name});
    find(name, *storage::in_order(files.file(0)), [&](int64_t offset, int64_t size) {
      text += line(records++, offset, size);
      if (records % kRecordsPerCall == 0) report_progress(progress, offset + size, files.file(0)->size());
    });
  }
  return nb::str(text.data(), text.size());
}

std::string tfrecord_line(int64_t, int64_t offset, int64_t size) {
  return std::to_string(offset) + ' ' + std::to_string(size) + '\n';
}
std::string recordio_line(int64_t number, int64_t offset, int64_t) {
  return std::to_string(number) + '\t' + std::to_string(offset) + '\n';
}

const BindFormat index([](nb::module_& m) {
  m.def("index_tfrecord", &index_text<find_tfrecords, tfrecord_line>, nb::arg("path"), nb::arg("progress"));
  m.def("index_recordio", &index_text<find_recordio, recordio_line>, nb::arg("path"), nb::arg("progress"));
});

}  // namespace
}  // namespace avida::python
