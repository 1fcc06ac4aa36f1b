"""The least probability that nobody in a bucket has what some atoms say: MINIMIZE1 of Martin et al. (2007)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

__all__ = ["Chains", "quotient"]

#: How many people are in the chain before, the most values that the next may avoid, atoms left, is the target to come?
State = tuple[int, int, int, bool]


class Chains:
    """Chains of people, each of whom has none of the c most frequent values of their bucket; c does not grow.

    The i-th person of a chain, from 0, does so with probability (n - i - S_c) / (n - i) if those before do: n is the
    size of the bucket, and S_c how many of it have one of the c values. Some chain is the least that m atoms can do,
    sum c = m.

    *Proof.* Let v be at least as frequent as w, and replace w by v in every set of values avoided that holds w and not
    v. Fix who has other values than these two. Of the rest B avoid both, X only v, Y only w, and N neither; the worlds
    are those with B = 0, X on w and Y on v: C(N, n_v - Y) of them before, and C(N, n_v) after, which is no more, since
    n_v is at least as far from N / 2: n_v - n_w + X + Y >= |n_v - n_w + X - Y|. In the end every set is one of most
    frequent values; such sets contain one another, and the product is that of the largest first.

    The *target* avoids a value s besides, before which r others stand, all more frequent. By the same argument, its s
    not being replaced (Y then counts the target before and after), its set is s and the most frequent others. If
    somebody else avoids c values without s, c <= r, and the target no more than c, give the target what it lacks of
    them, and take that from the other: since P(the target has s, the other avoids both sets) = P(the other has s, the
    target avoids both) <= P(the other has s, the target avoids its own), the probability does not rise. So sets contain
    one another again: those with s in them come before the target, and those that are smaller than its own after it.

    *Two chains in one bucket leave no more than the product of what each leaves.* Put the people of both, with the
    target if one has it, in one row by the sizes of their sets: nobody's factor grows, since it falls in i. If somebody
    with c values and without s stands just before the target, who has s and a <= c others, let them exchange these
    values, and their places: x (y - n_s) becomes (x - n_s) y, for x = n - i - S_c <= y = n - i - 1 - S_a, which is no
    more. In the end the row is a chain.

    Parameters
    ----------
    size : ndarray of int, one a bucket
    prefix : ndarray of int, shape (buckets, most + 1)
        S_c for c from 0.
    target : tuple, optional
        r, one number for all these buckets, and how many of each have s.
    exact : bool
        Whether probabilities are Fractions, and not doubles.
    """

    def __init__(
        self, size: np.ndarray, prefix: np.ndarray, target: tuple[int, np.ndarray] | None = None, exact: bool = False
    ) -> None:
        self.size, self.prefix, self.target, self.exact = size, prefix, target, exact
        self.most = prefix.shape[1] - 1
        self._found: dict[State, np.ndarray | None] = {}
        self._one = np.full(len(size), Fraction(1), dtype=object) if exact else np.ones(len(size))

    def least(self) -> np.ndarray:
        """The least probability of at most m atoms, shape (buckets, m): m from 0, or from 1 if one is of the target."""
        has = self.target is not None
        columns = [self._reached((0, m, m, has)) for m in range(int(has), self.most + 1)]
        return np.asarray(np.minimum.accumulate(np.column_stack(columns), axis=1))

    def links(self, bucket: int, m: int) -> list[tuple[bool, int]]:
        """A chain of at most m atoms with the least probability: whether it is the target, and c, of each person.

        Those behind whom the probability is 0 are left out, but the target. For Fractions only, which can be compared.
        """
        needs = self.target is not None
        least = self.least()[bucket]
        m = int(np.flatnonzero(least == least[m - needs])[0]) + needs  # no more atoms than are needed
        found: list[tuple[bool, int]] = []
        i, cap, possible = 0, m, True
        while m:
            p = self._reached((i, cap, m, needs))[bucket]
            joins = next((joins for joins, value in self._ways((i, cap, m, needs)) if value[bucket] == p), None)
            if joins is None:
                cap -= 1
                continue
            if joins or possible:
                found.append((joins, cap))
            possible = possible and bool(self._avoids(i, cap, joins)[bucket] > 0)
            i, m, needs, cap = i + 1, m - cap, needs and not joins, min(self._next(cap, joins), m - cap)
        return found

    def _reached(self, state: State) -> np.ndarray:
        """What is left of a chain that there is."""
        found = self._least(state)
        assert found is not None
        return found

    def _least(self, state: State) -> np.ndarray | None:
        """The least probability of what is left of a chain; None if there is no such chain."""
        i, cap, m, needs = state
        if not m and not needs:
            return self._one
        if not cap:
            return None
        if state not in self._found:
            ways = [value for _, value in self._ways(state)]
            below = self._least((i, cap - 1, m, needs))
            ways += [below] if below is not None else []
            self._found[state] = np.minimum.reduce(ways) if ways else None
        return self._found[state]

    def _ways(self, state: State) -> list[tuple[bool, np.ndarray]]:
        """What is left if the next person avoids just as many values as may be: the target, or somebody else."""
        i, cap, m, needs = state
        ways = []
        for joins in (True, False):
            left = m - cap
            if left < 0 or (joins and not needs) or (needs and not joins and cap <= self.rank):
                continue
            rest = self._least((i + 1, min(self._next(cap, joins), left), left, needs and not joins))
            if rest is not None:
                ways.append((joins, self._avoids(i, cap, joins) * rest))
        return ways

    @property
    def rank(self) -> int:
        """How many values are more frequent than the target's."""
        return 0 if self.target is None else self.target[0]

    def _next(self, c: int, joined: bool) -> int:
        """How many values the person after one of c may avoid; `joined`: after the target."""
        return c - 1 if joined and c <= self.rank else c

    def _avoids(self, i: int, c: int, joins: bool) -> np.ndarray:
        """The probability that person i has none of c values: the most frequent, or, of the target, s among them."""
        avoided = self.prefix[:, c]
        if joins and self.target is not None and c <= self.rank:
            avoided = self.prefix[:, c - 1] + self.target[1]
        left = self.size - i
        return quotient(np.maximum(left - avoided, 0), np.maximum(left, 1), self.exact)


def quotient(numerator: np.ndarray, denominator: np.ndarray, exact: bool = False) -> np.ndarray:
    """Divide whole numbers, as Fractions or as doubles."""
    if not exact:
        return np.asarray(numerator / denominator)
    pairs = zip(numerator.tolist(), denominator.tolist(), strict=True)
    found = np.empty(len(numerator), dtype=object)
    found[:] = [Fraction(a, b) for a, b in pairs]
    return found
