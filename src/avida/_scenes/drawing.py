"""Lines, areas, points and names, drawn into pictures with smooth edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from avida._values.letters import HEIGHT, written

Color = tuple[int, int, int]
_COLORS: tuple[Color, ...] = (
    (255, 99, 72), (46, 213, 115), (30, 144, 255), (255, 200, 40), (198, 120, 255), (0, 206, 201), (255, 121, 198),
    (163, 203, 56), (255, 159, 67), (116, 185, 255), (0, 184, 148), (232, 67, 147), (108, 92, 231), (225, 177, 44),
    (129, 236, 236), (214, 48, 49), (85, 239, 196), (253, 167, 223), (153, 128, 250), (196, 229, 56),
)  # fmt: skip
_DARK: Color = (20, 20, 24)
_LIGHT: Color = (255, 255, 255)


def color_of(number: int) -> Color:
    """That of a class: those of neighbouring numbers are far apart."""
    return _COLORS[number % len(_COLORS)]


def paint(picture: np.ndarray, covered: np.ndarray, color: Color, top: int = 0, left: int = 0) -> None:
    """Mixes a colour into the picture, by how much of each pixel is covered, as far as it is in there."""
    height, width = picture.shape[:2]
    y0, x0 = max(0, top), max(0, left)
    y1, x1 = min(height, top + covered.shape[0]), min(width, left + covered.shape[1])
    if y0 >= y1 or x0 >= x1:
        return
    window = picture[y0:y1, x0:x1]
    share = covered[y0 - top : y1 - top, x0 - left : x1 - left, None]
    window[:] = window + share * (np.asarray(color, np.float32) - window) + np.float32(0.5)


def outline(picture: np.ndarray, corners: np.ndarray, color: Color, width: float = 2.0) -> None:
    """A closed line through corners (x, y), which begin at the corner of the first pixel."""
    sides = list(zip(corners, np.roll(corners, -1, axis=0), strict=True))
    _lines(picture, sides, _DARK, width + 1.5, 0.45)
    _lines(picture, sides, color, width, 1)


def _lines(
    picture: np.ndarray, sides: Sequence[tuple[np.ndarray, np.ndarray]], color: Color, width: float, opacity: float
) -> None:
    for first, second in sides:
        if np.isfinite(first).all() and np.isfinite(second).all():
            _line(picture, first, second, color, width, opacity)


def _line(
    picture: np.ndarray, first: np.ndarray, second: np.ndarray, color: Color, width: float, opacity: float
) -> None:
    reach = width / 2 + 1
    limit = (picture.shape[1], picture.shape[0])
    low = np.clip(np.minimum(first, second) - reach, 0, limit).astype(int)
    high = np.clip(np.ceil(np.maximum(first, second) + reach), 0, limit).astype(int)
    if (low >= high).any():
        return
    y, x = np.mgrid[low[1] : high[1], low[0] : high[0]].astype(np.float32) + np.float32(0.5)
    along = (second - first).astype(np.float64)
    length = max(float(along @ along), 1e-12)
    share = np.clip(((x - first[0]) * along[0] + (y - first[1]) * along[1]) / length, 0, 1)
    distance = np.hypot(x - first[0] - share * along[0], y - first[1] - share * along[1])
    covered = np.clip(width / 2 + 0.5 - distance, 0, 1).astype(np.float32)
    paint(picture, covered * np.float32(opacity), color, low[1], low[0])


def dot(picture: np.ndarray, centre: np.ndarray, color: Color, radius: float, *, filled: bool = True) -> None:
    """A point with a ring around it; without a filling where it is hidden."""
    if not np.isfinite(centre).all() or (np.abs(centre) > 1e6).any():
        return
    reach = int(np.ceil(radius)) + 3
    left, top = (int(np.floor(each)) - reach for each in centre)
    y, x = np.mgrid[top : top + 2 * reach, left : left + 2 * reach].astype(np.float32) + np.float32(0.5)
    distance = np.hypot(x - centre[0], y - centre[1])
    for wide, shade in ((radius + 2, _DARK), (radius + 1.2, _LIGHT if filled else color)):
        paint(picture, np.clip(wide + 0.5 - distance, 0, 1), shade, top, left)
    paint(picture, np.clip(radius + 0.5 - distance, 0, 1), color if filled else _DARK, top, left)


def area(picture: np.ndarray, inside: np.ndarray, color: Color, opacity: float = 0.45) -> None:
    """An area of the picture's size, with its border."""
    inside = inside.astype(bool)
    paint(picture, inside * np.float32(opacity), color)
    within = inside.copy()
    within[1:] &= inside[:-1]
    within[:-1] &= inside[1:]
    within[:, 1:] &= inside[:, :-1]
    within[:, :-1] &= inside[:, 1:]
    paint(picture, (inside & ~within) * np.float32(0.9), color)


Field = tuple[int, int, int, int]
"""Top, left, bottom and right."""


def name_tag(picture: np.ndarray, text: str, box: np.ndarray, color: Color, taken: list[Field]) -> None:
    """A text on a field of colour beside a box (left, top, right, bottom), away from others where there is room.

    The field is added to those that are taken.
    """
    height, width = picture.shape[:2]
    letters = written(text, max(0, width - 8))
    field = np.ones((HEIGHT + 1, letters.shape[1] + 7), np.float32)
    field[[0, 0, -1, -1], [0, -1, 0, -1]] = 0.35
    down, across = field.shape
    left, above, right, below = (round(float(each)) for each in box)
    places = [
        (above - 1 - down, left - 1), (below + 1, left - 1), (above - 1 - down, right + 1 - across),
        (below + 1, right + 1 - across), (above + 2, left + 2),
    ]  # fmt: skip
    fields = []
    for top, x in places:
        top, x = min(max(top, 0), max(0, height - down)), min(max(x, 0), max(0, width - across))
        fields.append((top, x, top + down, x + across))
    free = (each for each in fields if not any(_overlap(each, other) for other in taken))
    chosen = next(free, fields[0])
    taken.append(chosen)
    paint(picture, field * np.float32(0.95), color, chosen[0], chosen[1])
    brightness = float(np.dot(color, (0.299, 0.587, 0.114)))
    paint(picture, letters, _DARK if brightness > 130 else _LIGHT, chosen[0] - 1, chosen[1] + 4)


def _overlap(one: Field, other: Field) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
