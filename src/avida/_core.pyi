from collections.abc import Callable, Sequence
from typing import Annotated, Any

from numpy.typing import NDArray

compiler: str = "GCC 12.2.0"

class TensorBase:
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __init__(self) -> None: ...
    @property
    def _dtype_id(self) -> int: ...
    @property
    def ndim(self) -> int:
        """The number of axes of a sample."""

    @property
    def layout(self) -> str | None:
        """One letter per axis, or None."""

    @property
    def _gpu(self) -> int:
        """The number of the GPU that has the data, or -1 for the CPU."""

    @property
    def _stream(self) -> int: ...
    @property
    def _sources(self) -> Any: ...
    @property
    def _errors(self) -> Any: ...
    @property
    def _read_only(self) -> bool: ...
    @property
    def _pinned(self) -> bool: ...
    def _wait(self) -> None: ...
    def _pending(self) -> bool: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes."""

    def _become(self, arg: TensorBase, /) -> None: ...
    @property
    def _address(self) -> int: ...
    def _dlpack(self, stream: int) -> Any: ...
    def _raise_dropped_interrupt(self) -> None: ...

class BatchBase:
    def __init__(self) -> None: ...
    @property
    def _dtype_id(self) -> int: ...
    @property
    def ndim(self) -> int:
        """The number of axes of a sample."""

    @property
    def layout(self) -> str | None:
        """One letter per axis, or None."""

    @property
    def _gpu(self) -> int:
        """The number of the GPU that has the data, or -1 for the CPU."""

    @property
    def _stream(self) -> int: ...
    @property
    def _sources(self) -> Any: ...
    @property
    def _errors(self) -> Any: ...
    @property
    def _read_only(self) -> bool: ...
    @property
    def _pinned(self) -> bool: ...
    def _wait(self) -> None: ...
    def _pending(self) -> bool: ...
    @property
    def batch_size(self) -> int:
        """The number of samples."""

    @property
    def shape(self) -> list[tuple[int, ...]]:
        """The shape of every sample."""

    def _uniform(self) -> bool: ...
    def _contiguous(self) -> bool: ...
    def _become(self, arg: BatchBase, /) -> None: ...
    def _sample(self, arg: int, /) -> Any: ...
    def _select(self, arg: Sequence[int], /) -> Any: ...
    def _join(self, copy: bool | None, layout: str, pin: int = -1) -> Any: ...

def batch_from_tensors(arg0: list, arg1: int, arg2: str, /) -> Any: ...
def merge(batch: BatchBase, groups: list) -> Any: ...
def split(arg0: TensorBase, arg1: str, /) -> Any: ...
def tensor_from_array(
    array: Annotated[NDArray, dict(writable=False)],
    layout: str,
    copy: bool,
    read_only: bool = False,
    others_write: bool = True,
) -> Any: ...
def gpu_tensor_from_dlpack(
    array: Annotated[NDArray, dict(writable=False)], layout: str, stream: NativeStream
) -> Any: ...
def gpu_tensor_from_array(
    type: str,
    shape: Sequence[int],
    strides: object | None,
    memory: tuple[int, bool],
    stream: object | None,
    owner: object,
    layout: str,
    own_stream: NativeStream,
) -> Any: ...
def set_classes(arg0: type, arg1: type, /) -> None: ...
def tensor_from_number(arg: object, /) -> Any: ...
def copy_ready(arg: object, /) -> Any:
    """An immediate copy, or None for a value that is still pending."""

def relabel(arg0: object, arg1: str, /) -> Any:
    """The same samples under another layout."""

def read_only(arg: object, /) -> Any:
    """
    The same samples, for arrays that cannot write to them: code that has one leaves the samples as they are.
    """

def memory_use() -> tuple[int, int, int]:
    """
    Bytes in use by values, bytes kept for reuse, and the budget of kept bytes. Pinned memory counts.
    """

def set_memory_budget(bytes: int) -> None: ...
def from_arrow(data: object | None) -> Any: ...
def arrow_schema(arg: tuple, /) -> Any:
    """The type of a column (name, Batch or list of fields, ragged, binary)."""

def arrow_array(arg: tuple, /) -> tuple: ...
def arrow_stream(arg: tuple, /) -> Any: ...
def op(name: str) -> Any:
    """
    An operator as a function: inputs by position, everything else by name.
    """

def op_with_args(name: str, args: str) -> int:
    """
    The number of an operator with just these arguments; below 0 if this build does not have it.
    """

def call(
    op: int,
    inputs: tuple,
    batch_size: object | None,
    device: object | None,
    args: tuple,
    rng: object | None = None,
    keyed_by: object | None = None,
    like: object | None = None,
) -> Any: ...
def set_random_source(draw: object, seed: object) -> None:
    """
    Sets the functions that random operators call: (RNG or None) -> (seed, position), and -> seed for keyed draws.
    """

def philox(key: int, high: int, low: int, word: int) -> int: ...
def set_take_apart(scene: object, random: object, function: object) -> None:
    """
    Sets the types of Scenes and of random arguments, and what calls with such do.
    """

def repeat_draw(keyed_by: object) -> None:
    """The next random call of this key draws what the last one has drawn."""

def op_count() -> int: ...
def describe_op(arg: int, /) -> dict: ...
def set_package(arg: str, /) -> None: ...
def set_converters(arg0: object, arg1: object, arg2: object, /) -> None: ...

class NativeThreadPool:
    def __init__(self, arg: int, /) -> None: ...
    @property
    def threads(self) -> int: ...

class NativeContext:
    def __init__(self, pool: NativeThreadPool | None, device_id: int) -> None: ...
    @property
    def num_threads(self) -> int: ...
    def evaluate_all(self) -> None: ...

class Entered:
    pass

def enter_mode(arg: object, /) -> None: ...
def exit_mode(arg0: object, /, *args) -> None: ...
def enter_context(arg: object, /) -> Any: ...
def exit_context(arg0: object, /, *args) -> None: ...
def enter_device(arg: object, /) -> None: ...
def exit_device(arg0: object, /, *args) -> None: ...
def mode() -> int: ...
def entered_context() -> Any: ...
def entered_device() -> Any: ...
def current_context() -> NativeContext: ...
def default_context() -> NativeContext:
    """The context that this thread uses outside of with blocks."""

def set_num_threads(arg: int, /) -> None: ...
def num_threads() -> int: ...
def available_cpus() -> int: ...
def stop(seconds: float = 2.0) -> None: ...

class UserLoop:
    """What the loops over a reader have in common."""

    def __init__(self) -> None: ...
    @property
    def is_open(self) -> bool: ...

class Feed:
    def take(self, make: object, commit: object) -> Any:
        """
        made = make(item) for the next item, after commit(item, made), which stores attributes after all that can fail.
        """

    def run_ahead(self, loop: UserLoop, depth: int, grows: bool) -> None:
        """
        Prepares up to `depth` items ahead of the loop that takes them, or more where the loop decodes on a GPU.
        """

def ahead_counts() -> tuple[int, int, int]:
    """
    How many calls were made ahead so far, and how many of them were asked for or dropped.
    """

class BackgroundItems(Feed):
    @property
    def is_lost(self) -> bool: ...
    def pause(self) -> tuple[list[Any], BaseException | None, int]: ...
    def retire(self, changes: int, stores: list) -> bool: ...

class Background:
    def __init__(self, function: object, depth: int) -> None: ...
    @property
    def items(self) -> BackgroundItems: ...

def next_item(iterator: object) -> Any: ...
def as_method(function: object) -> Any:
    """A function of the core as a method of a Python class."""

def outline(value: object) -> Any:
    """
    A value of the same shapes, on the CPU, without elements: for operators that look at shapes alone.
    """

def python_call(
    function: object,
    name: str,
    inputs: list,
    after: list,
    outputs: int,
    samples: int,
    pure: bool = False,
    key: object | None = None,
    anywhere: bool = False,
) -> Any: ...
def gpu_count() -> int: ...
def gpu_missing() -> str:
    """Why there is no GPU, in one line."""

def gpu_driver() -> tuple[int, int]: ...
def gpu_name(arg: int, /) -> str: ...
def gpu_architecture(arg: int, /) -> str: ...
def gpu_memory_use(arg: int, /) -> tuple[int, int, int | None]: ...
def set_gpu_memory_budget(device: int, bytes: int | None) -> None: ...
def gpu_of_memory(arg: int, /) -> int:
    """The GPU that owns the memory, or -1."""

class NativeStream:
    def __init__(self, device: int) -> None: ...
    @staticmethod
    def wrap(device: int, handle: int, keeper: object | None) -> NativeStream:
        """A stream of another library; `keeper` is kept alive as long."""

    @property
    def device(self) -> int: ...
    @property
    def handle(self) -> int: ...
    def synchronize(self) -> None: ...

def set_default_stream(device: int, stream: NativeStream | None) -> None: ...
def default_stream(device: int) -> NativeStream: ...
def context_gpu(arg: NativeContext, /) -> int:
    """
    The GPU of a context: that of its stream, the one it was created for, or the one this thread has selected.
    """

def context_stream(arg0: NativeContext, arg1: int, /) -> NativeStream: ...
def set_context_stream(context: NativeContext, stream: NativeStream | None) -> None: ...
def set_context_pinned(context: NativeContext, gpu: int | None) -> None:
    """
    Results of operators on the CPU are allocated in pinned memory, for this GPU; -1: in ordinary memory; None: in pinned memory as soon as another library that uses CUDA gets results.
    """

def context_pinned(arg: NativeContext, /) -> bool: ...
def pin_from_now_on() -> None:
    """
    Results on the CPU lie in pinned memory unless a context says otherwise, since they are copied to a GPU.
    """

def pins_for_copies() -> bool:
    """
    Whether results on the CPU lie in pinned memory unless a context says otherwise.
    """

def kernels() -> list[tuple[str, list[str], bool]]:
    """
    The bodies that a GPU can run: C++ types, the headers that declare them, whether a thread block processes an item.
    """

def kernel_cache() -> tuple[str, str]:
    """The folder of compiled kernels, and the reason if it is not used."""

def compile_kernel(number: int, architecture: str) -> tuple[str, bytes]:
    """
    The name and the machine code of one of `kernels`, from the cache if possible.
    """

def start_compiling(architecture: str) -> None:
    """
    Starts threads that read or compile the usual kernels, as the first use of a GPU does.
    """

def set_compiler_library(path: str) -> None: ...
def kernel_compiler() -> str:
    """NVRTC's version, or why it cannot be used."""

