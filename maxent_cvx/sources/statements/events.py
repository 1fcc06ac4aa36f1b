"""P(...) and Count(...): probabilities as people write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral

from ...errors import StatementError, arguments, shown
from ...tables.selection import Choice, choose
from .probability import Probability
from .statement import Event, conditions

__all__ = ["Count", "P"]


def P(value: object, given: Mapping[str, object] | None = None, who: object = None) -> Probability:
    """P(value | given), or P(value | who), to be compared with a number or with other probabilities.

    Parameters
    ----------
    value : object
        A sensitive value, a list of values ("or"), or ``{attribute: value}``: of several sensitive
        attributes, any that are named.
    given : dict, optional
        QI attribute to a value, a list of values, or a :class:`pandas.Interval`. None: among everybody.
    who : str or int, optional
        Instead, the name of a person: one whom the model names, see :class:`maxent_cvx.MaxEnt`.

    Returns
    -------
    Probability
        ``P(..) == 0.3``, ``<=``, ``>=``, ``.about(0.3, eps=0.05)`` and ``.between(0.2, 0.4)`` are
        statements for ``model.add``; so are comparisons of sums and multiples of probabilities. The number on the right
        may be a :class:`cvxpy.Parameter`: every solve takes the value that it has then.

    Raises
    ------
    StatementError
        If the arguments cannot be read. Whether names exist is checked when a model gets the statement.

    Notes
    -----
    Privacy-MaxEnt, sections 4.1, 4.5 and 6 (kinds 1 and 2). A probability of a person is that of the maximum-entropy
    answer. It need not be that of the possible worlds in which the knowledge is true, see :func:`Count`: if Alice of
    Fig. 4 has breast cancer or HIV, as in the last example, it is breast cancer in 5/7 of the worlds, and the answer
    is .731.

    Examples
    --------
    >>> from maxent_cvx import P
    >>> P("Flu", given={"Gender": "male"}) == 0.3
    <Statement: P(Flu | Gender=male) = 0.3>
    >>> P("HIV", given={"Gender": "male"}) <= 2 * P("Flu", given={"Gender": "female"})
    <Statement: P(HIV | Gender=male) <= 2 P(Flu | Gender=female)>
    >>> P(["Flu", "HIV"]).about(0.5, eps=0.1)
    <Statement: 0.4 <= P(Flu or HIV) <= 0.6>
    >>> P(["Breast Cancer", "HIV"], who="Alice") == 1
    <Statement: P(Breast Cancer or HIV | Alice) = 1>
    """
    if given is not None and not isinstance(given, Mapping):
        raise StatementError(f"given must be a dictionary {{attribute: value}}, not {shown(given)}")
    if given is not None and who is not None:
        raise StatementError(f"the QI of {shown(who)} are known: they need not be given; leave one of the two out")
    sensitive = _sensitive(value)
    if who is not None:
        names = _names(who)
        if len(names) != 1 or not isinstance(who, str | Integral):
            raise StatementError(
                f"P({conditions(sensitive)} | ...) is about one person; of several, write Count(value, who=[...])"
            )
        return Probability({Event(sensitive, who=names): 1.0})
    given_values = frozenset((name, choose(chosen, name)) for name, chosen in (given or {}).items())
    return Probability({Event(sensitive, given_values): 1.0})


def Count(value: object, who: Iterable[object]) -> Probability:
    """How many of some people have a value, sum_i P(value | i), to be compared with a number.

    It is the expected number, the mean over possible worlds, and nothing else of them: that two have it in
    every world implies that two have it on the average, but not the other way round. See the notes.

    Parameters
    ----------
    value : object
        As of :func:`P`.
    who : list of str or int
        Names of people, each once.

    Returns
    -------
    Probability
        Between 0 and the number of people. ``Count(...) == 1`` is a statement for ``model.add``, as of :func:`P`.

    Raises
    ------
    StatementError
        If the arguments cannot be read.

    Notes
    -----
    Privacy-MaxEnt, section 6 (kind 3). The paper lists such rows as the model of what is known of people. They are
    **necessary, not sufficient**: "Alice or Bob, but not both" fixes a mean, and leaves it open that both have the
    value, or none. And what is maximised is the entropy of P(i, q, s, b), not that of the possible worlds, in which
    nobody else has the record that one person has. Over the worlds in which the knowledge is true the probabilities
    are others: if two of Alice, Bob and Charlie have HIV, then Bob of Fig. 4 is one of them with probability 1/3 and
    Charlie with 2/3; the maximum-entropy answer is .382 and .618.

    Examples
    --------
    >>> from maxent_cvx import Count
    >>> Count("HIV", who=["Alice", "Bob", "Charlie"]) >= 2
    <Statement: #(HIV: Alice, Bob, Charlie) >= 2>

    One x is in Alice's bucket of three, and one in Bob's of six. Alice or Bob has it, but not both: of the worlds
    1/3 x 5/6 are Alice's and 2/3 x 1/6 are Bob's, 5/7 and 2/7 of those that are left. The rows give another answer:

    >>> import maxent_cvx as mx, pandas as pd
    >>> table = pd.DataFrame({"Q": list("ABCDEFGHI"), "S": list("xyzxuvwyz"), "Bucket": [1] * 3 + [2] * 6})
    >>> release = mx.Release.from_buckets(table, qi="Q", sa="S", bucket="Bucket")
    >>> model = mx.MaxEnt(release, people={"Alice": {"Q": "A"}, "Bob": {"Q": "D"}})
    >>> model.add(Count("x", who=["Alice", "Bob"]) == 1).solve().people()["x"].round(3).to_dict()
    {'Alice': 0.585, 'Bob': 0.415}
    """
    return Probability({Event(_sensitive(value), who=_names(who)): 1.0})


def _sensitive(value: object) -> frozenset[tuple[str | None, Choice]]:
    """Read a sensitive value, or {attribute: value}."""
    if not isinstance(value, Mapping):
        return frozenset({(None, choose(value, "the sensitive value"))})
    if not value:
        raise StatementError("P({}) names no sensitive attribute; write P({attribute: value})")
    return frozenset((name, choose(chosen, name)) for name, chosen in value.items())


def _names(who: object) -> frozenset[object]:
    """Read the name of one person, or of several."""
    names = [who] if isinstance(who, str) or not arguments.is_several(who) else list(who)
    if strange := [name for name in names if not isinstance(name, str | Integral) or isinstance(name, bool)]:
        raise StatementError(f"who={shown(strange[0])}: a person's name is a text or a whole number")
    if not names:
        raise StatementError("who=[] names nobody; name at least one person")
    if twice := [name for i, name in enumerate(names) if name in names[:i]]:
        raise StatementError(f"{twice[0]!r} is named twice; a person counts once")
    return frozenset(names)
