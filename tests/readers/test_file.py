"""readers.File: what is read, in which order, and what happens to bad files."""

import glob
import os
import re
import warnings
from collections import Counter

import numpy as np
import pytest

import avida


def make(folder, names):
    """Files that hold their own name."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return str(folder)


@pytest.fixture
def folder(tmp_path):
    return make(tmp_path, [f"{c}/{i}.jpg" for c in ("ant", "bee", "cat") for i in range(4)])


def names(batch):
    return [bytes(np.asarray(sample)).decode() for sample in batch]


def numbers(batch):
    return [int(np.asarray(sample)[0]) for sample in batch]


def epoch(reader, batch_size):
    return [names(files) for files, _ in reader.next_epoch(batch_size=batch_size)]


def flat(lists):
    return [item for items in lists for item in items]


def test_batches(folder):
    reader = avida.readers.File(file_root=folder)
    batches = list(reader.next_epoch(batch_size=4))
    assert [names(files) for files, _ in batches] == [[f"{c}/{i}.jpg" for i in range(4)] for c in ("ant", "bee", "cat")]
    assert [numbers(labels) for _, labels in batches] == [[0] * 4, [1] * 4, [2] * 4]
    files, labels = batches[1]
    assert files.dtype == avida.uint8
    assert labels.dtype == avida.int32
    assert labels.shape == [(1,)] * 4
    assert labels.torch().shape == (4, 1)
    assert files.sources == labels.sources == [avida.SampleSource(f"{folder}/bee/{i}.jpg", 4 + i, 0) for i in range(4)]
    assert str(files.sources[0]) == files.sources[0].name == f"{folder}/bee/0.jpg"


def test_samples(folder):
    samples = list(avida.readers.File(file_root=folder).next_epoch())
    assert len(samples) == 12
    file, label = samples[5]
    assert isinstance(file, avida.Tensor)
    assert bytes(np.asarray(file)) == b"bee/1.jpg"
    assert label.item() == 1
    assert file.source == label.source == avida.SampleSource(f"{folder}/bee/1.jpg", 5, 0)


def test_last_batch_is_filled_from_the_next_epoch(folder):
    reader = avida.readers.File(file_root=folder)
    first, second = epoch(reader, 5), epoch(reader, 5)
    assert [len(batch) for batch in first + second] == [5] * 6
    everything = [f"{c}/{i}.jpg" for c in ("ant", "bee", "cat") for i in range(4)]
    assert flat(first + second) == (everything * 3)[:30]


def test_padded_last_batch(folder):
    reader = avida.readers.File(file_root=folder, pad_last_batch=True)
    for _ in range(2):
        assert epoch(reader, 5)[-1] == ["cat/2.jpg", "cat/3.jpg", "cat/3.jpg", "cat/3.jpg", "cat/3.jpg"]


def test_leaving_an_epoch_does_not_change_the_next(folder):
    whole, left = (avida.readers.File(file_root=folder, random_shuffle=True) for _ in range(2))
    list(whole.next_epoch(batch_size=5))
    for _ in left.next_epoch(batch_size=5):
        break
    assert epoch(whole, 5) == epoch(left, 5)


def test_two_iterators_at_a_time(folder):
    reader = avida.readers.File(file_root=folder)
    pairs = list(zip(reader.next_epoch(batch_size=4), reader.next_epoch(batch_size=3), strict=False))
    assert [names(a[0]) for a, _ in pairs] == [[f"{c}/{i}.jpg" for i in range(4)] for c in ("ant", "bee", "cat")]
    assert flat(names(b[0]) for _, b in pairs) == flat(names(a[0]) for a, _ in pairs)[:9]


def test_other_batch_sizes_and_samples_in_turn(folder):
    reader = avida.readers.File(file_root=folder)
    assert [len(epoch(reader, size)) for size in (4, 12, 3, 100)] == [3, 1, 4, 1]
    assert len(list(reader.next_epoch())) == 12


def test_length_of_an_epoch(folder):
    reader = avida.readers.File(file_root=folder)
    items = reader.next_epoch(batch_size=5)
    assert len(items) == 3
    next(items)
    assert len(items) == 3
    assert len(list(items)) == 2
    with pytest.warns(UserWarning, match="this epoch has ended"):
        assert list(items) == []
    assert len(reader.next_epoch()) == 12


def test_shuffle_is_of_the_whole_shard_and_new_in_every_epoch(tmp_path):
    root = make(tmp_path, [f"a/{i:03}.jpg" for i in range(300)])
    reader = avida.readers.File(file_root=root, random_shuffle=True, seed=3)
    epochs = [flat(epoch(reader, 100)) for _ in range(3)]
    for order in epochs:
        assert order != sorted(order)
        assert Counter(order) == Counter(f"a/{i:03}.jpg" for i in range(300))
        far = [abs(i - int(name[2:5])) for i, name in enumerate(order)]
        assert 80 < np.mean(far) < 120  # a third of the length: no window
    assert epochs[0] != epochs[1] != epochs[2]
    again = avida.readers.File(file_root=root, random_shuffle=True, seed=3)
    assert flat(epoch(again, 100)) == epochs[0]
    other = avida.readers.File(file_root=root, random_shuffle=True, seed=4)
    assert flat(epoch(other, 100)) != epochs[0]


@pytest.mark.parametrize("shuffle", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}])
@pytest.mark.parametrize("shards", [1, 3, 5, 12])
def test_shards_have_every_sample_once(folder, shards, shuffle):
    readers = [
        avida.readers.File(file_root=folder, num_shards=shards, shard_id=i, seed=i, **shuffle) for i in range(shards)
    ]
    seen = []
    for _ in range(shards + 1):
        parts = [names(file for file, _ in reader.next_epoch()) for reader in readers]
        assert sorted(flat(parts)) == [f"{c}/{i}.jpg" for c in ("ant", "bee", "cat") for i in range(4)]
        seen.append(parts[0])
    if shuffle.get("shuffle_after_epoch") and shards > 1:
        assert len({frozenset(part) for part in seen}) > 1  # dealt anew each time
    elif shards > 1:
        assert set(seen[0]) == set(seen[shards])  # all shards in turn
        assert len({frozenset(part) for part in seen}) == shards


def test_stick_to_shard(folder):
    reader = avida.readers.File(file_root=folder, num_shards=3, shard_id=1, stick_to_shard=True, random_shuffle=True)
    assert len({frozenset(flat(epoch(reader, 4))) for _ in range(4)}) == 1


def test_metadata(folder):
    reader = avida.readers.File(file_root=folder, num_shards=5, shard_id=2, pad_last_batch=True)
    assert reader.get_metadata() == {
        "epoch_size": 12,
        "epoch_size_padded": 15,
        "number_of_shards": 5,
        "shard_id": 2,
        "pad_last_batch": 1,
        "stick_to_shard": 0,
    }


@pytest.mark.parametrize("batch_size", [1, 2])
def test_a_missing_file_fails_its_batch_only(folder, batch_size):
    reader = avida.readers.File(file_root=folder)
    os.remove(f"{folder}/bee/1.jpg")
    good, bad = [], 0
    for files, labels in reader.next_epoch(batch_size=batch_size):
        try:
            good += names(files)
            assert labels.batch_size == batch_size
        except RuntimeError as error:
            bad += 1
            assert f"({folder}/bee/1.jpg): cannot be opened: No such file" in str(error)
    assert bad == 1
    assert len(good) == 12 - batch_size


def test_a_failed_batch_fails_what_is_made_of_it(folder):
    reader = avida.readers.File(file_root=folder)
    os.remove(f"{folder}/ant/2.jpg")
    files, _ = next(reader.next_epoch(batch_size=4))
    with pytest.raises(RuntimeError, match=r"readers.File: sample 2 .*ant/2.jpg"):
        avida.cast(files, dtype=avida.float32).evaluate()


def test_synchronous_modes_raise_at_once_and_go_on(folder):
    reader = avida.readers.File(file_root=folder)
    os.remove(f"{folder}/ant/2.jpg")
    items = reader.next_epoch(batch_size=4)
    with avida.EvalMode.sync_cpu:
        with pytest.raises(RuntimeError, match=r"ant/2\.jpg"):
            next(items)
        assert len(list(items)) == 2


def test_a_bad_sample(folder):
    os.remove(f"{folder}/ant/0.jpg")
    os.mkfifo(f"{folder}/ant/0.jpg")  # reading it would wait for ever
    items = avida.readers.File(files=[f"{folder}/ant/{i}.jpg" for i in range(2)]).next_epoch()
    file, _ = next(items)
    with pytest.raises(RuntimeError, match=r"readers\.File: .*ant/0\.jpg: expected a regular file"):
        file.evaluate()
    assert bytes(np.asarray(next(items)[0])) == b"ant/1.jpg"


def test_empty_files_are_empty_samples(tmp_path):
    root = make(tmp_path, ["a/0.jpg", "a/1.jpg"])
    os.truncate(f"{root}/a/0.jpg", 0)
    files, _ = next(avida.readers.File(file_root=root).next_epoch(batch_size=2))
    assert files.shape == [(0,), (7,)]


def test_errors_of_operators_name_the_file(folder):
    files, _ = next(avida.readers.File(file_root=folder).next_epoch(batch_size=4))
    with pytest.raises(IndexError, match=r"sample 0 \(.*ant/0.jpg\)"):
        files.slice[1000].evaluate()


def test_thousand_open_files(tmp_path):
    root = make(tmp_path, [f"a/{i:04}.jpg" for i in range(1500)])
    files, _ = next(avida.readers.File(file_root=root).next_epoch(batch_size=1500))
    assert names(files) == [f"a/{i:04}.jpg" for i in range(1500)]


def test_file_names_that_are_not_text(tmp_path):
    name = os.fsencode(str(tmp_path)) + b"/a/\xff\xfe.jpg"
    os.mkdir(os.path.dirname(name))
    with open(name, "wb") as file:
        file.write(b"x")
    reader = avida.readers.File(file_root=tmp_path)
    files, _ = next(reader.next_epoch(batch_size=1))
    assert os.fsencode(files.sources[0].name) == name
    os.remove(name)
    files, _ = next(avida.readers.File(files=[os.fsdecode(name)]).next_epoch(batch_size=1))
    with pytest.raises(RuntimeError, match="cannot be opened"):
        files.evaluate()


def test_list_of_files(tmp_path):
    root = make(tmp_path, ["b/1.jpg", "a b/x y.png"])
    (tmp_path / "list.txt").write_text("b/1.jpg 3\r\n\n  \na b/x y.png \t -4  ")
    files, labels = next(avida.readers.File(file_list=f"{root}/list.txt").next_epoch(batch_size=2))
    assert names(files) == ["b/1.jpg", "a b/x y.png"]
    assert numbers(labels) == [3, -4]
    (tmp_path / "b" / "list.txt").write_text("b/1.jpg 3")
    files, _ = next(avida.readers.File(file_list=f"{root}/b/list.txt", file_root=tmp_path).next_epoch(batch_size=1))
    assert names(files) == ["b/1.jpg"]


@pytest.mark.parametrize("line", ["b/1.jpg", "b/1.jpg x", "b/1.jpg 1.5", "b/1.jpg 99999999999", "7"])
def test_bad_lines(tmp_path, line):
    (tmp_path / "list.txt").write_text(f"b/1.jpg 1\n{line}\n")
    with pytest.raises(RuntimeError, match=r"list.txt:2: expected a file name and a label"):
        avida.readers.File(file_list=tmp_path / "list.txt")


def test_filters(tmp_path):
    root = make(tmp_path, ["b/1.JPG", "b/2.txt", "b/.h.png", "a/x.png", "a/sub/z.jpg", "top.jpg", "Cc/3.webp"])
    os.makedirs(f"{root}/a/folder.jpg")

    def found(**kwargs):
        reader = avida.readers.File(file_root=root, **kwargs)
        return [(bytes(np.asarray(f)).decode(), label.item()) for f, label in reader.next_epoch()]

    assert found() == [("Cc/3.webp", 0), ("a/x.png", 1), ("b/1.JPG", 2)]
    assert found(case_sensitive_filter=True) == [("Cc/3.webp", 0), ("a/x.png", 1)]
    assert found(file_filters=["[0-9].?xt", "X*"]) == [("a/x.png", 1), ("b/2.txt", 2)]
    assert found(dir_filters="c?") == [("Cc/3.webp", 0)]
    with pytest.raises(RuntimeError, match="no files found"):
        found(dir_filters=["c?"], case_sensitive_filter=True)


def test_usual_endings_are_those_of_the_formats(tmp_path):
    endings = {ending for _, endings, *_ in avida._core.image_formats() for ending in endings}
    names = sorted(f"a/1{ending}" for ending in {*endings, ".jfif", ".wav", ".mp3", ".opus"})
    root = make(tmp_path, [*names, "a/1.avif", "a/1.txt", "a/1"])
    read = [bytes(np.asarray(data)).decode() for data, _ in avida.readers.File(file_root=root).next_epoch()]
    assert read == names


def warning_of(**arguments):
    """What making a reader warns of, or nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        avida.readers.File(**arguments)
    texts = [str(each.message) for each in caught]
    assert len(texts) <= 1
    return texts[0] if texts else None


