"""Compiled kernels in a folder: only files that nobody else can have written, and that are whole, are used."""

import os
import pathlib
import subprocess
import sys

import pytest

import avida
from avida import _core
from avida._values.device import _library_folders, _library_for

KERNEL = next(i for i, (body, *_) in enumerate(_core.kernels()) if "Erase" in body)
OTHER_USER = 12345


@pytest.fixture(autouse=True, scope="module")
def compiler():
    found = _library_for(99, "libnvrtc.so", _library_folders())
    assert found is not None
    _core.set_compiler_library(str(found))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("AVIDA_CACHE_DIR", str(tmp_path))
    return tmp_path / "kernels"


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """Name and file of a kernel that was compiled into an empty cache."""
    folder = tmp_path_factory.mktemp("cache")
    os.environ["AVIDA_CACHE_DIR"] = str(folder)
    try:
        name, _ = _core.compile_kernel(KERNEL, "sm_90")
    finally:
        del os.environ["AVIDA_CACHE_DIR"]
    (file,) = (folder / "kernels").iterdir()
    assert (folder / "kernels").stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    return name, file


def fnv(*texts):
    value = 0x6C62272E07BB0142_62B821756295C58D
    for text in texts:
        for byte in (*text, 0xFF):
            value = (value ^ byte) * (2**88 + 0x13B) % 2**128
    return b"%032x" % value


def write(folder, kernel, code, hashed=None):
    """A file of the cache with other code, as if it had been compiled so."""
    name, file = kernel
    folder.mkdir(mode=0o700)
    path = folder / file.name
    key = file.stem.encode() if hashed is None else hashed
    path.write_bytes(fnv(key, name.encode(), code) + b"\n" + name.encode() + b"\n" + code)
    path.chmod(0o600)
    return path


def is_compiled(kernel):
    """Whether the kernel is machine code now, and not what a file of these tests says."""
    name, code = _core.compile_kernel(KERNEL, "sm_90")
    return name == kernel[0] and code.startswith(b"\x7fELF")


def test_what_is_in_the_cache_is_used(kernel, folder):
    write(folder, kernel, b"other code")
    assert _core.compile_kernel(KERNEL, "sm_90") == (kernel[0], b"other code")


def test_kernels_of_other_architectures_are_not_used(kernel, folder):
    write(folder, kernel, b"other code")
    assert _core.compile_kernel(KERNEL, "sm_80")[1].startswith(b"\x7fELF")


def test_damaged_and_swapped_files_are_compiled_again(kernel, folder):
    path = write(folder, kernel, b"other code")
    for content in (
        path.read_bytes()[:-1],
        path.read_bytes().replace(b"other", b"Other"),
        path.read_bytes().partition(b"\n")[2],  # without a hash
        b"",
        b"\n",
    ):
        path.write_bytes(content)
        assert is_compiled(kernel)
        assert b"ELF" in path.read_bytes()
    path.unlink()
    folder.rmdir()
    write(folder, kernel, b"other code", hashed=b"the key of another kernel")
    assert is_compiled(kernel)


def make_writable(path):
    path.chmod(0o666)


def make_link(path):
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


def give_away(path):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, OTHER_USER, -1)


@pytest.mark.parametrize("change", [make_writable, make_link, give_away])
def test_files_of_others_are_not_used(kernel, folder, change):
    change(write(folder, kernel, b"other code"))
    assert is_compiled(kernel)


@pytest.mark.parametrize("change", [lambda path: path.chmod(0o770), lambda path: path.chmod(0o1777), give_away])
def test_folders_of_others_are_not_used(kernel, folder, change):
    path = write(folder, kernel, b"other code")
    before = path.read_bytes()
    change(folder)
    assert is_compiled(kernel)
    assert path.read_bytes() == before
    assert _core.kernel_cache()[1]


