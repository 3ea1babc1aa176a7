"""Data files with every defect a user meets, bundled data, and splits over clients."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import places
import pytest

from fedtheory.data import Dataset, bundled, load, load_idx, load_rows, split

GOOD = b"1 1:0.5 3:2\n2 2:-1\n1 3:4 # a comment\n"
SHARED = places.SHARED / "data"


@pytest.fixture
def toy() -> Dataset:
    b = np.where(np.arange(23) % 3 == 0, 1.0, -1.0)
    return Dataset("toy", np.column_stack([np.arange(23.0), b]), b)


@pytest.mark.parametrize(
    ("name", "compress"), [("good.txt", bytes), ("good.gz", gzip.compress), ("good.bz2", bz2.compress)]
)
def test_reads_plain_and_compressed_files(tmp_path, name, compress):
    path = tmp_path / name
    path.write_bytes(compress(GOOD))
    data = load(path)
    assert data.name == "good"
    np.testing.assert_array_equal(data.A, [[0.5, 0, 2], [0, -1, 0], [0, 0, 4]])
    np.testing.assert_array_equal(data.b, [-1, 1, -1])
    assert (data.rows, data.d) == (3, 3)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("good.csv", b"0.5,0,2,1\n0,-1,0,2\n0,0,4,1\n"),
        ("good.csv", b"\xef\xbb\xbfa;b;c;label\r\n0.5;0;2;1\r\n0;-1;0;2\r\n\r\n0;0;4;1"),
        ("good.csv.gz", gzip.compress(b'"a","b","c","d"\n0.5,0,2,1\n0, -1,0,2\n0,0,4,1\n', mtime=0)),
    ],
)
def test_reads_csv_with_the_label_last(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    data = load(tmp_path / name)
    np.testing.assert_array_equal(data.A, [[0.5, 0, 2], [0, -1, 0], [0, 0, 4]])
    np.testing.assert_array_equal(data.b, [-1, 1, -1])
    np.testing.assert_array_equal(load_rows(tmp_path / name)[1], [1, 2, 1])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("data", b"\xef\xbb\xbf1 1:0.5\n2 1:1\n2 1:2\n"),
        ("data.csv", b"\xef\xbb\xbf0.5,1\n1,2\n2,2\n"),
        ("data.csv.bz2", bz2.compress(b"\xef\xbb\xbf0.5,1\n1,2\n2,2\n")),
        ("data.csv", b"y,class\n0.5,1\n1,2\n2,2\n"),
    ],
)
def test_a_byte_order_mark_is_skipped(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    data = load(tmp_path / name)
    np.testing.assert_array_equal(data.A, [[0.5], [1], [2]])
    np.testing.assert_array_equal(data.b, [-1, 1, 1])


@pytest.mark.parametrize("content", [b"time,a,label\n0,5,1\n1,6,2\n2,7,2\n", b"0,5,1\n1,6,2\n", b"0,1\n1,2\n2,2\n"])
def test_a_first_column_that_counts_may_be_a_feature(tmp_path, content):
    (tmp_path / "data.csv").write_bytes(content)
    A, _ = load_rows(tmp_path / "data.csv")
    np.testing.assert_array_equal(A[:, 0], np.arange(len(A)))


@pytest.mark.parametrize("labels", [("-1", "1"), ("0", "1"), ("+1", "-1"), ("2", "4"), ("4", "2")])
def test_labels_become_signs_in_increasing_order(tmp_path, labels):
    path = tmp_path / "data"
    path.write_text("".join(f"{label} 1:1\n" for label in labels))
    first, second = (float(label) for label in labels)
    np.testing.assert_array_equal(load(path).b, [-1, 1] if first < second else [1, -1])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data", b"", "has no data"),
        ("data", b"\n# only a comment\n", "has no data"),
        ("data", b"1\n-1\n", "has no data"),
        ("data", b"1 1:0.5 foo\n-1 1:1\n", "not in LIBSVM's text format"),
        ("data", b"a,b,c\n1,2,3\n", "not in LIBSVM's text format"),
        ("data", b"1 3:1 2:1\n-1 1:1\n", "not in LIBSVM's text format"),
        ("data", b"1 99999999999:1\n-1 1:1\n", "not in LIBSVM's text format"),
        ("data", bytes(range(128, 256)) * 50, "not in LIBSVM's text format"),
        ("data", GOOD + b"1 1:1 2", "not in LIBSVM's text format"),
        ("data", b"1 999999999:1\n-1 1:1\n", "too large to be dense: 2 rows with feature indices up to 999999999"),
        ("data", b"1 1:1\n-1 1:nan\n", "NaN or infinite features in data row 2"),
        ("data", b"1 1:1\n-1 3:1e308\n", r"data: feature 3 of data row 2 is 1e\+308, and at most 1e\+100 in size"),
        ("data", b"1 1:-1e101\n-1 3:1\n", r"data: feature 1 of data row 1 is -1e\+101"),
        ("data", b"1 1:inf\n-1 1:1\n", "NaN or infinite features in data row 1"),
        ("data", b"nan 1:1\n-1 1:1\n", "NaN or infinite labels"),
        ("data", b"1 1:1\n1 1:2\n", r"one label \(1\), exactly two"),
        ("data", b"1 1:1\n2 1:2\n3 1:2\n", r"3 different labels \(1, 2, 3\), exactly two"),
        ("data", b"".join(b"%d 1:1\n" % i for i in range(9)), r"9 different labels \(0, 1, 2, 3, 4, \.\.\.\)"),
        ("data.gz", gzip.compress(GOOD * 99, mtime=0)[:-20], "truncated"),
        ("data.gz", gzip.compress(GOOD, mtime=0)[:5], "truncated"),
        ("data.gz", GOOD, "cannot be read: Not a gzipped file"),
        (
            "data.gz",
            gzip.compress(GOOD * 99, mtime=0)[:12] + b"\xff\xff" + gzip.compress(GOOD * 99, mtime=0)[14:],
            "cannot be read",
        ),
        ("data.bz2", GOOD, "cannot be read"),
        ("data.csv", b"", "has no data: it is empty"),
        ("data.csv", b"a,b\n", "has no data: it is empty"),
        ("data.csv", b"1,x\n2,3\n", "not in CSV format: line 1 has 'x' where a number"),
        ("data.csv", b"a,b\n1,2\nc,3\n", "not in CSV format: line 3 has 'c' where a number"),
        ("data.csv", b"1,2\n1,,2\n", "not in CSV format: line 2 has 3 values where 2"),
        ("data.csv", b"1,2\n,2\n", "not in CSV format: line 2 has '' where a number"),
        ("data.csv", b"1\n2\n", "not in CSV format: line 1 has one value where features"),
        ("data.csv", bytes(range(128, 256)) * 50, "not in CSV format"),
        ("data.csv", b"1,1\nnan,2\n", "NaN or infinite features in data row 2"),
        ("data.csv", b"1,1\n2,1\n", r"one label \(1\), exactly two"),
        # The line at fault.
        ("data", GOOD + b"1 1:1 2", r"text format: line 4: "),
        ("data", b"# first\n\n1 3:1 2:1\n-1 1:1\n", r"text format: line 3: "),
        ("data.gz", gzip.compress(GOOD + b"1 x:1\n", mtime=0), r"text format: line 4: "),
        ("data", b"1 1:1\n" * 500 + b"one 1:1\n", r"text format: line 501: "),
        # Byte-order marks of other encodings.
        ("data", "1 1:1\n-1 1:2\n".encode("utf-16"), "UTF-16: save it in UTF-8"),
        ("data.csv", "1,1\n2,2\n".encode("utf-16"), "UTF-16: save it in UTF-8"),
        # Tables as pandas writes them with their index: named columns, numbered ones, written twice, no header.
        (
            "data.csv",
            b",a,label\n0,5,1\n1,6,2\n",
            "no name, as the index that pandas writes: write it with index=False",
        ),
        ("data.csv", b'"",a,label\n0,5,1\n1,6,2\n', "as the index that pandas writes"),
        ("data.csv", b",0,1\n0,5,1\n1,6,2\n", "as the index that pandas writes"),
        ("data.csv", b"Unnamed: 0,a,label\n0,5,1\n1,6,2\n", "as the index that pandas writes"),
        ("data.csv", b"0,5,1\n1,6,2\n2,7,2\n", "counts rows from 0, as an index: leave it out, or name it in a header"),
        # Labels in the first column, by their name and by their values.
        ("data.csv", b"label,a,b\n1,5,1\n2,6,1\n", "first column is called 'label': labels go last"),
        ("data.csv", b"'Y';a;b\n1;5;1\n2;6;0\n", "first column is called 'y': labels go last"),
        ("data.csv", b"1,5,.1\n0,6,.2\n1,7,.3\n", "3 different labels .*; the first column has two values: labels go"),
        ("data.csv", b"1,5,0\n0,6,0\n", r"one label \(0\).*; the first column has two values: labels go last"),
    ],
)
def test_a_bad_file_is_one_sentence(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        load(path)
    text = str(caught.value)
    assert "data" in text and "\n" not in text and len(text) < 200 + len(str(path))


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(ValueError, match=r"there is no file .*nowhere"):
        load(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="is a directory"):
        load(str(tmp_path))


def test_a_file_without_permission(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(GOOD)
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        with pytest.raises(ValueError, match="permission denied"):
            load(path)
    else:
        pytest.skip("this user may read every file")


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        (np.ones(3), np.ones(3), "A must be"),
        (np.ones((3, 2)), np.ones(2), "A must be"),
        (np.ones((0, 2)), np.ones(0), "has no data"),
        (np.array([[1.0], [np.nan]]), np.array([1, -1]), "data row 2"),
        (np.ones((2, 1)), np.array([1, np.inf]), "label in data row 2"),
        (np.ones((2, 1)), np.array([1, 1]), "labels must be -1 and"),
        (np.ones((2, 1)), np.array([0, 1]), "labels must be -1 and"),
    ],
)
def test_a_dataset_checks_itself(A, b, message):
    with pytest.raises(ValueError, match=message):
        Dataset("made", A, b)


@pytest.mark.parametrize(("name", "shape"), [("breast-cancer", (569, 30)), ("digits", (1797, 64))])
def test_bundled_data(name, shape):
    data = bundled(name)
    assert data.A.shape == shape
    assert data.A.min() == -1 and data.A.max() == 1
    assert 0.3 < (data.b == 1).mean() < 0.7


def test_bundled_default_and_unknown():
    assert bundled().name == "breast-cancer"
    with pytest.raises(ValueError, match="no bundled data named 'iris'"):
        bundled("iris")


@pytest.mark.parametrize("n", [1, 2, 5, 7, 23])
@pytest.mark.parametrize("how", ["equal", "iid", "label"])
def test_splits_have_equal_parts_of_true_rows(toy, n, how):
    A, b = split(toy, n, how, np.random.default_rng(0))
    m = 23 // n
    assert A.shape == (n, m, 2) and b.shape == (n, m)
    np.testing.assert_array_equal(A[..., 1], b)
    distinct = len(np.unique(A[..., 0]))
    assert distinct == n * m or how == "iid"
    A_again, _ = split(toy, n, how, np.random.default_rng(0))
    np.testing.assert_array_equal(A, A_again)


def test_equal_split_shuffles(toy):
    A, _ = split(toy, 2, "equal", np.random.default_rng(0))
    assert (np.diff(A[..., 0], axis=-1) < 0).any()


def test_iid_split_draws_with_replacement(toy):
    draws = [split(toy, 1, "iid", np.random.default_rng(seed))[0][..., 0] for seed in range(400)]
    assert all(len(np.unique(rows)) < 23 for rows in draws[:5])
    counts = np.bincount(np.ravel(draws).astype(int), minlength=23)
    # Each count is Binomial(9200, 1/23): mean 400, standard deviation 19.6.
    assert abs(counts - 400).max() < 100


def test_label_split_separates_labels(toy):
    _, b = split(toy, 7, "label", np.random.default_rng(0))
    assert (np.ptp(b, axis=1) > 0).sum() <= 1
    assert b[0, 0] == -1 and b[-1, -1] == 1


@pytest.mark.parametrize(("n", "how"), [(0, "equal"), (-1, "iid"), (24, "label"), (3, "by-magic")])
def test_splits_refuse_bad_arguments(toy, n, how):
    with pytest.raises(ValueError, match=r"cannot be split over|no split named"):
        split(toy, n, how, np.random.default_rng(0))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not there")
@pytest.mark.parametrize(
    ("name", "shape"),
    [("diabetes_scale", (768, 8)), ("breast-cancer_scale", (683, 10)), ("phishing.gz", (11055, 68))],
)
def test_real_files(name, shape):
    data = load(SHARED / name)
    assert data.A.shape == shape and set(np.unique(data.b)) == {-1, 1}


def _idx(path, array):
    head = bytes((0, 0, 8, array.ndim)) + b"".join(int(n).to_bytes(4, "big") for n in array.shape)
    path.write_bytes(head + array.astype(np.uint8).tobytes())


def test_idx_files_are_read_and_bad_ones_refused(tmp_path):
    images, labels = tmp_path / "few-images.idx3", tmp_path / "few-labels.idx1"
    _idx(images, np.arange(12).reshape(3, 2, 2))
    _idx(labels, np.array([7, 8, 1]))
    found = load_idx(images)
    assert (found.name, found.A.shape, found.labels.tolist()) == ("few-images", (3, 4), [7, 8, 1])
    assert found.A.max() == 11 / 255
    assert found.classes(7, 8).b.tolist() == [-1, 1]
    with pytest.raises(ValueError, match="both classes"):
        found.classes(7, 2)
    for content, message in ((b"", "IDX"), (labels.read_bytes(), "IDX"), (images.read_bytes()[:-1], "11 bytes")):
        (tmp_path / "bad-images.idx3").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            load_idx(tmp_path / "bad-images.idx3", labels)
    _idx(labels, np.array([7, 8]))
    with pytest.raises(ValueError, match="2 labels"):
        load_idx(images)
    labels.unlink()
    with pytest.raises(ValueError, match="no file"):
        load_idx(images)
