"""What tests of single loops need: the counts of calls made ahead, and iterations that leave time for them."""

import time

import avida as ndd


def reader(data, times=1, **options):
    """Thirteen files, some times over."""
    files = data["good"][:13] * times
    return ndd.readers.File(files=files, labels=range(len(files)), **options)


def made():
    return ndd._core.ahead_counts()[0]


def used():
    return ndd._core.ahead_counts()[1]


def ready():
    """The number of calls that were made ahead and that loops may still ask for."""
    made, used, dropped = ndd._core.ahead_counts()
    return made - used - dropped


def wait_for(condition):
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def run(epoch, body, calls):
    """The results of the body for each item, and how many calls made ahead were used.

    `calls` of an iteration are expected to be made ahead: before the next iteration begins, they have been made. That
    they can be made at all takes two iterations that made them, and the third is being made when they are.
    """
    items, results, before = len(epoch), [], used()
    for i, item in enumerate(epoch):
        results.append(body(i, *item))
        if 2 <= i < items - 1:
            wait_for(lambda: ready() >= calls)
    return results, used() - before
