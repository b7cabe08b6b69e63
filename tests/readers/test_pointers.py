"""Every reader says when git-LFS has left a pointer in place of a file."""

import io
import struct
import tarfile

import numpy as np
import pytest

import avida as ndd
from avida.readers import _webdataset

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"
FEATURES = {"a": ndd.tfrecord.FixedLenFeature([], ndd.tfrecord.int64, 0)}

READERS = {
    "Caffe": lambda file: ndd.readers.Caffe(path=file),
    "Caffe2": lambda file: ndd.readers.Caffe2(path=file),
    "COCO": lambda file: ndd.readers.COCO(file_root=file.parent, annotations_file=file),
    "File": lambda file: ndd.readers.File(file_list=file),
    "Fits": lambda file: ndd.experimental.readers.Fits(files=[file]),
    "MXNet": lambda file: ndd.readers.MXNet(path=file),
    "NemoAsr": lambda file: ndd.readers.NemoAsr(manifest_filepaths=file),
    "Numpy": lambda file: ndd.readers.Numpy(files=[file]),
    "TFRecord": lambda file: ndd.readers.TFRecord(path=[file], features=FEATURES),
    "Video": lambda file: ndd.readers.Video(filenames=[file], sequence_length=2),
    "Webdataset": lambda file: ndd.readers.Webdataset(paths=file, ext="jpg"),
    "Webdataset, of several": lambda file: ndd.readers.Webdataset(paths=f"{file.parent}/{{data,dat*}}.mdb", ext="jpg"),
}


@pytest.mark.filterwarnings("ignore:readers.NemoAsr")
@pytest.mark.parametrize("name", READERS)
def test_pointers_are_named(name, tmp_path):
    file = tmp_path / "data.mdb"
    file.write_bytes(POINTER)
    with pytest.raises(RuntimeError, match=r"data\.mdb.* git-LFS pointer in .*git lfs pull"):
        READERS[name](file)


@pytest.mark.parametrize("name", ["Caffe", "Caffe2"])
def test_in_the_folder_of_a_database(name, tmp_path):
    (tmp_path / "data.mdb").write_bytes(POINTER)
    with pytest.raises(RuntimeError, match=r"data\.mdb is a git-LFS pointer"):
        READERS[name](tmp_path)


def test_archives_whose_index_was_fetched(tmp_path):
    """Nothing of the archive is read before its first sample."""
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        info = tarfile.TarInfo("0.jpg")
        info.size = 5
        tar.addfile(info, io.BytesIO(b"hello"))
    (tmp_path / "a.idx").write_text(_webdataset.index_webdataset(tmp_path / "a.tar"))
    (tmp_path / "b.rec").write_bytes(struct.pack("<IIIfQQ", 0xCED7230A, 24 + 5, 0, 1.0, 0, 0) + b"hello\0\0\0")
    (tmp_path / "b.idx").write_text("0\t0\n")
    makers = {
        "a.tar": lambda: ndd.readers.Webdataset(paths=tmp_path / "a.tar", index_paths=tmp_path / "a.idx", ext="jpg"),
        "b.rec": lambda: ndd.readers.MXNet(path=tmp_path / "b.rec", index_path=tmp_path / "b.idx"),
    }
    for name, make in makers.items():
        assert bytes(np.asarray(next(make().next_epoch(batch_size=1))[0].tensors[0])) == b"hello"
        (tmp_path / name).write_bytes(POINTER)
        with pytest.raises(RuntimeError, match=rf"{name} is a git-LFS pointer"):
            make()


def test_one_of_many_arrays(tmp_path):
    """It fails when it is read."""
    np.save(tmp_path / "a.npy", np.zeros(3))
    (tmp_path / "b.npy").write_bytes(POINTER)
    (batch,) = next(ndd.readers.Numpy(file_root=tmp_path).next_epoch(batch_size=2))
    with pytest.raises(RuntimeError, match=r"b\.npy.*got a git-LFS pointer|b\.npy.*: a git-LFS pointer"):
        batch.evaluate()