def test_what_is_left_out_is_said_once(tmp_path):
    root = make(tmp_path, ["a/1.avif", "a/2.avif", "a/3", "b/1.jpg", "c/1.JPG", "c/.DS_Store", "d/1.heic"])
    os.mkdir(f"{root}/empty")
    text = warning_of(file_root=root)
    assert text is not None
    assert f"leaves out of {root}: .avif (2), without an ending (1), .heic (1). " in text
    assert "with their labels: a (label 0), d (label 3). file_filters= says" in text
    assert "hidden" not in text
    assert ".JPG (1), .heic (1). " in warning_of(file_root=root, case_sensitive_filter=True)
    assert warning_of(file_root=root, dir_filters=["b", "c"]) is None
    assert warning_of(file_root=root, file_filters=["*.jpg"]) is None
    assert f"{root}: 1 hidden file." in warning_of(file_root=root, file_filters=["*"])
    assert warning_of(files=[f"{root}/a/1.avif"]) is None


def test_a_folder_keeps_its_label_where_all_its_files_are_left_out(tmp_path):
    reader = avida.readers.File(file_root=make(tmp_path, ["a/1.avif", "b/1.jpg", "c/._1.jpg", "d/1.jpg"]))
    assert [label.item() for _, label in reader.next_epoch()] == [1, 3]
    assert reader.classes == ["a", "b", "c", "d"]


