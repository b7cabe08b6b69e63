"""Random programs: loops over readers, whose lines are drawn by Hypothesis and written out as plain Python.

A program uses a few names, and its lines read and set them in any order:

- `f` and `l` are the newest files and labels, `g` those of the second reader; `x` and `y` images, `p` and `q` numbers
  for each sample. All but `f` and `l` may be left from an earlier iteration, epoch or batch size.
- `i` counts iterations. `python` and `own` are generators; `small` and `wide` are arrays, `tensor` is a Tensor, and
  `view` one over the memory of the array `shared`. The program changes all of them as it likes.

What the other names do is in tests/ahead/running.py.
"""

import dataclasses
import re

from hypothesis import strategies as st

GUARDS = ["i % 2 == 0", "i % 3 == 2", "i == 2", "i > 2", "i != 4", "python.random() < 0.7"]
MODES = ["ndd.EvalMode.deferred", "ndd.EvalMode.eager", "ndd.EvalMode.sync_cpu", "ndd.EvalMode.sync_full", "context"]

Lines = st.SearchStrategy[str]
Statement = tuple[str, str]
"""When, and what."""


def line(template: str, **parts: Lines) -> Lines:
    return st.builds(template.format, **parts)


def one_of(*choices: str) -> Lines:
    return st.sampled_from(choices)


def guarded(lines: list[Lines], always: int, guards: list[str] = GUARDS) -> st.SearchStrategy[Statement]:
    return st.tuples(st.sampled_from([""] * always + guards), st.one_of(lines))


files, images, numbers, anything = one_of(*"ffg"), one_of(*"xxy"), one_of(*"pq"), one_of(*"xypqlfgw")
DRAWS = [
    one_of("python.random()", "own()", "own.state = state", "ndd.random.get_default_rng().state = state"),
    line("own.advance({n})", n=one_of("1", "7", "i")),
    line("{rng} = {n}", rng=one_of("own.seed", "ndd.random.get_default_rng().seed"), n=one_of("5", "i")),
    line("ndd.random.set_seed({n})", n=one_of("5", "i")),
]
FUNCTIONS = [  # of users, with effects
    line("{x} = {function}({y})", x=images, y=images, function=one_of("noting", "failing", "calling")),
    line("noting({v})", v=anything),
]
PURE = [  # functions of Python that may be called ahead
    line("{x} = pure({y})", x=images, y=images),
    line("{x} = pure({y}, factor={a})", x=images, y=images, a=one_of("0.5", "i", "-0.0", "small[0]", "p")),
    line("{x} = ndd.trivial_augment({y}{rng})", x=images, y=images, rng=one_of("", ", rng=own", ", keyed_by=f")),
    line("{x} = ndd.rand_augment({y}, m={m})", x=images, y=images, m=one_of("9", "i")),
]
VIEWS = [  # the same memory, or the same samples, as another value
    line("{x} = ndd.reshape({y}, layout='HWC')", x=images, y=images),
    line("{x} = ndd.squeeze(ndd.expand_dims({y}, axes=[0]), axes=[0])", x=images, y=images),
    line("{x} = {view}({y})", x=images, y=images, view=one_of("relabelled", "rebuilt", "")),
    line("{x} = ndd.decoders.image(one_of({f}))", x=images, f=files),
    line("f = rebuilt(f)"),
]
WRITES = [  # to memory that calls may have to read
    line("write({v})", v=one_of(*"xyplf", "tensor")),
    one_of("shared += 1", "small += 1", "wide[i] = i"),
]
READS = [
    line("read({v})", v=anything),
    line("later.append({v})", v=anything),
    line("{v}.evaluate()", v=anything),
    line("{x}.shape", x=images),
]
POSITIONS = [
    line("readers[0].seek({epoch}, {samples})", epoch=st.integers(0, 2), samples=st.integers(0, 9)),
    one_of("saved = states()", "readers[0].set_state(saved[0])", "restore(saved)"),
]
RESUMES = [one_of("readers[0] = again(readers[0])", "readers[0] = again(readers[0]); restore(saved)")]
LEAVES = [one_of("break", "continue", "raise Left")]


