"""What is made ahead in single loops, what is not, and that neither can be seen."""

import gc
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import avida as ndd
from tests.ahead.loops import made, reader, ready, run, used, wait_for
from tests.ahead.running import described

AHEAD = [1, 3]


def same(results, expected):
    return [*map(described, results)] == [*map(described, expected)]


def augmented(i, files, labels):
    """Five calls."""
    images = ndd.decoders.image(files)
    images = ndd.random_resized_crop(images, size=[8, 7])
    mirror = ndd.random.coin_flip(like=files)
    noise = ndd.random.uniform(range=[-1, 1], keyed_by=files)
    return ndd.crop_mirror_normalize(images, mirror=mirror, mean=noise * 100)


CALLS = 6  # with the product


def expected_of(epoch, body):
    ndd.random.set_seed(1)
    return [body(i, *item) for i, item in enumerate(epoch)]


def check(data, body, calls, ahead, batch_size=1, **options):
    """Returns how many calls were used, in a loop of 13 iterations whose results are right."""
    options["times"] = options.get("times", batch_size or 1)
    expected = expected_of(reader(data, **options).next_epoch(batch_size, ahead=0), body)
    state = ndd.random.get_default_rng().state
    ndd.random.set_seed(1)
    results, count = run(reader(data, **options).next_epoch(batch_size, ahead=ahead), body, calls)
    assert same(results, expected)
    assert ndd.random.get_default_rng().state == state
    return count


@pytest.mark.parametrize("ahead", AHEAD)
def test_plain_loop(data, ahead):
    assert check(data, augmented, CALLS, ahead) >= CALLS * 10  # of 13 iterations


def test_off(data):
    before = made()
    expected_of(reader(data).next_epoch(1, ahead=0), augmented)
    assert made() == before


@pytest.mark.parametrize(
    ("options", "depth"),
    [({}, 1), ({"capture": True}, 2), ({"compile": True}, 2), ({"ahead": 3}, 3), ({"ahead": 1, "capture": True}, 1)],
)
def test_how_far(data, options, depth):
    most = 0
    for i, (files, _) in enumerate(reader(data).next_epoch(1, **options)):
        ndd.decoders.image(files).evaluate()
        if i == 5:
            wait_for(lambda: ready() >= depth)
        most = max(most, ready())
    assert most == depth


def numbers():
    yield from map(np.float32, range(13))


SOURCES = {
    "list": lambda: [*numbers()],
    "generator function": lambda: numbers,
    "function": lambda: numbers().__next__,
    "batches": lambda: [ndd.batch([number]) for number in numbers()],
}


@pytest.mark.parametrize("batch_size", [None, 1])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("ahead", AHEAD)
def test_sources(source, ahead, batch_size):
    def loop(ahead):
        ndd.random.set_seed(1)
        items = ndd.ExternalSource(SOURCES[source]())
        for i, (item,) in enumerate(items.next_epoch(batch_size, ahead=ahead)):
            yield item * 2 + ndd.random.uniform(**({"like": item} if batch_size else {}))
            if ahead and 2 <= i < 12:
                wait_for(lambda: ready() >= 3)

    before = used()
    assert same(loop(ahead), loop(0))
    assert used() - before >= 3 * 10


@pytest.mark.parametrize("ahead", AHEAD)
def test_single_samples(data, ahead):
    def body(i, file, label):
        image = ndd.resize(ndd.decoders.image(file), size=[5, 6])
        return image + ndd.random.uniform()

    assert check(data, body, 4, ahead, batch_size=None) >= 4 * 10


@pytest.mark.parametrize("ahead", AHEAD)
def test_a_changing_argument(data, ahead):
    """It is left to the loop, with what depends on it."""

    def body(i, files, labels):
        images = ndd.flip(ndd.decoders.image(files))
        return ndd.flip(ndd.rotate(images, angle=float(i))) + labels.numpy().item()

    assert 2 * 10 <= check(data, body, 2, ahead) <= 2 * 11


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("every", [1, 2, 5])
def test_draws_by_python(data, ahead, every):
    """Draws between the calls of some iterations move the generator: the numbers of the others are as they were."""
    own = ndd.random.RNG(seed=1)

    def body(i, files, labels):
        if i == 0:
            own.seed = 1
        first = ndd.random.uniform(like=files, rng=own)
        if i % every == 0:
            own()
        return first + ndd.random.uniform(like=files, rng=own)

    count = check(data, body, 3 if every == 1 else 0, ahead)
    assert every > 1 or count >= 3 * 10


