"""A view of one's own, as somebody writes it who has never seen the package from inside: a class, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx import Infeasible, UnknownName
from support.helpers import refused

QI = ["Gender", "Degree"]


class TwoTables(mx.View):
    """How many people have each QI tuple, and how many with each value of one attribute have each disease."""

    noun = "pair of tables"
    n_q = n_s = published = None

    def __init__(self, people: pd.DataFrame, cross: pd.DataFrame) -> None:
        self.people, self.cross = people, cross
        self.qi, self.sensitive = tuple(people.columns[:-1]), (cross.columns[1],)
        counts = people.set_index(list(self.qi))["n"]
        self.quasi_identifiers, self.n_q = counts.index, counts.to_numpy()
        self.sensitive_values = pd.Index(sorted(cross.iloc[:, 1].unique()), name=cross.columns[1])
        self.published = {("q",): counts, (cross.columns[0], "s"): cross.set_index(list(cross.columns[:2]))["n"]}

    def terms(self) -> dict[str, np.ndarray]:
        n, m = len(self.quasi_identifiers), len(self.sensitive_values)
        return {"q": np.repeat(np.arange(n), m), "s": np.tile(np.arange(m), n)}

    def to_frames(self) -> dict[str, pd.DataFrame]:
        return {"people": self.people, "cross": self.cross}


def two_tables(records: pd.DataFrame, shared: str = "Gender") -> TwoTables:
    """Publish the two tables of some records."""
    people = records.groupby(QI).size().rename("n").reset_index()
    cross = pd.crosstab(records[shared], records["Disease"]).stack().rename("n").reset_index()
    return TwoTables(people, cross)


@pytest.fixture
def view(hospital) -> TwoTables:
    """The ten patients, and the diseases of men and of women."""
    return two_tables(hospital)


def raked(records: pd.DataFrame, shared: str, event: np.ndarray, number: float) -> np.ndarray:
    """P(s | q) by iterative proportional fitting to the two tables, and to one event with its number of people."""
    counts = records.groupby(QI).size()
    cross = pd.crosstab(records[shared], records["Disease"])
    groups, people = counts.index.get_level_values(shared), counts.to_numpy()[:, None]
    x = np.ones((len(people), cross.shape[1]))
    for _ in range(400):
        for label in cross.index:
            held = x[groups == label].sum(axis=0)
            x[groups == label] *= cross.loc[label].to_numpy() / np.maximum(held, 1e-300)
        if event.any():
            inside = x[event].sum()
            x = np.where(event, x * number / inside, x * (x.sum() - number) / (x.sum() - inside))
        x *= people / x.sum(axis=1, keepdims=True)
    return x / people


@pytest.mark.parametrize("shared", QI)
def test_two_tables_are_independent_given_what_they_share(hospital, shared):
    """P(s | q) = n(g, s) / n(g), g being the shared attribute of q: the log-linear model of two overlapping margins."""
    view = two_tables(hospital, shared)
    post = mx.MaxEnt(view).solve()
    of_shared = pd.crosstab(hospital[shared], hospital["Disease"], normalize="index")
    expected = of_shared.loc[view.quasi_identifiers.get_level_values(shared)].to_numpy()
    np.testing.assert_allclose(post.conditional(), expected, atol=1e-9)
    np.testing.assert_allclose(
        post.conditional(), raked(hospital, shared, np.zeros(expected.shape, bool), 0), atol=1e-9
    )
    assert post.certificate.holds


def test_contradictory_knowledge_is_diagnosed(view):
    """That nobody of the women has lung cancer, said of each: three statements, of which each can be spared."""
    said = [f"P(Lung Cancer | Degree={degree}, Gender=female) = 0" for degree in ("college", "graduate", "junior")]
    model = mx.MaxEnt(view).add(*said, "P(Flu | Degree=college) = 0.4")
    assert set(model.diagnose().index) == set(said)
    with refused(Infeasible, said[2]):
        model.solve()
    assert mx.MaxEnt(view).add("P(Flu | Degree=college) = 0.4").diagnose().empty
    relaxed = model.relax().model.solve()
    assert relaxed.certificate.holds


def test_contradictory_tables_are_diagnosed(hospital):
    """Seven men by one table, six by the other: what is published contradicts itself, and the rows are named."""
    cross = pd.crosstab(hospital["Gender"], hospital["Disease"])
    cross.loc["male", "Flu"] += 1
    cross.loc["female", "HIV"] -= 1
    people = hospital.groupby(QI).size().rename("n").reset_index()
    model = mx.MaxEnt(TwoTables(people, cross.stack().rename("n").reset_index()))
    assert all(name.startswith("P(Gender, Disease)") for name in model.diagnose().index)
    assert len(model.diagnose())
    remedy = "Correct the published table that is wrong, or make the view without it"
    with refused(Infeasible, remedy, never="pseudonym"):
        model.solve()


def test_sources_and_people_of_every_kind(view, hospital):
    """Named people, priors, and named sources that are true of the records are taken, and certified."""
    allen = {"Allen": {"Gender": "male", "Degree": "college"}}
    named = mx.MaxEnt(view, people=allen).add("P(Flu | Allen) = 0").solve()
    assert named.people().loc["Allen", "Flu"] == pytest.approx(0, abs=1e-9)
    assert named.people().sum(axis=1).tolist() == pytest.approx([1.0])
    prior = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=0.5)
    for model in (
        mx.MaxEnt(view, prior=prior),
        mx.MaxEnt(view).add(mx.StrongestAssociations(hospital, positive=1, negative=2)),
        mx.MaxEnt(view).add(mx.AnsweredQueries([{"Degree": "college", "Disease": "Flu"}], [2.0])),
        mx.MaxEnt(view).add(lambda space: space.conditional("s", given="q") <= 0.6),
    ):
        assert model.solve().certificate.holds
    for options in ({"solver": "DUAL_LBFGS"}, {"solver": "CLARABEL", "polish": True}):
        np.testing.assert_allclose(
            mx.MaxEnt(view).solve(**options).conditional(), mx.MaxEnt(view).solve().conditional(), atol=1e-4
        )
    with refused(UnknownName, "Age"):
        mx.MaxEnt(view).add("P(Flu | Age=3) = 0")


def test_saved_and_loaded(view, tmp_path: Path):
    """It comes back as its own class, with the answer to the last bit."""
    post = mx.MaxEnt(view).add("P(Flu | Degree=college) = 0.4").solve()
    post.save(tmp_path / "post.parquet")
    again = mx.load_posterior(tmp_path / "post.parquet")
    assert type(again.space.view) is TwoTables
    pd.testing.assert_series_equal(again.joint(), post.joint(), check_exact=True)
    pd.testing.assert_frame_equal(again.space.view.cross, view.cross)
    assert mx.MaxEnt(again.space.view).solve().entropy == mx.MaxEnt(view).solve().entropy
