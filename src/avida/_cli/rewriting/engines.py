"""Where shards are written: in processes of this machine, or as tasks of Ray."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, Protocol

import avida
from avida._cli.rewriting import shards
from avida._cli.rewriting.rows import open_data
from avida._cli.rewriting.shards import Job, Plan, Told

_PR_SET_PDEATHSIG = 1
_WAKE = 0.1  # seconds between two signs of progress

_samples_done: Any = None  # of all workers, in their memory


class Engine(Protocol):
    def plan(self) -> Plan: ...
    def write(self, plan: Plan, numbers: Sequence[int], told: Told) -> Iterator[dict[str, Any]]: ...


@contextlib.contextmanager
def local(job: Job, jobs: int) -> Iterator[Engine]:
    """Worker processes, which are forked: the data is opened once."""
    open_data(job.place)
    context = multiprocessing.get_context("fork")
    counter = context.Value("q", 0)
    threads = max(1, avida.get_num_threads() // jobs)
    pool = ProcessPoolExecutor(jobs, context, _begin_worker, (counter, os.getpid(), threads))
    try:
        yield _Local(pool, job, counter)
    finally:
        workers = list((pool._processes or {}).values())  # none once it is broken
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.terminate()  # they may be in the middle of a shard that nobody wants any more
            worker.join()


class _Local:
    def __init__(self, pool: ProcessPoolExecutor, job: Job, counter: Any) -> None:
        self._pool = pool
        self._job = job
        self._counter = counter

    def plan(self) -> Plan:
        with _workers_must_live():
            return self._pool.submit(shards.make_plan, self._job).result()

    def write(self, plan: Plan, numbers: Sequence[int], told: Told) -> Iterator[dict[str, Any]]:
        seen = 0
        with _workers_must_live():
            waiting = {self._pool.submit(_write, self._job, plan, number) for number in numbers}
            while waiting:
                done, waiting = wait(waiting, _WAKE, FIRST_COMPLETED)
                told(self._counter.value - seen)
                seen = self._counter.value
                for each in done:
                    yield each.result()


def _begin_worker(counter: Any, parent: int, threads: int) -> None:
    """A worker ends with its parent, however that ends, and leaves Ctrl-C to it."""
    global _samples_done
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    avida.set_num_threads(threads)
    _samples_done = counter


def _write(job: Job, plan: Plan, number: int) -> dict[str, Any]:
    return shards.write(job, plan, number, _count)


def _count(samples: int) -> None:
    with _samples_done.get_lock():
        _samples_done.value += samples


@contextlib.contextmanager
def _workers_must_live() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool as error:
        raise RuntimeError(
            "a worker process has died, perhaps for lack of memory: try fewer --jobs; shards that are finished stay"
        ) from error


@contextlib.contextmanager
def ray(job: Job, jobs: int) -> Iterator[Engine]:
    """Tasks of Ray, one for each shard, on all machines of its cluster; they must see the same folders."""
    try:
        import ray
    except ImportError:
        raise RuntimeError("--engine ray needs Ray, which is not installed: pip install ray") from None
    begun = not ray.is_initialized()
    if begun:
        given = os.environ.get("RAY_ADDRESS")  # else a Ray of its own, and not one that happens to run here
        ray.init(address=given or "local", log_to_driver=False, num_cpus=None if given else jobs)
    try:
        yield _Ray(ray, job)
    finally:
        if begun:
            ray.shutdown()


class _Ray:
    def __init__(self, ray: Any, job: Job) -> None:
        self._ray = ray
        self._job = job

    def _task(self, function: Callable[..., Any]) -> Any:
        return self._ray.remote(max_retries=3)(function).remote

    def _result(self, task: Any) -> Any:
        try:
            return self._ray.get(task)
        except self._ray.exceptions.RayTaskError as error:
            raise RuntimeError(str(error.cause)) from error

    def plan(self) -> Plan:
        return self._result(self._task(shards.make_plan)(self._job))

    def write(self, plan: Plan, numbers: Sequence[int], told: Told) -> Iterator[dict[str, Any]]:
        task = self._task(_write_quietly)
        waiting = {task(self._job, plan, number): number for number in numbers}
        try:
            while waiting:
                (done,), _ = self._ray.wait(list(waiting), num_returns=1)
                number = waiting.pop(done)
                record = self._result(done)
                told(min(plan.per_shard, plan.samples - number * plan.per_shard))
                yield record
        finally:
            for each in waiting:
                self._ray.cancel(each, force=True)


def _write_quietly(job: Job, plan: Plan, number: int) -> dict[str, Any]:
    return shards.write(job, plan, number, lambda samples: None)