def test_hidden_names_are_left_out(tmp_path):
    root = make(tmp_path, ["a/1.jpg", "a/._1.jpg", "a/.h.png", "a/.DS_Store", ".trash/1.jpg", "b/2.jpg"])
    reader = avida.readers.File(file_root=root)
    assert epoch(reader, 2) == [["a/1.jpg", "b/2.jpg"]]
    text = warning_of(file_root=root)
    assert f"{root}: 2 hidden files; the hidden folder .trash. Names that begin with a dot are hidden" in text
    assert "1 hidden file;" in warning_of(file_root=root, file_filters="*.jpg")
    chosen = avida.readers.File(file_root=root, file_filters=["*.jpg", ".*.jpg"], dir_filters=["*", ".t*"])
    assert flat(epoch(chosen, 4)) == [".trash/1.jpg", "a/._1.jpg", "a/1.jpg", "b/2.jpg"]
    assert "a/.h.png" in flat(epoch(avida.readers.File(file_root=root, file_filters=["*", ".*"]), 1))


def test_many_endings_are_summed_up(tmp_path):
    names = [f"a/scan.{i:04}" for i in range(900)] + ["a/1.jpg", "a/1.avif", "a/2.avif"]
    text = warning_of(file_root=make(tmp_path, names))
    assert ".avif (2), .0000 (1), " in text
    assert ".0006 (1), others (893). " in text
    more = warning_of(file_root=make(tmp_path, [f"a/scan.{i:04}" for i in range(900, 1200)]))  # too many to tell apart
    assert sum(int(count) for count in re.findall(r"\((\d+)\)", more)) == 1202


