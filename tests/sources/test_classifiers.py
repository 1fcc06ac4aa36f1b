"""Published classifiers: decision trees and rule lists (Published rules, section VII, future work)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxent_cvx import (
    BadProbability,
    MaxEnt,
    PublishedRuleList,
    PublishedRules,
    PublishedTree,
    Release,
    StatementError,
    UnknownName,
)
from maxent_cvx.anonymize import mine_rules
from support.helpers import refused
from support.rules import EXAMPLE_1, QI, people_of, random_table

sklearn_tree = pytest.importorskip("sklearn.tree")
pipeline = pytest.importorskip("sklearn.pipeline")
preprocessing = pytest.importorskip("sklearn.preprocessing")

seeds = st.integers(0, 10**6)


def fitted(frame: pd.DataFrame, qi, sa="Salary", weights=None, **options):
    """A pipeline of a one-hot encoder and a tree."""
    steps = preprocessing.OneHotEncoder(), sklearn_tree.DecisionTreeClassifier(random_state=0, **options)
    return pipeline.make_pipeline(*steps).fit(frame[qi], frame[sa], decisiontreeclassifier__sample_weight=weights)


def test_classes_of_leaves():
    """Only the class: at least half of the leaf's people have it, which is where maximum entropy stops."""
    tree = fitted(EXAMPLE_1, QI, max_depth=1)
    model = MaxEnt(people_of(EXAMPLE_1)).add(PublishedTree(tree, leaves="class"))
    low, high = model.bounds("P(50K+ | Gender=Female)")
    assert tree.predict(EXAMPLE_1[QI])[1] == "50K+"
    assert (low, high) == pytest.approx((1 / 2, 1))  # a tie is the first class's, which is 50K+
    assert model.bounds("P(50K- | Gender=Male)") == pytest.approx((2 / 3, 1))
    divided = MaxEnt(people_of(EXAMPLE_1)).add(PublishedTree(tree, leaves="class", integer=False))
    assert divided.solve().conditional().eq(0.5).all(axis=None)


@given(seed=seeds, depth=st.integers(1, 3), leaves=st.sampled_from(["counts", "class"]), integer=st.booleans())
def test_trees_are_true_of_their_people(seed: int, depth: int, leaves: str, integer: bool):
    """The rows of a tree are true of the people it was fitted on, and the posterior predicts the same classes."""
    frame = random_table(np.random.default_rng(seed))
    qi = [column for column in frame if column != "S"]
    tree = fitted(frame, qi, "S", max_depth=depth)
    model = MaxEnt(people_of(frame, qi, "S")).add(PublishedTree(tree, leaves=leaves, integer=integer))
    assert (model.form.residual(model.space.count(frame)) < 1e-9).all()
    post = model.solve()
    if leaves == "class":  # whoever has the posterior in hand would predict the same, or is in doubt
        p = post.conditional()
        predicted = tree.predict(p.index.to_frame(index=False).set_axis(qi, axis=1))
        chosen = p.to_numpy()[np.arange(len(p)), p.columns.get_indexer(predicted)]
        assert (chosen >= p.max(axis=1) - 1e-6).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: PublishedTree("tree"),
        lambda: PublishedTree(sklearn_tree.DecisionTreeClassifier()),
        lambda: PublishedTree(fitted(EXAMPLE_1, QI), leaves="paths"),
        lambda: PublishedTree(fitted(EXAMPLE_1, QI, class_weight="balanced")),
        lambda: PublishedTree(fitted(EXAMPLE_1, QI, weights=1.0 + (EXAMPLE_1["Salary"] == "50K-"))),
        lambda: PublishedTree(fitted(EXAMPLE_1, QI), lambda people: [[0] * 5]),
        lambda: PublishedTree(fitted(pd.concat([EXAMPLE_1, EXAMPLE_1]), QI)),
        lambda: PublishedTree(fitted(EXAMPLE_1.assign(Age=1), ["Age", "Gender"])),
    ],
)
def test_trees_that_are_refused(make):
    """Objects that are no tree, trees that do not count people, and trees of other people are refused."""
    with refused(StatementError):
        MaxEnt(people_of(EXAMPLE_1)).add(make())


