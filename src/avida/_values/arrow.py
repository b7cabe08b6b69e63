"""Tables of Arrow, by whichever library, as Batches, and Batches as tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from avida import _core
from avida._values.batch import as_batch

if TYPE_CHECKING:
    from avida._values.typing import BatchLike


def from_arrow(data: Any) -> Any:
    """Makes Batches of a table, one for each column, or one Batch of a single column.

    It takes whatever speaks the Arrow PyCapsule interface: tables, record batches and arrays of PyArrow, data frames of
    polars and pandas, results of DuckDB. PyArrow itself is not needed. No row becomes a Python object. Samples lie
    where Arrow has them, and keep that memory; arrays made of them are read-only. Bools, dictionary-encoded columns,
    and columns of several chunks whose rows all have one shape are copied.

    ========================================  =====================================================
    column                                    samples
    ========================================  =====================================================
    numbers, bools                            without axes
    binary, string                            ``uint8``, one axis (texts are UTF-8)
    list, large list, fixed-size list         one axis more for each list in a list
    tensors of Arrow and of Ray               their shape; one-letter names of axes are the layout
    struct of ``bytes`` and ``path``          the bytes; the path is the name of the source
    other struct                              a dictionary of Batches
    dictionary-encoded                        the decoded values
    ========================================  =====================================================

    Args:
        data: An object with ``__arrow_c_stream__`` or ``__arrow_c_array__``.

    Returns:
        A dictionary of Batches by the names of columns; one Batch for a single column.

    Raises:
        ValueError: There is a null, or a row of lists whose lengths differ; the message names column and row.
        TypeError: The type of a column has no elements that a Tensor can have, such as timestamps and decimals.

    Example:
        >>> import pyarrow
        >>> table = pyarrow.table({"image": [b"ab", b"cde"], "label": [3, 5]})
        >>> columns = avida.from_arrow(table)
        >>> columns["image"].shape
        [(2,), (3,)]
        >>> columns["label"].torch()
        tensor([3, 5])
    """
    return _core.from_arrow(data)


class ArrowTable:
    """Batches as the columns of a table, for whatever reads Arrow: see :func:`to_arrow`."""

    __slots__ = ("_columns", "_described")

    def __init__(self, columns: Mapping[str, Any], described: tuple) -> None:
        self._columns = dict(columns)
        self._described = described

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __arrow_c_schema__(self) -> Any:
        return _core.arrow_schema(self._described)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        return _core.arrow_array(self._described)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _core.arrow_stream(self._described)

    def __repr__(self) -> str:
        return f"ArrowTable({self.columns})"


def to_arrow(
    columns: Mapping[str, BatchLike | Mapping[str, Any]],
    *,
    ragged: bool | Collection[str] = False,
    binary: bool | Collection[str] = True,
) -> ArrowTable:
    """Makes a table of Batches, one column each, for any library that reads Arrow.

    ``pyarrow.table(...)``, ``polars.DataFrame(...)`` and DuckDB take the result, and :func:`from_arrow` makes the same
    Batches of it, with their shapes, element types and layouts of images. PyArrow itself is not needed. No sample
    becomes a Python object, and samples that lie one behind the other are not copied: all numbers, and samples of one
    shape. A Batch is a column by itself: ``pyarrow.array(batch)``.

    ================================  ===============================================================
    samples                           column
    ================================  ===============================================================
    without axes                      numbers, bools
    ``uint8``, one axis               ``large_binary``; with ``binary=False`` as other numbers
    all of one shape                  ``arrow.fixed_shape_tensor``, which is ``fixed_size_list`` beneath
    of various lengths                ``large_list``
    of various shapes                 ``arrow.variable_shape_tensor``, a struct of ``data`` and ``shape``
    a dictionary of Batches           struct
    ================================  ===============================================================

    Args:
        columns: Batches by name, or what makes Batches, such as arrays that are split along their first axis. All have
            the same number of samples.
        ragged: Whether columns have the types of samples of various shapes even where those of this table are equal;
            or the names of such columns. So the tables of all batches have one type.
        binary: Whether ``uint8`` with one axis is bytes, such as encoded images and texts; or the names of such
            columns.

    Returns:
        An object with ``__arrow_c_stream__``, ``__arrow_c_array__`` and ``__arrow_c_schema__``, which wait for the
        values.

    Raises:
        TypeError: A batch is on a GPU, or has the type ``bfloat16``, which Arrow lacks.
        ValueError: The columns differ in length.

    Example:
        >>> import pyarrow
        >>> table = pyarrow.table(avida.to_arrow({"image": avida.batch([b"ab", b"cde"]), "label": [3, 5]}))
        >>> table.schema
        image: large_binary
        label: int32
        >>> table["image"].to_pylist()
        [b'ab', b'cde']
    """
    if not isinstance(columns, Mapping):
        raise TypeError(
            f"expected a dictionary of Batches, got {type(columns).__name__}; a Batch is a column by itself, which "
            "pyarrow.array(batch) takes"
        )
    batches = _batches(columns)
    return ArrowTable(batches, _described("", batches, ragged, binary, ""))


def _batches(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {
        str(name): _batches(column) if isinstance(column, Mapping) else as_batch(column)
        for name, column in columns.items()
    }


def _described(
    name: str, column: Any, ragged: bool | Collection[str], binary: bool | Collection[str], path: str
) -> tuple[str, Any, bool, bool]:
    if isinstance(column, dict):
        prefix = f"{path}." if path else ""
        fields = [_described(key, part, ragged, binary, prefix + key) for key, part in column.items()]
        return name, fields, False, True
    return name, column, _applies(ragged, path), _applies(binary, path)


def _applies(wish: bool | Collection[str], path: str) -> bool:
    return wish if isinstance(wish, bool) else path in wish