def test_what_a_killed_process_left_is_removed(kernel, folder):
    folder.mkdir(mode=0o700)
    left = folder / (kernel[1].name + ".tmp")
    left.touch()
    _core.compile_kernel(KERNEL, "sm_90")  # perhaps another process is writing it
    assert [path.name for path in folder.iterdir()] == [left.name]
    os.utime(left, (0, 0))
    _core.compile_kernel(KERNEL, "sm_90")
    assert [path.name for path in folder.iterdir()] == [kernel[1].name]


def run(code, cwd, paths=(), **environment):
    """Runs code in a process that imports the same avida, and has `paths` before it in PYTHONPATH."""
    site = pathlib.Path(avida.__file__).parents[1]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(site)]), "HOME": str(cwd)}
    command = [sys.executable, "-c", "import avida\n" + code]
    settings |= {"AVIDA_FAKE_GPU": "1", **environment}
    return subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, timeout=600)


def test_nvrtc_is_not_loaded_for_what_is_in_the_cache(kernel, folder, tmp_path):
    write(folder, kernel, b"other code")
    code = f"""
assert avida._core.compile_kernel({KERNEL}, 'sm_90')[1] == b'other code'
assert 'nvrtc' not in open('/proc/self/maps').read()
"""
    done = run(code, tmp_path, AVIDA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0, done.stderr


def test_usual_kernels_are_compiled_quickly_and_then_well(folder, tmp_path):
    reader = next(i for i, (body, *_) in enumerate(_core.kernels()) if body == "JpegReader")
    code = f"""
avida.Device('gpu')  # finds NVRTC
avida._core.start_compiling('sm_90')
print(avida._core.compile_kernel({reader}, 'sm_90')[1].hex())
import pathlib, time
while not any(b'JpegReader' in file.read_bytes() for file in pathlib.Path({str(folder)!r}).glob('*[!p]')):
    time.sleep(0.1)  # until it is compiled well; .tmp files may be gone any time
"""
    quick = run(code, tmp_path, AVIDA_CACHE_DIR=str(tmp_path))
    assert quick.returncode == 0, quick.stderr
    cached = run(
        f"print(avida._core.compile_kernel({reader}, 'sm_90')[1].hex())", tmp_path, AVIDA_CACHE_DIR=str(tmp_path)
    )
    codes = [bytes.fromhex(done.stdout) for done in (quick, cached)]
    assert all(code.startswith(b"\x7fELF") for code in codes)
    assert codes[0] != codes[1]


def test_a_folder_that_is_not_used_is_named_once(folder, tmp_path):
    folder.mkdir()
    folder.chmod(0o777)
    done = run("avida.Device('gpu'), avida.Device('gpu')", tmp_path, AVIDA_CACHE_DIR=str(tmp_path))
    assert done.returncode == 0
    assert done.stderr.count(f"compiled kernels are not kept in {folder}: others may write to it") == 1


def test_nvrtc_does_not_come_from_the_working_folder(tmp_path):
    library = tmp_path / "nvidia" / "cuda_nvrtc" / "lib" / "libnvrtc.so.12"
    library.parent.mkdir(parents=True)
    library.touch()
    code = "avida.Device('gpu'); print(avida._core.kernel_compiler())"
    for paths in ((), ["."], [str(tmp_path)]):
        assert run(code, tmp_path, paths).stdout[:3] == "13."
    assert run(code, tmp_path, CUDA_HOME=".").stdout[:3] == "13."


def test_nvrtc_may_come_from_cuda_home(tmp_path, monkeypatch):
    (tmp_path / "lib64").mkdir()
    for name in ("libnvrtc.so", "libnvrtc.so.12", "libnvrtc.so.12.4.127", "libnvrtc-builtins.so.12.4"):
        (tmp_path / "lib64" / name).touch()
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert tmp_path / "lib64" in _library_folders()
    assert _library_for(12, "libnvrtc.so", [tmp_path / "lib64"]) == tmp_path / "lib64" / "libnvrtc.so.12"
