"""A published decision tree: its leaves divide the people, and say how many of each have which value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from ...errors import StatementError, arguments
from ...rules import find_values
from ...terms.rows import Rows
from ...terms.space import Space
from ...views import View
from ..base import Source
from .fitted_tree import fitted_tree
from .monotone_leaves import counts_of_leaves, is_monotone

__all__ = ["PublishedTree"]


class PublishedTree(Source):
    """n(leaf, x) as counted in every leaf; or, of classes alone, n(leaf, x) >= n(leaf, y) for the class x of a leaf.

    Parameters
    ----------
    tree : fitted scikit-learn DecisionTreeClassifier, or Pipeline, GridSearchCV or the like that ends in one
        Fitted on the people of the view, each with weight 1. Weights are refused where they can be seen.
    encode : callable, optional
        From a table of QI tuples, a column an attribute, to what the tree was fitted on. Not needed of a pipeline,
        nor of a tree that was fitted on QI as they are, by name or in the view's order.
    leaves : str
        What is published of a leaf: "counts", or only its "class".
    integer : bool
        Numbers of people are whole: of classes alone, one that is listed before the leaf's own has fewer people.

    Raises
    ------
    StatementError
        If it is no such tree; when added to a model, if its leaves were fitted on other numbers of people than come to
        them, or on weighted ones.
    UnknownName
        If a class is no sensitive value of the view.

    Notes
    -----
    Published rules, section VII (future work). The people of a leaf are known from everybody's QI. Of classes that are
    equally frequent a tree takes the first.

    Of a tree with `monotonic_cst` scikit-learn clips the shares of some leaves, to keep to the order. These do not
    count people: of such a leaf of n people only the numbers k and n - k are known, from its impurity, and not which of
    the two classes has which; so every class has from one to the other. All leaves together have as many as the root,
    which is never clipped. Nothing is said of the class of such a leaf, which need not be that of most of its people.

    Examples
    --------
    A tree of one split, fitted on five people; its leaves say that three of those below 40 earn 30, and one of the
    others. Ages within one leaf are interchangeable:

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

    def __init__(
        self,
        tree: Any,
        encode: Callable[[pd.DataFrame], Any] | None = None,
        leaves: str = "counts",
        integer: bool = True,
    ) -> None:
        arguments.choice(leaves, "leaves", ("counts", "class"))
        arguments.flag(integer, "integer")
        if encode is not None:
            arguments.function(encode, "encode")
        tree, self.names, encode = fitted_tree(tree, encode)
        weights = getattr(tree, "class_weight", None)
        if weights is not None and (not isinstance(weights, dict) or set(weights.values()) != {1}):
            raise StatementError(
                f"the tree has class_weight={weights!r}: its leaves do not count people; fit it without"
            )
        self.tree, self.encode, self.leaves, self.integer = tree, encode, leaves, integer

    @property
    def label(self) -> str:
        """The name of this source, with the number of leaves."""
        return f"decision tree with {self.tree.get_n_leaves()} leaves"

    def rows(self, space: Space) -> Iterator[Rows]:
        """Emit a row for every leaf and value, or every leaf and value that is not its class.

        Parameters
        ----------
        space : Space
            The terms of the model, by which rows are numbered.

        Yields
        ------
        Rows
            P(leaf, x), or P(leaf, x) - P(leaf, y), probabilities.

        Raises
        ------
        StatementError
            If the tree cannot take the view's people, or was fitted on others, or on weighted ones.
        UnknownName
            If a class is no sensitive value of the view.

        Examples
        --------
        >>> import maxent_cvx as mx, pandas as pd
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> people = pd.DataFrame({"Age": [25, 28, 35, 47, 52], "Salary": ["30", "30", "30", "30", "50"]})
        >>> tree = DecisionTreeClassifier(max_leaf_nodes=2, min_samples_leaf=2).fit(people[["Age"]], people["Salary"])
        >>> view = mx.QITable(people, qi="Age", sa="Salary", sa_values=["30", "50"])
        >>> (rows,) = mx.PublishedTree(tree).rows(mx.MaxEnt(view).space)
        >>> [rows.name(i) for i in range(len(rows))], rows.low.tolist()
        (['leaf: 1, 30', 'leaf: 1, 50', 'leaf: 2, 30', 'leaf: 2, 50'], [0.6, 0.0, 0.2, 0.2])
        """
        view = space.view
        leaf, of_leaf = np.unique(self._apply(view), return_inverse=True)
        members = sp.csr_array((np.ones(len(of_leaf)), (of_leaf, np.arange(len(of_leaf)))))
        counts, most = self._counts(leaf, np.asarray(members @ view.n_q), view)
        sure = (counts == most).all(axis=1)
        n, n_values = space.n_records, counts.shape[1]
        every, value = np.divmod(np.arange(counts.size), n_values)
        if self.leaves == "counts":
            names = [f"{leaf[i]}, {view.sensitive_values[s]}" for i, s in zip(every, value, strict=True)]
            low, high = counts.ravel() / n, most.ravel() / n
            yield Rows(space.joint(members[every], value), low, high, "leaf", pd.Index(names, dtype=object), view)
            if not sure.all():
                yield self._root(space)
            return
        order = self._order(view)  # the place of every value among the classes
        winner = np.lexsort((np.broadcast_to(order, counts.shape), -counts), axis=1)[:, 0]
        other = (value != winner[every]) & sure[every]
        every, value, first = every[other], value[other], winner[every[other]]
        ahead = space.joint(members[every], first) - space.joint(members[every], value)
        fewer = (order[value] < order[first]).astype(float) * self.integer
        names = [f"{leaf[i]}, {view.sensitive_values[s]}" for i, s in zip(every, first, strict=True)]
        names = [f"{a} rather than {view.sensitive_values[s]}" for a, s in zip(names, value, strict=True)]
        most = np.full(len(every), np.inf)
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
                f"the tree cannot take the {view.noun}'s {', '.join(view.qi)}: {str(error).splitlines()[0]}; pass "
                "encode=, a function from a table of them to what the tree was fitted on"
            ) from error
        if leaves.shape != (len(view.n_q),):
            raise StatementError(
                f"encode= gives {len(leaves)} rows for {len(view.n_q)} QI tuples; one a tuple is expected"
            )
        return leaves

    def _root(self, space: Space) -> Rows:
        """Count everybody with each class, as the root of the tree does."""
        view, fitted = space.view, self.tree.tree_
        counts = np.rint(fitted.value[0, 0, :] / fitted.value[0, 0, :].sum() * fitted.n_node_samples[0])
        s = self._classes(view)
        everybody = sp.csr_array(np.ones((len(s), len(view.n_q))))
        names = pd.Index([f"root, {view.sensitive_values[one]}" for one in s], dtype=object)
        people = counts / space.n_records
        return Rows(space.joint(everybody, s), people, people, "tree", names, view)

    def _counts(self, leaf: np.ndarray, n_q: np.ndarray, view: View) -> tuple[np.ndarray, np.ndarray]:
        """The least and most people of every leaf that have every sensitive value, in the view's order."""
        fitted = self.tree.tree_
        people, weighted = fitted.n_node_samples[leaf], fitted.weighted_n_node_samples[leaf]
        shares = fitted.value[leaf, 0, :]  # counts, before scikit-learn 1.3
        found = shares / shares.sum(axis=1, keepdims=True) * people[:, None]
        monotone = is_monotone(self.tree)
        off = np.abs(weighted - people) > 1e-6
        if off.any() or (not monotone and (np.abs(found - np.rint(found)) > 1e-6).any()):
            raise StatementError(
                "the tree was fitted with weights of people or of classes, so that its leaves do not count people; fit "
                "it without class_weight and sample_weight"
            )
        reached = np.isin(np.flatnonzero(fitted.children_left == -1), leaf)
        if (off := people != n_q).any() or not reached.all():
            where = (
                f"leaf {leaf[off][0]} was fitted on {people[off][0]} people, and {int(n_q[off][0])} of the {view.noun} "
                "come to it"
                if off.any()
                else f"nobody in the {view.noun} comes to {int((~reached).sum())} of its leaves"
            )
            raise StatementError(
                f"{where}: the tree was fitted on other people, or on another encoding of them than encode= makes"
            )
        both = counts_of_leaves(self.tree, leaf) if monotone else (np.rint(found),) * 2
        every = np.zeros((2, len(leaf), len(view.sensitive_values)))
        every[:, :, self._classes(view)] = both
        return every[0], every[1]

    def _classes(self, view: View) -> np.ndarray:
        """The position of every class among the view's sensitive values."""
        classes = pd.Series(self.tree.classes_, index=[f"class {c}" for c in self.tree.classes_], dtype=object)
        return find_values(classes, view.sensitive_values, f"value of {view.sa!r}")

    def _order(self, view: View) -> np.ndarray:
        """The place of every sensitive value among the classes; those that are no class come last."""
        order = np.full(len(view.sensitive_values), len(self.tree.classes_))
        order[self._classes(view)] = np.arange(len(self.tree.classes_))
        return order
