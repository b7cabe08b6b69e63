"""Broken data sets of every format, the same for the same number."""

import base64
import dataclasses
import functools
import gzip
import io
import itertools
import json
import os
import pathlib
import random
import re
import struct
import tarfile
import tempfile
import wave
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import avida
from tests.codecs.videos import all_videos
from tests.fuzz import mutate
from tests.readers import lmdb_records, mds_files, records, tars

PAGE = 4096
CARD = 80
NUMBERS = [0, 1, -1, 7, 127, 255, 4096, 30_000, 65536, 10**6, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1]
NUMBERS += [-(2**63), 2**64 - 1, 10**30]


def _mutated_at(places: Callable[[bytearray, random.Random], int]) -> Callable[[bytes, random.Random], bytes]:
    """Breaks data where it matters, by `mutate`'s means or by a number of 8 bytes."""

    def broken(data: bytes, rng: random.Random) -> bytes:
        out = bytearray(data)
        for _ in range(rng.choice([1, 1, 2, 4])):
            if not out:
                break
            place = min(places(out, rng), len(out) - 1)
            if rng.random() < 0.3:
                out[place : place + 8] = struct.pack("<Q", rng.choice(NUMBERS) % 2**64)[: len(out) - place]
            else:
                rng.choice(mutate.MUTATIONS)(out, rng, place)
        return bytes(out)

    return broken


def _in_page(data: bytearray, rng: random.Random) -> int:
    """The head of a page of a database, its table of nodes, or a node."""
    page = rng.randrange(max(len(data) // PAGE, 1)) * PAGE
    if rng.random() < 0.4 or page + PAGE > len(data):
        return page + rng.randrange(160 if page < 2 * PAGE else 48)
    node = struct.unpack_from("<H", data, page + 16 + 2 * rng.randrange(8))[0]
    return page + node % PAGE + rng.randrange(24)


def _in_header(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(min(len(data), 128))


def _with_other_numbers(data: bytes, rng: random.Random) -> bytes:
    """A text in which numbers are others."""
    found = list(re.finditer(rb"-?[0-9]+", data))
    for match in sorted(rng.sample(found, min(len(found), rng.choice([1, 1, 2, 5]))), key=lambda m: -m.start()):
        data = data[: match.start()] + b"%d" % rng.choice(NUMBERS) + data[match.end() :]
    return data


def _with_other_cards(data: bytes, rng: random.Random) -> bytes:
    """A FITS file in which values of headers are others, in their places."""
    out = bytearray(data)
    cards = [at for at in range(0, len(out) - CARD, CARD) if out[at + 8 : at + 10] == b"= "]
    for at in rng.sample(cards, min(len(cards), rng.choice([1, 1, 2, 3]))):
        out[at + 10 : at + 30] = b"%20d" % rng.choice([*NUMBERS, 8, 16, 32, 64, -32, -64, 2, 3, 999])
    return bytes(out)


def _with_checksums(data: bytes) -> bytes:
    """A TFRecord file whose checksums agree with what was made of it."""
    out, at = b"", 0
    while at + 12 <= len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        out += records.tfrecord(data[at + 12 : at + 12 + min(size, len(data))])
        at += 16 + size
    return out


def _with_sums(data: bytes) -> bytes:
    """The same for a tar archive."""
    out = bytearray(data)
    for at in range(0, len(out) - tars.BLOCK + 1, tars.BLOCK):
        if out[at + 257 : at + 262] == b"ustar":
            out[at + 148 : at + 156] = b" " * 8
            out[at + 148 : at + 156] = b"%06o\0 " % (sum(out[at : at + tars.BLOCK]) & 0o777777)
    return bytes(out)


@dataclasses.dataclass
class Format:
    """Good contents of one file, the others of its data set, and a function that makes a reader of the folder."""

    file: str
    seeds: list[bytes]
    reader: Callable[[pathlib.Path], Any]
    others: dict[str, bytes] = dataclasses.field(default_factory=dict)
    breaks: Sequence[Callable[[bytes, random.Random], bytes]] = ()
    repair: Callable[[bytes], bytes] | None = None  # of checksums

    def broken(self, number: int) -> bytes:
        rng = random.Random(number)
        how = rng.choice([None, *self.breaks])
        data = how(rng.choice(self.seeds), rng) if how else mutate.damage_one(self.seeds, rng)
        return self.repair(data) if self.repair and rng.random() < 0.7 else data


def _database(count: int, content: Callable[[int], bytes]) -> bytes:
    import lmdb

    with tempfile.TemporaryDirectory() as folder:
        with lmdb.open(folder, map_size=2**24, sync=False) as database:
            for begin in range(0, count, 40):  # several transactions
                with database.begin(write=True) as transaction:
                    for i in range(begin, min(begin + 40, count)):
                        transaction.put(b"%08d" % i + b"k" * (i % 60), content(i))
        return pathlib.Path(folder, "data.mdb").read_bytes()


def _caffe() -> Format:
    seeds = [
        _database(5, lambda i: lmdb_records.datum(b"x" * 50, i, encoded=1)),
        _database(150, lambda i: lmdb_records.datum(b"y" * (i * i % 900), i, encoded=1)),
        _database(6, lambda i: lmdb_records.datum(b"z" * (i * 5000), i, encoded=1)),
        _database(3, lambda i: lmdb_records.datum(b"abcdef", 7, (2, 1, 3), encoded=0)),
    ]
    return Format(
        "data.mdb", seeds, lambda folder: avida.readers.Caffe(path=folder), breaks=[_mutated_at(_in_page)] * 4
    )


def _caffe2() -> Format:
    image = lmdb_records.tensor(lmdb_records.STRING, data=b"JPEG" * 5000)
    labels = lmdb_records.tensor(lmdb_records.INT32, values=[3, 0])
    weights = lmdb_records.tensor(lmdb_records.FLOAT, values=[0.5, 4])
    box = lmdb_records.tensor(lmdb_records.INT32, dims=[4], values=[1, 2, 3, 4])
    seeds = [_database(3, lambda _: lmdb_records.record(image, labels, weights, weights, box))]

    def reader(folder: pathlib.Path) -> Any:
        return avida.readers.Caffe2(path=folder, label_type=3, num_labels=5, additional_inputs=1, bbox=True)

    return Format("data.mdb", seeds, reader, breaks=[_mutated_at(_in_page)] * 2)


def _fits_file(*units: Any) -> bytes:
    from astropy.io import fits

    out = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), *units]).writeto(out)
    return out.getvalue()


