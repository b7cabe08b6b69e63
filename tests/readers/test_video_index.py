"""The index of videos on disk: it is used where it holds, made anew where it does not, and never trusted blindly."""

import os
import pathlib
import shutil

import numpy as np
import pytest

import avida
from avida import _cli
from tests.codecs.videos import all_videos, encoded

NAMES = ["h264.mp4", "h264_open_gop.ts", "h264_edit_list.mp4", "vp8.webm", "mpeg4_b_frames.avi", "hevc.mkv"]


@pytest.fixture
def folder(tmp_path):
    for name in NAMES:
        all_videos()[name].tofile(tmp_path / name)
    return tmp_path


def reader_of(folder, **arguments):
    names = [folder / name for name in NAMES]
    return avida.experimental.readers.Video(
        filenames=names, sequence_length=3, enable_timestamps=True, enable_frame_num="sequence", **arguments
    )


def all_of(reader):
    return [[np.asarray(output) for output in reader[i]] for i in range(len(reader))]


def assert_same(ours, expected):
    assert len(ours) == len(expected)
    for mine, other in zip(ours, expected, strict=True):
        for left, right in zip(mine, other, strict=True):
            np.testing.assert_array_equal(left, right)


def test_the_same_clips_with_and_without(folder):
    expected = all_of(reader_of(folder))
    index = folder / "made" / "of.idx"
    assert_same(all_of(reader_of(folder, index_path=index)), expected)
    written = index.stat()
    assert_same(all_of(reader_of(folder, index_path=str(index))), expected)
    assert index.stat().st_mtime_ns == written.st_mtime_ns, "nothing changed, so it is not written"


def test_with_an_index_no_video_is_opened_before_its_clips_are_read(folder):
    reader_of(folder, index_path=folder / "i")
    path = folder / NAMES[1]
    state = path.stat()
    path.write_bytes(bytes(state.st_size))  # of the same size and time: only its content could tell
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    reader = reader_of(folder, index_path=folder / "i", on_error="skip", last_batch="partial")
    clips = sum(batches[0].batch_size for batches in reader.next_epoch(batch_size=4))
    assert clips + len(reader.errors) == len(reader)
    assert {error.source.partition(",")[0] for error in reader.errors} == {str(path)}


def test_changed_videos_are_read_again(folder):
    reader_of(folder, index_path=folder / "i")
    before = (folder / "i").read_bytes()
    all_videos()["h264.mkv"][:-1].tofile(folder / NAMES[0])  # another size
    path = folder / NAMES[3]
    size = path.stat().st_size
    other = encoded("libvpx", "webm", frames=10)
    np.concatenate([other, np.zeros(size - len(other), np.uint8)]).tofile(path)  # the same size
    os.utime(path, ns=(1, path.stat().st_mtime_ns + 1))
    assert path.stat().st_size == size
    assert_same(all_of(reader_of(folder, index_path=folder / "i")), all_of(reader_of(folder)))
    assert (folder / "i").read_bytes() != before


def test_a_video_that_changes_under_a_reader(folder):
    reader = reader_of(folder, index_path=folder / "i")
    reader = reader_of(folder, index_path=folder / "i")  # which opened no video
    encoded("libx264", "mp4", frames=10).tofile(folder / NAMES[0])
    with pytest.raises(RuntimeError, match=r"h264\.mp4.*changed after the reader was made"):
        np.asarray(reader[0][0])


def test_the_folder_may_be_moved(folder, tmp_path_factory):
    reader_of(folder, index_path=folder / "i")
    content = (folder / "i").read_bytes()
    moved = tmp_path_factory.mktemp("elsewhere") / "videos"
    shutil.move(folder, moved)
    reader_of(moved, index_path=moved / "i")
    assert (moved / "i").read_bytes() == content