def pinned_copy(tensor: TensorBase, gpu: int) -> Any:
    """A copy in pinned memory of a tensor on the CPU."""

def copy_gpu_tensor(arg: TensorBase, /) -> Any:
    """A copy that is complete on return: its source may be changed."""

def to_device(arg0: object, arg1: int, /) -> Any:
    """Copies a value to a GPU; -1: to the CPU."""

class ProfileRecording:
    def __init__(self) -> None: ...
    @property
    def begin(self) -> int: ...
    @property
    def end(self) -> int:
        """In nanoseconds; the present moment while it runs."""

    @property
    def thread(self) -> int:
        """The system's number of the thread that started it."""

    def events(self) -> tuple:
        """
        The events as records, their texts, the system's numbers of the threads, and whether all had room.
        """

def enter_profile(arg: object, /) -> Any: ...
def exit_profile(arg0: object, /, *args) -> None: ...
def note_ahead(file: str, line: int, name: str, outcome: int, reason: str) -> None: ...
def decoded_images() -> tuple: ...
def clear_decoded_images() -> None: ...
def sound_formats() -> list[tuple[str, str]]:
    """The sound formats that this build reads, each with its library."""

def image_formats() -> list[tuple[str, list[str], str, str, list[str]]]:
    """
    The image formats that this build reads: name, endings of files, library, its licence, and what the codec can do.
    """

