"""Published decision trees, whose leaves partition the people and contain counts of each value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.special import entr

from .._utils.errors import StatementError, short_repr
from .._utils.validation import check_bool, check_callable, check_in
from ..releases.base import View
from ..rules import find_values
from ..terms.rows import Rows
from ..terms.space import Space
from .base import Source
from .numbers import known_members

# The fitted tree in pipelines and searches of scikit-learn, and the steps before it.


Encoder = Callable[[pd.DataFrame], Any]


def fitted_tree(estimator: Any, encode: Encoder | None) -> tuple[Any, Any, Encoder | None]:
    """Find the fitted tree in an estimator: itself, the last step of a pipeline, or the best one of a search."""
    names, steps, original = getattr(estimator, "feature_names_in_", None), [], estimator
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            before, estimator = estimator[:-1], estimator[-1]
            steps += [before] if len(before) else []
        else:
            break
        names = getattr(estimator, "feature_names_in_", None) if names is None and not steps else names
    if hasattr(estimator, "param_grid") or hasattr(estimator, "param_distributions"):
        raise StatementError(f"{short_repr(original)} has no best_estimator_; fit the search with refit=True")
    if not (hasattr(estimator, "tree_") and hasattr(estimator, "classes_")) or np.ndim(estimator.classes_) != 1:
        raise StatementError(
            "tree must be a fitted DecisionTreeClassifier with one output, or a pipeline or a search that ends in one, "
            f"not {short_repr(estimator)}"
        )
    return estimator, names, encode or (_through(steps) if steps else None)


def _through(steps: list[Any]) -> Encoder:
    """Return an encoder that applies one step after the other."""

    def encode(people: pd.DataFrame) -> Any:
        for step in steps:
            people = step.transform(people)
        return people

    return encode


# Leaves of a tree with monotonic constraints, some of whose shares are clipped, so that they do not count people.

#: The error about a tree whose leaves do not count people.
WEIGHTED = "the tree's leaves do not count people; fit it without class_weight and sample_weight"
#: The largest difference of equal shares: the roundoff of a sum of a few doubles below 1.
SAME = 1e-9
#: The number of halvings that shorten an interval of width 1/2 to double precision.
HALVINGS = 60


def is_monotone(tree: Any) -> bool:
    """Return whether a fitted classifier's tree was grown with monotonic constraints."""
    constraints = getattr(tree, "monotonic_cst", None)
    return constraints is not None and bool(np.any(np.asarray(constraints) != 0))