def _fits() -> Format:
    from astropy.io import fits

    image = (np.arange(400).reshape(20, 20) % 37).astype("i2")
    plain = _fits_file(fits.ImageHDU(image))
    seeds = [
        plain,
        gzip.compress(plain),
        _fits_file(fits.ImageHDU(np.arange(60, dtype="f4").reshape(3, 4, 5))),
        *(
            _fits_file(fits.CompImageHDU(image, compression_type=method, tile_shape=tile))
            for method in ("RICE_1", "GZIP_1", "GZIP_2")
            for tile in ((1, 20), (7, 8))
        ),
        _fits_file(fits.CompImageHDU(image.astype("f4") / 7, compression_type="RICE_1", quantize_level=16)),
    ]
    return Format(
        "a.fits",
        seeds,
        lambda folder: avida.experimental.readers.Fits(files=[str(folder / "a.fits")]),
        breaks=[_with_other_cards] * 2,
    )


def _tfrecord() -> Format:
    messages = [
        records.example(image=records.strings(b"x" * size), label=records.ints(1, 2**40), box=records.floats(1, 2.5))
        for size in (3, 700, 20_000)
    ]
    make = avida.tfrecord.FixedLenFeature
    features = {
        "image": make((), avida.tfrecord.string, ""),
        "label": make([2], avida.tfrecord.int64, 0),
        "box": avida.tfrecord.VarLenFeature(avida.tfrecord.float32, 0.0),
    }
    return Format(
        "a.tfrecord",
        [b"".join(map(records.tfrecord, messages)), records.tfrecord(messages[0])],
        lambda folder: avida.readers.TFRecord(path=str(folder / "a.tfrecord"), features=features),
        breaks=[_mutated_at(_in_header)],
        repair=_with_checksums,
    )


