"""Tables of AnonyPyx, ANJANA, ARX and sdcMicro load at the first try; `data/README.md` says how each was made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import GroupedRelease, MaxEnt, QITable, Release, TableError, UnknownName
from maxent_cvx.releases.generalized import OUTSIDE
from support.helpers import refused

DATA = Path(__file__).parent / "data"
PEOPLE = pd.read_csv(DATA / "people.csv")
AGE_SEX = {"qi": ["Age", "Sex"], "sa": "Disease"}
ALL = {"qi": ["Age", "Sex", "Zip"], "sa": "Disease"}
ADULT = {"qi": ["age", "education-num", "sex", "race"], "sa": "occupation"}


def shares(table: pd.DataFrame, people: pd.DataFrame, qi: list[str], inside) -> pd.DataFrame:
    """P(value | person) of people who are in one group each: the shares of the group, counted by hand."""
    results = []
    for _, person in people.iterrows():
        group = table[[inside(row, person) for _, row in table.iterrows()]]
        results.append(group.groupby("Disease")["count"].sum() / group["count"].sum())
    return pd.DataFrame(results, index=pd.MultiIndex.from_frame(people[qi])).fillna(0.0)


@pytest.mark.parametrize("name", ["human_readable", "machine_readable"])
def test_anonypyx(name: str):
    """AnonyPyx, run: ranges "17-34", sets "f,m" and a column "count"; or columns of bounds and flags.

    Everybody is in one group, whose shares are everybody's probabilities, whichever way the file is written.
    """
    table = pd.read_csv(DATA / f"anonypyx_{name}.csv")
    release = Release.from_generalized(table, **AGE_SEX, population=PEOPLE, count="count")
    assert isinstance(release, Release)
    assert release.n_records == 10
    machine = pd.read_csv(DATA / "anonypyx_machine_readable.csv")

    def inside(row: pd.Series, person: pd.Series) -> bool:
        return row["Age_min"] <= person["Age"] <= row["Age_max"] and row[f"Sex_{person['Sex']}"]

    expected = shares(machine, PEOPLE, ["Age", "Sex"], inside)
    p = MaxEnt(release).solve().conditional()
    pd.testing.assert_frame_equal(p.loc[expected.index], expected, check_names=False, atol=1e-9)


def test_3000_people_of_anonypyx_in_1183_rows():
    """Ignoring the count column would lose 1,817 of 3,000 people, and is an error; with count= nobody is lost."""
    table = pd.read_csv(DATA / "anonypyx_adult.csv.gz")
    people = mx.datasets.load_adult(complete=True).head(3_000)
    assert (len(table), table["count"].sum()) == (1_183, 3_000)
    for population in (None, people):
        with refused(TableError):
            Release.from_generalized(table, **ADULT, population=population)
    release = Release.from_generalized(table, **ADULT, population=people, count="count")
    assert isinstance(release, Release)  # Mondrian's groups do not overlap
    assert release.n_records == 3_000
    result = MaxEnt(release).solve().joint().groupby(level="occupation").sum()
    truth = people["occupation"].value_counts(normalize=True)
    pd.testing.assert_series_equal(result, truth, check_names=False, check_like=True, atol=1e-9)
    groups = table.groupby(ADULT["qi"])["count"].sum()
    assert np.sort(release.n_qb.sum(axis=0)).tolist() == np.sort(groups).tolist()


def test_tables_of_anonypyx_that_are_refused():
    """Means; a row without a value, a column that may be of two attributes, and columns that are not there."""
    table = pd.read_csv(DATA / "anonypyx_machine_readable.csv")
    several = {"qi": ["Age", "Sex", "Sex_at_birth"], "sa": "Disease"}
    means = pd.read_csv(DATA / "anonypyx_microaggregation.csv")
    for wrong, roles, error in [
        (means, {"qi": "Age", "sa": "Disease", "population": PEOPLE}, TableError),
        (table.assign(Sex_f=False, Sex_m=False), AGE_SEX, TableError),
        (table.drop(columns="Age_min"), AGE_SEX, UnknownName),
        (table.assign(Sex_at_birth_f=True), several, TableError),
    ]:
        with refused(error):
            Release.from_generalized(wrong, **roles, count="count")


def test_anjana():
    """ANJANA, run: levels of a hierarchy, masked zip codes; whoever is covered by no group is the suppressed record."""
    table = pd.read_csv(DATA / "anjana.csv")
    release = Release.from_generalized(table, **ALL, population=PEOPLE)
    assert isinstance(release, GroupedRelease)
    plain = MaxEnt(release).solve().conditional()
    assert plain.loc[(36, "m", 14853), OUTSIDE] == pytest.approx(1)
    assert plain.loc[(34, "f", 14850), "Flu"] == pytest.approx(2 / 3)
    assert plain.loc[(60, "m", 14853), "Gout"] == pytest.approx(1 / 2)
    # The dictionary of levels that ANJANA was given says the same as the texts do; so does its file.
    zips = PEOPLE["Zip"].astype(str)
    masks = {0: PEOPLE["Zip"], 1: zips.str[:4] + "*", 2: zips.str[:3] + "**"}
    for age in (dict(pd.read_csv(DATA / "anjana_age.csv", header=None)), DATA / "anjana_age.csv"):
        release = Release.from_generalized(table, **ALL, population=PEOPLE, hierarchies={"Age": age, "Zip": masks})
        pd.testing.assert_frame_equal(MaxEnt(release).solve().conditional(), plain, atol=1e-9)


def test_arx():
    """ARX, after its documentation: semicolons, no header of hierarchies, "[20, 40[", "130**", suppressed records."""
    table = pd.read_csv(DATA / "arx.csv", sep=";")
    plain = MaxEnt(Release.from_generalized(table, **ALL, population=PEOPLE)).solve().conditional()
    assert plain.loc[(60, "m", 14853), "Flu"] == pytest.approx(1, abs=1e-9)  # suppressed: all others are full
    assert plain.loc[(34, "f", 14850), "Gout"] == pytest.approx(1 / 2, abs=1e-6)
    assert plain.loc[(17, "f", 13053), "HIV"] == pytest.approx(1 / 3, abs=1e-6)
    files = {"Age": DATA / "arx_age.csv", "Zip": str(DATA / "arx_zip.csv")}
    read = {name: pd.read_csv(file, sep=";", header=None) for name, file in files.items()}
    for hierarchies in (files, read):
        release = Release.from_generalized(table, **ALL, population=PEOPLE, hierarchies=hierarchies)
        pd.testing.assert_frame_equal(MaxEnt(release).solve().conditional(), plain, atol=1e-9)
    # Without a population the hierarchy says which values can be read.
    p = MaxEnt(Release.from_generalized(table, **ALL, hierarchies=files)).solve().conditional()
    assert p.loc[("[0, 20[", "*", "130**"), "HIV"] == pytest.approx(1 / 3)
    with refused(TableError):
        Release.from_generalized(table.assign(Age="[80, 99["), **ALL, hierarchies=files)


def test_sdcmicro():
    """SdcMicro, after its documentation: labels of R's `cut`, and NA, any value, where values were suppressed."""
    table = pd.read_csv(DATA / "sdcmicro.csv")
    release = Release.from_generalized(table, **ALL, population=PEOPLE)
    assert "Age=(10,20], Sex=f, Zip=*" in list(release.buckets)
    post = MaxEnt(release).solve()
    p = post.conditional()
    assert p.loc[(17, "f", 13053), "Flu"] == pytest.approx(1)
    assert p.loc[(20, "m", 13068), "HIV"] == pytest.approx(1 / 2)  # 20 is in (10,20], and not in (20,40]
    assert p.loc[(34, "f", 14850), "Flu"] == pytest.approx(1)
    assert post.joint().groupby(level="Disease").sum()["Flu"] == pytest.approx(5 / 10)
    # Zip codes that gaps have made floats, 14850.0, are 14850; a missing sensitive value is none.
    assert table["Zip"].dtype == float
    tuples = Release.from_generalized(table, **ALL).quasi_identifiers
    assert set(tuples.get_level_values("Zip")) == {"14850", "14853", "*"}
    with refused(TableError):
        Release.from_generalized(table.assign(Disease=table["Disease"].mask(table.index == 3)), **ALL)


COUNTED = pd.DataFrame({"Sex": list("ffm"), "Disease": ["Flu", "HIV", "Flu"], "Ward": [1, 1, 2], "n": [2, 1, 3]})
PLAIN, ROLES = COUNTED.drop(columns="n"), {"qi": "Sex", "sa": "Disease"}


@pytest.mark.parametrize(
    "load",
    [
        lambda table: Release.from_generalized(table, **ROLES),
        lambda table: Release.from_buckets(table, **ROLES, bucket="Ward"),
        lambda table: Release.from_tables(table, table, **ROLES, bucket="Ward"),
        lambda table: Release.from_tables(table, PLAIN, **ROLES, bucket="Ward"),
        lambda table: QITable(table, **ROLES, sa_values=["Flu", "HIV"]),
        lambda table: Release.from_generalized(PLAIN, **ROLES, population=table),
    ],
)
def test_a_count_that_is_not_declared(load):
    """Every function that reads a table refuses a column that looks like a count, unless all its values are 1."""
    with refused(TableError):
        load(COUNTED)
    load(PLAIN)
    load(COUNTED.assign(n=1))
