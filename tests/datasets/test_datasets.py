"""The bundled data are those of the papers, value by value."""

from __future__ import annotations

import gzip
import runpy
import shutil
import sys
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import TableError
from support.helpers import refused

#: Optional folder with UCI's own files, beside the repository.
UCI = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"
MAKER = Path(str(files("maxent_cvx"))) / "datasets" / "make_adult.py"
SEVEN = ["workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]
#: How many of the 30,162 complete rows have each value.
EDUCATION = {
    "HS-grad": 9840, "Some-college": 6678, "Bachelors": 5044, "Masters": 1627, "Assoc-voc": 1307, "11th": 1048,
    "Assoc-acdm": 1008, "10th": 820, "7th-8th": 557, "Prof-school": 542, "9th": 455, "12th": 377, "Doctorate": 375,
    "5th-6th": 288, "1st-4th": 151, "Preschool": 45,
}  # fmt: skip


def uci(name: str) -> Path:
    """Return the path of one of UCI's files; skip the test without it."""
    if not (path := UCI / name).exists():
        pytest.skip(f"UCI's {name} is not at ../shared/data/adult")
    return path


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    return mx.datasets.load_adult()


def test_hospital(hospital):
    """The hospital's ten patients are those of Fig. 1(a), in the buckets of Fig. 1(b)."""
    pd.testing.assert_frame_equal(mx.datasets.load_hospital(), hospital)


def test_adult(adult):
    """Adult's 30,162 complete rows, without fnlwgt and the two capital columns; each column has UCI's values."""
    assert list(adult.columns) == [
        "age", "workclass", "education", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
        "hours-per-week", "native-country", "salary",
    ]  # fmt: skip
    assert list(adult.index) == list(range(30_162))
    assert not adult.isna().any(axis=None)
    assert not (adult == "?").any(axis=None)
    counts = {
        "workclass": 7, "marital-status": 7, "occupation": 14, "relationship": 6, "race": 5, "sex": 2,
        "native-country": 41, "education": 16, "salary": 2, "age": 72,
    }  # fmt: skip
    assert {column: adult[column].nunique() for column in counts} == counts
    assert adult["education"].value_counts().to_dict() == EDUCATION
    assert adult["salary"].value_counts().to_dict() == {"<=50K": 22_654, ">50K": 7_508}
    assert adult.groupby("education")["education-num"].nunique().eq(1).all()


def test_the_first_14210(adult):
    """The stand-in for the paper's 14,210 records: all 16 educations, in UCI's order of rows."""
    first = adult.head(14_210)
    counts = first["education"].value_counts()
    assert counts.head(3).to_dict() == {"HS-grad": 4672, "Some-college": 3173, "Bachelors": 2402}
    assert (len(counts), counts["Preschool"]) == (16, 17)
    assert first["native-country"].nunique() == 40
    assert len(first[[*SEVEN, "age"]].drop_duplicates()) == 7_794
    assert len(first[[*SEVEN, "salary"]].drop_duplicates()) == 2_792


def test_bundled_file_is_what_its_script_makes():
    """The script beside the bundled table makes it from UCI's file."""
    data = gzip.decompress(runpy.run_path(str(MAKER))["compact"](uci("adult.data").read_bytes()))
    assert data == gzip.decompress(MAKER.with_name("adult.csv.gz").read_bytes())


def test_another_file_writes_nothing(tmp_path, monkeypatch):
    """A file with another checksum is refused, and nothing is written."""
    script = shutil.copy(MAKER, tmp_path)
    (tmp_path / "adult.data").write_bytes(b"39, State-gov, 77516, Bachelors\n")
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path / "adult.data")])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(script), run_name="__main__")
    assert stopped.value.code != 0
    assert {path.name for path in tmp_path.iterdir()} == {"make_adult.py", "adult.data"}


@pytest.mark.parametrize(
    ("name", "rows", "complete", "poor", "complete_poor"),
    [("adult.data", 32_561, 30_162, 24_720, 22_654), ("adult.test", 16_281, 15_060, 12_435, 11_360)],
)
def test_uci_files(name, rows, complete, poor, complete_poor):
    """Both of UCI's files are read, with and without incomplete rows; the class labels are the same in both."""
    everybody = mx.datasets.load_adult(complete=False, path=uci(name))
    assert everybody.shape == (rows, 15)
    assert everybody["salary"].value_counts().to_dict() == {"<=50K": poor, ">50K": rows - poor}
    assert set(everybody.columns[everybody.isna().any()]) == {"workclass", "occupation", "native-country"}
    filled = mx.datasets.load_adult(path=uci(name))
    assert filled.shape == (complete, 15)
    assert (filled["salary"] == "<=50K").sum() == complete_poor
    assert list(filled.index) == list(range(complete))


def test_uci_format(tmp_path):
    """In UCI's files ? is a missing value, a line may begin with a bar, and labels may end with a full stop."""
    rest = "Not-in-family, White, Male, 2174, 0, 40, United-States"
    rows = [
        f"39, State-gov, 77516, {education}, 13, Never-married, {occupation}, {rest}, {label}\n"
        for education, occupation, label in (
            ("11th", "Sales", "<=50K."),
            ("9th", "?", ">50K."),
            ("12th", "Sales", ">50K."),
        )
    ]
    path = tmp_path / "adult.test"
    path.write_text("|1x3 Cross validator\n" + "".join(rows) + "\n")
    everybody = mx.datasets.load_adult(complete=False, path=path)
    assert everybody["salary"].tolist() == ["<=50K", ">50K", ">50K"]
    assert everybody["occupation"].isna().tolist() == [False, True, False]
    assert everybody["age"].tolist() == [39] * 3
    assert mx.datasets.load_adult(path=path)["education"].tolist() == ["11th", "12th"]


@pytest.mark.parametrize("text", ["", "Name,Gender\nAnn,f\n", "a,b\n1,2\n1,2,3\n", ",".join("1" * 15) + "\n"])
def test_another_file_is_not_adult(tmp_path, text):
    """A file that is not UCI's is refused."""
    path = tmp_path / "people.csv"
    path.write_text(text)
    with refused(TableError):
        mx.datasets.load_adult(path=path)
