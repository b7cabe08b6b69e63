"""One sentence of advice on what a profile shows."""

from __future__ import annotations

import dataclasses

from avida import _core
from avida._running.profile.summary import Line, Prediction, Summary

_LITTLE = 0.05  # the share of its time that a loop may wait without anything to gain


@dataclasses.dataclass(frozen=True)
class Machine:
    """What there is to work with."""

    threads: int
    cpus: int
    gpus: int

    @classmethod
    def here(cls) -> Machine:
        return cls(_core.num_threads(), _core.available_cpus(), _core.gpu_count())


def advise(summary: Summary, machine: Machine) -> str:
    if not summary.lines and summary.fallbacks:
        return "No operator was called while the profile was open; the CPU decoded videos for a reader."
    if not summary.lines or not summary.seconds:
        return "Nothing was recorded: no operator was called and no reader was read while the profile was open."
    if summary.worked > max(summary.waited, _LITTLE * summary.seconds):
        return (
            f"The loop spent {percent(summary.worked / summary.seconds)} of its time in the operators themselves: "
            "use EvalMode.eager, which runs them in the background, instead of a mode that runs them at the call."
        )
    share = summary.waited / summary.seconds
    if share < _LITTLE:
        return f"The loop waited {percent(share)} of its time for data: loading is not what limits it."
    waited = f"The loop waited {percent(share)} of its time"
    cause = max(summary.lines, key=lambda line: line.waited)
    if cause.waited < summary.waited / 4:
        reads = sum(wait.times for wait in summary.waits)
        return (
            f"{waited}, but most of that time no operator ran, in {reads:,} waits of "
            f"{summary.waited / max(1, reads) * 1e3:.1f} ms: make larger batches, or read results after more calls."
        )
    return f"{waited}, for {cause.operator} (line {cause.line}): {_remedy(cause, summary, machine)}."


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _remedy(cause: Line, summary: Summary, machine: Machine) -> str:
    unpredicted = _unpredicted(summary)
    if unpredicted and summary.idle > summary.waited / 2:
        why = next(iter(unpredicted.reasons), "its arguments differ each time")
        return (
            f"{unpredicted.operator} (line {unpredicted.line}) could not be called ahead ({why}), while the threads "
            f"were idle for {summary.idle:.2f} s; avida.ahead() prepares batches whose calls cannot be predicted"
        )
    name = cause.operator
    if name == "ExternalSource":
        return "make the source faster, which runs as Python code in one thread, or prefetch_queue_depth larger"
    if "readers." in name:
        return "use a larger prefetch_queue_depth, faster storage, or archives in place of many small files"
    if name == "copy to the CPU":
        most = max(summary.lines, key=lambda line: line.gpu_seconds)
        return (
            f"it waits for the GPU, which works longest for {most.operator} (line {most.line}); leave results on the "
            "GPU, whose memory .torch() shares"
        )
    if not _is_operator(name):
        return "it is a Python function, which holds the GIL: use operators of avida instead, where they do"
    if cause.gpu_seconds:
        return "the GPU is what takes the time; let some operators run on the CPU, or use smaller images"
    choices = []
    if machine.threads < machine.cpus:
        choices.append(f"more threads ({machine.threads} of {machine.cpus} CPUs are used)")
    elif machine.threads >= 4 and cause.threads < machine.threads / 2:
        choices.append(f"larger batches (only {cause.threads:.1f} of {machine.threads} threads had work)")
    if name == "decoders.image":
        choices.append("`reduce_to`")
    choices.append("the GPU" if machine.gpus else "a GPU")
    last = choices.pop()
    if not choices:
        return f"all {machine.cpus} CPUs are used; use smaller images, or {last}"
    return f"use {', '.join(choices)}{',' if len(choices) > 1 else ''} or {last}"


def _unpredicted(summary: Summary) -> Prediction | None:
    """What could not be made ahead, if the loop waited mostly for that."""
    missed = [each for each in summary.predictions if each.not_predicted > each.used]
    places = {each[:3] for each in missed}
    waited = sum(line.waited for line in summary.lines if line[:3] in places)
    if waited < summary.waited / 2:
        return None
    return max(missed, key=lambda each: each.not_predicted)  # of as many, the first: others may depend on it


def _is_operator(name: str) -> bool:
    """Whether avida has an operator that errors and profiles call this."""
    names = (_core.describe_op(number)["name"] for number in range(_core.op_count()))
    return any(name in (each, each.rpartition(".")[2].lstrip("_")) for each in names)
