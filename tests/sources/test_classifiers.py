"""Published classifiers: decision trees and rule lists (Published rules, section VII, future work)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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
from support.rules import EXAMPLE_1, QI, people_of

sklearn_tree = pytest.importorskip("sklearn.tree")
pipeline = pytest.importorskip("sklearn.pipeline")
preprocessing = pytest.importorskip("sklearn.preprocessing")


def fitted(frame: pd.DataFrame, qi, sa="Salary", weights=None, **options):
    """A pipeline of a one-hot encoder and a tree."""
    steps = preprocessing.OneHotEncoder(), sklearn_tree.DecisionTreeClassifier(random_state=0, **options)
    return pipeline.make_pipeline(*steps).fit(frame[qi], frame[sa], decisiontreeclassifier__sample_weight=weights)


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