def test_an_error_says_what_was_left_out(tmp_path):
    root = make(tmp_path, ["a/1.avif", "b/2.avif"])
    with pytest.raises(RuntimeError, match=r"no files found: .* leaves out of .*: \.avif \(2\)\..* file_filters="):
        avida.readers.File(file_root=root)


def test_classes(folder, tmp_path_factory):
    """The labels of a set that lacks a class are those of the set that has it."""
    reader = avida.readers.File(file_root=folder)
    assert reader.classes == ["ant", "bee", "cat"]
    other = make(tmp_path_factory.mktemp("validation"), ["cat/1.jpg", "bee/1.jpg"])
    assert numbers(label for _, label in avida.readers.File(file_root=other).next_epoch()) == [0, 1]
    same = avida.readers.File(file_root=other, classes=reader.classes)
    assert same.classes == reader.classes
    assert [(names([file])[0], label.item()) for file, label in same.next_epoch()] == [
        ("bee/1.jpg", 1),
        ("cat/1.jpg", 2),
    ]
    turned = avida.readers.File(file_root=other, classes=["cat", "none", "bee"], lazy_init=True)
    assert turned.classes == ["cat", "none", "bee"]
    assert numbers(label for _, label in turned.next_epoch()) == [2, 0]
    assert avida.readers.File(file_root=folder, dir_filters=["b*"]).classes == ["bee"]
    assert avida.readers.File(files=[f"{folder}/ant/0.jpg"]).classes is None


