"""The exceptions and warnings of this package, each saying what was found, what was expected, where, and what to do.

Every error is a :class:`MaxEntError`, which is a ``ValueError``. Messages name columns and labels;
they never print a person's record.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BadProbability",
    "DuplicateLabel",
    "GroupTooLarge",
    "Inaccurate",
    "Infeasible",
    "LabelMismatch",
    "LargeModel",
    "MaxEntError",
    "NotDecided",
    "RepeatedStatement",
    "RulesLeftOut",
    "SolverError",
    "StatementError",
    "TableError",
    "UnknownName",
]


class MaxEntError(ValueError):
    """Any error this package raises on purpose.

    It is a ``ValueError``. Catch it to handle whatever is wrong with tables, statements, models or answers; its
    subclasses tell which of these. What is raised besides it is a bug.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> try:
    ...     mx.P("Flu") == 1.2
    ... except mx.MaxEntError as error:
    ...     print(type(error).__name__)
    BadProbability
    """


class TableError(MaxEntError):
    """A table cannot play the role it was given: empty, missing values, wrong columns or counts.

    The message names the column, bucket or label; mend the table, or say what plays the role instead.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> try:
    ...     mx.Release.from_buckets(hospital, qi="Disease", sa="Disease", bucket="Bucket")
    ... except mx.TableError as error:
    ...     print(str(error).partition(";")[0])
    column 'Disease' is given as qi and as sa
    """


class UnknownName(MaxEntError):
    """A column, value, solver or label that does not exist.

    The message says what there is, or what comes near; a number is not the text that is written like it.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> mx.Release.from_buckets(hospital, qi="Gendre", sa="Disease", bucket="Bucket")
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.UnknownName: 'Gendre' is not a column of the table (given as qi); did you mean 'Gender'?
    """


class BadProbability(MaxEntError):
    """A number that no probability can be: outside [0, 1], not finite, or out of reach of a sum.

    Write 0.3 for 30%; the message says what could be attained.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.P("Flu", given={"Gender": "male"}) == 30
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.BadProbability: P(Flu | Gender=male) cannot be 30: it lies between 0 and 1
    """


class StatementError(MaxEntError):
    """A statement that says nothing, or that cannot be read as linear knowledge; an argument that cannot be read.

    The message says what is expected instead.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> mx.P("Flu", given={"Gender": "male"}) < 0.3
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.StatementError: a strict < has no maximum-entropy answer of its own; write <=
    """


class LabelMismatch(MaxEntError):
    """Values whose labels are not those of the rows they are compared with.

    Give a Series with one entry for each row of the block, in any order; or compare a coarser marginal.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> try:
    ...     mx.MaxEnt(release).space.marginal("Gender") == pd.Series({"male": 0.6, "femal": 0.4})
    ... except mx.LabelMismatch as error:
    ...     print(str(error).partition(";")[0])
    the values for P(Gender) lack 'female' and have 'femal'
    """


class DuplicateLabel(MaxEntError):
    """One label for two different pieces of knowledge.

    Choose another label, or take the old knowledge out first, with :meth:`MaxEnt.remove`.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3", label="rumour")
    >>> try:
    ...     model.add("P(Flu | Gender=male) = 0.4", label="rumour")
    ... except mx.DuplicateLabel as error:
    ...     print(str(error).partition(";")[0])
    the label 'rumour' is that of other knowledge
    """


class Infeasible(MaxEntError):
    """No distribution satisfies the published data and the knowledge together.

    Correct one of the statements of the conflict, make it vague with ``.about(value, eps)``, remove it, or let
    :meth:`MaxEnt.relax` find the least change.

    Attributes
    ----------
    conflict : DataFrame or None
        An irreducible set of statements that contradict each other, as ``model.diagnose()`` gives it.

    Examples
    --------
    Three of the ten patients have the flu, who cannot be more than three of the six men:

    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> try:
    ...     mx.MaxEnt(release).add("P(Flu | Gender=male) >= 0.6").solve()
    ... except mx.Infeasible as error:
    ...     print(error.conflict[["low", "most", "move"]].round(3))
                                 low  most  move
    statement
    P(Flu | Gender=male) >= 0.6  0.6   0.5   0.1
    """

    conflict: Any = None


class SolverError(MaxEntError):
    """A solver stopped without an answer, or cannot take the model.

    Solve with another one; :func:`maxent_cvx.solvers.available` lists them, and "auto" chooses one that can.

    Examples
    --------
    >>> import cvxpy as cp, maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> mx.MaxEnt(release).add(lambda space: cp.exp(space.p[0]) <= 1.1).bounds("P(Flu | Gender=male)")
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.SolverError: bounds are linear programs, and the model holds a convex constraint of your own
    """


class Inaccurate(SolverError):
    """An answer whose certificate does not reach :data:`maxent_cvx.solvers.ACCURACY`.

    Solve with ``polish=True`` or with another solver; ``allow_inaccurate=True`` returns the answer as it is, with the
    bound on its error in ``post.certificate``.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
    >>> model.solve("DUAL_LBFGS", max_iterations=1, allow_inaccurate=True).certificate.holds
    False
    >>> model.solve("DUAL_LBFGS", max_iterations=1, polish=True).certificate.holds
    True
    """


class NotDecided(SolverError):
    """A question, such as for bounds, certainties or contradictions, was not decided in the time that it was given.

    Give it more, ``time_limit=...`` seconds, or ask about fewer people at a time.

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) = 0.3")
    >>> model.bounds("P(Flu | Degree=college)", time_limit=0)
    Traceback (most recent call last):
    ...
    maxent_cvx.errors.NotDecided: not decided in 0 seconds; give more time, time_limit=..., or ask less
    """


class GroupTooLarge(MaxEntError):
    """Exact possible worlds of a group would cost more than is allowed.

    Sample them instead, with :func:`maxent_cvx.worlds.sample`, or allow more with ``limit=``; of an equivocation, round
    the values.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd
    >>> prior = pd.DataFrame({"yes": [0.1, 0.003], "no": [0.9, 0.997]}, index=["Alan", "Betty"])
    >>> try:
    ...     mx.worlds.posterior(prior, ["yes", "no"], limit=1)
    ... except mx.GroupTooLarge as error:
    ...     print(str(error).partition(":")[0])
    1 of 1 group is too large for exact possible worlds
    """


class LargeModel(UserWarning):
    """A model takes gigabytes of memory, or minutes; the message estimates how much before any of it is used.

    A warning of :class:`MaxEnt` with named people: each of them has a term for every value and bucket that can be
    theirs. Name only those of whom something is known: by symmetry, anybody else has the probabilities of the unnamed
    people with the same quasi-identifiers.

    Examples
    --------
    >>> import maxent_cvx as mx, warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", mx.LargeModel)  # no large model is made by mistake
    ...     release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
    ...     mx.MaxEnt(release, people={"Iris": {"Gender": "female"}})
    <MaxEnt: 27 terms, 16 rows from 2 sources>
    """


class RulesLeftOut(UserWarning):
    """Rules say something that is not read: what they reveal is left out of the model.

    A warning, as of :meth:`RuleSet.from_mlxtend`; rules among quasi-identifiers alone reveal nothing and give none.

    Examples
    --------
    >>> import maxent_cvx as mx, pandas as pd, warnings
    >>> left, right = frozenset({"Salary_50K+"}), frozenset({"Gender_Male"})
    >>> mined = pd.DataFrame({"antecedents": [left], "consequents": [right], "support": 0.35, "confidence": 0.875})
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     rules = mx.RuleSet.from_mlxtend(mined, qi="Gender", sa="Salary", support=0.1, confidence=0.6)
    >>> str(caught[0].message)
    '1 rule not read (1 with sensitive values on the left): only QI => SA is'
    """


class RepeatedStatement(UserWarning):
    """Knowledge that the model holds already was added again; nothing changed.

    A warning, of :meth:`MaxEnt.add`; two statements that say the same are one, whichever way round they are written.

    Examples
    --------
    >>> import maxent_cvx as mx, warnings
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> model = mx.MaxEnt(release).add("P(Flu | Gender=male) <= 0.3")
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = model.add("0.3 >= P(Flu | Gender=male)")
    >>> str(caught[0].message), len(model.knowledge)
    ("the model holds 'P(Flu | Gender=male) <= 0.3' already; nothing was added", 1)
    """
