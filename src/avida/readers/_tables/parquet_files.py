"""Parquet files in any store: footers read together, row groups by ranges."""

from __future__ import annotations

import bisect
import concurrent.futures
import io
import itertools
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from avida import _core
from avida.readers._names.paths import Path
from avida.readers._tables.names import find_files, typed
from avida.readers._tables.parts import Part, chosen, pyarrow_for
from avida.storage._cache import Cache

_TAIL = 64 << 10  # bytes at the end of a file in which most footers lie
_NEAR = 64 << 10  # bytes between two ranges that take less time to read than another request
_MAGIC = b"PAR1"
_FILTERED_AT_ONCE = 8  # row groups, of which the columns of filters are waited for
_NUMBER = "the number of the row"  # a column


class ParquetFiles:
    """Their row groups as parts."""

    def __init__(
        self,
        reader: str,
        paths: Path | Sequence[Path],
        columns: Sequence[str] | None,
        filters: Any = None,
        cache: Cache | None = None,
    ) -> None:
        self._pyarrow = pyarrow_for(reader)
        named = find_files("paths", paths)
        self._files = _core.open_files([name for name, _ in named], cache and cache._native)
        self.is_local = all("://" not in file.name or file.name.startswith("file://") for file in self._files)
        self._metadata = [
            _parsed(self._pyarrow, file.name, footer)
            for file, footer in zip(self._files, _footers(self._files), strict=True)
        ]
        self._partitions = typed(named)
        self._full_schema = self._metadata[0].schema.to_arrow_schema()
        self._stored, self._names, self.schema = self._choose(columns)
        self._filtered = [] if filters is None else self._columns_in(filters)
        self._check_schemas()
        self.parts: list[Part] = []
        self._places: list[tuple[int, int]] = []  # the file of each part, and its row group
        self._find_parts()
        self.rows = None if filters is None else self._matching(filters)

    def _check_schemas(self) -> None:
        """All files must have the columns that are read, as the first one has them."""
        first, names = self._full_schema, {*self._stored, *self._filtered} & set(self._full_schema.names)
        for file, metadata in zip(self._files[1:], self._metadata[1:], strict=True):
            schema = metadata.schema.to_arrow_schema()
            for field in (field for field in first if field.name in names):
                at = schema.get_field_index(field.name)
                if at < 0 or schema.field(at).type != field.type:
                    found = "none" if at < 0 else schema.field(at).type
                    raise ValueError(
                        f"{file.name}: expected the column {field.name!r} of type {field.type}, as in "
                        f"{self._files[0].name}, found {found}; name the columns that all files have in columns, or "
                        "read the files with readers of their own"
                    )

    def _choose(self, columns: Sequence[str] | None) -> tuple[list[str], list[str], Any]:
        """The columns that are read of files, all of them, and their schema."""
        full, pyarrow = self._full_schema, self._pyarrow
        keys = [key for key in self._partitions[0] if key not in full.names]
        names = chosen(full, columns, keys)
        types = {
            key: pyarrow.int64() if isinstance(self._partitions[0][key], int) else pyarrow.string() for key in keys
        }
        fields = [pyarrow.field(name, types[name]) if name in types else full.field(name) for name in names]
        return [name for name in names if name not in types], names, pyarrow.schema(fields, full.metadata)

    def _find_parts(self) -> None:
        for number, (file, metadata) in enumerate(zip(self._files, self._metadata, strict=True)):
            first = 0
            leaves = _leaves_of(metadata, self._stored)
            for group in range(metadata.num_row_groups):
                about = metadata.row_group(group)
                if about.num_rows:
                    size = sum(about.column(leaf).total_uncompressed_size for leaf in leaves)
                    self.parts.append(Part(file.name, first, about.num_rows, size))
                    self._places.append((number, group))
                first += about.num_rows

    def load(self, part: int) -> Any:
        """A row group, of which the ranges of its columns are fetched together."""
        number, _ = self._places[part]
        table = self._read(part, self._stored)
        for name in self._names:
            if name not in self._stored:
                table = self._with_partition(table, name, self._partitions[number][name])
        return table.select(self._names)

    def _with_partition(self, table: Any, name: str, value: int | str) -> Any:
        scalar = self._pyarrow.scalar(value, self._pyarrow.int64() if isinstance(value, int) else None)
        return table.append_column(name, self._pyarrow.repeat(scalar, table.num_rows))

    def _read(self, part: int, columns: list[str]) -> Any:
        number, group = self._places[part]
        file, metadata = self._files[number], self._metadata[number]
        if not columns:
            return self._pyarrow.table({"": np.zeros(self.parts[part].rows, np.int8)})  # for the number of rows
        ranges = _ranges_of(file, metadata, group, columns)
        contents = _core.read_parts([(file, begin, end - begin) for begin, end in ranges])
        sparse = _Sparse(file, [begin for begin, _ in ranges], contents)
        opened = self._pyarrow.parquet.ParquetFile(sparse, metadata=metadata, pre_buffer=False)
        return opened.read_row_group(group, columns, use_threads=False)

    def _columns_in(self, filters: Any) -> list[str]:
        names = _names_in(filters)
        chosen(self._full_schema, names, list(self._partitions[0]))
        return names

    def _matching(self, filters: Any) -> np.ndarray:
        """The rows that filters let through. Reads the columns that they name."""
        expression = self._pyarrow.parquet.filters_to_expression(filters)
        with concurrent.futures.ThreadPoolExecutor(_FILTERED_AT_ONCE) as pool:
            found = list(pool.map(lambda part: self._matching_in(part, expression), range(len(self.parts))))
        firsts = itertools.accumulate((part.rows for part in self.parts), initial=0)
        rows = np.concatenate([first + some for first, some in zip(firsts, found, strict=False)] or [[]])
        if not len(rows):
            raise ValueError(f"filters={filters!r} let no row through")
        return rows.astype(np.int64)

    def _matching_in(self, part: int, expression: Any) -> np.ndarray:
        stored = [name for name in self._filtered if name in self._full_schema.names]
        table = self._read(part, stored)
        for name in self._filtered:
            if name not in stored:
                table = self._with_partition(table, name, self._partitions[self._places[part][0]][name])
        numbered = table.append_column(_NUMBER, self._pyarrow.array(np.arange(self.parts[part].rows)))
        return numbered.filter(expression)[_NUMBER].to_numpy()


