"""Tables of Arrow, by whichever library, as Batches."""

from __future__ import annotations

from typing import Any

from avida import _core


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
    ``arrow.fixed_shape_tensor``              their shape; one-letter names of axes are the layout
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