@pytest.mark.parametrize("ahead", AHEAD)
def test_functions_of_users_are_called_by_the_loop_alone(data, ahead):
    calls = []

    @ndd.operator
    def noting(label):
        calls.append(label.item())
        return label

    def body(i, files, labels):
        doubled = labels * 2
        if i != 7:
            noting(labels)
        return ndd.cast(noting(doubled) + 1, dtype="float32")

    assert 10 <= check(data, body, 1, ahead) <= 11  # of the product; neither of the sum nor of the cast
    once = [number for label in range(13) for number in ([14] if label == 7 else [label, 2 * label])]
    assert calls == once + once


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("batch_size", [None, 1])
def test_pure_functions_are_called_ahead(data, ahead, batch_size):
    @ndd.operator(pure=True, outputs=2)
    def scaled(label, factor, shift):
        return label * factor, label + shift[1]

    def body(i, files, labels):
        products, sums = scaled(labels * 2, 1.5, shift=("by", 3))
        return ndd.cast(products + sums, dtype="float32")

    assert check(data, body, 4, ahead, batch_size) >= 4 * 10


CHANGING = {"number": float, "zero": lambda i: 0.0 * (-1) ** i, "type": lambda i: (1, 1.0, True)[i % 3]}
UNKNOWN = {"list": lambda i: [3], "array": lambda i: np.float32(3), "tensor": lambda i: ndd.tensor(3)}


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("argument", CHANGING | UNKNOWN)
def test_keyword_arguments_of_pure_functions(data, ahead, argument):
    """Those that change, and those that might without a trace, are left to the loop."""

    @ndd.operator(pure=True)
    def shown(label, value):
        return np.frombuffer(f"{label.item()} {np.asarray(value).tolist()!r}".ljust(30).encode(), np.uint8)

    def body(i, files, labels):
        return shown(labels * 2, value=(CHANGING | UNKNOWN)[argument](i))

    assert 10 <= check(data, body, 1, ahead) <= 11  # of the product


def test_a_method_as_a_pure_function_keeps_nothing_alive(data):
    class Loader:
        def __init__(self):
            self.reader = reader(data)
            self.doubled = ndd.operator(self.double, pure=True)

        def double(self, label):
            return label * 2

    loader = Loader()
    for _, labels in loader.reader.next_epoch(1):
        loader.doubled(labels).evaluate()
    gone = weakref.ref(loader)
    del loader, labels
    wait_for(lambda: gc.collect() >= 0 and gone() is None)  # the executor may still be leaving the last call


def test_a_pure_function_that_nobody_needs_is_not_called():
    called = []

    @ndd.operator(pure=True)
    def noting(number):
        called.append(number.item())
        return number

    with ndd.EvalMode.deferred:
        kept, _ = noting(ndd.tensor(1)), noting(ndd.tensor(2))
        assert kept.item() == 1
        del _
    assert called == [1]


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("name", ["auto_augment", "rand_augment", "trivial_augment"])
def test_automatic_augmentation(data, ahead, keyed, name):
    def body(i, files, labels):
        images = ndd.decoders.image(files, output_type="RGB")
        return ndd.flip(getattr(ndd, name)(images, keyed_by=files if keyed else None))

    assert check(data, body, 4, ahead, 2) >= 4 * 10


@pytest.mark.parametrize("ahead", AHEAD)
def test_mixing(data, ahead):
    def body(i, files, labels):
        images = ndd.resize(ndd.decoders.image(files), size=[8, 8])
        images, shares = ndd.mixup(images, labels, num_classes=26)
        images, _ = ndd.cutmix(images, shares, per_sample=True)
        return ndd.mosaic(images, output_size=8)

    assert check(data, body, 9, ahead, 2) >= 9 * 10


@pytest.mark.parametrize("ahead", AHEAD)
def test_epochs(data, ahead):
    """What one epoch has learned is good for the next. The last batch of each is smaller."""
    files = reader(data, last_batch="partial")
    for epoch in range(3):
        before = used()
        for i, (jpegs, _) in enumerate(files.next_epoch(3, ahead=ahead)):
            ndd.decoders.image(jpegs).evaluate()
            if epoch and i < 4:
                wait_for(lambda: ready() >= 1)
        assert not epoch or used() - before >= 4
    count = check(data, lambda i, f, _: ndd.decoders.image(f), 0, ahead, 4, times=1, last_batch="partial")
    assert count <= 2


