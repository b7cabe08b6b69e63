"""Puts the licences of the libraries inside a wheel into it, and refuses libraries whose licence nobody has looked at,
and files that name the folder in which they were built.

    python tools/license_wheel.py WHEEL LIBRARIES

LIBRARIES is the folder of tools/build_libraries.sh; the other libraries are Debian's.
"""

import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# SPDX identifiers. Nothing under the GPL may be added; libraries under the LGPL stay files that users can replace.
BUILT_HERE = {
    "libavcodec": "LGPL-2.1-or-later",
    "libavformat": "LGPL-2.1-or-later",
    "libavutil": "LGPL-2.1-or-later",
    "libswresample": "LGPL-2.1-or-later",
    "libcurl": "curl",
    "libjbig": "Apache-2.0",
    "libmp3lame": "Apache-2.0",
}
FROM_DEBIAN = {
    "libFLAC": "BSD-3-Clause",
    "libLerc": "Apache-2.0",
    "libcrypto": "Apache-2.0",
    "libdav1d": "BSD-2-Clause",
    "libdeflate": "MIT",
    "libhwy": "Apache-2.0",
    "liblz4": "BSD-2-Clause",
    "liblzma": "LicenseRef-Public-Domain",
    "libmpg123": "LGPL-2.1-only",
    "libogg": "BSD-3-Clause",
    "libopus": "BSD-3-Clause",
    "libsimdjson": "Apache-2.0",
    "libsndfile": "LGPL-2.1-or-later",
    "libssl": "Apache-2.0",
    "libvorbis": "BSD-3-Clause",
    "libvorbisenc": "BSD-3-Clause",
    "libwebpdemux": "BSD-3-Clause",
    "libzstd": "BSD-3-Clause",
}
# Those of image formats are in the declarations of these.
CODECS = pathlib.Path(__file__).parent.parent / "native" / "codecs"
DECLARED = re.compile(r'\.shared = "(\S+)",\s*\.license = "(.+)"')
OF_FORMATS = dict(found for file in CODECS.rglob("*.cpp") for found in DECLARED.findall(file.read_text()))
FROM_DEBIAN |= OF_FORMATS
# As auditwheel names them: with the beginning of the checksum of the file that it copied.
BUNDLED = re.compile(r"(?P<stem>.+)-(?P<checksum>[0-9a-f]{8})(?P<suffix>\.so.*)")


def run(*command: str | pathlib.Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def license_of(file: str, libraries: pathlib.Path, folder: pathlib.Path) -> str:
    """Copies the text of a bundled library's licence into the folder, and returns the licence's identifier."""
    name = BUNDLED.fullmatch(file)
    assert name is not None
    stem, original = name["stem"], name["stem"] + name["suffix"]
    if stem in BUILT_HERE:
        built = libraries / "lib" / original
        if not built.exists() or not hashlib.sha256(built.read_bytes()).hexdigest().startswith(name["checksum"]):
            sys.exit(f"expected {original} of {libraries} in the wheel, found another one")
        return BUILT_HERE[stem]
    if stem not in FROM_DEBIAN:
        sys.exit(
            f"{original} would be in the wheel: look at its licence, and add it to {__file__}, or to the declaration "
            "of the image format that needs it, unless it is the GPL"
        )
    package = run("dpkg-query", "--search", f"*/{original}").partition(":")[0]
    (folder / package).mkdir(exist_ok=True)
    shutil.copy(f"/usr/share/doc/{package}/copyright", folder / package)
    return FROM_DEBIAN[stem]


def add_licenses(wheel: pathlib.Path, libraries: pathlib.Path) -> None:
    """Changes the unpacked wheel."""
    (info,) = wheel.glob("*.dist-info")
    folder = info / "licenses"
    found = " AND ".join(license_of(file.name, libraries, folder) for file in wheel.glob("*.libs/*.so*"))
    shutil.copytree(libraries / "licenses", folder, dirs_exist_ok=True)
    files = sorted(file.relative_to(folder) for file in folder.glob("*/*"))
    terms = " AND ".join(sorted(set(found.split(" AND ")) - {"Apache-2.0"}))
    text = (info / "METADATA").read_text()
    text = text.replace("License-Expression: Apache-2.0\n", f"License-Expression: Apache-2.0 AND {terms}\n")
    text = text.replace("License-File: LICENSE\n", "".join(f"License-File: {file}\n" for file in ("LICENSE", *files)))
    (info / "METADATA").write_text(text)


def refuse_paths(wheel: pathlib.Path, place: pathlib.Path) -> None:
    """A wheel is the same wherever it is built, and tells nobody where that was."""
    for file in sorted(wheel.rglob("*")):
        if file.is_file() and (at := file.read_bytes().find(bytes(place))) >= 0:
            sys.exit(
                f"{file.relative_to(wheel)} would be in the wheel with {place}, the path of this folder, at byte {at}"
            )


def main(wheel: pathlib.Path, libraries: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        run(sys.executable, "-m", "wheel", "unpack", "--dest", temporary, wheel)
        (unpacked,) = pathlib.Path(temporary).iterdir()
        add_licenses(unpacked, libraries)
        refuse_paths(unpacked, ROOT)
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", wheel.parent, unpacked)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