def counts_of_leaves(tree: Any, leaf: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound the number of people of each leaf with each of two classes in a monotone tree."""
    # A node's impurity determines the numbers k and n - k of its people, but not which class has which. Its shares are
    # clipped to bounds, the midpoints of the shares of both sides of splits above it (as in scikit-learn); shares that
    # are not equal to a bound are not clipped, and count people.
    fitted = tree.tree_
    people = fitted.n_node_samples.astype(float)
    fewer = _fewer(fitted.impurity, people, tree.criterion == "gini")
    first = fitted.value[:, 0, 0] / fitted.value[:, 0, :].sum(axis=1)
    sure = ~_at_a_bound(fitted, first, fewer / people, np.asarray(tree.monotonic_cst))
    exact = np.rint(first * people)
    if (np.abs(exact - first * people)[sure] > 1e-6 * people[sure]).any():
        raise StatementError(WEIGHTED)
    least, most = np.where(sure, exact, fewer)[leaf], np.where(sure, exact, people - fewer)[leaf]
    total = people[leaf]
    return np.column_stack([least, total - most]), np.column_stack([most, total - least])


def _fewer(impurity: np.ndarray, people: np.ndarray, gini: bool) -> np.ndarray:
    """Return the number of people of each node with the less frequent class."""
    low, high = np.zeros(len(impurity)), np.full(len(impurity), 0.5)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        less = _impurity(middle, gini) < impurity
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    fewer = np.rint((low + high) / 2 * people)
    if (np.abs(_impurity(fewer / people, gini) - impurity) > SAME).any():
        raise StatementError(WEIGHTED)
    return fewer


def _impurity(share: np.ndarray, gini: bool) -> np.ndarray:
    """Return the impurity of two classes, one of which has this share; entropy is in bits."""
    other = 1 - share
    if gini:
        return 2 * share * other
    return np.asarray((entr(share) + entr(other)) / np.log(2))


def _at_a_bound(fitted: Any, shares: np.ndarray, fewer: np.ndarray, constraints: np.ndarray) -> np.ndarray:
    """Mark the nodes whose share equals a bound to which a split above may clip."""
    left, right = fitted.children_left, fitted.children_right
    inner = np.flatnonzero(left >= 0)
    parent = np.full(len(left), -1)
    parent[left[inner]], parent[right[inner]] = inner, inner
    middles = np.full((len(left), 4), np.nan)
    split = inner[constraints[fitted.feature[inner]] != 0]
    a, b = fewer[left[split]], fewer[right[split]]
    middles[split] = np.column_stack([a + b, a + 1 - b, 1 - a + b, 2 - a - b]) / 2
    at_bound, above = np.zeros(len(left), dtype=bool), parent.copy()
    while (above >= 0).any():
        at_bound |= (above >= 0) & (np.abs(middles[above] - shares[:, None]) <= SAME).any(axis=1)
        above = np.where(above >= 0, parent[above], -1)
    return at_bound


class PublishedTree(Source):
    """n(leaf, x) = count of x in every leaf; or, by class only, n(leaf, x) >= n(leaf, y) for the class x of a leaf.

    Parameters
    ----------
    tree : fitted scikit-learn DecisionTreeClassifier, or Pipeline, GridSearchCV or the like that ends in one
        A tree fitted on the people of the view, each with weight 1. Weights raise an error if they can be detected.
    encode : callable, optional
        A function from a table of QI tuples, one column per attribute, to the features of the tree. Not needed for a
        pipeline, or if the tree was fitted on the QI attributes themselves, by name or in the view's order.
    leaves : str
        The published property of a leaf: its "counts", or only its "class".
    integer : bool
        Whether to use the fact that numbers of people are integers: if only classes are known, a class listed before
        that of the leaf has fewer people.

    Raises
    ------
    StatementError
        If `tree` is not such a tree; when added to a model, if the people in its leaves are not those of the view, or
        were weighted.
    UnknownName
        If a class is not a sensitive value of the view.

    Notes
    -----
    Published rules, section VII (future work). Everybody's QI determine the people of a leaf. If classes are equally
    frequent, a tree chooses the first.

    With `monotonic_cst`, scikit-learn clips the shares of some leaves to keep the order, so that they do not count
    people. The impurity of such a leaf of n people determines the two numbers k and n - k, but not which of the two
    classes has which, so both are bounds for each class. All leaves together have the counts of the root, which is
    never clipped. The class of such a leaf is not used, since it may not be that of most of its people.

    Examples
    --------
    A tree with one split, fitted on five people: the three below 40 earn 30, and so does one of the others. People
    with different ages in one leaf are interchangeable:

    >>> import maxent_cvx as mx, pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> people = pd.DataFrame({"Age": [25, 28, 35, 47, 52], "Salary": ["30", "30", "30", "30", "50"]})
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=2, min_samples_leaf=2).fit(people[["Age"]], people["Salary"])
    >>> view = mx.QITable(people, qi="Age", sa="Salary", sa_values=["30", "50"])
    >>> print(mx.MaxEnt(view).add(mx.PublishedTree(tree)).solve().conditional().round(3))
    Salary   30   50
    Age
    25      1.0  0.0
    28      1.0  0.0
    35      1.0  0.0
    47      0.5  0.5
    52      0.5  0.5
    """

    _can_be_recomputed = False

    def __init__(
        self,
        tree: Any,
        encode: Callable[[pd.DataFrame], Any] | None = None,
        leaves: str = "counts",
        integer: bool = True,
    ) -> None:
        check_in(leaves, "leaves", ("counts", "class"))
        check_bool(integer, "integer")
        if encode is not None:
            check_callable(encode, "encode")
        tree, self.names, encode = fitted_tree(tree, encode)
        weights = getattr(tree, "class_weight", None)
        if weights is not None and (not isinstance(weights, dict) or set(weights.values()) != {1}):
            raise StatementError(WEIGHTED)
        self.tree, self.encode, self.leaves, self.integer = tree, encode, leaves, integer

    @property
    def label(self) -> str:
        """The name of this source and the number of leaves."""
        return f"decision tree with {self.tree.get_n_leaves()} leaves"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Yield one row per leaf and value, or, if only classes are known, per leaf and value except its class."""
        view = space.view
        known_members(view, "a tree")
        leaf, of_leaf = np.unique(self._apply(view), return_inverse=True)
        members = sp.csr_array((np.ones(len(of_leaf)), (of_leaf, np.arange(len(of_leaf)))))
        counts, most = self._counts(leaf, np.asarray(members @ view.n_q), view)
        sure = (counts == most).all(axis=1)
        n, n_values = space.n_records, counts.shape[1]
        leaf_of_row, value = np.divmod(np.arange(counts.size), n_values)
        if self.leaves == "counts":
            names = [f"{leaf[i]}, {view.sensitive_values[s]}" for i, s in zip(leaf_of_row, value, strict=True)]
            low, high = counts.ravel() / n, most.ravel() / n
            yield Rows(space.joint(members[leaf_of_row], value), low, high, "leaf", pd.Index(names, dtype=object), view)
            if not sure.all():
                yield self._root(space)
            return
        n_classes = len(self.tree.classes_)
        order = np.full(n_values, n_classes)  # the position of every value among the classes, or after them
        order[self._classes(view)] = np.arange(n_classes)
        winner = np.lexsort((np.broadcast_to(order, counts.shape), -counts), axis=1)[:, 0]
        other = (value != winner[leaf_of_row]) & sure[leaf_of_row]
        leaf_of_row, value, first = leaf_of_row[other], value[other], winner[leaf_of_row[other]]
        ahead = space.joint(members[leaf_of_row], first) - space.joint(members[leaf_of_row], value)
        fewer = (order[value] < order[first]).astype(float) * self.integer
        names = [f"{leaf[i]}, {view.sensitive_values[s]}" for i, s in zip(leaf_of_row, first, strict=True)]
        names = [f"{a} rather than {view.sensitive_values[s]}" for a, s in zip(names, value, strict=True)]
        most = np.full(len(leaf_of_row), np.inf)
        yield Rows(sp.csr_array(ahead), fewer / n, most, "leaf", pd.Index(names, dtype=object), view)

    def _apply(self, view: View) -> np.ndarray:
        """Find the leaf of every QI tuple."""
        people = view.quasi_identifiers.to_frame(index=False)
        try:
            if self.names is not None and set(self.names) <= set(people):
                people = people[list(self.names)]
            encoded = self.encode(people) if self.encode else people if self.names is not None else people.to_numpy()
            leaves = np.asarray(self.tree.apply(encoded))
        except (ValueError, TypeError, KeyError) as error:
            raise StatementError(
                f"the tree cannot be applied to the {view.noun}'s {', '.join(view.qi)}: {str(error).splitlines()[0]}; "
                "pass encode=, a function from a table of them to the tree's features"
            ) from error
        if leaves.shape != (len(view.n_q),):
            raise StatementError(f"encode= must return {len(view.n_q)} rows, one per QI tuple, not {len(leaves)}")
        return leaves

    def _root(self, space: Space) -> Rows:
        """Count the people with each class, as at the root of the tree."""
        view, fitted = space.view, self.tree.tree_
        counts = np.rint(fitted.value[0, 0, :] / fitted.value[0, 0, :].sum() * fitted.n_node_samples[0])
        s = self._classes(view)
        everybody = sp.csr_array(np.ones((len(s), len(view.n_q))))
        names = pd.Index([f"root, {view.sensitive_values[value]}" for value in s], dtype=object)
        people = counts / space.n_records
        return Rows(space.joint(everybody, s), people, people, "tree", names, view)

    def _counts(self, leaf: np.ndarray, n_q: np.ndarray, view: View) -> tuple[np.ndarray, np.ndarray]:
        """Return the least and most people of every leaf with every sensitive value, in the view's order."""
        fitted = self.tree.tree_
        people, weighted = fitted.n_node_samples[leaf], fitted.weighted_n_node_samples[leaf]
        shares = fitted.value[leaf, 0, :]  # counts, before scikit-learn 1.3
        counts = shares / shares.sum(axis=1, keepdims=True) * people[:, None]
        monotone = is_monotone(self.tree)
        off = np.abs(weighted - people) > 1e-6
        if off.any() or (not monotone and (np.abs(counts - np.rint(counts)) > 1e-6).any()):
            raise StatementError(WEIGHTED)
        reached = np.isin(np.flatnonzero(fitted.children_left == -1), leaf)
        other = "the tree was fitted on other people, or with another encoding than encode="
        if (off := people != n_q).any():
            fitted_on, n = people[off][0], int(n_q[off][0])
            raise StatementError(f"leaf {leaf[off][0]} was fitted on {fitted_on} people, but has {n}; {other}")
        if not reached.all():
            raise StatementError(f"{int((~reached).sum())} leaves have no people of the {view.noun}; {other}")
        bounds = counts_of_leaves(self.tree, leaf) if monotone else (np.rint(counts),) * 2
        counts_by_value = np.zeros((2, len(leaf), len(view.sensitive_values)))
        counts_by_value[:, :, self._classes(view)] = bounds
        return counts_by_value[0], counts_by_value[1]

    def _classes(self, view: View) -> np.ndarray:
        """Return the position of every class among the view's sensitive values."""
        classes = pd.Series(self.tree.classes_, index=[f"class {c}" for c in self.tree.classes_], dtype=object)
        return find_values(classes, view.sensitive_values, f"value of {view.sa!r}")
