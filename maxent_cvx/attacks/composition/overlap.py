"""What is known of who is in both of two releases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...errors import StatementError, TableError, arguments, listing, shown
from ...tables.coding import sort_distinct
from ...tables.columns import check_columns
from ...views import GroupedRelease, Release

__all__ = ["Overlap"]

#: What an overlap may be, for errors.
EXPECTED = "None, a number of people, (least, most), 'everybody', or a DataFrame with the QI of those in both"


@dataclass(frozen=True, eq=False)
class Overlap:
    """Who is in both.

    Attributes
    ----------
    tuples : MultiIndex
        The QI tuples that are asked about, sorted.
    people : ndarray or None
        How many people of each are in both, counts; None if it is not known.
    number : int
        How many people are in both, at least; 0 if nothing is known of others than the person asked about.
    """

    tuples: pd.MultiIndex
    people: np.ndarray | None
    number: int

    @classmethod
    def read(cls, overlap: object, releases: Sequence[Release | GroupedRelease]) -> Overlap:
        """Read what a user says, and see whether it can be.

        Raises
        ------
        StatementError
            If it is none of these, or is said of generalised releases without saying who.
        TableError, UnknownName
            If the table of people in both lacks a column, or misses values.
        """
        first = releases[0]
        if isinstance(overlap, pd.DataFrame):
            check_columns(overlap, {"qi": first.qi}, "the people in both")
            code, tuples = sort_distinct(overlap[list(first.qi)])
            people = np.bincount(code, minlength=len(tuples))
            return cls(tuples, people, int(people.sum()))
        tuples = _common(releases)
        if overlap is None:
            return cls(tuples, None, 0)
        if any(isinstance(release, GroupedRelease) for release in releases):
            raise StatementError(
                "the QI of generalised records are not published, so that their number in both says nothing of "
                "anybody; say who is in both, overlap=DataFrame, or nothing, overlap=None"
            )
        size = min(release.n_records for release in releases)
        if isinstance(overlap, str):
            arguments.choice(overlap, "overlap", ("everybody",))
            smaller = min(releases, key=lambda release: release.n_records)
            code, tuples = sort_distinct(_ordered(smaller.quasi_identifiers, first.qi).to_frame(index=False))
            return cls(tuples, np.bincount(code, smaller.n_q).astype(np.int64), size)
        if not isinstance(overlap, tuple | list):
            return cls(tuples, None, arguments.whole(overlap, "overlap", 1, size))
        if len(overlap) != 2:
            raise StatementError(f"overlap={shown(overlap)}: {EXPECTED} is expected")
        least = arguments.whole(overlap[0], "the least overlap", 0, size)
        arguments.whole(overlap[1], "the largest overlap", max(least, 1), size)
        return cls(tuples, None, least)

    def check(self, most: Sequence[np.ndarray]) -> None:
        """Refuse people who are in both and not in one of the releases.

        Parameters
        ----------
        most : sequence of ndarray
            Of every release, how many people of each QI tuple may be in it.

        Raises
        ------
        TableError
            If a release has nobody, or too few, with the QI of those in both; or together too few.
        """
        fewest = np.min(most, axis=0)
        if self.people is not None:
            for number, here in enumerate(most, 1):
                if (few := here < self.people).any():
                    raise TableError(
                        f"{int(self.people[few].sum())} of the {self.number} people in both have QI that fewer, or no, "
                        f"people of release {number} have: {int(few.sum())} distinct ({listing(self.tuples.names)}); "
                        "say of whom both releases are"
                    )
        elif self.number > fewest.sum():
            raise TableError(
                f"{self.number} people cannot be in both: at most {int(fewest.sum())} have the same QI in the two "
                "releases; give a smaller overlap"
            )
        if not len(self.tuples):
            raise TableError("nobody has the same QI in all releases, so that nobody is in all of them")


def _common(releases: Sequence[Release | GroupedRelease]) -> pd.MultiIndex:
    """The QI tuples that all releases have, sorted."""
    qi = releases[0].qi
    frames = [_ordered(release.quasi_identifiers, qi).to_frame(index=False) for release in releases]
    code, tuples = sort_distinct(pd.concat(frames, ignore_index=True))
    return tuples[np.bincount(code, minlength=len(tuples)) == len(releases)]


def _ordered(tuples: pd.MultiIndex, qi: tuple[str, ...]) -> pd.MultiIndex:
    """QI tuples with the attributes in the order of another release."""
    return tuples.reorder_levels(list(qi)) if len(qi) > 1 else tuples