def test_the_end_of_an_epoch_that_has_ended(data):
    files = reader(data)
    over = files.next_epoch(1)
    for item in over:
        augmented(0, *item)

    def body(i, *item):
        if i == 4:
            assert next(over, None) is None
        return augmented(i, *item)

    _, count = run(files.next_epoch(1), body, CALLS)
    assert count >= CALLS * 10


def test_many_epochs(data):
    """What is remembered of a loop does not grow with its epochs."""
    files = reader(data)
    for epoch in range(60):
        before = used()
        for i, (_, labels) in enumerate(files.next_epoch(3)):
            for _ in range(8):
                labels = labels + 1
            labels.evaluate()
            if epoch == 59 and i < 4:
                wait_for(lambda: ready() >= 8)
    assert used() - before == 8 * i  # in all but the first iteration


@pytest.mark.parametrize("ahead", AHEAD)
def test_two_readers(data, ahead):
    """Eight calls of an iteration can be made ahead; those of single samples cannot."""

    def loop(ahead):
        ndd.random.set_seed(1)
        epochs = [
            reader(data).next_epoch(1, ahead=ahead),
            reader(data, times=2, random_shuffle=True).next_epoch(2, ahead=ahead),
        ]
        for i, ((f, labels), (g, _)) in enumerate(zip(*epochs, strict=True)):
            x = ndd.resize(ndd.decoders.image(f), size=[4, 4]) + labels * 1.0
            y = ndd.resize(ndd.decoders.image(g), size=[4, 4]) * ndd.random.uniform(like=g)
            yield ndd.cat(x.tensors[0], y.tensors[1])
            if ahead and 2 <= i < 12:
                wait_for(lambda: ready() >= 8)

    before = used()
    assert same(loop(ahead), loop(0))
    assert used() - before >= 8 * 10


def nested(data, ahead):
    """The loop in the middle uses a value of the outer one, and the outer one that of the last inner iteration."""
    inner = reader(data, random_shuffle=True)
    ndd.random.set_seed(1)
    for f, _ in reader(data).next_epoch(1, ahead=ahead):
        x = ndd.resize(ndd.decoders.image(f), size=[4, 4])
        for g, _ in inner.next_epoch(4, ahead=ahead):
            y = ndd.resize(ndd.decoders.image(g), size=[4, 4]) + x.tensors[0] * ndd.random.uniform(like=g)
        yield x + y.tensors[0]


@pytest.mark.parametrize("ahead", AHEAD)
def test_nested_loops(data, ahead):
    assert same(nested(data, ahead), nested(data, 0))


@pytest.mark.parametrize("ahead", AHEAD)
def test_errors_belong_to_the_calls_of_the_loop(data, ahead):
    """Sample 8 is no image, and no call for it is made; that for sample 9 fails, in a line that is not the usual."""
    paths = [*data["broken"]]
    paths[9] = paths[8]
    for i, (f, _) in enumerate(ndd.readers.File(files=paths).next_epoch(1, ahead=ahead)):
        if i == 9:
            line = sys._getframe().f_lineno + 1
            image = ndd.flip(ndd.decoders.image(f))
            with pytest.raises(RuntimeError, match=str(paths[8])) as error:
                image.evaluate()
            assert error.value.__notes__ == [f"called at {__file__}:{line}"]
        elif i != 8:
            ndd.flip(ndd.decoders.image(f)).evaluate()


@pytest.mark.parametrize("ahead", AHEAD)
def test_states(data, ahead):
    """A reader stands behind what the loop was given, whatever was made of the items that follow."""

    def states(ahead):
        files, found = reader(data), []
        ndd.random.set_seed(1)
        for i, item in enumerate(files.next_epoch(2, ahead=ahead)):
            augmented(i, *item).evaluate()
            found.append((str(files.get_state()), ndd.random.get_default_rng().state))
        return found

    assert states(ahead) == states(0)


# Values that others write to.


def write_to_item(i, files, labels):
    np.asarray(labels.tensors[0])[...] += 100 * i
    return labels * 2


def write_to_item_by_torch(i, files, labels):
    labels.torch().sub_(1)
    return labels * 2


def write_to_result(i, files, labels):
    images = ndd.decoders.image(files)
    np.asarray(images.tensors[0])[...] = i
    return ndd.flip(images)