def test_readers_that_number_a_class_differently_are_told(folder, tmp_path_factory):
    other = make(tmp_path_factory.mktemp("validation"), ["bee/1.jpg", "cat/1.jpg"])
    train = avida.readers.File(file_root=folder)
    with pytest.warns(UserWarning, match=r"'bee' has the label 0 in file_root=.*valid.*, and 1 in file_root=.*clas"):
        avida.readers.File(file_root=other)
    del train
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        avida.readers.File(file_root=folder)  # the others are gone
        train = avida.readers.File(file_root=folder, random_shuffle=True)
        avida.readers.File(file_root=other, classes=train.classes)
        avida.readers.File(file_root=make(tmp_path_factory.mktemp("more"), ["ant/1.jpg", "dog/1.jpg"]))
        avida.readers.File(file_root=other, classes=["cat", "bee"])  # chosen


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": ["ant", "cat"]}, 'among the 2 names in classes, got "bee"'),
        ({"classes": ["ant", "bee", "ant"]}, 'each name once in classes, got "ant" twice'),
        ({"classes": []}, "classes must not be an empty list"),
        ({"classes": ["a"], "file_list": "list.txt"}, "classes needs file_root alone"),
    ],
)
def test_classes_that_do_not_fit(folder, arguments, message):
    with pytest.raises(RuntimeError, match=message):
        avida.readers.File(file_root=folder, **arguments)
    if message.startswith("among"):
        assert len(avida.readers.File(file_root=folder, dir_filters=arguments["classes"], **arguments)) == 8


def test_lazy_init_looks_later(tmp_path):
    with pytest.raises(RuntimeError, match="nowhere"):
        avida.readers.File(file_root=tmp_path / "nowhere")
    reader = avida.readers.File(file_root=tmp_path / "later", lazy_init=True)
    make(tmp_path, ["later/a/1.jpg"])
    assert reader.get_metadata()["epoch_size"] == 1


BAD = [
    ({}, RuntimeError, "expected file_root"),
    ({"files": ["a"], "file_list": "b"}, RuntimeError, "got both"),
    ({"files": []}, RuntimeError, "empty list"),
    ({"files": ["a", "b"], "labels": [1]}, RuntimeError, "2 files, 1 labels"),
    ({"files": ["a"], "labels": [1 << 40]}, OverflowError, "does not fit"),
    ({"file_root": "a", "labels": [1]}, RuntimeError, "labels needs files"),
    ({"files": ["a"], "num_shards": 0}, ValueError, "at least 1"),
    ({"files": ["a"], "num_shards": 2}, RuntimeError, "each of 2 shards"),
    ({"files": ["a"], "shard_id": 1}, ValueError, "from 0 to 0"),
    ({"files": ["a"], "prefetch_queue_depth": 0}, RuntimeError, "from 1 to 65536 batches, got 0"),
    ({"files": ["a"], "prefetch_queue_depth": 10**9}, RuntimeError, "from 1 to 65536 batches, got 1000000000"),
    ({"files": ["a"], "confine": True}, RuntimeError, "confine needs file_list"),
    ({"files": ["a"], "shuffle_after_epoch": True, "random_shuffle": True}, RuntimeError, "cannot be combined with"),
    ({"files": ["a"], "file_filters": []}, RuntimeError, "must not be an empty list"),
    ({"files": ["a"], "filez": 1}, TypeError, "filez"),
]


