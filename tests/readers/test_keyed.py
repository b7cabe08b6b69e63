"""Keyed draws belong to samples: no batch size, shard, order, mode or thread changes them."""

import time

import numpy as np
import pytest

import avida
from tests.op_case import OPS

SAMPLES = 60
KEYED = sorted(name for name, op in OPS.items() if op["keyed"])
MODES = [avida.EvalMode.deferred, avida.EvalMode.eager, avida.EvalMode.sync_cpu]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images of different sizes."""
    folder = tmp_path_factory.mktemp("keyed")
    (folder / "a").mkdir()
    rng = np.random.default_rng(1)
    for i in range(SAMPLES):
        height, width = rng.integers(8, 20, 2)
        pixels = rng.integers(0, 256, height * width * 3, np.uint8).tobytes()
        (folder / "a" / f"{i:02}.ppm").write_bytes(b"P6 %d %d 255 " % (width, height) + pixels)
    return str(folder)


def reader(folder, **options):
    return avida.readers.File(file_root=folder, **options)


def draw(samples, seed=7):
    return avida.random.uniform(range=[0, 1], keyed_by=samples, rng=avida.random.RNG(seed=seed))


def augment(files, seed=7):
    """A loop body with operators of every kind: those that draw, and those that draw inside."""
    rng = avida.random.RNG(seed=seed)
    images = avida.decoders.image_random_crop(files, keyed_by=files, rng=rng)
    images = avida.random_resized_crop(images, size=[6, 5], keyed_by=images, rng=rng)
    images = avida.flip(images, horizontal=avida.random.coin_flip(keyed_by=images, rng=rng))
    noise = avida.random.normal(images, stddev=9.0, keyed_by=images, rng=rng)
    return images + noise


def samples_of(value):
    return list(value) if isinstance(value, avida.Batch) else [value]


def by_sample(epochs, body):
    """What the body makes of each sample, by index and epoch."""
    found = {}
    for items in epochs:
        for files, _ in items:
            results = body(files)
            sources = files.sources if isinstance(files, avida.Batch) else [files.source]
            for source, result in zip(sources, samples_of(results), strict=True):
                found[source.index, source.epoch] = np.asarray(result).tobytes()
    return found


@pytest.fixture(scope="module")
def expected(folder):
    """Two epochs, sample by sample."""
    one = reader(folder)
    return by_sample([one.next_epoch(), one.next_epoch()], augment)


def test_two_epochs_differ(expected):
    assert len(expected) == 2 * SAMPLES
    assert len(set(expected.values())) == 2 * SAMPLES


@pytest.mark.parametrize("batch_size", [1, 7, 64])
@pytest.mark.parametrize("shuffle", [False, True])
def test_batch_sizes_and_order(folder, expected, batch_size, shuffle):
    one = reader(folder, random_shuffle=shuffle, seed=3)
    found = by_sample([one.next_epoch(batch_size)], augment)
    assert len(found) >= SAMPLES
    assert {key: expected[key] for key in found} == found


@pytest.mark.parametrize("shards", [1, 2, 3])
def test_shards(folder, expected, shards):
    found = {}
    for shard in range(shards):
        one = reader(folder, num_shards=shards, shard_id=shard, random_shuffle=True, seed=5)
        found |= by_sample([one.next_epoch(5)], augment)
    assert found == {key: pixels for key, pixels in expected.items() if key[1] == 0}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threads", [1, 4])
def test_modes_and_threads(folder, expected, mode, threads):
    with avida.EvalContext(num_threads=threads), mode:
        found = by_sample([reader(folder).next_epoch(20)], augment)
    assert found == {key: expected[key] for key in found}


def test_unused_draws_count_in_every_mode(folder):
    results = []
    for mode in MODES:
        with mode:
            files, _ = next(reader(folder).next_epoch(4))
            draw(files)  # never computed in deferred mode
            results.append(np.concatenate([np.atleast_1d(x) for x in draw(files)]))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_samples_of_a_batch_one_by_one(folder):
    whole, _ = next(reader(folder).next_epoch(8))
    apart, _ = next(reader(folder).next_epoch(8))
    expected = [x.item() for x in draw(whole)]
    assert [draw(sample).item() for sample in apart] == expected
    again = [draw(sample).item() for sample in reversed(list(apart))][::-1]
    assert again == [x.item() for x in draw(whole)]
    assert set(again).isdisjoint(expected)


def test_after_a_resume(folder, expected):
    """On two shards, after an epoch that one shard began, with another batch size."""
    one = reader(folder, random_shuffle=True, seed=3)
    epoch = one.next_epoch(7)
    found = by_sample([[next(epoch), next(epoch)]], augment)
    state = one.get_state()
    for shard in range(2):
        other = reader(folder, random_shuffle=True, seed=3, num_shards=2, shard_id=shard)
        other.set_state(state)
        found |= by_sample([other.next_epoch(5)], augment)
    assert len(found) >= SAMPLES
    assert {key: expected[key] for key in found} == found


def test_the_generator_does_not_move(folder):
    rng = avida.random.RNG(seed=7)
    rng.advance(1000)
    state = rng.state
    files, _ = next(reader(folder).next_epoch(4))
    drawn = [x.item() for x in avida.random.uniform(range=[0, 1], keyed_by=files, rng=rng)]
    assert rng.state == state
    assert drawn == expected_draws(folder, range(4)), "nor does its position matter"


def test_seeds(folder):
    first, second, third = (next(reader(folder).next_epoch(8))[0] for _ in range(3))
    same = [x.item() for x in draw(first)]
    assert same == [x.item() for x in draw(second)]
    assert set(same).isdisjoint(x.item() for x in draw(third, seed=8))


def test_default_generator(folder):
    results = []
    for _ in range(2):
        avida.random.set_seed(11)
        avida.random.uniform()
        files, _ = next(reader(folder).next_epoch(8))
        results.append([x.item() for x in avida.random.uniform(keyed_by=files)])
    assert results[0] == results[1]


def test_other_outputs_of_a_batch_count_too(folder):
    files, labels = next(reader(folder).next_epoch(4))
    assert [x.item() for x in draw(files)] != [x.item() for x in draw(labels)]
    files, labels = next(reader(folder).next_epoch(4))
    assert [x.item() for x in draw(files)] != [x.item() for x in draw(labels + 1)]


def test_where_the_data_is_does_not_matter(folder, tmp_path):
    moved = tmp_path / "moved"
    moved.symlink_to(folder)
    files, _ = next(reader(folder).next_epoch(4))
    same, _ = next(reader(str(moved)).next_epoch(4))
    assert files.sources != same.sources
    assert [x.item() for x in draw(files)] == [x.item() for x in draw(same)]


def expected_draws(folder, indices, number=0):
    """The numbered draw of some samples."""
    files, _ = next(reader(folder).next_epoch(SAMPLES))
    for _ in range(number):
        draw(files)
    drawn = [x.item() for x in draw(files)]
    return [drawn[i] for i in indices]


ARRANGEMENTS = {
    "slice": (lambda b: avida.as_batch(b.tensors[2:6]), [2, 3, 4, 5]),
    "list": (lambda b: avida.as_batch(b.tensors[[5, 0]]), [5, 0]),
    "select": (lambda b: b.select([3, 1]), [3, 1]),
    "tensors": (lambda b: avida.as_batch([b.tensors[4], b.tensors[1]]), [4, 1]),
    "copied tensors": (lambda b: avida.batch([b.tensors[4], b.tensors[1]]), [4, 1]),
    "one sample twice": (lambda b: avida.as_batch([b.tensors[4], b.tensors[4]]), [4, 4]),
    "operators": (lambda b: avida.cast(b + 1, dtype=avida.float32), list(range(8))),
    "concatenated": (lambda b: avida.cat(b, b), list(range(8))),
    "permuted": (
        lambda b: avida.permute_batch(b, indices=avida.as_batch([7, 6, 5, 4, 3, 2, 1, 1])),
        [7, 6, 5, 4, 3, 2, 1, 1],
    ),
    "permuted and more": (
        lambda b: avida.permute_batch(b, indices=avida.as_batch([7, 6, 5, 4, 3, 2, 1, 0])) + 1,
        [7, 6, 5, 4, 3, 2, 1, 0],
    ),
    "python": (lambda b: avida.operator(lambda x: x + 1)(b), list(range(8))),
    "relabelled": (lambda b: avida.as_batch(b, layout="X"), list(range(8))),
    "moved": (lambda b: b.cpu().to_device("cpu", force_copy=True), list(range(8))),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ARRANGEMENTS)
def test_identity_follows_samples(folder, name, mode):
    arrange, indices = ARRANGEMENTS[name]
    with mode:
        files, _ = next(reader(folder).next_epoch(8))
        arranged = arrange(files)
        assert [x.item() for x in draw(arranged)] == expected_draws(folder, indices)
        # What was made of the samples counts together with the samples.
        assert [draw(files.tensors[i]).item() for i in set(indices)] == expected_draws(folder, set(indices), 1)


def test_batch_of_two_readers(folder):
    first, _ = next(reader(folder).next_epoch(4))
    second, _ = next(reader(folder).next_epoch(4))
    draw(second)
    mixed = avida.as_batch([first.tensors[0], second.tensors[1]])
    expected = expected_draws(folder, [0]) + expected_draws(folder, [1], 1)
    assert [x.item() for x in draw(mixed)] == expected


def test_a_sample_that_was_read_twice(folder):
    """Each copy has its own count, also in another order."""
    first, second = reader(folder)[3][0], reader(folder)[3][0]
    draw(first)
    both = avida.permute_batch(avida.as_batch([first, second]), indices=avida.as_batch([1, 0]))
    expected = expected_draws(folder, [3]) + expected_draws(folder, [3], 1)
    assert sorted(x.item() for x in draw(both)) == sorted(expected)


def test_a_large_permuted_batch_is_quick():
    (numbers,) = next(avida.ExternalSource(range(60_000)).next_epoch(60_000))
    permuted = avida.permute_batch(numbers, indices=avida.as_batch(np.arange(60_000)[::-1].copy()))
    permuted.evaluate()
    begin = time.process_time()
    draw(permuted)
    assert time.process_time() - begin < 5  # a hundred times that if each sample were compared with each other


def test_named_draws(folder):
    files, _ = next(reader(folder).next_epoch(8))
    crop = [x.item() for x in draw((files, "crop"))]
    assert crop == [x.item() for x in draw((files, "crop"))]
    assert set(crop).isdisjoint(x.item() for x in draw((files, "blur")))
    assert [x.item() for x in draw(files)] == expected_draws(folder, range(8)), "named draws are not counted"


def test_output_knows_its_samples(folder):
    files, _ = next(reader(folder).next_epoch(8))
    drawn = draw(files)
    assert drawn.batch_size == 8  # pyright: ignore[reportAttributeAccessIssue]
    assert drawn.sources == files.sources  # pyright: ignore[reportAttributeAccessIssue]
    assert [x.item() for x in draw(drawn)] == expected_draws(folder, range(8), 1)


@pytest.mark.parametrize("name", KEYED)
def test_every_random_operator(folder, name):
    """In batches of 3 or 8, each sample gets the same."""

    def call(files):
        function = avida
        for part in name.split("."):
            function = getattr(function, part)
        inputs = [avida.decoders.image(files) if given["layouts"] else None for given in OPS[name]["inputs"]]
        if name == "random.choice":
            inputs = [10]
        elif name == "random_crop_generator":
            inputs = [[400, 300, 3]]
        elif name == "random_bbox_crop":
            inputs = [np.float32([[0.1, 0.2, 0.5, 0.6]])]
        elif name.startswith("decoders."):
            inputs = [files]
        elif name == "augment.spec_augment":
            gray = avida.cast(avida.decoders.image(files, output_type=avida.types.GRAY), dtype="float32")
            inputs = [avida.reshape(avida.squeeze(gray, axes=[2]), layout="ft")]
        elif name.startswith(("noise.", "segmentation.")):
            inputs = [avida.decoders.image(files)]
        inputs = [i for i in inputs if i is not None]
        required = {
            "random_resized_crop": {"size": [4, 4]},
            "random_bbox_crop": {"thresholds": [0.0], "scaling": [0.3, 0.6], "allow_no_crop": False},
            "roi_random_crop": {"crop_shape": [20, 20], "roi_start": [0, 0], "roi_end": [200, 200]},
        }.get(name, {})
        out = function(*inputs, **required, keyed_by=files, rng=avida.random.RNG(seed=1))
        return out[0] if isinstance(out, tuple) else out

    found = {}
    for size in (3, 8):
        items = reader(folder).next_epoch(size)
        found[size] = [np.asarray(x) for _ in range(24 // size) for x in call(next(items)[0])]
    assert len({x.tobytes() for x in found[3]}) > 1
    for a, b in zip(found[3], found[8], strict=True):
        np.testing.assert_array_equal(a, b)


def test_permutations_are_drawn_for_batches():
    assert OPS["batch_permutation"]["random"]
    assert "batch_permutation" not in KEYED


def test_without_identity(folder):
    files, _ = next(reader(folder).next_epoch(4))
    with pytest.raises(ValueError, match="a reader has read"):
        draw(avida.batch([1, 2]))
    with pytest.raises(ValueError, match="a reader has read, sample 1 is not"):
        draw(avida.as_batch([files.tensors[0], avida.as_tensor(np.zeros(3, np.uint8))]))
    with pytest.raises(TypeError, match="expected a Batch or Tensor"):
        draw(np.zeros(3))
    with pytest.raises(TypeError, match="a name for the draw"):
        draw((files, 3))
    with pytest.raises(ValueError, match="batch sizes differ"):
        avida.random.uniform(keyed_by=files, batch_size=3)
    with pytest.raises(ValueError, match="batch sizes differ"):
        avida.random_resized_crop(avida.batch(np.zeros((3, 4, 4, 3), np.uint8), layout="HWC"), size=2, keyed_by=files)
    with pytest.raises(ValueError, match="batch sizes differ"):
        avida.random.uniform(batch_size=3, keyed_by=files.tensors[0])


def test_failed_samples(folder, tmp_path):
    """A batch that could not be read raises what went wrong with it."""
    gone = tmp_path / "gone.ppm"
    gone.write_bytes(b"x")
    one = avida.readers.File(files=[str(gone)])
    gone.unlink()
    files, _ = next(one.next_epoch(1))
    with pytest.raises(Exception, match=r"gone\.ppm"):
        draw(files).evaluate()
    with pytest.raises(Exception, match=r"gone\.ppm"):
        draw(files + 1).evaluate()


def test_distribution():
    """Over many samples, epochs and draws: even, and without correlation between neighbours of any kind."""
    source = avida.ExternalSource(range(4000))
    rows = []
    for _ in range(2):
        for (numbers,) in source.next_epoch(4000):
            rows += [np.array([x.item() for x in draw(numbers)]) for _ in range(2)]
    for row in rows:
        counts, _ = np.histogram(row, bins=20, range=(0, 1))
        assert ((counts - 200) ** 2 / 200).sum() < 45  # chi-squared with 19 degrees of freedom: p < 0.001
        assert abs(np.corrcoef(row[:-1], row[1:])[0, 1]) < 0.06
    assert np.abs(np.corrcoef(rows) - np.eye(4)).max() < 0.06