def calls(gpu: bool, steady: bool) -> list[Lines]:
    """Calls of operators. In steady programs most arguments stay the same, or follow from the item."""
    often = 5 if steady else 1
    number = one_of(
        *["0.5", "2", "p", "q", "tensor", "small", "per_sample(f, 0)"] * often,
        *["i", "i % 2", "i // 3", "python.random()", "per_sample(f, i)", "small[0]", "view", "ndd.as_tensor(shared)"],
        *["mean(y)", "float('nan')", "-0.0 * i"],
    )
    rare = one_of(*["0.5", "p"] * often, "i % 2")
    usual = ["1", "p > 0", "ndd.random.coin_flip(**like(f))"] * often
    switch = one_of(*usual, "i % 2", "i > 3", "python.random() < 0.5")
    extent = one_of(*["6", "9"] * often, "5 + i % 2", "7 + i")
    size = one_of(*["**like(f)", "**count(f)"] * often, "**like(x)", "batch_size=2", "shape=[]")
    rng = one_of("", "", ", rng=own", ", keyed_by=f", ", keyed_by=f, rng=own", ", keyed_by=(f, 'a')", ", keyed_by=x")
    how = one_of("", "", ", on_error='placeholder'")
    of_images = {"x": images, "y": images}
    found = [
        *[line("{x} = ndd.decoders.image({f}{how})", x=images, f=files, how=how)] * 2,
        line("{x} = ndd.decoders.image_random_crop({f}{rng})", x=images, f=files, rng=rng),
        line("{x} = ndd.flip({y}, horizontal={on})", **of_images, on=switch),
        line("{x} = ndd.rotate({y}, angle={a}, keep_size=True)", **of_images, a=number),
        line("{x} = ndd.brightness_contrast({y}, brightness={a}, contrast={b})", **of_images, a=number, b=rare),
        line("{x} = ndd.resize({y}, size=[{n}, 8])", **of_images, n=extent),
        line(
            "{x} = ndd.crop({y}, crop=[{n}, 4], crop_pos_x={a}, out_of_bounds_policy='pad')",
            **of_images,
            n=extent,
            a=rare,
        ),
        line("{x} = ndd.random_resized_crop({y}, size=[7, {n}]{rng})", **of_images, n=extent, rng=rng),
        line("{x} = ndd.crop_mirror_normalize({y}, mirror={on}, mean=[{a}], std=[9])", **of_images, on=switch, a=rare),
        line("{x} = ndd.noise.gaussian({y}, stddev={a}{rng})", **of_images, a=number, rng=rng),
        line("{x} = ndd.resize(ndd.cat(x, y, axis=0), size=[6, 7])", x=images),
        line("{x} = ndd.cast({y}, dtype='{t}')", **of_images, t=one_of("float32", "uint8", "int16")),
        line("{x} = {y} {sign} {a}", **of_images, sign=one_of(*"+-*"), a=number),
        line("{p} = {q} {sign} {a}", p=numbers, q=numbers, sign=one_of(*"+-*"), a=number),
        line("{p} = ndd.random.uniform({size}{rng})", p=numbers, size=size, rng=rng),
        line("{p} = ndd.random.normal({size}, mean={a}{rng})", p=numbers, size=size, a=number, rng=rng),
        line("{p} = ndd.reductions.mean({x}, axes=[0, 1, 2]) / 100", p=numbers, x=images),
        line("{p} = ndd.math.sin(l) + {a}", p=numbers, a=number),
        line("l = l {sign} {a}", sign=one_of(*"+-"), a=one_of("1", "i", "small")),
        line("w = {p} * wide", p=numbers),
        line("w = ndd.reductions.sum(wide + {a}) * {p}", a=number, p=numbers),
    ]
    if gpu:
        found += [
            line("{x} = ndd.decoders.image({f}, device='gpu')", x=images, f=files),
            line("{x} = {y}.{device}()", **of_images, device=one_of("gpu", "cpu")),
            line("{p} = ndd.random.uniform({size}{rng}, device='gpu')", p=numbers, size=size, rng=rng),
        ]
    return found


def statements(gpu: bool, steady: bool) -> st.SearchStrategy[Statement]:
    """What an iteration does. In steady programs most of it is done by all of them."""
    always, often = (60, 30) if steady else (6, 6)
    made = calls(gpu, steady)
    seldom = ["i == 5", "i % 4 == 2", "i > 6"]
    return st.one_of(
        *[guarded(made, always)] * often,
        guarded(VIEWS, always),
        guarded(VIEWS, always),
        guarded(READS, 1),
        guarded(WRITES, 2),
        guarded(FUNCTIONS, 6),
        *[guarded(PURE, always)] * 2,
        guarded(DRAWS, 1),
        guarded([line("with {mode}: {call}", mode=one_of(*MODES), call=st.one_of(made))], 1),
        guarded(POSITIONS, 0, seldom),
        guarded(LEAVES, 0, seldom),
    )