def image_info(arg: object, /) -> tuple[str, int, int, int, int, int, int, int, str]:
    """
    Format, height, width, channels, bits, frames, pages, orientation and colour profile of an image file.
    """

def image_endings() -> list[str]:
    """The endings of the files of all image formats, in order."""

def decode_limits() -> tuple[int, int, int, int]:
    """
    The maximum numbers of pixels, scans, steps of work and bytes of memory of a file.
    """

def set_decode_limits(pixels: int, scans: int, work: int, memory: int) -> None: ...

class testing:
    @staticmethod
    def vector_targets() -> list[str]:
        """
        The instruction sets of this machine that vector code was compiled for, the best one first.
        """

    @staticmethod
    def use_vectors(target: str) -> None:
        """Nothing better than this one of vector_targets() is used from now on."""

    @staticmethod
    def jpeg_decodes() -> int:
        """The number of JPEG images that libjpeg-turbo did not decode."""

    @staticmethod
    def jpeg_headers_read() -> int:
        """The number of headers of JPEG files that were parsed."""

    @staticmethod
    def shared_jpeg_decodes() -> int:
        """
        The number of JPEG images that several threads began to decode together.
        """

    @staticmethod
    def gpu_jpeg_decodes() -> int:
        """
        The number of JPEG images that GPUs decoded themselves, from the data of the file on.
        """

    @staticmethod
    def jpeg_decoders() -> list[str]: ...
    @staticmethod
    def use_jpeg_decoder(name: str) -> None:
        """One of jpeg_decoders() decodes from now on."""

    @staticmethod
    def split_jpeg_scans(bytes: int) -> None:
        """
        Threads share the data of every JPEG file in segments of so many bytes. 0: as usual.
        """

    @staticmethod
    def nvdec_history() -> tuple[int, str]: ...
    @staticmethod
    def gpu_launches() -> int:
        """The number of kernels launched on GPUs so far."""

    @staticmethod
    def gpu_block_launches() -> int:
        """
        The number of kernels launched on GPUs so far whose thread blocks share memory.
        """

    @staticmethod
    def chained_calls() -> int:
        """How many calls were run as part of a chain so far."""

