"""What CONTRIBUTING says of new image formats, readers and stores: so many lines, and everything else follows."""

import pathlib
import re

from tests.source_tree import Tree, needs_a_build

# An image format over a library: the size, then rows of RGB, compressed by zlib.
FORMAT = "native/codecs/formats/zff.cpp"
CODEC = """\
// ZFF, with zlib.
#include <zlib.h>

#include "codecs/bytes.h"
#include "runtime/memory.h"

namespace avida::codecs {
namespace {

constexpr int64_t kMostShrinking = 1100;
constexpr size_t kHeader = 12;

class ZffFile : public ImageFile {
 public:
  explicit ZffFile(Bytes bytes) : ImageFile(bytes) {
    const int64_t height = big_endian(bytes, 8, 4), width = big_endian(bytes, 4, 4);
    check_extents(height, width, 3);
    check_ratio(bytes, height * width * 3, kMostShrinking);
    info_ = {.height = static_cast<int>(height), .width = static_cast<int>(width), .channels = 3, .gray_bits = 14};
    info_.scratch.always = height * width * 3;
  }

  void decode(const DecodeOptions&, const Roi& roi, const PixelRows& out) const override {
    uLongf size = static_cast<uLongf>(info_.scratch.always);
    Block pixels = allocate(info_.scratch.always);
    auto* from = static_cast<uint8_t*>(pixels.get());
    const Bytes data = bytes_.subspan(kHeader);
    if (uncompress(from, &size, data.data(), data.size()) != Z_OK || static_cast<int64_t>(size) != info_.scratch.always)
      refuse("ZFF: the file is damaged");
    for (int64_t y = 0; y < roi.height; ++y)
      std::memcpy(out.first + y * out.stride, from + ((roi.y + y) * info_.width + roi.x) * 3, roi.width * int64_t{3});
  }
};

const int registered = register_codec({.name = "ZFF",
                                       .endings = {".zff"},
                                       .begins = {"zff1"},
                                       .library = "zlib " ZLIB_VERSION,
                                       .shared = "libz",
                                       .license = "Zlib",
                                       .open = open_as<ZffFile>});

}  // namespace
}  // namespace avida::codecs
"""
FORMAT_TEST = "tests/codecs/test_zff.py"
CODEC_TEST = '''\
"""ZFF files against what was compressed."""

import numpy as np

from .decoding import decode
from .files import RGB, zff


def test_pixels() -> None:
    np.testing.assert_array_equal(decode(zff(RGB)), RGB)
'''
FORMAT_FILES = """\
def zff(image: np.ndarray) -> bytes:
    height, width, _ = image.shape
    return b"zff1" + struct.pack(">II", width, height) + zlib.compress(image.tobytes())


def all_files() -> """
# Lines in files that are there: (file, text, what stands in its place).
FORMAT_LINES = [
    ("CMakeLists.txt", "webp:libwebp ", "webp:libwebp zff:zlib "),
    ("tests/codecs/files.py", "def all_files() -> ", FORMAT_FILES),
    (
        "tests/codecs/files.py",
        '        "webp": webp_files(),\n',
        '        "webp": webp_files(),\n        "zff": {"rgb": zff(RGB)},\n',
    ),
]

