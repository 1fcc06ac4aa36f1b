"""The randomised publication of least expected loss that limits the inferences of every adversary."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from .._utils.errors import (
    BadProbability,
    Infeasible,
    SolverError,
    StatementError,
    TableError,
    join_names,
    pluralize,
    short_repr,
)
from .._utils.formatting import ReprMixin, TablePreview
from .._utils.tables import real_numbers, repeated
from .._utils.validation import check_dataframe, check_float, check_in, check_int, check_list, is_several
from ..model.maxent import MaxEnt
from ..priors import QIDistribution
from ..releases.base import unused_name
from ..releases.qi_table import QITable

if TYPE_CHECKING:
    import cvxpy as cp


#: Largest deviation from 1 of the sum of a joint distribution, by rounding.
ROUNDING = 1e-9
#: Largest violation of a limit by rounding of double precision, in units of probability (or nats).
EXACT = 1e-12
#: Published values with at most this probability, for every sensitive value, are rounding errors of a solver.
NOISE = 1e-9
#: Number of people of models of statements, and the least number per q: P(q) is exact to 1e-12, or to 1e-9 for rare q.
PEOPLE, FEWEST = 10**12, 10**3
#: The largest log likelihood ratio, nats, that is distinguished from an infinite one: exp(-600) is a double, exp(-800) is 0.
LARGEST = 600.0
#: Number of Blahut-Arimoto steps that refine the dual point of information.
STEPS = 2000


@dataclass(frozen=True, eq=False)
class Channel(ReprMixin):
    """A randomised publication P(y | q, s), with its loss and a bound on its distance from the optimum.

    Attributes
    ----------
    table : DataFrame
        P(y | q, s): one row per quasi-identifier and sensitive value, one column per published value y.
    loss : float
        Expected loss of the table under the joint distribution, in the unit of the given loss.
    bound : float
        Lower bound of the expected loss of every publication within the limit, by weak duality, computed with NumPy from
        the solver's multipliers, regardless of their accuracy; up to rounding of double precision.
    gap : float
        loss - bound, at least 0.
    prices : Series
        dloss / dlimit, at most 0, by adversary ("joint", 1, 2, ...) and quasi-identifier; the sum is the rate of change of
        the loss if the limit changes everywhere. With local differential privacy, "joint" is the only adversary.
    repair : float
        The largest share, over q, of the solver's table that was replaced by a publication independent of s, so that
        the limits are met up to 1e-12; 0 if they were met already, or after likelihoods too small for the solver were
        raised.
    problem : cvxpy.Problem
        The program that was solved. The losses of each q are scaled so that they are from 0 to 1.
    limit : float
    per : str
    adversaries : tuple of DataFrame
        The joint distributions that satisfy the limit, the given one first.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> joint = pd.DataFrame({"no": [0.3, 0.2], "yes": [0.2, 0.3]}, index=pd.Index(["f", "m"], name="Gender"))
    >>> wrong = pd.DataFrame([[0, 1], [1, 0]], index=["no", "yes"], columns=["no", "yes"])
    >>> best = mx.anonymize.channel(joint, wrong, limit=0.75)
    >>> print(best.posterior().round(6))
                  no   yes
    Gender y
    f      no   0.75  0.25
           yes  0.25  0.75
    m      no   0.75  0.25
           yes  0.25  0.75
    """

    table: pd.DataFrame
    loss: float
    bound: float
    prices: pd.Series
    repair: float
    problem: cp.Problem = field(repr=False)
    limit: float
    per: str
    adversaries: tuple[pd.DataFrame, ...]

    @property
    def gap(self) -> float:
        """Loss - bound: the largest possible excess over the optimal loss, in the unit of the loss."""
        return max(self.loss - self.bound, 0.0)

    def posterior(self, adversary: int = 0) -> pd.DataFrame:
        """Compute P(s | q, y), the inferences of an adversary, for every published value with positive probability.

        Parameters
        ----------
        adversary : int
            0 for the given joint distribution, 1 for the first of the adversaries, ...

        Returns
        -------
        DataFrame
            One row per quasi-identifier and published value, one column per sensitive value.

        Raises
        ------
        StatementError
            If the adversary does not exist.
        """
        joint = self.adversaries[check_int(adversary, "adversary", 0, len(self.adversaries) - 1)]
        shape = (*joint.shape, self.table.shape[1])
        product = joint.to_numpy()[:, :, None] * self.table.to_numpy().reshape(shape)
        by_value = product.transpose(0, 2, 1).reshape(-1, joint.shape[1])
        rows = _pairs(joint.index, self.table.columns, _unused(self.table.columns.name, "y", joint.index.names))
        possible = by_value.sum(axis=1) > 0
        by_value = by_value[possible] / by_value[possible].sum(axis=1, keepdims=True)
        return pd.DataFrame(by_value, rows[possible], list(joint.columns))

    def __repr__(self) -> str:
        return (
            f"<Channel: loss {self.loss:.6g}, gap {self.gap:.1e}; {self.per} at most {self.limit:g} for "
            f"{pluralize(len(self.adversaries), 'joint distribution')}>"
        )

    def _tables(self) -> Iterable[TablePreview]:
        return [TablePreview(self.table, "values")]


def channel(
    joint: pd.DataFrame, loss: pd.DataFrame, limit: float, per: str = "posterior", adversaries: Iterable[Any] = ()
) -> Channel:
    """Minimise sum P(q, s) M(y | q, s) d(s, y) over channels M such that no adversary infers more than the limit.

    Parameters
    ----------
    joint : DataFrame
        P(q, s), probabilities that sum to 1: one row per quasi-identifier (the index is named by their attributes), one
        column per sensitive value.
    loss : DataFrame
        d(s, y): one row per sensitive value, one column per value y that can be published; any unit. The channel does
        not depend on the unit.
    limit : float
        The upper limit within each q and for every y of positive probability; see `per`.
    per : {"posterior", "lift", "ldp", "information"}
        "posterior": P(s | y, q) <= limit, a probability. "lift": P(s | y, q) <= limit P(s | q), a ratio of at least 1.
        "ldp": M(y | s, q) <= exp(limit) M(y | s', q), nats, for all pairs of values. "information":
        I(S; Y | q) <= limit, nats.
    adversaries : list
        Further adversaries to whom the limit applies: each a joint distribution like `joint`, a statement, or a list of
        statements. Statements give the distribution nearest to `joint` in relative entropy that satisfies them, with
        P(q) kept. They must concern probabilities: penalties of soft statements, and numbers of people, have no meaning
        without a number of records. Local differential privacy is the same for all adversaries.

    Returns
    -------
    Channel

    Raises
    ------
    TableError, BadProbability
        If a table is not a distribution, the tables differ in their labels, or the limit is out of range.
    StatementError
        If an adversary's statement is soft, or counts people.
    Infeasible
        If an adversary infers more than the limit before publication: a limit of posteriors is below some P(s | q), a
        lift is below 1, or statements contradict each other.
    SolverError
        If the solver stops without an answer, or with one that exceeds the limit and cannot be repaired.

    Notes
    -----
    Limits other than information give a linear program (HiGHS). Mutual information is convex in the channel (Clarabel);
    with one adversary it gives the rate-distortion problem of Blahut and Arimoto (1972), and the program of du Pin Calmon
    and Fawaz, "Privacy against statistical inference" (2012), with the roles of loss and information exchanged. With
    "ldp" and a loss of 0 or 1 for equally likely values, the best channel is randomised
    response (Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", 2016).

    Examples
    --------
    Four equally likely values, published with a likelihood ratio of at most 3:

    >>> import maxent_cvx as mx, numpy as np, pandas as pd
    >>> values = list("abcd")
    >>> joint = pd.DataFrame([[0.25] * 4], columns=values)
    >>> wrong = pd.DataFrame(1.0 - np.eye(4), index=values, columns=values)
    >>> best = mx.anonymize.channel(joint, wrong, limit=np.log(3), per="ldp")
    >>> print(best.table.loc[0].round(6).loc["a"].to_dict(), round(best.loss, 6), best.gap < 1e-9)
    {'a': 0.5, 'b': 0.166667, 'c': 0.166667, 'd': 0.166667} 0.5 True
    """
    joint = _read_joint(joint, "joint")
    _check_labels(loss, "loss")
    _same_labels(loss.index, joint.columns, "rows of loss", "columns of joint")
    costs = _numbers(loss.reindex(joint.columns), "loss")  # not loc: labels may be True and False
    check_in(per, "per", ("posterior", "lift", "ldp", "information"))
    limit = check_float(limit, "limit", *{"posterior": (0.0, 1.0)}.get(per, (0.0,)))
    joints = [joint]
    for number, adversary in enumerate(check_list(adversaries, "adversaries", "joint distributions or statements"), 1):
        joints.append(_adversary(adversary, joint, f"adversary {number}"))
    totals = [table.to_numpy().sum(axis=1, keepdims=True) for table in joints]
    beliefs = [
        np.divide(t.to_numpy(), n, out=np.zeros(t.shape), where=n > 0) for t, n in zip(joints, totals, strict=True)
    ]
    _check_attainable(joint, beliefs, limit, per)

    weights = joint.to_numpy()[:, :, None] * costs
    attained = limit
    if per == "ldp":
        beliefs = beliefs[:1]  # likelihood ratios do not depend on beliefs
        attained = min(limit, LARGEST)
    # Tolerances of solvers are absolute, and the best M(. | q, .) are independent of each other. The costs of each q are
    # therefore scaled to [0, 1]; a cost common to all y is a constant, since sum_y M(y | q, s) = 1.
    costs_of_q = weights - weights.min(axis=2, keepdims=True)
    unit = costs_of_q.max(axis=(1, 2))
    unit[unit == 0] = 1.0
    problem, variable, constraints = _program(costs_of_q / unit[:, None, None], beliefs, attained, per)
    solved = _solve(problem, variable, per).reshape(weights.shape)
    table, repair = _repaired(solved, weights, beliefs, attained, per)
    duals = [np.asarray(constraint.dual_value, dtype=float).reshape(len(unit), -1) for constraint in constraints]
    multipliers = [np.maximum(dual, 0.0) * unit[:, None] for dual in duals]
    bound, prices = _dual(multipliers, weights, beliefs, np.maximum(solved, 0.0), attained, per)
    rows = _pairs(joint.index, joint.columns, _sensitive_name(joint))
    published = pd.DataFrame(table.reshape(-1, costs.shape[1]), rows, loss.columns)
    by_adversary = {k or "joint": pd.Series(p + 0.0, joint.index) for k, p in enumerate(prices)}
    rates = pd.concat(by_adversary, names=["adversary"]).rename("dloss / dlimit")
    expected = float((weights * table).sum())
    return Channel(published, expected, bound, rates, repair, problem, limit, per, tuple(joints))


# Input names and tables.


def _unused(name: object, default: str, taken: Collection[object]) -> object:
    """Return the name of the columns of a table, or an unused name if it is missing or taken."""
    return name if name is not None and name not in taken else unused_name(default, taken)


def _sensitive_name(joint: pd.DataFrame) -> object:
    """Return the name of the sensitive attribute."""
    return _unused(joint.columns.name, "s", joint.index.names)


def _read_joint(table: pd.DataFrame, what: str) -> pd.DataFrame:
    """Check that a table is a joint distribution, and name its quasi-identifiers."""
    _check_labels(table, what)
    p = _numbers(table, what)
    if (p < 0).any() or abs(p.sum() - 1) > ROUNDING:
        raise BadProbability(
            f"{what} must contain probabilities P(q, s) that sum to 1; they sum to {p.sum():.12g}, and the smallest is "
            f"{p.min():.12g}. Divide counts by the number of people"
        )
    default = [f"q{i + 1}" for i in range(table.index.nlevels)] if table.index.nlevels > 1 else ["q"]
    names = [given if given is not None else name for given, name in zip(table.index.names, default, strict=True)]
    return pd.DataFrame(p, table.index.set_names(names), table.columns)


def _check_labels(table: pd.DataFrame, what: str) -> None:
    """Check that a table is a DataFrame with distinct labels."""
    check_dataframe(table, what)
    for side, labels in (("row", table.index), ("column", table.columns)):
        if labels.has_duplicates:
            raise TableError(f"{what} has duplicate {side}s: {join_names(repeated(labels))}")


def _numbers(table: pd.DataFrame, what: str) -> np.ndarray:
    """Read a table of finite numbers."""
    numbers = real_numbers(table, what)
    if not numbers.size or not np.isfinite(numbers).all():
        raise TableError(f"{what} must contain finite numbers, and at least one row and one column")
    return numbers


def _same_labels(given: pd.Index, expected: pd.Index, what: str, other: str) -> None:
    """Require the same labels in any order."""
    difference = given.symmetric_difference(expected)
    if len(difference):
        raise TableError(f"the {what} and the {other} must be the same; they differ in {join_names(difference)}")


def _adversary(adversary: Any, joint: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return the joint distribution of an adversary's beliefs."""
    if isinstance(adversary, pd.DataFrame):
        table = _read_joint(adversary, what)
        _same_labels(table.index, joint.index, f"rows of {what}", "rows of joint")
        _same_labels(table.columns, joint.columns, f"columns of {what}", "columns of joint")
        return table.reindex(index=joint.index, columns=joint.columns)
    statements = list(adversary) if is_several(adversary) and not isinstance(adversary, str) else [adversary]
    possible = joint.loc[joint.sum(axis=1) > 0]
    qi, sensitive = [str(name) for name in joint.index.names], str(_sensitive_name(joint))
    possible = possible.set_axis(possible.index.set_names(qi))
    p_q = possible.sum(axis=1)
    # With this prior the objective is the relative entropy to the joint distribution, since the view fixes P(q).
    prior = QIDistribution(possible.div(p_q, axis=0))
    people = np.maximum(np.rint(p_q.to_numpy() * PEOPLE), FEWEST).astype(np.int64)
    count = unused_name("count", [*qi, sensitive])

    def model(times: int) -> MaxEnt:
        """Build the model of the statements with a multiple of the number of people."""
        table = possible.index.to_frame(index=False).assign(**{count: people * times})
        view = QITable(table, qi=qi, sa=sensitive, sa_values=list(joint.columns), count=count)
        return MaxEnt(view, prior=prior).add(*statements)

    once = model(1)
    if _depends_on_people(once, model(2)):
        raise StatementError(
            f"{what} has a statement with a penalty, or one that counts people, whose meaning depends on their number; a "
            "joint distribution has none. State a range of a probability, P(...).between(low, high), or give the "
            "adversary's joint distribution"
        )
    inferred = once.solve().conditional()
    nearest = inferred.reindex(index=possible.index, columns=joint.columns).to_numpy(dtype=float)
    inferred_joint = np.zeros(joint.shape)
    inferred_joint[joint.index.get_indexer(possible.index)] = nearest * p_q.to_numpy()[:, None]
    return pd.DataFrame(inferred_joint, joint.index, joint.columns)


def _depends_on_people(once: MaxEnt, twice: MaxEnt) -> bool:
    """Return whether statements differ between models with the same shares, one with twice as many people."""
    for rows, others in zip(once.blocks.knowledge, twice.blocks.knowledge, strict=True):
        pairs = ((rows.low, others.low), (rows.high, others.high))
        if rows.penalty or not all(np.allclose(low, other, rtol=ROUNDING, atol=0) for low, other in pairs):
            return True
        if abs(rows.matrix - others.matrix).sum() > ROUNDING * abs(rows.matrix).sum():
            return True
    return False


def _check_attainable(joint: pd.DataFrame, beliefs: list[np.ndarray], limit: float, per: str) -> None:
    """Raise Infeasible if a publication independent of s violates the limit, since then every publication does."""
    if per == "lift" and limit < 1:
        raise Infeasible(f"no publication has a lift of at most {limit:g}: some P(s | y, q) is at least P(s | q)")
    if per != "posterior":
        return
    for number, belief in enumerate(beliefs):
        if belief.max() > limit + EXACT:
            q, s = divmod(int(belief.argmax()), belief.shape[1])
            who = f"adversary {number}" if number else "joint"
            raise Infeasible(
                f"P({joint.columns[s]} | {short_repr(joint.index[q])}) is {belief.max():.6g} for {who} before publication, "
                f"above the limit {limit:g}; choose a limit of at least {belief.max():.6g}"
            )


def _pairs(first: pd.Index, second: pd.Index, name: object) -> pd.MultiIndex:
    """Return all pairs of labels, with the second ones varying fastest."""
    frame = first.repeat(len(second)).to_frame(index=False)
    frame[name] = np.tile(np.asarray(second, dtype=object), len(first))
    return pd.MultiIndex.from_frame(frame.infer_objects())


# The program: a matrix of variables, one row per (q, s), one column per y.


def _program(
    weights: np.ndarray, beliefs: list[np.ndarray], limit: float, per: str
) -> tuple[cp.Problem, cp.Variable, list[cp.Constraint]]:
    """Build the CVXPY problem, its variable, and the constraints whose multipliers are the prices."""
    import cvxpy as cp

    n_q, n_s, n_y = weights.shape
    m = cp.Variable((n_q * n_s, n_y), nonneg=True, name="M")
    objective = cp.Minimize(
        cp.sum(cp.multiply(cp.Constant(weights.reshape(-1, n_y), name="scaled P(q, s) d(s, y)"), m))
    )
    repeat = cp.Constant(sp.kron(sp.eye_array(n_q), np.ones((n_s, 1)), format="csr"), name="every_s")
    if per == "ldp":
        # Bounds by the largest likelihood: equivalent to the bounds of all pairs, and n^2 fewer.
        largest = cp.Variable((n_q, n_y), nonneg=True, name="largest")
        limits = [m <= repeat @ largest, math.exp(-limit) * (repeat @ largest) <= m]
    else:
        limits = []
        for number, belief in enumerate(beliefs):
            who = f"P{number or ''}(s | q)"
            of_limit = f"{who} / limit" if per == "posterior" else "1 / limit"
            by_group = sp.csr_array(sp.block_diag(list(belief[:, None, :])))
            marginal = cp.Constant(by_group, name=f"sum_s {who}") @ m  # P(y | q)
            if per == "information":
                # Perspectives of the logarithm: sum of a M ln(M / P(y | q)), nats.
                share = cp.Constant(np.repeat(belief.reshape(-1, 1), n_y, axis=1), name=who)
                divergence = cp.multiply(share, cp.rel_entr(m, repeat @ marginal))
                limits.append(repeat.T @ cp.sum(divergence, axis=1) <= limit)
            else:
                # Divided by the limit, which is large if lifts are nearly unlimited.
                share = cp.Constant(np.repeat(_limited(belief, limit, per).reshape(-1, 1), n_y, axis=1), name=of_limit)
                limits.append(cp.multiply(share, m) <= repeat @ marginal)
    return cp.Problem(objective, [cp.sum(m, axis=1) == 1, *limits]), m, limits


def _limited(belief: np.ndarray, limit: float, per: str) -> np.ndarray:
    """Return the factor a of M(y | q, s) in a limit on posteriors or lifts: a M <= P(y | q)."""
    return (belief if per == "posterior" else np.asarray(belief > 0, dtype=float)) / limit


def _solve(problem: cp.Problem, variable: cp.Variable, per: str) -> np.ndarray:
    """Solve by HiGHS, or by Clarabel if there are logarithms."""
    import cvxpy as cp

    # SciPy's HiGHS, since CVXPY's own interface prints a banner once per process.
    solver = cp.CLARABEL if per == "information" else cp.SCIPY
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10) if per == "information" else {}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the gap bounds the error
            problem.solve(solver=solver, **options)
    except cp.SolverError as error:
        raise SolverError(f"{solver} stopped without a channel: {error}") from error
    if variable.value is None:
        raise SolverError(f"{solver} stopped without a channel: {problem.status}")
    return np.asarray(variable.value, dtype=float)


# A table within the limits, and a bound for all tables, both computed without relying on the accuracy of the solver.


def _excess(table: np.ndarray, beliefs: list[np.ndarray], limit: float, per: str) -> tuple[np.ndarray, np.ndarray]:
    """Compute the violation and the size of every limit, of shape (..., q, s, y), or (..., q) for information.

    Limits on posteriors, lifts and likelihood ratios are proportional to P(y | q), or to the least likelihood, and so is
    the tolerance of rounding: the posterior of a rare y is as certain as that of a frequent one.
    """
    if per == "information":
        information = np.array([_information(table, belief) - limit for belief in beliefs])
        return information, np.ones_like(information)
    if per == "ldp":
        least = math.exp(limit) * np.broadcast_to(table.min(axis=1, keepdims=True), table.shape)
        return table - least, least
    shares = np.array([_limited(belief, limit, per)[:, :, None] for belief in beliefs])
    marginals = np.array([np.einsum("qs,qsy->qy", belief, table)[:, None, :] for belief in beliefs])
    excess = shares * table - marginals
    return excess, np.broadcast_to(marginals, excess.shape)


def _information(table: np.ndarray, belief: np.ndarray) -> np.ndarray:
    """Compute I(S; Y | q), nats, for every q."""
    marginal = np.einsum("qs,qsy->qy", belief, table)[:, None, :]
    product = belief[:, :, None] * table
    ratio = np.divide(table, marginal, out=np.ones_like(table), where=(product > 0) & (marginal > 0))
    return np.asarray((product * np.log(ratio)).sum(axis=(1, 2)))


def _repaired(
    solved: np.ndarray, weights: np.ndarray, beliefs: list[np.ndarray], limit: float, per: str
) -> tuple[np.ndarray, float]:
    """Return a table of distributions within the limits near the solver's, and the largest replaced share."""
    # Posteriors of values whose probability is only a rounding error would be arbitrary.
    used = solved.max(axis=1, keepdims=True) > NOISE
    table = np.where(used, np.maximum(solved, 0.0), 0.0)
    if per == "ldp":  # small likelihoods may be below the tolerance of the solver
        table = np.maximum(table, math.exp(-limit) * table.max(axis=1, keepdims=True))
    table /= table.sum(axis=2, keepdims=True)
    # A publication independent of s: uniform over the used values, so that rare ones are repaired by a small share; for
    # information, which is convex, the cheapest value.
    if per == "information":
        independent = np.zeros_like(used, dtype=float)
        np.put_along_axis(independent, weights.sum(axis=1, keepdims=True).argmin(axis=2)[:, :, None], 1.0, axis=2)
    else:
        independent = used / used.sum(axis=2, keepdims=True)
    independent = np.broadcast_to(independent, table.shape)
    share = np.zeros(len(table))
    for _ in range(3):  # more than once because of rounding in the mixture
        excess, size = _excess(table, beliefs, limit, per)
        too_much = excess > EXACT * size
        if not too_much.any():
            break
        slack = -_excess(independent, beliefs, limit, per)[0]
        span = excess + np.maximum(slack, 0.0)
        need = np.divide(excess, span, out=np.zeros_like(excess), where=too_much)
        need = need.reshape(-1, *need.shape[-3:]) if per != "information" else need[:, :, None, None]
        t = np.minimum(need.max(axis=(0, 2, 3)) * (1 + 1e-9), 1.0)
        # If a linear limit has almost no slack, the average publication is cheaper than the uniform one.
        stuck = (t > 0.5) & (per != "information")
        mean = table.mean(axis=1, keepdims=True)
        mixed = (1 - t)[:, None, None] * table + t[:, None, None] * independent
        table = np.where(stuck[:, None, None], mean, mixed)
        share = np.maximum(share, np.where(stuck, 1.0, 1 - (1 - share) * (1 - t)))
    excess, size = _excess(table, beliefs, limit, per)
    if (excess > EXACT * size).any():
        raise SolverError(
            f"the solver's channel exceeds the limit {limit:g}, even after repair, by {excess.max():.1g}; choose a limit "
            "further above P(s | q), or less extreme losses"
        )
    return table, float(share.max())


def _dual(
    multipliers: list[np.ndarray],
    weights: np.ndarray,
    beliefs: list[np.ndarray],
    table: np.ndarray,
    limit: float,
    per: str,
) -> tuple[float, list[np.ndarray]]:
    """Compute a lower bound of the loss for any multipliers of at least 0, and dloss / dlimit by adversary and q."""
    # The Lagrangian is linear in M, or bounded below by its tangent, and M(. | q, s) is a distribution: the minimum puts
    # all mass on the cheapest y. With information, I(M) >= sum a M ln(M0 / p0) for every M0 > 0, since I is convex and
    # homogeneous of degree 1.
    reduced, constant, prices = weights.copy(), 0.0, []
    if per == "ldp":
        above, below = (each.reshape(weights.shape) for each in multipliers)
        reduced += above - below
        # The largest likelihood is a variable between 0 and 1, whose cost is `rest`.
        rest = math.exp(-limit) * below.sum(axis=1) - above.sum(axis=1)
        constant = np.minimum(rest, 0.0).sum()
        prices = [-(math.exp(-limit) * below * table.max(axis=1, keepdims=True)).sum(axis=(1, 2))]
    elif per == "information":
        stationary = _blahut_arimoto(multipliers, weights, beliefs, table)
        for price, belief in zip(multipliers, beliefs, strict=True):
            marginal = np.einsum("qs,qsy->qy", belief, stationary)[:, None, :]
            ratio = np.divide(stationary, marginal, out=np.ones_like(stationary), where=marginal > 0)
            reduced += price[:, :, None] * belief[:, :, None] * np.log(ratio)
            constant -= limit * price.sum()
            prices.append(-price[:, 0])
    else:
        for multiplier, belief in zip(multipliers, beliefs, strict=True):
            price = multiplier.reshape(weights.shape)
            share = _limited(belief, limit, per)[:, :, None]
            reduced += price * share - belief[:, :, None] * price.sum(axis=1, keepdims=True)
            marginal = np.einsum("qs,qsy->qy", belief, table)
            prices.append(-(price.sum(axis=1) * marginal).sum(axis=1) / limit)
    return float(reduced.min(axis=2).sum() + constant), prices


def _blahut_arimoto(
    multipliers: list[np.ndarray], weights: np.ndarray, beliefs: list[np.ndarray], table: np.ndarray
) -> np.ndarray:
    """Minimise loss + price * information over positive channels, by alternating minimisation from a table."""
    # Over M with fixed marginals: ln M = (sum of price a ln p - w) / sum of price a; then over the marginals.
    scale = [price * belief for price, belief in zip(multipliers, beliefs, strict=True)]
    total = np.sum(scale, axis=0)[:, :, None]
    result = (table + NOISE * NOISE) / (1 + NOISE * NOISE * table.shape[2])
    for _ in range(STEPS):
        marginals = [np.einsum("qs,qsy->qy", belief, result)[:, None, :] for belief in beliefs]
        logs = [np.log(np.maximum(p, np.finfo(float).tiny)) for p in marginals]
        exponent = np.sum([a[:, :, None] * p for a, p in zip(scale, logs, strict=True)], axis=0) - weights
        exponent = np.divide(exponent, total, out=np.zeros_like(exponent), where=total > 0)
        exponent = np.maximum(exponent - exponent.max(axis=2, keepdims=True), -600.0)  # exp remains positive
        change, result = result, np.exp(exponent)
        result /= result.sum(axis=2, keepdims=True)
        if np.abs(result - change).max() < 1e-15:
            break
    return result