class Descriptor:
    def __init__(self, path: object, flags: int) -> None: ...
    def fileno(self) -> int: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args) -> None: ...

def register_store(scheme: str, mapping: object, at_once: int) -> None: ...
def register_adapter(scheme: str, adapter: object, at_once: int) -> None: ...
def unregister_store(scheme: str) -> None: ...
def list_names(folder: object, deep: bool) -> list[tuple[str, bool]]: ...
def put_in_memory(name: object, content: object) -> None: ...
def remove_from_memory(name: object) -> bool: ...
def find_in_memory(name: object) -> bytes | None: ...
def names_in_memory() -> list[str]: ...

class StorageCache:
    @staticmethod
    def on_disk(folder: object, limit: int, check: bool) -> StorageCache: ...
    @staticmethod
    def in_memory(limit: int, check: bool) -> StorageCache: ...
    @property
    def bytes(self) -> int: ...
    def take_trouble(self) -> str: ...

LEAST_CACHE_LIMIT: int = 1000000

MOST_CACHE_LIMIT: int = 17592186044416

def configure_store(prefix: str, settings: dict) -> None: ...
def has_certificates() -> bool: ...
def object_size(name: object) -> int: ...
def object_exists(name: object) -> bool: ...
def read_object(name: object) -> bytes: ...

class StoredFile:
    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...

def open_files(names: list, cache: StorageCache | None = None) -> list[StoredFile]:
    """Files of any stores, which are asked for together."""

def read_parts(parts: list) -> list:
    """(file, offset, bytes) as bytes. All are asked for together."""

MAX_BATCH_SIZE: int = 16777216

LAST_BATCHES: tuple = ("wrap", "pad", "partial", "drop")

class ReaderSource:
    @property
    def size(self) -> int: ...
    @property
    def blocks(self) -> list[int]: ...
    @property
    def outputs(self) -> int | None: ...
    @property
    def columns(self) -> list[tuple[str, str]]: ...
    @property
    def classes(self) -> dict[int, str] | None: ...

