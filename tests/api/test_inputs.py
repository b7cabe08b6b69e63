"""What stands for a Tensor or Batch: bytes, paths, lists, images of Pillow."""

import io
import pathlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image

import avida as ndd
from avida._values.picture import png

PIXELS = [np.full((4, 6, 3), 7, np.uint8), np.full((5, 3, 3), 9, np.uint8)]
FILES = [png(pixels) for pixels in PIXELS]


class TestBytes:
    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.bytes_])
    def test_one_file_is_a_tensor(self, kind):
        for make in (ndd.tensor, ndd.as_tensor):
            made = make(kind(FILES[0]))
            assert (made.dtype, made.shape) == (ndd.uint8, (len(FILES[0]),))
            assert bytes(made) == FILES[0]
        image = ndd.decoders.image(kind(FILES[0]))
        assert isinstance(image, ndd.Tensor)
        assert np.array_equal(image, PIXELS[0])

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    @pytest.mark.parametrize("listed", [list, tuple])
    @pytest.mark.parametrize("which", [[0, 1], [0, 0], [1]])
    def test_several_are_a_batch(self, kind, listed, which):
        files = listed(kind(FILES[i]) for i in which)
        images = ndd.decoders.image(files)
        assert isinstance(images, ndd.Batch)
        for image, i in zip(images, which, strict=True):
            assert np.array_equal(image, PIXELS[i])
        assert [bytes(file) for file in ndd.batch(files)] == [FILES[i] for i in which]
        assert [bytes(file) for file in ndd.as_batch(files)] == [FILES[i] for i in which]

    @pytest.mark.parametrize("files", [FILES, [FILES[0], FILES[0]], FILES[:1]])
    def test_lists_of_arrays_of_bytes_are_files(self, files):
        arrays = [np.frombuffer(file, np.uint8) for file in files]
        for decoded in (ndd.decoders.image(arrays), ndd.decoders.image_slice(arrays, [0.0, 0.0], [1.0, 1.0])):
            assert isinstance(decoded, ndd.Batch)
            assert decoded.shape == [PIXELS[FILES.index(file)].shape for file in files]
        assert ndd.peek_image_shape(arrays).batch_size == len(files)
        assert ndd.decoders.image([arrays[0], files[0]]).batch_size == 2

    def test_an_array_of_two_files_is_none(self):
        rows = np.stack([np.frombuffer(FILES[0], np.uint8)] * 2)
        for operator in (ndd.decoders.image, ndd.peek_image_shape):
            with pytest.raises(RuntimeError, match=r"one axis\), got 2 axes; several files are a Batch"):
                operator(rows)
        assert ndd.decoders.image(ndd.as_batch(rows)).batch_size == 2
        assert ndd.decoders.image(ndd.batch([], dtype="uint8")).batch_size == 0

    @pytest.mark.parametrize("other", [None, "x.jpg"])
    def test_lists_with_something_else(self, other):
        with pytest.raises((TypeError, RuntimeError), match=r"None|'x\.jpg'"):
            ndd.decoders.image([FILES[0], other])

    def test_columns_of_tables(self):
        column = pa.array(FILES)
        for files in (
            np.array(FILES, object),
            pd.Series(FILES),
            column,
            pa.chunked_array([column]),
            column.to_pylist(),
            list(column),
        ):
            assert ndd.decoders.image(files).shape == [(4, 6, 3), (5, 3, 3)]
            assert [bytes(file) for file in ndd.batch(files)] == FILES
        numbers = ndd.as_tensor(pd.Series([1, 2]))
        assert (numbers.dtype, numbers.shape) == (ndd.int64, (2,))

    def test_bytes_are_not_copied_for_an_operator(self):
        data = bytes(100)
        assert ndd.as_tensor(data)._address == np.frombuffer(data, np.uint8).ctypes.data
        assert ndd.tensor(data)._address != np.frombuffer(data, np.uint8).ctypes.data

    def test_what_can_change_is_copied(self):
        with ndd.EvalMode.deferred:
            data = [bytearray(FILES[0])]
            images = ndd.decoders.image(data)
            single = ndd.decoders.image(data[0])
            data[0][:] = bytes(len(FILES[0]))
            assert np.array_equal(images.tensors[0], PIXELS[0])
            assert np.array_equal(single, PIXELS[0])

    def test_empty(self):
        assert ndd.as_tensor(b"").shape == (0,)
        with pytest.raises(RuntimeError, match="image"):
            ndd.decoders.image(b"").evaluate()

    @pytest.mark.parametrize("operator", [ndd.decoders.image, ndd.peek_image_shape, ndd.io.file.read])
    def test_an_empty_list_is_an_empty_batch(self, operator):
        assert operator([]).evaluate().batch_size == 0

    def test_an_empty_list_of_sounds(self):
        assert ndd.decoders.audio([])[0].evaluate().batch_size == 0

    def test_open_files_are_to_be_read(self):
        with pytest.raises(TypeError, match=r"got BytesIO; its read\(\) gives bytes"):
            ndd.decoders.image(io.BytesIO(FILES[0]))