def test_several_readers_share_an_index(folder):
    def one(name):
        avida.readers.Video(filenames=folder / name, sequence_length=2, index_path=folder / "i", skip_vfr_check=True)

    one(NAMES[0])
    alone = (folder / "i").stat().st_size
    one(NAMES[3])
    both = (folder / "i").read_bytes()
    one(NAMES[0])
    assert (folder / "i").read_bytes() == both
    assert len(both) > alone
    (folder / NAMES[3]).unlink()
    one(NAMES[5])
    assert NAMES[3].encode() not in (folder / "i").read_bytes(), "videos that are gone are left out"


def test_broken_videos_are_not_in_it(folder):
    (folder / NAMES[0]).write_bytes(b"nothing")
    for _ in range(2):
        reader = reader_of(folder, index_path=folder / "i")
        with pytest.raises(RuntimeError, match=r"h264\.mp4.*expected a video"):
            np.asarray(reader[0][0])
    assert NAMES[0].encode() not in (folder / "i").read_bytes()


def test_another_file_is_not_replaced(folder):
    (folder / "i").write_text("my thesis")
    with pytest.raises(RuntimeError, match=r"/i: expected an index of videos.*found another file"):
        reader_of(folder, index_path=folder / "i")
    assert (folder / "i").read_text() == "my thesis"


def test_other_versions_are_made_anew(folder):
    reader_of(folder, index_path=folder / "i")
    content = (folder / "i").read_bytes()
    (folder / "i").write_bytes(content.replace(b"avida videos 1,", b"avida videos 0,"))
    reader_of(folder, index_path=folder / "i")
    assert (folder / "i").read_bytes() == content


def test_damage_is_told(folder):
    reader_of(folder, index_path=folder / "i")
    content = (folder / "i").read_bytes()
    rng = np.random.default_rng(0)
    second_line = content.index(b"\n") + 1
    for case in range(300):
        damaged = bytearray(content)
        if case % 2:
            del damaged[rng.integers(second_line, len(content)) :]
        else:
            damaged[rng.integers(second_line, len(content))] ^= 1 << rng.integers(8)
        (folder / "i").write_bytes(damaged)
        with pytest.raises(RuntimeError, match="/i: the index of videos is damaged; remove it"):
            reader_of(folder, index_path=folder / "i")


def test_an_index_that_cannot_be_written(folder):
    (folder / "link").symlink_to(folder / "nowhere")
    with pytest.warns(UserWarning, match=r"the index of videos cannot be written.*link/i"):
        reader = reader_of(folder, index_path=folder / "link" / "i")
    assert_same(all_of(reader), all_of(reader_of(folder, index_path="")))


def test_names_that_are_not_unicode(folder, capsys):
    name = os.fsdecode(b"a\xff.mp4")
    (folder / NAMES[0]).rename(folder / name)
    (folder / os.fsdecode(b"b\xff.mp4")).write_bytes(b"no video")
    assert _cli.main(["index", str(folder)]) == 1
    assert "b\\xff.mp4: expected a video" in capsys.readouterr().err
    reader = avida.readers.Video(filenames=[folder / name], sequence_length=2, index_path=folder / "videos.idx")
    assert len(reader) > 0


def test_command(folder, capsys):
    (folder / "more").mkdir()
    all_videos()["vp9.webm"].tofile(folder / "more" / "A.WEBM")
    (folder / "bad.mp4").write_bytes(b"nothing")
    assert _cli.main(["index", str(folder)]) == 1
    shown = capsys.readouterr()
    assert f"{folder / 'videos.idx'}: 7 videos, 133 frames" in shown.out
    assert f"{folder / 'bad.mp4'}: expected a video" in shown.err
    before = (folder / "videos.idx").read_bytes()
    reader_of(folder, index_path=folder / "videos.idx")
    assert (folder / "videos.idx").read_bytes() == before
    (folder / "bad.mp4").unlink()
    assert _cli.main(["index", str(folder), "-o", str(folder / "out")]) == 0
    assert pathlib.Path(folder, "out", "videos.idx").exists()
    (folder / "empty").mkdir()
    assert _cli.main(["index", str(folder / "empty")]) == 1
    assert "expected videos in the folder, found none" in capsys.readouterr().err
