"""Tar archives for the tests, by Python's tarfile and by hand."""

import io
import tarfile

BLOCK = 512


def write_tar(path, members, format=tarfile.GNU_FORMAT):
    """Members are (name, bytes), or (name, type, target) for what is no regular file."""
    with tarfile.open(path, "w", format=format) as archive:
        for name, *what in members:
            info = tarfile.TarInfo(name)
            if len(what) == 1:
                info.size = len(what[0])
                archive.addfile(info, io.BytesIO(what[0]))
            else:
                info.type, info.linkname = what
                archive.addfile(info)
    return str(path)


def member(name, data=b"", type=b"0", size=None, **fields):
    """The blocks of one member. `fields` are written at their offsets: at_257=b"..."."""
    header = bytearray(BLOCK)
    header[: len(name)] = name
    header[124:136] = (
        size.ljust(12, b"\0") if isinstance(size, bytes) else b"%011o\0" % (len(data) if size is None else size)
    )
    header[156:157] = type
    header[257:265] = b"ustar\x0000"
    for place, value in fields.items():
        begin = int(place.removeprefix("at_"))
        header[begin : begin + len(value)] = value
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + data + b"\0" * (-len(data) % BLOCK)


def record(key, value):
    """A pax record: its own length, key and value."""
    rest = b" %b=%b\n" % (key, value)
    length = len(rest) + 1
    while len(b"%d" % length) + len(rest) != length:
        length += 1
    return b"%d" % length + rest