READER = "native/readers/lines/lines.cpp"
SOURCE = """\
// readers.Lines: lines of texts.
#include <sstream>

#include "readers/declare.h"
#include "readers/source.h"
#include "storage/storage.h"

namespace avida {
namespace {

struct LinesArgs : ReaderArgs {
  std::vector<std::string> paths;
  bool strip = true;
};

std::string stripped(const std::string& line) {
  const size_t first = line.find_first_not_of(" \\t\\r");
  return first == line.npos ? "" : line.substr(first, line.find_last_not_of(" \\t\\r") - first + 1);
}

class LineSample : public Source::Sample {
 public:
  explicit LineSample(std::string line) : line_(std::move(line)) {}
  Shape shape(int) const override { return {std::ssize(line_)}; }
  void read(int, void* to) override { line_.copy(static_cast<char*>(to), line_.size()); }

 private:
  const std::string line_;
};

class LinesSource : public Source {
 public:
  LinesSource(const LinesArgs& args, const Interrupt& interrupt) : strip_(args.strip) {
    outputs_[0].dtype = DType::uint8;
    outputs_[0].ndim = 1;
    for (const std::string& path : args.paths) {
      if (!storage::exists(path)) refuse("expected a text file, \\"", path, "\\" is not there");
      std::istringstream file(storage::read_text(path));
      std::string line;
      for (int64_t at = 0; std::getline(file, line); at += std::ssize(line) + 1) {
        if (interrupt) interrupt();
        lines_.push_back({path, at, std::ssize(line)});
      }
    }
  }

  const char* name() const override { return "readers.Lines"; }
  int64_t size() const override { return std::ssize(lines_); }
  const std::vector<Meta>& outputs() const override { return outputs_; }
  std::string describe(int64_t index) const override { return str(lines_[index].path, ", byte ", lines_[index].at); }
  std::unique_ptr<Sample> open(int64_t index, const storage::Fetched& fetched) const override {
    auto& [path, at, bytes] = lines_[index];
    std::string line(bytes, ' ');
    fetched.open(path)->read_at(at, line.data(), bytes);
    return std::make_unique<LineSample>(strip_ ? stripped(line) : line);
  }

 private:
  struct Line {
    std::string path;
    int64_t at, bytes;
  };
  std::vector<Line> lines_;
  const bool strip_;
  std::vector<Meta> outputs_ = std::vector<Meta>(1);
};

std::shared_ptr<Source> lines_source(const LinesArgs& args, const Opening& opening) {
  return std::make_shared<LinesSource>(args, opening.interrupt);
}

}  // namespace

AVIDA_READER(Lines, LinesArgs) {
  reader.doc("Reads lines of texts.")
      .path("paths", &LinesArgs::paths, "The files, in this order.", ReaderArg::required)
      .arg("strip", &LinesArgs::strip, "Whether blanks at the ends are left out.")
      .source(lines_source);
}

}  // namespace avida
"""
READER_TEST = "tests/readers/test_lines.py"
SOURCE_TEST = '''\
"""readers.Lines: the lines of texts, in order, in shards and after a stop."""

import numpy as np
import pytest

import avida


def texts(lines):
    return [bytes(np.asarray(line)).decode() for line in lines]


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "a.txt").write_text("one\\n two \\n\\nfour")
    (tmp_path / "b.txt").write_text("five\\n")
    return [tmp_path / "a.txt", tmp_path / "b.txt"]


def test_lines(paths):
    [(lines,)] = avida.readers.Lines(paths=paths).next_epoch(batch_size=5)
    assert texts(lines) == ["one", "two", "", "four", "five"]
    [(lines,)] = avida.readers.Lines(paths=paths, strip=False).next_epoch(batch_size=5)
    assert texts(lines)[1] == " two "


def test_shards_and_state(paths):
    reader = avida.readers.Lines(paths=paths, shard_id=1, num_shards=2)
    epoch = reader.next_epoch(batch_size=1)
    next(epoch)
    other = avida.readers.Lines(paths=paths, shard_id=1, num_shards=2)
    other.set_state(reader.get_state())
    assert texts(*next(other.next_epoch(batch_size=1))) == texts(*next(epoch))


def test_errors(paths):
    with pytest.raises(RuntimeError, match="nothing"):
        avida.readers.Lines(paths=["nothing.txt"])
    with pytest.raises(TypeError, match="paths"):
        avida.readers.Lines()
'''