class TestPaths:
    def test_read(self, tmp_path):
        paths = [tmp_path / "ä.png", tmp_path / "b.png"]
        for path, file in zip(paths, FILES, strict=True):
            path.write_bytes(file)
        for path in (paths[0], str(paths[0]), str(paths[0]).encode()):
            assert bytes(ndd.io.file.read(path)) == FILES[0]
        for listed in (paths, [str(path) for path in paths], tuple(paths)):
            read = ndd.io.file.read(listed)
            assert isinstance(read, ndd.Batch)
            assert [bytes(file) for file in read] == FILES

        for listed in (np.array(paths, str), pd.Series([str(path) for path in paths])):
            assert ndd.imread(listed).shape == [(4, 6, 3), (5, 3, 3)]
            assert [bytes(file) for file in ndd.io.file.read(listed)] == FILES

    @pytest.mark.parametrize("path", ["x.jpg", pathlib.Path("x.jpg"), ["x.jpg", "y.jpg"]])
    def test_decoders_point_to_imread(self, path):
        with pytest.raises(RuntimeError, match=r"decoders.image: expected data, got the string 'x.jpg'.*avida.imread"):
            ndd.decoders.image(path)

    def test_imread_points_to_decoders(self):
        with pytest.raises(TypeError, match=r"got bytes; avida\.decoders\.image"):
            ndd.imread(FILES[0])

    def test_text_is_no_data(self):
        with pytest.raises(RuntimeError, match="encode"):
            ndd.tensor("abc")
        with pytest.raises(RuntimeError, match=r"avida\.batch"):
            ndd.tensor([b"ab", b"cd"])


class TestLists:
    def test_of_different_shapes_is_a_batch(self):
        for listed in (PIXELS, tuple(PIXELS), [ndd.as_tensor(p) for p in PIXELS], [Image.fromarray(p) for p in PIXELS]):
            flipped = ndd.flip(listed)
            assert isinstance(flipped, ndd.Batch)
            assert flipped.shape == [(4, 6, 3), (5, 3, 3)]
        assert [np.asarray(row).tolist() for row in ndd.cast([[1, 2], [3]], dtype="float32")] == [[1, 2], [3]]

    def test_of_one_shape_is_a_tensor_and_says_so(self):
        frames = [PIXELS[0], PIXELS[0]]
        with pytest.warns(UserWarning, match=r"flip: .*avida.batch\(list\).*np.stack\(list\)") as caught:
            flipped = ndd.flip(frames)
        assert (type(flipped), flipped.layout) == (ndd.Tensor, "FHWC")
        assert caught[0].filename == __file__

    def test_of_numbers_is_a_tensor(self, recwarn):
        for numbers in ([1, 2], [[1, 2], [3, 4]], [[[1], [2]]], [np.float32([1, 2]), np.float32([3, 4])], []):
            assert isinstance(ndd.cast(numbers, dtype="float32"), ndd.Tensor)
        assert not recwarn.list

    def test_of_lists_is_a_list_for_each_sample(self):
        """As arguments that are lists of numbers, of equal lengths or not."""
        images = ndd.batch([PIXELS[0], PIXELS[0]])
        assert ndd.resize(images, size=[[3, 4], (5, 6)]).shape == [(3, 4, 3), (5, 6, 3)]
        video = np.arange(4, dtype=np.uint8).reshape(4, 1, 1, 1)
        ordered = ndd.sequence_rearrange(ndd.batch([video, video], layout="FHWC"), new_order=[[0, 1], [3, 2, 1]])
        assert [np.asarray(frames).ravel().tolist() for frames in ordered] == [[0, 1], [3, 2, 1]]
        with pytest.raises(ValueError, match="batch"):
            ndd.resize(images, size=[[3, 4], [5, 6], [7, 8]])
        with pytest.raises(TypeError, match="list of numbers"):
            ndd.random_resized_crop(images, size=[[3, 4], [5, 6]])

    def test_of_different_lengths_is_no_tensor(self):
        for make in (ndd.tensor, ndd.as_tensor):
            with pytest.raises(ValueError, match=r"lists of different lengths.*avida\.batch"):
                make([[1, 2], [3, 4, 5]])
        assert ndd.as_batch([[1, 2], [3, 4, 5]]).shape == [(2,), (3,)]


class TestArrow:
    @pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "float32", "float64", "bool_"])
    def test_rows_of_columns(self, kind):
        kind = getattr(pa, kind)()
        one, zero = (True, False) if kind == pa.bool_() else (1, 0)
        column = pa.array([[one, zero], [one]], pa.list_(kind))
        for rows in (column, pa.chunked_array([column]), list(column), tuple(column)):
            made = ndd.batch(rows)
            assert made.dtype == ndd.dtype(kind.to_pandas_dtype())
            assert [np.asarray(row).tolist() for row in made] == [[1, 0], [1]]
        assert ndd.cast(list(column), dtype="float32").shape == [(2,), (1,)]
        numbers = ndd.batch(list(pa.array([one, zero], kind)))
        assert (numbers.dtype, numbers.shape) == (ndd.dtype(kind.to_pandas_dtype()), [(), ()])
        boxes = ndd.batch(list(pa.array([[[1, 2], [3, 4]], [[5, 6]]], pa.list_(pa.list_(pa.int16(), 2)))))
        assert (boxes.dtype, boxes.shape) == (ndd.int16, [(2, 2), (1, 2)])

    def test_nulls_are_refused(self):
        for column in (pa.array([[1, None]]), pa.array([[1], None])):
            with pytest.raises((ValueError, TypeError), match=r"null|None"):
                ndd.batch(column)


class TestPillow:
    @pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "L", "P", "1", "I", "F", "CMYK"])
    def test_as_numpy_sees_it(self, mode):
        image = Image.fromarray(PIXELS[0]).convert(mode)
        expected = np.asarray(image)
        for made in (ndd.tensor(image), ndd.as_tensor(image), ndd.batch([image]).tensors[0]):
            assert np.array_equal(made, expected)
            assert made.layout == ("HWC" if expected.ndim == 3 else None)
        assert ndd.as_tensor(image, layout="ABC"[: expected.ndim]).layout == "ABC"[: expected.ndim]

    def test_a_file(self):
        image = Image.open(io.BytesIO(FILES[0]))
        assert np.array_equal(ndd.resize(image, size=(2, 3)), np.full((2, 3, 3), 7))
