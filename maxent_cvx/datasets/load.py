"""Loaders of the data sets of the papers."""

from __future__ import annotations

from importlib.resources import files
from io import StringIO
from os import PathLike

import pandas as pd

from .._utils.errors import TableError, join_names
from .._utils.validation import check_bool, read_file_text

#: The eight quasi-identifiers of Adult if "education" is the sensitive attribute.
ADULT_QI = (
    "workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country", "salary",
)  # fmt: skip

UCI_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary",
)  # fmt: skip


def load_hospital() -> pd.DataFrame:
    """Load ten patients in three buckets: Name, Gender, Degree, Disease, Bucket (Privacy-MaxEnt, Fig. 1).

    Returns
    -------
    DataFrame
        One row per patient; Gender and Degree are the quasi-identifiers, Disease is the sensitive attribute.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> print(hospital.head(3))
        Name  Gender   Degree        Disease  Bucket
    0  Allen    male  college            Flu       1
    1  Brian    male  college      Pneumonia       1
    2  Cathy  female  college  Breast Cancer       1
    """
    return pd.read_csv(str(files(__package__) / "hospital.csv"))


def load_patients() -> list[pd.DataFrame]:
    """Load two releases of 13 and 12 patients: Pseudonym, Gender, Zip, Disease, Bucket (Re-publishing, Fig. 1).

    Returns
    -------
    list of DataFrame
        One table per release, one row per patient; patients in both have the same pseudonym and the same disease.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> first, second = mx.datasets.load_patients()
    >>> len(first), len(second), int(first["Pseudonym"].isin(second["Pseudonym"]).sum())        # number in both
    (13, 12, 10)
    >>> print(first.head(2))
       Pseudonym Gender    Zip    Disease  Bucket
    0          1   male  13115        Flu       1
    1          2   male  13120  Pneumonia       1
    """
    patients = pd.read_csv(str(files(__package__) / "patients.csv"))
    return [table.drop(columns="Release").reset_index(drop=True) for _, table in patients.groupby("Release")]


def load_adult(complete: bool = True, path: str | PathLike[str] | None = None) -> pd.DataFrame:
    """Load UCI Adult, people of the 1994 US census, one row per person.

    Parameters
    ----------
    complete : bool
        Whether to omit rows with missing values. False needs `path`, as the package only contains complete rows.
    path : path, optional
        UCI's adult.data or adult.test, to read all columns of the file instead.

    Returns
    -------
    DataFrame
        UCI's columns, with the class column as "salary". From the package, 30,162 rows in UCI's order, without fnlwgt,
        capital-gain and capital-loss.

    Raises
    ------
    TableError
        If `complete` is False without `path`, or the file is not UCI's.
    StatementError
        If `complete` is neither True nor False.

    References
    ----------
    Becker, B. and Kohavi, R. (1996). Adult [Dataset]. UCI Machine Learning Repository.
    https://doi.org/10.24432/C5XW20 (CC BY 4.0).

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> adult = mx.datasets.load_adult()
    >>> adult.shape
    (30162, 12)
    >>> adult[[*mx.datasets.ADULT_QI]].drop_duplicates().shape                # QI tuples
    (4480, 8)
    """
    check_bool(complete, "complete")
    if path is None:
        if not complete:
            raise TableError(
                "the package only contains the complete rows of Adult; pass path='adult.data' (from UCI) for all rows"
            )
        return pd.read_csv(str(files(__package__) / "adult.csv.gz"))
    text = read_file_text(path, "path")
    try:
        adult = pd.read_csv(StringIO(text), header=None, na_values="?", skipinitialspace=True, comment="|")
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise TableError(f"{str(path)!r} is not UCI's Adult: {' '.join(str(error).split())}") from error
    if adult.shape[1] != len(UCI_COLUMNS):
        raise TableError(f"{str(path)!r} must have the {len(UCI_COLUMNS)} columns of UCI's Adult, not {adult.shape[1]}")
    adult.columns = pd.Index(UCI_COLUMNS)
    adult["salary"] = adult["salary"].astype(str).str.rstrip(".")  # adult.test ends its labels with a full stop
    if strangers := sorted(set(adult["salary"]) - {"<=50K", ">50K"}):
        raise TableError(f"the classes of {str(path)!r} must be '<=50K' and '>50K', not {join_names(strangers)}")
    return adult.dropna(ignore_index=True) if complete else adult