STORE = "native/storage/shelf.cpp"
SHELF = """\
// Objects of a dictionary, by names that begin with shelf://.
#include <cstring>
#include <map>

#include "runtime/memory.h"
#include "storage/storage.h"

namespace avida::storage {
namespace {

class ShelfStore : public Store {
 public:
  void get(Request& request) const override {
    auto found = objects_.find(request.name);
    if (found == objects_.end()) throw MissingObject("cannot be opened: it is not on the shelf");
    const std::string& bytes = found->second;
    request.identity = {std::ssize(bytes), "1"};
    const int64_t left = std::max<int64_t>(std::ssize(bytes) - request.offset, 0);
    request.received = request.bytes == Request::kAll ? left : std::min(request.bytes, left);
    request.data = allocate(request.received);
    if (request.received) std::memcpy(request.data.get(), bytes.data() + request.offset, request.received);
  }
  void list(const std::string& folder, bool deep, const OnEntry& on_entry) const override {
    EntriesOf entries(folder, deep, on_entry);
    for (auto& [name, bytes] : objects_) entries.add(name);
  }

 private:
  const std::map<std::string, std::string> objects_ = {
      {"zoo/ant/1.jpg", "an ant"}, {"zoo/bee/1.jpg", "a bee"}, {"zoo/bee/2.jpg", ""}};
};

[[maybe_unused]] const bool registered = (register_store("shelf", std::make_shared<ShelfStore>()), true);

}  // namespace
}  // namespace avida::storage
"""
STORE_TEST = "tests/storage/test_shelf.py"
SHELF_TEST = '''\
"""shelf:// in names: what readers list and read, and what is not there."""

import numpy as np
import pytest

import avida


def test_readers_list_and_read():
    reader = avida.readers.File(file_root="shelf://zoo")
    assert reader.classes == ["ant", "bee"]
    [(files, labels)] = reader.next_epoch(batch_size=3)
    assert [bytes(np.asarray(file)) for file in files] == [b"an ant", b"a bee", b""]
    assert [label.item() for label in labels] == [0, 1, 1]


def test_one_object():
    assert bytes(np.asarray(avida.io.file.read("shelf://zoo/bee/1.jpg"))) == b"a bee"
    assert avida.storage.exists("shelf://zoo/ant/1.jpg")
    assert not avida.storage.exists("shelf://zoo/cat/1.jpg")
    with pytest.raises(RuntimeError, match="not on the shelf"):
        avida.io.file.read("shelf://zoo/cat/1.jpg").evaluate()
'''


def edit(tree: Tree, lines: list[tuple[str, str, str]]) -> None:
    for file, old, new in lines:
        text = (tree.root / file).read_text()
        assert text.count(old) == 1, f"{file} has {text.count(old)} times {old!r}"
        (tree.root / file).write_text(text.replace(old, new))


@needs_a_build
def test_a_format_a_reader_and_a_store(tmp_path: pathlib.Path) -> None:
    """The steps of CONTRIBUTING in a copy of the sources: written, generated, checked, tested, deleted."""
    tree = Tree(tmp_path / "avida")
    written = {FORMAT: CODEC, FORMAT_TEST: CODEC_TEST, READER: SOURCE, READER_TEST: SOURCE_TEST}
    written |= {STORE: SHELF, STORE_TEST: SHELF_TEST}
    for file, text in written.items():
        (tree.root / file).parent.mkdir(exist_ok=True)
        (tree.root / file).write_text(text)
    edit(tree, FORMAT_LINES)
    by_hand = set(written) | {file for file, *_ in FORMAT_LINES}
    tree.build(FORMAT, READER, STORE)
    tree.make("generate")
    generated = {"docs/formats.md", "src/avida/readers/_readers.py", *READMES}
    assert tree.changed() == by_hand | generated
    assert re.search(r"^\| ZFF \| `.zff` \| zlib \| Zlib \|", (tree.root / "docs/formats.md").read_text(), re.M)

    tree.check(FORMAT, READER, STORE)
    tree.test(FORMAT_TEST, READER_TEST, STORE_TEST, "tests/codecs/test_declarations.py")
    tree.test("tests/codecs/test_every_format.py", "tests/codecs/test_indices.py", "-k", "zff or 8BPS")

    for file in written:
        (tree.root / file).unlink()
    edit(tree, [(file, new, old) for file, old, new in FORMAT_LINES])
    tree.restore_core()
    tree.make("generate")
    assert tree.changed() == set()


READMES = {
    f"{folder}/README.md"
    for folder in ("native/codecs/formats", "native/storage", "tests/codecs", "tests/readers", "tests/storage")
}