@pytest.mark.parametrize(("arguments", "error", "text"), BAD)
def test_bad_arguments(arguments, error, text):
    with pytest.raises(error, match=text):
        avida.readers.File(**arguments)


def test_bad_batch_sizes(folder):
    reader = avida.readers.File(4, file_root=folder)
    for size, error in ((0, RuntimeError), (1 << 40, RuntimeError), (5, ValueError), (2.5, TypeError)):
        with pytest.raises(error):
            reader.next_epoch(batch_size=size)


@pytest.mark.parametrize("line", [b"a\0.jpg 1", b"a.jpg\0 1"])
def test_names_with_null_characters(tmp_path, line):
    (tmp_path / "list.txt").write_bytes(b"good.jpg 0\n" + line)
    with pytest.raises(RuntimeError, match=r"list\.txt:2: expected a file name, got null characters"):
        avida.readers.File(file_list=tmp_path / "list.txt")
    with pytest.raises(ValueError, match="null"):
        avida.readers.File(files=["good.jpg", "a\0.jpg"])


def test_a_list_that_is_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "list.txt")
    with pytest.raises(RuntimeError, match=r"list\.txt: expected a regular file"):
        avida.readers.File(file_list=tmp_path / "list.txt")


@pytest.mark.parametrize(("names", "pattern"), [(["b.jpg", "a.jpg"], "*.jpg"), (["b.jpg", "a.png"], "*")])
def test_a_folder_without_folders(tmp_path, names, pattern):
    """The error has the argument to paste."""
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    (tmp_path / "notes.txt").write_text("no image")
    with pytest.raises(RuntimeError, match="2 such files lie in this folder itself") as error:
        avida.readers.File(file_root=tmp_path)
    expression = str(error.value).partition("files=")[2]
    assert expression == f'sorted(glob.glob("{tmp_path}/{pattern}"))'
    files = [file for file in eval(expression, {"glob": glob, "sorted": sorted}) if not file.endswith(".txt")]
    assert len(avida.readers.File(files=files)) == 2
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match=r"expected .*/empty/\*/FILE, where FILE matches one of the filters$"):
        avida.readers.File(file_root=tmp_path / "empty")


@pytest.fixture
def confined(tmp_path):
    """A folder with a file outside of it, and ways to get there."""
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "in" / "a").write_bytes(b"inside")
    (tmp_path / "secret").write_bytes(b"outside")
    (tmp_path / "rooted").mkdir()  # its name begins with that of the root
    (tmp_path / "rooted" / "a").write_bytes(b"outside")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    (root / "good").symlink_to(root / "in" / "a")
    return root


def listed(root, name):
    (root / "list").write_text(f"in/a 0\n{name} 1\n")
    return {"file_list": root / "list", "file_root": root}


OUTSIDE = ["../secret", "in/../../secret", "{root}/../secret", "link", "folder/secret", "../rooted/a", "..", "../gone"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_outside(confined, name):
    """They are read, as in the real library, unless they are forbidden."""
    name = name.format(root=confined)
    arguments = listed(confined, name)
    for reader_arguments in (arguments, {"file_list": arguments["file_list"]}):
        with pytest.raises(
            RuntimeError, match=rf"{confined}/list: expected the names of files within {confined}/, got"
        ):
            avida.readers.File(**reader_arguments, confine=True)
    if "secret" in name or name == "link":
        assert bytes(np.asarray(avida.readers.File(**arguments)[1][0])) == b"outside"


@pytest.mark.parametrize("name", ["in/a", "good", "{root}/in/a", "in/../in/a", "./in/a", "in/gone"])
def test_names_that_stay_inside(confined, name, monkeypatch):
    arguments = listed(confined, name.format(root=confined))
    reader = avida.readers.File(**arguments, confine=True)
    if "gone" not in name:
        assert bytes(np.asarray(reader[1][0])) == b"inside"
    monkeypatch.chdir(confined.parent)
    assert len(avida.readers.File(file_list="root/list", file_root="root", confine=True)) == 2


def test_depth_is_bounded_by_what_is_read(folder):
    """A large depth reads the whole epoch ahead and no more than its limit."""
    reader = avida.readers.File(file_root=folder, prefetch_queue_depth=65_536, last_batch="partial")
    assert sum(len(labels) for _, labels in reader.next_epoch(batch_size=5)) == 12
