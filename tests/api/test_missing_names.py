"""Names that are not there: the error says what was meant, and is the error that Python would raise."""

import copy
import inspect
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

import avida as ndd

IMAGE = np.zeros((4, 4, 3), np.uint8)


@pytest.mark.parametrize(
    ("module", "name", "suggested"),
    [
        (ndd, "reszie", "'resize'"),
        (ndd, "external_source", "'ExternalSource'"),
        (ndd, "uniform", "avida.random.uniform"),
        (ndd.readers, "file", "'File'"),
        (ndd.readers, "TfRecord", "'TFRecord'"),
        (ndd.decoders, "Image", "'image'"),
        (ndd.decoders, "resize", "avida.resize"),
        (ndd.io.file, "raed", "'read'"),
        (ndd.types, "INTERP_LINER", "'INTERP_LINEAR'"),
        (ndd.types, "Float", "'FLOAT'"),
    ],
)
def test_modules_suggest_names(module, name, suggested):
    with pytest.raises(AttributeError) as error:
        getattr(module, name)
    assert str(error.value) == f"module {module.__name__!r} has no attribute {name!r}; did you mean {suggested}?"


@pytest.mark.parametrize("name", ["fn", "ops", "Pipeline", "pipeline_def", "plugin"])
def test_pipeline_mode(name):
    with pytest.raises(AttributeError, match=r"belongs to pipeline mode.*docs/migration\.md"):
        getattr(ndd, name)


def test_other_names_are_plain_errors():
    """What a module imports for itself is not suggested."""
    with pytest.raises(AttributeError, match=r"'annotation'$"):
        getattr(ndd.capture, "annotation")  # noqa: B009
    for name in ("qwertz", "_private", "__wrapped__"):
        with pytest.raises(AttributeError) as error:
            getattr(ndd, name)
        assert str(error.value) == f"module 'avida' has no attribute {name!r}"
    assert not hasattr(ndd, "reszie")
    assert getattr(ndd, "fn", 3) == 3
    with pytest.raises(ImportError, match="reszie"):
        exec("from avida import reszie")


def submodules(module: types.ModuleType):
    for name, value in vars(module).items():
        if isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{name}" and name[0] != "_":
            yield value
            yield from submodules(value)


def test_all_public_modules_suggest():
    own = {
        "avida.pytorch",
        "avida.pytorch.nodes",
        "avida.progress",
        "avida.as_dali",
    }  # a __getattr__ of its own; nothing to call
    for module in {ndd, *submodules(ndd)}:
        if module.__name__.startswith(("avida.torchcodec", "avida.torchvision")):
            continue  # the names of other libraries
        assert module.__name__ in own or hasattr(module, "__getattr__"), module


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndd.resize(IMAGE, sise=3), r"resize\(\) has no argument 'sise'; did you mean 'size'\?"),
        (lambda: ndd.rotate(IMAGE, angel=3), r"rotate\(\) has no argument 'angel'; did you mean 'angle'\?"),
        (lambda: ndd.rotate(IMAGE), r"rotate\(\) missing 1 required keyword-only argument: 'angle'"),
        (
            lambda: ndd.roi_random_crop(),
            r"roi_random_crop\(\) missing 2 required keyword-only arguments: 'crop_shape' and 'roi_start'",
        ),
        (lambda: ndd.cat(IMAGE, IMAGE, axsi=0), r"cat\(\) has no argument 'axsi'; did you mean 'axis'\?"),
        (lambda: ndd.random.uniform(Range=[0, 1]), r"uniform\(\) has no argument 'Range'; did you mean 'range'\?"),
        (lambda: ndd.random.uniform(seed=3), r"has no argument 'seed'; pass rng=avida\.random\.RNG\(seed=\.\.\.\)"),
        (
            lambda: ndd.brightness(IMAGE, brightnes=1),
            r"brightness\(\) has no argument 'brightnes'; did you mean 'brightness'",
        ),
        (lambda: ndd.flip(IMAGE, qwertz=1), r"flip\(\) has no argument 'qwertz'; help\(\)"),
        (lambda: ndd.readers.File(batch_size=4), r"no argument 'batch_size'.*reader\.next_epoch\(batch_size="),
        (lambda: ndd.ExternalSource([1], batch_size=4), r"no argument 'batch_size'.*reader\.next_epoch\(batch_size="),
        (lambda: ndd.ExternalSource([1], shuffle=True), r"no argument 'shuffle'; did you mean 'random_shuffle'\?"),
        (lambda: ndd.readers.File(num_threads=4), r"no argument 'num_threads'; avida\.set_num_threads"),
        (lambda: ndd.readers.File(file_rot="x"), r"File\(\) has no argument 'file_rot'; did you mean 'file_root'\?"),
    ],
)
def test_arguments(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_functions_are_as_they_were():
    """Signature, pickling and copying know nothing of the suggestions."""
    signature = inspect.signature(ndd.resize)
    assert not any(p.kind == p.VAR_KEYWORD for p in signature.parameters.values())
    assert signature.parameters["size"].default is None
    assert inspect.isfunction(ndd.resize)
    assert pickle.loads(pickle.dumps(ndd.resize)) is ndd.resize is copy.deepcopy(ndd.resize)
    assert inspect.getsource(ndd.flip).count("def ") == 1


def test_import_pays_nothing():
    code = "import sys, numpy; before = set(sys.modules); import avida; print('difflib' in set(sys.modules) - before)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