def write_to_view(i, files, labels):
    """The memory of the images is changed through that of another value."""
    images = ndd.decoders.image(files)
    row = ndd.reshape(images, shape=[-1])
    np.asarray(row.tensors[0])[...] = i
    return ndd.flip(images)


def write_to_view_of_item(i, files, labels):
    np.asarray(ndd.as_batch(labels, layout="X").tensors[0])[...] = i
    return labels + 1


def read_and_write_later(i, files, labels):
    """What is made of the labels is there before they are changed."""
    doubled = labels * 2
    doubled.evaluate()
    np.asarray(labels.tensors[0])[...] = 50
    return ndd.cat(doubled, labels * 2)


def write_through_view_of_numbers(i, files, labels):
    """A view of a small tensor is its memory, and not that of an equal one."""
    numbers = ndd.tensor([[1.0, 2.0]])
    view = ndd.squeeze(numbers, axes=[0])
    np.asarray(view)[...] = i
    return labels + numbers


def image_of_a_changed_file(i, files, labels):
    """An image that only a crop has needed so far is still that of the file as it was at the call."""
    images = ndd.decoders.image(files)
    cropped = ndd.crop(images, crop=[2, 2]).evaluate()
    if i != 8:
        return cropped
    ndd.EvalContext.current().evaluate_all()
    for file in files:
        np.asarray(file)[...] = 0
    return images


@pytest.mark.parametrize("ahead", AHEAD)
@pytest.mark.parametrize(
    "body",
    [
        write_to_item,
        write_to_item_by_torch,
        write_to_result,
        write_to_view,
        write_to_view_of_item,
        read_and_write_later,
        write_through_view_of_numbers,
        image_of_a_changed_file,
    ],
)
def test_values_that_are_written_to(data, body, ahead):
    check(data, lambda *item: body(*item).evaluate(), 0, ahead, batch_size=4)


@pytest.mark.parametrize("elements", [1, 10_000])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("ahead", AHEAD)
def test_shared_memory(data, ahead, elements, again):
    """An array that the loop changes and passes as a Tensor, the same one or a new one each time."""
    array = np.zeros(elements, np.float32)
    tensor = ndd.as_tensor(array)
    reshaped = ndd.reshape(tensor, shape=[elements, 1])

    def body(i, files, labels):
        array[...] = i // 4
        sums = labels + (ndd.as_tensor(array) if again else tensor)
        return ndd.cat(sums, ndd.reshape(labels + reshaped, shape=[-1])).evaluate()

    check(data, body, 0, ahead)


@pytest.mark.parametrize("ahead", AHEAD)
def test_memory_that_a_source_keeps(ahead):
    """The loop changes arrays of its own, of which the source made the items."""

    def loop(ahead):
        arrays = [np.full(3, i, np.int32) for i in range(12)]

        def tensors():
            for array in arrays:
                yield ndd.as_tensor(array)

        for i, (item,) in enumerate(ndd.ExternalSource(tensors).next_epoch(ahead=ahead)):
            arrays[i] += 100
            yield (item + 1).evaluate()

    assert same(loop(ahead), loop(0))


@pytest.mark.parametrize("ahead", AHEAD)
def test_arrays(data, ahead):
    """Calls copy them, small or large, and what they hold counts."""
    arrays = [np.zeros(4, np.float32), np.zeros(9000, np.float32)]

    def body(i, files, labels):
        for array in arrays:
            array[:4] = i // 4
        return ndd.cat(*[labels + array for array in arrays])

    check(data, body, 0, ahead)


# What else calls depend on.


@pytest.mark.parametrize("ahead", AHEAD)
def test_zeros_have_signs(data, ahead):
    def body(i, files, labels):
        image = ndd.cast(ndd.decoders.image(files), dtype="float32")
        zero = -0.0 if i > 6 else 0.0
        return ndd.crop(image, crop=[20, 20], out_of_bounds_policy="pad", fill_values=[zero])

    check(data, body, 2, ahead)


@pytest.mark.parametrize("ahead", AHEAD)
def test_files_that_the_loop_writes(data, ahead, tmp_path):
    path = tmp_path / "a.bin"
    name = ndd.tensor(np.frombuffer(str(path).encode(), np.uint8))

    def body(i, files, labels):
        path.write_bytes(b"%02d" % i)
        return ndd.cat(ndd.io.file.read(name), ndd.io.file.read(str(path))).evaluate()

    check(data, body, 0, ahead)