def _tfrecord_index() -> Format:
    messages = [records.tfrecord(records.example(image=records.strings(b"x" * size))) for size in (3, 700, 9)]
    offsets = list(itertools.accumulate(map(len, messages), initial=0))
    index = "".join(f"{offset} {len(message)}\n" for offset, message in zip(offsets, messages, strict=False))
    features = {"image": avida.tfrecord.FixedLenFeature((), avida.tfrecord.string, "")}

    def reader(folder: pathlib.Path) -> Any:
        path = str(folder / "a.tfrecord")
        return avida.readers.TFRecord(path=path, index_path=str(folder / "a.idx"), features=features)

    return Format(
        "a.idx", [index.encode()], reader, others={"a.tfrecord": b"".join(messages)}, breaks=[_with_other_numbers] * 2
    )


def _recordio() -> tuple[bytes, bytes]:
    pieces = [
        records.recordio(records.image(b"x" * 50, 3.0)),
        records.recordio(records.image(b"y" * 3, labels=(1, 2, 3))),
        records.recordio(records.image(b"z" * 20), b"more", b"and more"),
    ]
    offsets = list(itertools.accumulate(map(len, pieces), initial=0))
    return b"".join(pieces), "".join(f"{i}\t{offset}\n" for i, offset in enumerate(offsets[:-1])).encode()


def _mxnet_reader(folder: pathlib.Path) -> Any:
    return avida.readers.MXNet(path=[str(folder / "a.rec")], index_path=[str(folder / "a.idx")])


def _mxnet() -> Format:
    data, index = _recordio()
    return Format("a.rec", [data], _mxnet_reader, others={"a.idx": index}, breaks=[_mutated_at(_in_header)])


def _mxnet_index() -> Format:
    data, index = _recordio()
    return Format("a.idx", [index], _mxnet_reader, others={"a.rec": data}, breaks=[_with_other_numbers] * 2)