@dataclasses.dataclass
class Nested:
    """A loop over the second reader, in the loop over the first."""

    batch_size: int
    most: int
    body: list[Statement]

    def lines(self) -> list[str]:
        head = [f"for g, m in readers[1].next_epoch({self.batch_size}, ahead=ahead):", "    j += 1"]
        return ["j = 0", *head, *indented(lines_of(self.body)), f"    if j == {self.most}: break"]


@dataclasses.dataclass
class Round:
    """What comes before an epoch, and the batches of it."""

    before: list[str]
    batch_size: int | None


@dataclasses.dataclass
class Program:
    sources: list[str]  # of the readers
    loop: str
    rounds: list[Round]
    first: list[str]  # of each iteration, before any call
    body: list[Statement | Nested]
    pause: bool

    def text(self) -> str:
        """The program in Python."""
        lines = [f"readers = [{', '.join(self.sources)}]", "start()"]
        for each in self.rounds:
            lines += guarded_lines(each.before)
            size = f"batch_size={each.batch_size}, " if each.batch_size else ""
            epochs = [f"readers[{r}].next_epoch({size}ahead=ahead)" for r in range(2)]
            if self.loop == "zip":
                head = f"for (f, l), (g, m) in zip({', '.join(epochs)}):"
            else:
                head = f"for f, l in {epochs[0]}:"
            second = {"plain": ["g = f"], "pull": ["g, m = pull()"]}.get(self.loop, [])
            body = [*guarded_lines(second + self.first), *lines_of(self.body), *["pause()"] * self.pause]
            lines += ["i = -1", "try:", f"    {head}", "        i += 1", *indented(body, 2), "        note_states()"]
            lines += ["except Left: pass", "except Exception as error: note_error(error)", "end_epoch()"]
        return "\n".join(lines) + "\n"


def indented(lines: list[str], levels: int = 1) -> list[str]:
    return ["    " * levels + text for text in lines]


def lines_of(body: list[Statement | Nested]) -> list[str]:
    lines = []
    for each in body:
        if isinstance(each, Nested):
            lines += each.lines()
        else:
            guard, text = each
            made = guarded_lines([text])
            lines += [f"if {guard}:", *indented(made)] if guard else made
    return lines


def guarded_lines(lines: list[str]) -> list[str]:
    """Each on a line of its own, which names it in messages. Results of calls that fail stand for the failure."""
    made = []
    for text in lines:
        if text in ("break", "continue", "raise Left"):
            made.append(text)
        else:
            target = re.match(r"(?:with .*: )?([xypqwfl]) = ", text)
            caught = f"{target[1]} = Failed(error)" if target else "note_error(error)"
            made += ["try:", f"    {text}", f"except Exception as error: {caught}"]
    return made


options = one_of(
    *["", "", "random_shuffle=True, seed=1", "last_batch='partial'", "last_batch='pad'", "last_batch='drop'"],
    *["num_shards=2, last_batch='partial'", "random_shuffle=True, on_error='skip'", "prefetch_queue_depth=1"],
)
sources = st.one_of(
    line("files('good', {options})", options=options),
    line("files({kind!r}, {options})", kind=one_of("good", "short", "broken", "missing"), options=options),
    one_of("indexed()", "indexed(random_shuffle=True)", "generated()", "in_batches()", "called()", "fails()"),
)


@st.composite
def programs(draw: st.DrawFn, gpu: bool) -> Program:
    steady = draw(st.sampled_from([True, True, True, False]))
    size = draw(st.sampled_from([2, 3, 4, 1, None]))
    sizes = st.sampled_from([size] * 3 + [3, None])
    statement = statements(gpu, steady)
    loop = draw(st.sampled_from(["plain", "plain", "plain", "zip", "pull", "nested"]))
    body = draw(st.lists(statement, min_size=1, max_size=9))
    if loop == "nested":
        inner = Nested(draw(st.integers(1, 4)), draw(st.integers(1, 9)), draw(st.lists(statement, max_size=4)))
        body.insert(draw(st.integers(0, len(body))), inner)
    body += [("", each) for each in draw(st.lists(st.one_of(READS), max_size=3))]
    before = st.lists(st.one_of(POSITIONS + RESUMES), max_size=2)
    return Program(
        sources=[draw(sources), draw(sources)],
        loop=loop,
        rounds=[Round(draw(before), draw(sizes)) if i else Round([], size) for i in range(draw(st.integers(1, 3)))],
        first=draw(st.sampled_from([[]] * 6 + [["write(l)"], ["write(f)"], ["l.torch().sub_(1)"]])),
        body=body,
        pause=draw(st.booleans()),
    )