@pytest.mark.parametrize("ahead", AHEAD)
def test_limits_hold_from_when_they_are_set(data, ahead):
    before = ndd.decode_limits()

    def body(i, files, labels):
        ndd.set_decode_limits(pixels=10 if i > 6 else before.pixels)
        images = ndd.decoders.image(files, on_error="placeholder").evaluate()
        assert len(images.errors) == (i > 6)
        return images

    try:
        check(data, body, 0, ahead)
    finally:
        ndd.set_decode_limits(pixels=before.pixels)


@pytest.mark.parametrize("ahead", AHEAD)
def test_modes(data, ahead):
    def body(i, files, labels):
        with [ndd.EvalMode.eager, ndd.EvalMode.deferred, ndd.EvalMode.sync_cpu][i // 2 % 3]:
            return augmented(i, files, labels)

    check(data, body, 0, ahead)


@pytest.mark.parametrize("ahead", AHEAD)
def test_contexts_do_not_wait_for_what_nobody_asked_for(data, ahead):
    """Work ahead that waits for another context must not hold up what the loop asked for, and so complete a cycle."""
    first, second = ndd.EvalContext(num_threads=1), ndd.EvalContext(num_threads=1)
    free = threading.Event()
    wait = ndd.operator(lambda number: free.wait() and number)
    for i, (f, labels) in enumerate(reader(data).next_epoch(1, ahead=ahead)):
        if i == 8:
            time.sleep(0.05)  # the first context comes to work for the next item that waits for the second
            with first:
                doubled = labels * 2
            with second:
                sums = doubled + 1
            free.set()
            assert sums.tensors[0].item() == 17
            break
        with first:
            x = ndd.decoders.image(f)
        with second:
            x = ndd.flip(x)
        with first:
            x = ndd.flip(x)
        x.evaluate()
        if i == 7:
            with second:
                wait(labels)


# Memory.


def in_use():
    gc.collect()
    return ndd.memory_use().in_use


@pytest.mark.parametrize("ahead", AHEAD)
def test_leaving_a_loop_frees_what_was_made(data, ahead):
    files = reader(data, prefetch_queue_depth=1)

    def leave():
        for i, item in enumerate(files.next_epoch(1, ahead=ahead)):
            images = ndd.resize(ndd.decoders.image(item[0]), size=[500, 500])
            if i == 5:
                wait_for(lambda: made() > before)
                return images.evaluate()

    before = made()
    base = in_use()
    leave()
    wait_for(lambda: in_use() < base + 500 * 500)


@pytest.mark.parametrize("ahead", [0, *AHEAD])
def test_memory_stays_flat(data, ahead):
    """A thousand batches; what is in use is a few of them."""
    files = reader(data)
    base, most = in_use(), 0
    for i in range(77):
        for f, _ in files.next_epoch(1, ahead=ahead):
            ndd.resize(ndd.decoders.image(f), size=[100, 100]).evaluate()
            most = max(most, ndd.memory_use().in_use - base if i else 0)
    assert most < (ahead + 3) * 2 * 3 * 100 * 100 + 100_000


# Threads.


@pytest.mark.parametrize("ahead", AHEAD)
def test_a_loop_in_each_thread(data, ahead):
    expected = expected_of(reader(data).next_epoch(2, ahead=0), augmented)
    results = {}

    def work(number):
        results[number] = [expected_of(reader(data).next_epoch(2, ahead=ahead), augmented) for _ in range(5)]

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        assert all(same(each, expected) for each in results[number])


@pytest.mark.parametrize("ahead", AHEAD)
def test_threads_that_share_an_epoch(data, ahead):
    """Each item is taken once, and what becomes of it depends on the item alone."""

    def body(files):
        images = ndd.random_resized_crop(ndd.decoders.image(files), size=[6, 6], keyed_by=files, rng=ndd.random.RNG(2))
        return described(images + ndd.random.uniform(keyed_by=files, rng=ndd.random.RNG(3)))

    expected = {str(f.sources): body(f) for _ in range(3) for f, _ in reader(data).next_epoch(1, ahead=0)}
    files, results = reader(data), []

    def work(epoch):
        for f, _ in epoch:
            results.append((str(f.sources), body(f)))

    for _ in range(20):
        files.seek(0)
        epoch = files.next_epoch(1, ahead=ahead)
        threads = [threading.Thread(target=work, args=[epoch]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(results) == len(expected)
        assert dict(results) == expected
        results.clear()
