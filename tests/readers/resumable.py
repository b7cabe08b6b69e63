"""A training run that is killed again and again and resumed from its last checkpoint.

Run as a program, which forks a process for each attempt: an attempt has nothing of the one before it but its files.
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import signal
import sys
import time
import wave
import zlib

import numpy as np

import avida as ndd
from tests.readers import lmdb_records, mds_files, records, tars

EVERY = 2  # steps between checkpoints


def _write_each(write, ending):
    def write_all(folder, samples):
        for i, sample in enumerate(samples):
            write(folder / f"{i:04d}.{ending}", sample)

    return write_all


def _write_files(folder, samples):
    (folder / "a").mkdir()
    _write_each(pathlib.Path.write_bytes, "jpg")(folder / "a", samples)


def _write_tar(folder, samples):
    tars.write_tar(folder / "data.tar", [(f"{i:04d}.bin", sample) for i, sample in enumerate(samples)])


def _write_coco(folder, samples):
    images = [{"id": i, "file_name": f"{i:04d}.jpg", "width": 9, "height": 9} for i in range(len(samples))]
    boxes = [{"image_id": i, "category_id": 1, "bbox": [1, 2, 3, 4]} for i in range(len(samples))]
    content = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "cat"}]}
    (folder / "annotations.json").write_text(json.dumps(content))
    _write_each(pathlib.Path.write_bytes, "jpg")(folder, samples)


def _write_sounds(folder, samples):
    for i, sample in enumerate(samples):
        with wave.open(f"{folder}/{i:04d}.wav", "wb") as file:
            file.setparams((1, 1, 8000, 0, "NONE", ""))
            file.writeframes(sample)
    lines = [{"audio_filepath": f"{i:04d}.wav", "duration": 0.002, "text": "hm"} for i in range(len(samples))]
    (folder / "train.json").write_text("\n".join(map(json.dumps, lines)))


def _write_fits(path, sample):
    from astropy.io import fits  # takes long to import, and attempts do not need it

    fits.HDUList([fits.PrimaryHDU(), fits.ImageHDU(_array(sample))]).writeto(path)


PARTS = 12  # of a data set in shards, each of which is a block


def _write_shards(write, ending):
    def write_all(folder, samples):
        for part in range(PARTS):
            write(folder / f"{part:02}.{ending}", samples[part::PARTS])

    return write_all


def _write_shard_of_tar(path, samples):
    tars.write_tar(path, [(f"{i:04d}.bin", sample) for i, sample in enumerate(samples)])


def _write_shard_of_records(path, samples):
    records.write_recordio(path, [records.recordio(records.image(sample)) for sample in samples])


def _write_row_groups(path, samples):
    import pyarrow.parquet  # attempts import it where they need it

    pyarrow.parquet.write_table(pyarrow.table({"x": samples}), path, row_group_size=9)


def _write_two_sets(folder, samples):
    for name, some in (("a", samples[0::3] + samples[1::3]), ("b", samples[2::3])):
        (folder / name).mkdir()
        _write_shards(_write_shard_of_tar, "tar")(folder / name, some)


def _mix(folder, *, cache=None, **options):
    """Two sets of which one epoch has all samples, each by an order of its own."""
    orders = {"a": ndd.readers.Blocks(window=3), "b": True}
    parts = [
        ndd.readers.Webdataset(
            paths=f"{folder}/{name}/{{00..11}}.tar", ext="bin", random_shuffle=order, name=name, cache=cache
        )
        for name, order in orders.items()
    ]
    return ndd.readers.Mix(parts, weights=[2, 1], **options)


def _write_mds(folder, samples):
    rows = [{"x": sample} for sample in samples]
    mds_files.write_mds(folder, {"x": "bytes"}, rows, per_shard=len(samples) // PARTS)


def _array(sample):
    return np.frombuffer(sample, np.uint8)


def _tfrecord(folder, **options):
    features = {"x": ndd.tfrecord.FixedLenFeature([], ndd.tfrecord.string, "")}
    return ndd.readers.TFRecord(path=f"{folder}/data", features=features, **options)


FORMATS = {
    "File": (_write_files, lambda folder, **options: ndd.readers.File(file_root=folder, **options)),
    "Numpy": (
        _write_each(lambda path, sample: np.save(path, _array(sample)), "npy"),
        lambda folder, **options: ndd.readers.Numpy(file_root=folder, **options),
    ),
    "Webdataset": (
        _write_tar,
        lambda folder, **options: ndd.readers.Webdataset(paths=f"{folder}/data.tar", ext="bin", **options),
    ),
    "TFRecord": (
        lambda folder, samples: records.write_tfrecords(
            folder / "data", [records.example(x=records.strings(sample)) for sample in samples]
        ),
        _tfrecord,
    ),
    "MXNet": (
        lambda folder, samples: records.write_recordio(
            folder / "data", [records.recordio(records.image(sample)) for sample in samples]
        ),
        lambda folder, **options: ndd.readers.MXNet(path=f"{folder}/data", **options),
    ),
    "Caffe": (
        lambda folder, samples: lmdb_records.write(folder / "db", [lmdb_records.datum(s, 1) for s in samples]),
        lambda folder, **options: ndd.readers.Caffe(path=f"{folder}/db", **options),
    ),
    "Caffe2": (
        lambda folder, samples: lmdb_records.write(
            folder / "db",
            [
                lmdb_records.record(
                    lmdb_records.tensor(lmdb_records.STRING, data=s),
                    lmdb_records.tensor(lmdb_records.INT32, dims=[1], values=[1]),
                )
                for s in samples
            ],
        ),
        lambda folder, **options: ndd.readers.Caffe2(path=f"{folder}/db", **options),
    ),
    "Fits": (
        _write_each(_write_fits, "fits"),
        lambda folder, **options: ndd.experimental.readers.Fits(file_root=folder, **options),
    ),
    "NemoAsr": (
        _write_sounds,
        lambda folder, **options: ndd.readers.NemoAsr(manifest_filepaths=f"{folder}/train.json", **options),
    ),
    "COCO": (
        _write_coco,
        lambda folder, **options: ndd.readers.COCO(
            file_root=folder, annotations_file=f"{folder}/annotations.json", **options
        ),
    ),
}
"""For each format: what writes samples to a folder, and what makes a reader of them."""

STORED = {
    "Webdataset in blocks": (
        _write_shards(_write_shard_of_tar, "tar"),
        lambda folder, **options: ndd.readers.Webdataset(
            paths=f"{folder}/{{00..11}}.tar", ext="bin", random_shuffle=ndd.readers.Blocks(window=3), **options
        ),
    ),
    "MXNet in blocks": (
        _write_shards(_write_shard_of_records, "rec"),
        lambda folder, **options: ndd.readers.MXNet(
            path=f"{folder}/{{00..11}}.rec", random_shuffle=ndd.readers.Blocks(window=3), **options
        ),
    ),
    "Parquet in blocks": (
        _write_shards(_write_row_groups, "parquet"),
        lambda folder, **options: ndd.readers.Parquet(folder, random_shuffle=ndd.readers.Blocks(window=3), **options),
    ),
    "Mix": (_write_two_sets, _mix),
    "MDS in blocks": (
        _write_mds,
        lambda folder, **options: ndd.readers.MDS(folder, random_shuffle=ndd.readers.Blocks(window=3), **options),
    ),
}
"""The same for data sets that are read from a store."""


@dataclasses.dataclass
class Run:
    reader: str
    data: str
    folder: str
    batch_size: int
    epochs: int
    kills: int
    shards: list[int]  # of one attempt after another, over and over
    order: dict  # options of the reader
    ahead: int | None = None
    longest_wait: float = 0  # in seconds, before an attempt is killed: it may then be in any line
    cache: str = ""  # the folder of one that all attempts share


class Log:
    """A line for each sample. Its state is its length: what was written after the checkpoint is cut off."""

    def __init__(self, path):
        self._file = open(path, "ab")  # noqa: SIM115

    def write(self, line):
        self._file.write(line)

    def state_dict(self):
        self._file.flush()
        return {"length": self._file.tell()}

    def load_state_dict(self, state):
        self._file.truncate(state["length"])
        self._file.seek(state["length"])


def attempt(run, shards, step_done):
    """Reads all shards in step, from the last checkpoint to the end of the run."""
    _, make = (FORMATS | STORED)[run.reader]
    options = {"last_batch": "partial", "cache": ndd.storage.Cache(run.cache, "4MB") if run.cache else None}
    readers = [make(run.data, num_shards=shards, shard_id=i, **options, **run.order) for i in range(shards)]
    ndd.random.set_seed(11)
    log = Log(f"{run.folder}/log")
    checkpoint = ndd.checkpoint.Checkpoint()
    with contextlib.suppress(FileNotFoundError):
        checkpoint.load(run.folder + "/{seq:04d}.json")
    if not checkpoint.is_loaded:
        log.load_state_dict({"length": 0})
    checkpoint.register(log, "log")
    checkpoint.register(ndd.random.get_default_rng(), "rng")
    checkpoint.register(readers[-1], "reader")  # its state is that of all
    for reader in readers[:-1]:
        reader.set_state(readers[-1].get_state())

    step = 0
    while readers[0].epoch < run.epochs:
        epochs = [reader.next_epoch(run.batch_size, ahead=run.ahead) for reader in readers]
        while items := [item for item in (next(epoch, None) for epoch in epochs) if item]:
            for item in items:
                write_samples(log, next(iter(item.values() if isinstance(item, dict) else item)))
            step += 1
            if step % EVERY == 0:
                checkpoint.collect()
                checkpoint.save(run.folder + "/{seq:04d}.json")
            step_done()
    log.state_dict()


def write_samples(log, samples):
    """Augments samples by draws from the stream of numbers and by draws that belong to each sample."""
    noise = ndd.random.uniform(like=samples), ndd.random.uniform(keyed_by=samples)
    for sample, source, *numbers in zip(samples, samples.sources, *noise, strict=True):
        hashes = [
            zlib.crc32(np.asarray(number).tobytes(), zlib.crc32(np.asarray(sample).tobytes())) for number in numbers
        ]
        log.write(b"%d %d %08x %08x\n" % (source.epoch, source.index, *hashes))


def forked_attempt(run, shards, steps, wait=0):
    """Runs to the end, or is killed some steps after it began and a wait; returns whether it was."""
    told, tell = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(told)
            attempt(run, shards, lambda: os.write(tell, b"."))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(tell)
    try:
        while steps is None or steps > 0:
            count = len(os.read(told, steps or 1000))
            if not count:
                break
            steps = steps and steps - count
        if steps == 0:
            time.sleep(wait)
            os.kill(child, signal.SIGKILL)
    finally:
        os.close(told)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, -signal.SIGKILL), f"an attempt failed: {status}"
    return status != 0


def killed_run(run):
    """Runs to the end, over as many kills as asked for where it is long enough; returns how many there were."""
    choose = random.Random(run.batch_size)
    killed = 0
    while True:
        steps = choose.randint(1, 2 * EVERY + 1) if killed < run.kills else None
        wait = choose.uniform(0, run.longest_wait)
        if not forked_attempt(run, run.shards[killed % len(run.shards)], steps, wait):
            return killed
        killed += 1


if __name__ == "__main__":
    runs = json.loads(pathlib.Path(sys.argv[1]).read_text())
    print(json.dumps([killed_run(Run(**run)) for run in runs]))