class ReaderStretch:
    """The batch size of a reader from a position on."""

    @property
    def epoch(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def batch_size(self) -> int: ...

class ReaderPhase:
    """A part of a run with one number of shards."""

    @property
    def shards(self) -> int: ...
    @property
    def base(self) -> int: ...
    @property
    def taken(self) -> int: ...
    @property
    def epoch(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def stretches(self) -> list[ReaderStretch]: ...

class ReaderState(ReaderPhase):
    """
    The position of a reader in its data.

    ``str(state)`` is its text; its members are an implementation detail.
    """

    def __init__(self, **members: Any) -> None: ...
    @property
    def history(self) -> list[ReaderPhase]: ...
    @property
    def samples(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def order(self) -> str: ...
    @property
    def own_order(self) -> int: ...
    def moved_to(self, epoch: int, done: int, batch_size: int, wraps: bool) -> ReaderState:
        """The state at a later position, up to which batches have this size."""

    def divided_by(self, shards: int) -> ReaderState:
        """The same position of a run that goes on with this number of shards."""

    def of_data(self, samples: int, seed: int, order: str) -> ReaderState:
        """The same position in data with these properties."""

    def to_dict(self) -> dict[str, Any]:
        """As a dictionary of numbers, lists of numbers and a text."""

    @staticmethod
    def from_dict(values: dict[str, Any]) -> ReaderState:
        """The reverse of :meth:`to_dict`."""

    @staticmethod
    def parse(text: str) -> ReaderState:
        """The reverse of ``str(state)``."""

    @staticmethod
    def of(state: ReaderState | str | bytes | dict[str, Any]) -> ReaderState:
        """From a state, its text, the bytes of its text or its dictionary."""

    def __str__(self) -> str: ...
    def __repr__(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getstate__(self) -> dict[str, Any]: ...
    def __setstate__(self, values: dict[str, Any]) -> None: ...

def has_reader(name: str) -> bool: ...
def describe_readers() -> list: ...
def describe_common_reader_args() -> list: ...

class ReaderArguments:
    def __init__(self, reader: str, given: dict, gpu: int | None, skip_errors: bool) -> None: ...
    def set(self, name: str, value: object | None) -> None: ...
    def open(self, warn: Callable) -> ReaderSource: ...

class PythonSource(ReaderSource):
    def __init__(self, samples: object, threads: int = 1, many: bool = False) -> None: ...

def identify(outputs: list, name: str, first: int, epoch: int, own: str | None = None) -> Any: ...
def known_as(batches: list, names: Sequence[str], indices: Sequence[int], epochs: Sequence[int]) -> Any: ...
def index_tfrecord(path: str, progress: Callable) -> str: ...
def index_recordio(path: str, progress: Callable) -> str: ...

class FolderListing:
    def content(self, path: object, root: object) -> bytes: ...

def kept_listing(path: object, root: object) -> FolderListing | None: ...
def folder_listing(root: object) -> FolderListing: ...
def local_path(name: object) -> str | None: ...
def mix_sources(
    parts: list[tuple[str, ReaderSource, ReaderSchedule]], weights: list[float] | None, stop: str | int, seed: int
) -> ReaderSource:
    """
    Several sources as one. `stop` is "first", "all" or a number of samples.
    """

class TableSource(ReaderSource):
    def __init__(
        self,
        tables: object,
        name: str,
        parts: list,
        kept: bytes | None,
        limit: int,
        forget: bool,
        in_order: bool,
        threads: int,
    ) -> None:
        """
        The rows of parts of tables, which are (name of the file, first row there, rows, bytes), or those of them whose numbers, of 64 bits, are kept. tables.load(part) gives a table, of tables.schema.
        """

    @property
    def loads(self) -> int: ...
    @property
    def paths(self) -> list[list[str]]: ...

class FrameFilter:
    pass

def operator_filter(operator: str, arguments: dict) -> FrameFilter | None: ...

VIDEO_FILES: list = ...

def video_codecs() -> list[tuple[str, str]]:
    """
    The common codecs of videos that this build decodes on the CPU, each with its library.
    """

class VideoIndexes:
    def __init__(self, path: str, content: bytes) -> None: ...
    def read(self, videos: list) -> list[tuple[str, str]]: ...
    def content(self) -> bytes: ...
    @property
    def changed(self) -> bool: ...
    @property
    def videos(self) -> int: ...
    @property
    def frames(self) -> int: ...

def webdataset_index(path: str, progress: object | None) -> str: ...
def media_info(source: object) -> dict:
    """What the headers of a file say of its streams."""

class OpenVideo:
    def __init__(self, source: object, stream: int = -1, threads: int = 1) -> None: ...
    def info(self) -> dict: ...
    @property
    def stream(self) -> int: ...
    def index(self) -> tuple: ...
    @property
    def begin(self) -> float: ...
    def choose(
        self,
        start: float | None,
        end: float | None,
        fps: float | None,
        num_frames: int | None,
        stride: int | None,
        times: Sequence[float] | None,
    ) -> tuple: ...
    def extents(self, upright: bool) -> tuple: ...
    def decode(
        self, frames: Sequence[int], out: object, element_bytes: int, like_swscale: bool, tone_map: bool, upright: bool
    ) -> None: ...

class OpenSound:
    def __init__(self, source: object, stream: int = -1) -> None: ...
    def info(self) -> dict: ...
    @property
    def stream(self) -> int: ...
    @property
    def rate(self) -> int: ...
    @property
    def channels(self) -> int: ...
    @property
    def begin(self) -> float: ...
    def read(self, begin: int, end: int) -> bytes: ...

def read_samples(source: ReaderSource, indices: Sequence[int], epoch: int, batches: bool) -> tuple: ...

class ReaderCursor:
    def __init__(self) -> None: ...
    @property
    def epoch(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def pass_(self) -> int: ...
    @property
    def position(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

class ReaderBlocks:
    def __init__(self, firsts: Sequence[int], samples: int, window: int) -> None:
        """The order of samples in blocks with these first samples."""

class ReaderSchedule:
    def __init__(
        self,
        from_: ReaderState,
        samples: int,
        *,
        shard: int = 0,
        stick: bool = False,
        last: str = "wrap",
        shuffle: str = "no shuffling",
        blocks: ReaderBlocks | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        """
        The order of samples from a state on. An order of the user's own replaces that of its epoch.
        """

    @property
    def padded_samples(self) -> int: ...
    def cursor(self, phase: ReaderPhase) -> ReaderCursor:
        """Where this shard stands at the end of a phase."""

    def steps(self, at: ReaderCursor, batch_size: int) -> int: ...
    def batch(self, at: ReaderCursor, batch_size: int) -> list[tuple[int, int]]:
        """Number and pass of the samples of the batch at a cursor."""

    def after(self, at: ReaderCursor, batch_size: int) -> ReaderCursor: ...
    def next_epoch(self, at: ReaderCursor, batch_size: int) -> ReaderCursor: ...

class Reading:
    """An epoch of a reader, or one of several workers' part of it."""

    def __init__(
        self, schedule: ReaderSchedule, from_: ReaderState, batch_size: int, first: int, turns: int, own_order: int = 0
    ) -> None: ...
    @property
    def batches(self) -> int: ...
    @property
    def items(self) -> int: ...

class ReaderPosition:
    """Where a reader stands."""

    def __init__(self, state: ReaderState) -> None: ...
    @property
    def next(self) -> ReaderState:
        """The state at which the next epoch begins."""

    @property
    def state(self) -> ReaderState:
        """The state behind the last item that the newest epoch has given out."""

    @property
    def own_order(self) -> int:
        """
        A checksum of the user's own order of the epoch that is being read; 0 without one.
        """

    def move_to(self, state: ReaderState) -> None: ...

class ReaderItems(Feed):
    def __init__(self, position: ReaderPosition, errors: list, batch_size: int | None) -> None: ...
    @property
    def batch_size(self) -> int | None: ...
    @property
    def is_begun(self) -> bool: ...
    @property
    def has_ended(self) -> bool: ...
    @property
    def has_given(self) -> bool: ...
    @property
    def given(self) -> int: ...
    def __len__(self) -> int: ...
    def begin(
        self,
        reading: Reading,
        source: ReaderSource,
        depth: int,
        one_epoch: bool,
        skip_errors: bool,
        loop: UserLoop,
        ahead: int,
        grows: bool,
    ) -> None:
        """
        Gives it the next epoch, unless another one has got that since `reading` was made.
        """

    def goes_on(self, batch_size: int | None) -> bool:
        """
        Whether it has more items of this size. If they are of another size, the next epoch is the rest.
        """