def _archive(format: int, name: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for i in range(3):
            for ending, content in (("jpg", b"x" * (i * 300)), ("cls", b"%d" % i)):
                info = tarfile.TarInfo(f"{name}{i}.{ending}")
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _in_tar_header(data: bytearray, rng: random.Random) -> int:
    return rng.randrange(max(len(data) // tars.BLOCK, 1)) * tars.BLOCK + rng.choice([0, 100, 124, 135, 156, 257, 345])


def _webdataset() -> Format:
    seeds = [
        _archive(tarfile.GNU_FORMAT, "a"),
        _archive(tarfile.GNU_FORMAT, "long" * 40),
        _archive(tarfile.PAX_FORMAT, "é" * 120),
        _archive(tarfile.USTAR_FORMAT, "folder/" * 20),
    ]
    return Format(
        "a.tar",
        seeds,
        lambda folder: avida.readers.Webdataset(paths=str(folder / "a.tar"), ext=["jpg", "cls"]),
        breaks=[_mutated_at(_in_tar_header)] * 2,
        repair=_with_sums,
    )


def _webdataset_index() -> Format:
    archive = _archive(tarfile.GNU_FORMAT, "a")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.tar")
        path.write_bytes(archive)
        index = avida._core.webdataset_index(str(path), None)

    def reader(folder: pathlib.Path) -> Any:
        paths, indices = str(folder / "a.tar"), str(folder / "a.idx")
        return avida.readers.Webdataset(paths=paths, index_paths=indices, ext=["jpg", "cls"])

    return Format("a.idx", [index.encode()], reader, others={"a.tar": archive}, breaks=[_with_other_numbers] * 2)


MDS_COLUMNS = {
    "text": "str",
    "label": "int",
    "array": "ndarray",
    "image": "pil",
    "rank": "ndarray:uint8",
    "n": "str_int",
}


def _mds_data(compression: str | None) -> tuple[bytes, bytes]:
    """A shard, and the index of a data set of this one."""
    pixels = struct.pack("<III", 2, 2, 1) + b"LABCD"
    samples = [
        {
            "text": b"a" * i * 900,
            "label": i,
            "array": np.arange(3 + i, dtype=np.int16),
            "image": pixels,
            "rank": np.zeros((2, 1 + i), np.uint8),
            "n": b"%d" % i,
        }
        for i in range(6)
    ]
    with tempfile.TemporaryDirectory() as folder:
        index = mds_files.write_mds(pathlib.Path(folder), MDS_COLUMNS, samples, per_shard=6, compression=compression)
        (shard,) = pathlib.Path(folder).glob("*.mds*")
        return shard.read_bytes(), json.dumps(index).encode()


def _mds_reader(folder: pathlib.Path) -> Any:
    return avida.readers.MDS(folder)


def _mds() -> Format:
    shard, index = _mds_data(None)
    resized = _mutated_at(
        lambda data, rng: rng.choice([rng.randrange(32), rng.randrange(300), rng.randrange(len(data))])
    )
    return Format("shard.00000.mds", [shard], _mds_reader, others={"index.json": index}, breaks=[resized] * 3)


def _mds_packed(compression: str) -> Format:
    shard, index = _mds_data(compression)
    return Format(f"shard.00000.mds.{compression}", [shard], _mds_reader, others={"index.json": index})


def _mds_index(compression: str | None) -> Format:
    shard, index = _mds_data(compression)
    name = f"shard.00000.mds.{compression}" if compression else "shard.00000.mds"
    return Format("index.json", [index], _mds_reader, others={name: shard}, breaks=[_with_other_numbers] * 3)


def _numpy() -> Format:
    def saved(array: np.ndarray) -> bytes:
        out = io.BytesIO()
        np.save(out, array)
        return out.getvalue()

    image = np.arange(60, dtype="i4").reshape(3, 4, 5)
    seeds = [saved(image), saved(np.asfortranarray(image)), saved(image.astype(">f8")), saved(np.array(3))]

    def reader(folder: pathlib.Path) -> Any:
        whole = (folder / "a.npy").stat().st_size % 2  # or a region, by chance
        region = {} if whole else {"rel_roi_start": [0.2], "rel_roi_end": [0.7], "roi_axes": [0]}
        return avida.readers.Numpy(files=[str(folder / "a.npy")], **region)

    return Format("a.npy", seeds, reader, breaks=[_with_other_numbers])


def _coco() -> Format:
    polygon = [[1, 1, 5, 1, 5, 5.5]]
    counts = {"size": [9, 8], "counts": [10, 20, 42]}
    packed = {"size": [9, 8], "counts": "`021O1"}
    content = {
        "images": [{"id": i, "file_name": f"{i}.jpg", "width": 8, "height": 9} for i in range(3)],
        "annotations": [
            {"id": i, "image_id": i % 3, "category_id": 1, "bbox": [1, 2, 3.5, 4], "iscrowd": int(i > 2), "area": 14}
            | {"segmentation": [polygon, counts, packed][i % 3]}
            for i in range(6)
        ],
        "categories": [{"id": 1, "name": "cat"}],
    }

    def reader(folder: pathlib.Path) -> Any:
        options = {"polygon_masks": True} if (folder / "a.json").stat().st_size % 2 else {"pixelwise_masks": True}
        return avida.readers.COCO(file_root=str(folder), annotations_file=str(folder / "a.json"), **options)

    return Format(
        "a.json",
        [json.dumps(content).encode()],
        reader,
        others={f"{i}.jpg": b"x" * 9 for i in range(3)},
        breaks=[_with_other_numbers] * 2,
    )


def _annotated(file: str, texts: Sequence[str], **options: Any) -> Format:
    """One broken file of annotations beside a good one, with images of 8 x 9 pixels."""

    def reader(folder: pathlib.Path) -> Any:
        return avida.readers.Annotated(file_root=str(folder), **options)

    ending = file.rpartition(".")[2]
    others = {f"{i}.pgm": b"P5 8 9 255\n" + bytes(72) for i in range(2)} | {f"1.{ending}": texts[0].encode()}
    return Format(file, [text.encode() for text in texts], reader, others=others, breaks=[_with_other_numbers] * 2)


def _yolo() -> Format:
    rows = ["0 .5 .5 .25 .5", "1 .1 .1 .9 .2 .5 .75", "2 0.1 0.1 0.9 0.1 0.9 0.75 0.1 0.75"]
    return _annotated("0.txt", ["\n".join(rows), rows[1], rows[2]], format="yolo-segments", masks=True)


def _voc() -> Format:
    box = "<bndbox><xmin>1</xmin><ymin>2.5</ymin><xmax>8</xmax><ymax>9</ymax></bndbox>"
    thing = f"<object a='b'><name>c&amp;&#100;</name><difficult>1</difficult><pose>Left</pose>{box}<!-- d --></object>"
    return _annotated("0.xml", [f'<?xml version="1.0"?>\n<annotation><size/>\n{thing * 2}<![CDATA[e]]></annotation>'])


def _labelme() -> Format:
    points = [[1, 2], [7.5, 3], [4, 8]]
    kinds = {"polygon": 3, "rectangle": 2, "circle": 2, "point": 1, "line": 2, "linestrip": 3}
    shapes = [{"label": "a", "shape_type": kind, "points": points[:n], "group_id": n} for kind, n in kinds.items()]
    content = {"shapes": shapes, "imagePath": "0.pgm", "imageData": None}
    within = {**content, "imageData": base64.b64encode(b"P5 8 9 255\n" + bytes(72)).decode()}
    return _annotated("0.json", [json.dumps(content), json.dumps(within)], masks=True, keypoints=True)


def _nemo() -> Format:
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(800))
    lines = [
        {"audio_filepath": f"{i}.wav", "duration": 0.05, "offset": 0.01, "text": "hm é \\u00e9 \n"} for i in range(3)
    ]

    def reader(folder: pathlib.Path) -> Any:
        return avida.readers.NemoAsr(manifest_filepaths=[str(folder / "a.json")], read_text=True, read_idxs=True)

    return Format(
        "a.json",
        ["\n".join(map(json.dumps, lines)).encode()],
        reader,
        others={f"{i}.wav": sound.getvalue() for i in range(3)},
        breaks=[_with_other_numbers] * 2,
    )


def _video() -> Format:
    """A broken video and a good one, of which nothing may be lost."""
    files = all_videos()
    seeds = ["h264.mp4", "h264_open_gop.ts", "h264_edit_list.mp4", "hevc.mkv", "vp8.webm", "mpeg4_b_frames.avi"]

    def reader(folder: pathlib.Path) -> Any:
        names = [str(folder / "broken"), str(folder / "good")]
        made = avida.experimental.readers.Video(filenames=names, sequence_length=5, on_error="skip")
        clips = {source.name for (clips,) in made.next_epoch(batch_size=3) for source in clips.sources}
        assert len([name for name in clips if name.startswith(names[1])]) == 4
        assert all(error.source.startswith(names[0]) for error in made.errors)
        return made

    return Format(
        "broken", [files[name].tobytes() for name in seeds], reader, others={"good": files["vp9.mp4"].tobytes()}
    )


def _video_index() -> Format:
    """Its entries are those of the video, whatever has become of them: with the same name, size and time."""
    video = all_videos()["h264.mp4"].tobytes()

    def reader(folder: pathlib.Path) -> Any:
        path = folder / "a.mp4"
        if path.stat().st_mtime_ns != 1:
            os.utime(path, ns=(1, 1))
        return avida.experimental.readers.Video(
            filenames=str(path), sequence_length=5, step=2, index_path=folder / "videos.idx", enable_timestamps=True
        )

    def with_checksum(data: bytes) -> bytes:
        return data[:-4] + struct.pack("<I", records.crc32c(data[:-4]))

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.mp4").write_bytes(video)
        reader(folder)
        index = (folder / "videos.idx").read_bytes()
    return Format("videos.idx", [index], reader, others={"a.mp4": video}, repair=with_checksum)


def _file_list() -> Format:
    return Format(
        "a.txt",
        [b"0.jpg 0\n1.jpg 1\n2.jpg -2\n"],
        lambda folder: avida.readers.File(file_root=str(folder), file_list=str(folder / "a.txt")),
        others={f"{i}.jpg": b"x" * 9 for i in range(3)},
        breaks=[_with_other_numbers],
    )


FORMATS: dict[str, Callable[[], Format]] = {
    "caffe": _caffe,
    "caffe2": _caffe2,
    "fits": _fits,
    "tfrecord": _tfrecord,
    "tfrecord_index": _tfrecord_index,
    "mxnet": _mxnet,
    "mxnet_index": _mxnet_index,
    "webdataset": _webdataset,
    "webdataset_index": _webdataset_index,
    "mds": _mds,
    "mds_zstd": functools.partial(_mds_packed, "zstd"),
    "mds_gz": functools.partial(_mds_packed, "gz"),
    "mds_index": functools.partial(_mds_index, None),
    "mds_index_zstd": functools.partial(_mds_index, "zstd"),
    "numpy": _numpy,
    "coco": _coco,
    "yolo": _yolo,
    "voc": _voc,
    "labelme": _labelme,
    "nemo_asr": _nemo,
    "file_list": _file_list,
    "video": _video,
    "video_index": _video_index,
}