def grown(seed: int) -> tuple[pd.DataFrame, sklearn_tree.DecisionTreeClassifier]:
    """A random table of numbers, and a tree with monotonic constraints on some of them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 6, (int(rng.integers(12, 50)), 3)), columns=list("abc"))
    frame["S"] = np.where(frame["a"] + rng.normal(0, 3, len(frame)) > 3, "yes", "no")
    tree = sklearn_tree.DecisionTreeClassifier(
        monotonic_cst=rng.choice([-1, 0, 1], 3), max_depth=int(rng.integers(1, 6)), random_state=seed,
        criterion=str(rng.choice(["gini", "entropy"])), splitter=str(rng.choice(["best", "random"])),
    )  # fmt: skip
    return frame, tree.fit(frame[list("abc")].to_numpy(), frame["S"])


@pytest.mark.parametrize("leaves", ["counts", "class"])
def test_monotone_trees_are_true_of_their_people(leaves):
    """A leaf whose shares scikit-learn clipped counts nobody; its rows, and those of all others, are true."""
    clipped = doubtful = certain = swapped = 0
    for seed in (66, 70, *range(80, 90)):
        frame, tree = grown(seed)
        if frame["S"].nunique() < 2:
            continue
        model = MaxEnt(people_of(frame, list("abc"), "S")).add(PublishedTree(tree, leaves=leaves))
        assert (model.form.residual(model.space.count(frame)) < 1e-9).all()
        truth = pd.crosstab(tree.apply(frame[list("abc")].to_numpy()), frame["S"])
        stored = tree.tree_.value[truth.index, 0] * tree.tree_.n_node_samples[truth.index, None]
        off = np.abs(stored - truth).gt(1e-6).any(axis=1)
        clipped += off.sum()
        swapped += (off & np.isclose(stored, np.rint(stored)).all(axis=1)).sum()
        first = next(iter(PublishedTree(tree, leaves=leaves).rows(model.space)))
        exact = first.low == first.high
        certain, doubtful = certain + exact.sum(), doubtful + (~exact).sum()
    assert clipped > 10  # there are such trees
    assert swapped > 0  # and leaves of them whose shares look like counts
    assert leaves == "class" or certain > doubtful > 0


@pytest.mark.parametrize("where", ["around", "inside"])
def test_a_search_over_trees(where: str):
    """A search is the best tree that it found, around a pipeline or as its last step."""
    selection = pytest.importorskip("sklearn.model_selection")
    encoder = preprocessing.OneHotEncoder(handle_unknown="ignore")
    tree = sklearn_tree.DecisionTreeClassifier(random_state=0)
    depths = {"max_depth": [1, 2, 3]}
    if where == "around":
        grid = {f"decisiontreeclassifier__{name}": values for name, values in depths.items()}
        model = selection.GridSearchCV(pipeline.make_pipeline(encoder, tree), grid, cv=2)
    else:
        search = selection.RandomizedSearchCV(tree, depths, n_iter=2, cv=2, random_state=0)
        model = pipeline.make_pipeline(encoder, search)
    model.fit(EXAMPLE_1[QI], EXAMPLE_1["Salary"])
    p = MaxEnt(people_of(EXAMPLE_1)).add(PublishedTree(model)).solve().conditional()
    best = model.predict_proba(p.index.to_frame(index=False))
    order = list(model.classes_)
    np.testing.assert_allclose(p[order], best, atol=1e-9)


LIST = [({"Education": "Doctorate"}, "50K+", 5 / 6), ({"Gender": "Female"}, "50K+", 4 / 5), ({}, "50K-", 1)]


@pytest.mark.parametrize(
    ("rules", "error"),
    [
        ([*LIST, ({}, "50K+", 1)], StatementError),
        ([({"Gender": "Female"}, "50K+")], StatementError),
        ([({}, "50K+", 1.5)], BadProbability),
        ([({}, "50k", 1)], UnknownName),
        ([({"Sex": "Female"}, "50K+", 1)], UnknownName),
    ],
)
def test_rule_lists_that_are_refused(rules, error):
    """Lists that cannot be read, or that leave people without a rule, are refused."""
    with refused(error):
        MaxEnt(people_of(EXAMPLE_1)).add(PublishedRuleList(rules))


def test_members_of_a_release_of_a_population():
    """Classifiers count the people in a release, which are not known: one of the two women in it has x, not two of four."""
    records = pd.DataFrame({"Gender": ["Female", "Female", "Male"], "Disease": list("xyx")})
    population = pd.DataFrame({"Gender": ["Female"] * 4 + ["Male"] * 2})
    release = Release.from_generalized(records.assign(Gender="*"), qi="Gender", sa="Disease", population=population)
    rules = mine_rules(records, qi=["Gender"], sa="Disease", support=0.3, confidence=0.5)
    tree = fitted(records, ["Gender"], sa="Disease")
    for source in (PublishedRuleList([({"Gender": "Female"}, "x", 0.5)]), PublishedRules(rules), PublishedTree(tree)):
        with refused(StatementError):
            MaxEnt(release).add(source)