def _names_in(filters: Any) -> list[str]:
    """The columns of [(name, comparison, value), ...], or of a list of such lists, one of which has to hold."""
    if not isinstance(filters, list | tuple) or not filters:
        raise TypeError(f'expected filters such as [("label", "<", 10)], got {filters!r}')
    groups = [filters] if isinstance(filters[0], tuple) else filters
    names = []
    for term in itertools.chain(*(group if isinstance(group, list | tuple) else [group] for group in groups)):
        if not isinstance(term, tuple) or len(term) != 3 or not isinstance(term[0], str):
            raise TypeError(f'expected filters such as [("label", "<", 10)], got {term!r} among them')
        names.append(term[0])
    return list(dict.fromkeys(names))


def _footers(files: Sequence[_core.StoredFile]) -> Iterable[bytes]:
    """The footers of all files, of which the short ones need one request each."""
    tails = _core.read_parts([(file, max(0, file.size - _TAIL), min(file.size, _TAIL)) for file in files])
    sizes = [_footer_size(file, tail) for file, tail in zip(files, tails, strict=True)]
    long = [i for i, size in enumerate(sizes) if size > len(tails[i])]
    rest = _core.read_parts([(files[i], files[i].size - sizes[i], sizes[i]) for i in long])
    for i, footer in zip(long, rest, strict=True):
        tails[i] = footer
    return tails


def _footer_size(file: _core.StoredFile, tail: bytes) -> int:
    if len(tail) < 12 or tail[-4:] != _MAGIC:
        what = "an encrypted file of Parquet" if tail[-4:] == b"PARE" else "no file of Parquet"
        raise ValueError(f"{file.name}: expected a file that ends with {_MAGIC.decode()}, this is {what}")
    size = struct.unpack("<I", tail[-8:-4])[0] + 8
    if size > file.size:
        raise ValueError(f"{file.name}: expected a footer within {file.size} bytes, found one of {size} bytes")
    return size


def _parsed(pyarrow: Any, name: str, footer: bytes) -> Any:
    try:
        return pyarrow.parquet.read_metadata(pyarrow.BufferReader(footer))
    except (OSError, ValueError) as error:
        raise ValueError(f"{name}: expected a footer of Parquet, {error}") from None


def _leaves_of(metadata: Any, columns: Iterable[str]) -> list[int]:
    """The stored columns of which columns consist."""
    starts = tuple(f"{name}." for name in columns)  # names may have dots, too
    return [i for i in range(metadata.num_columns) if f"{metadata.schema.column(i).path}.".startswith(starts)]


def _ranges_of(file: _core.StoredFile, metadata: Any, group: int, columns: Iterable[str]) -> list[tuple[int, int]]:
    """Where the bytes of columns lie; those near each other are one range."""
    about = metadata.row_group(group)
    ranges: list[tuple[int, int]] = []
    for leaf in _leaves_of(metadata, columns):
        chunk = about.column(leaf)
        begin = chunk.data_page_offset
        if chunk.dictionary_page_offset:  # written as 0 by some
            begin = min(begin, chunk.dictionary_page_offset)
        end = begin + chunk.total_compressed_size
        if not 0 < begin <= end < file.size:
            raise ValueError(f"expected the column {chunk.path_in_schema} at bytes {begin} to {end} of {file.size}")
        ranges.append((begin, end))
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if joined and begin - joined[-1][1] <= _NEAR:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined


class _Sparse(io.RawIOBase):
    """A file of which some ranges are in memory."""

    def __init__(self, file: _core.StoredFile, begins: list[int], contents: list[bytes]) -> None:
        self._file, self._begins, self._contents = file, begins, contents
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = offset + (0, self._at, self._file.size)[whence]
        return self._at

    def read(self, size: int = -1) -> Any:
        begin, left = self._at, self._file.size - self._at
        size = left if size < 0 else min(size, left)
        self._at += size
        part = bisect.bisect_right(self._begins, begin) - 1
        if part >= 0 and begin + size - self._begins[part] <= len(self._contents[part]):
            offset = begin - self._begins[part]
            return memoryview(self._contents[part])[offset : offset + size]
        return _core.read_parts([(self._file, begin, size)])[0]
