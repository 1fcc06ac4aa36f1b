"""The verdict: who is exposed, compared with a baseline, and whether that is too many."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from .. import measures
from ..errors import TableError, amount, unknown_name
from ..measures import Exposure
from ..model.loading import load_posterior
from ..model.partitioned.partitioned_posterior import PartitionedPosterior
from ..model.posterior import Posterior
from .association_rules import distribution_of
from .reading import read_csv, values_as_printed
from .statuses import EXPOSED, UNDECIDED
from .streams import say, table_text
from .wording import in_options

__all__ = ["Verdict", "asked_of", "beyond", "judge", "print_exposure", "print_limit"]

#: Groups of exposed people that are printed.
LISTED = 10
#: Probabilities that are closer to each other are the same but for rounding.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Verdict:
    """Who is exposed.

    Attributes
    ----------
    exposure : Exposure
        From the threshold on.
    limit : float or None
        The probability that nobody may be exposed above, --fail-above.
    above : Exposure or None
        Who is.
    """

    exposure: Exposure
    limit: float | None
    above: Exposure | None

    @property
    def fails(self) -> bool:
        """Whether somebody is exposed above the limit."""
        return self.above is not None and self.above.people > 0

    @property
    def is_undecided(self) -> bool:
        """Whether nobody is exposed above the limit, and this may be false of such values."""
        if self.above is None or self.limit is None or self.fails:
            return False
        from_higher = self.exposure.undecided if self.exposure.threshold > self.limit else ()
        return bool(self.above.undecided or from_higher)

    @property
    def status(self) -> int:
        """The exit status."""
        return EXPOSED if self.fails else UNDECIDED if self.is_undecided else 0


def judge(
    post: Posterior | PartitionedPosterior, options: argparse.Namespace, original: pd.DataFrame | None
) -> Verdict:
    """Find who is exposed from the threshold on, and who above the limit."""
    view: Any = post.release if isinstance(post, PartitionedPosterior) else post.space.view
    asked = asked_of(options, view)
    exposure = measures.exposed(post, options.threshold, original, **asked)
    if (limit := options.fail_above) is None:
        return Verdict(exposure, None, None)
    above = measures.exposed(post, beyond(limit, post), **asked)
    # What is exposed from the threshold on is exposed above a lower limit, also where its baseline is between the two.
    if options.threshold > limit and exposure.people > above.people:
        above = exposure
    return Verdict(exposure, limit, above)


def beyond(limit: float, post: Posterior | PartitionedPosterior) -> float:
    """The threshold of what is above a limit; 1/l is not above 1/l: by more than what the certificate leaves open."""
    return min(limit + 2 * min(post.certificate.bound, 1.0) + ROUNDING, 1.0)


def asked_of(options: argparse.Namespace, view: Any) -> dict[str, Any]:
    """Read which values count, and what they are compared with."""
    return {
        "sensitive": values_as_printed(options.sensitive, view.sensitive_values),
        "baseline": _baseline(options, view),
        "within": _within(options.within),
    }


def _within(given: str | None) -> float | str | Path | None:
    """Read how close two values are to count as the same: a number, a duration, or a file with a hierarchy."""
    if given is None or given.endswith(".csv"):
        return None if given is None else Path(given)
    try:
        return float(given)
    except ValueError:
        return given


def print_exposure(verdict: Verdict, options: argparse.Namespace) -> None:
    """Print who is exposed from the threshold on, the surest first."""
    print(in_options(str(verdict.exposure), options))
    if verdict.exposure.people:
        _print_people(verdict.exposure)


def print_limit(verdict: Verdict, options: argparse.Namespace) -> None:
    """Print whether somebody is exposed above the limit, and who if that was not printed yet."""
    if (above := verdict.above) is None:
        return
    said = f"exposed above P = {verdict.limit:g} (--fail-above)"
    if verdict.is_undecided:
        print(f"\nUNDECIDED: nobody is {said}, but the values cannot be judged like this: see the warnings")
    elif not above.people:
        print(f"\nPASS: nobody is {said}")
    else:
        print(f"\nFAIL: {above.people} of {amount(int(above.histogram.sum()), 'person is', 'people are')} {said}")
    told = str(verdict.exposure).splitlines()
    for line in str(above).splitlines()[1:]:
        if line not in told:
            say(in_options(line, options))
    if above.people and not above.who.index.equals(verdict.exposure.who.index):
        _print_people(above)


def _print_people(exposure: Exposure) -> None:
    """Print whom, the surest first."""
    shown = exposure.who.head(LISTED)
    formats: Any = dict.fromkeys(("P", "baseline"), "{:.4g}".format)
    print(table_text(shown.reset_index(), index=False, formatters=formats))
    if len(exposure.who) > len(shown):
        print(f"... and {len(exposure.who) - len(shown)} groups more: --json has all of them")


def _baseline(options: argparse.Namespace, view: Any) -> Any:
    """Read what inferences are compared with."""
    asked = options.baseline
    if asked is None:
        if view.n_s is None:
            print(f"baseline: none, as the {view.noun} does not say how many people have each value (--baseline)")
            return None
        return "overall"
    if asked in ("overall", "none"):
        return None if asked == "none" else asked
    if asked.endswith(".parquet"):
        return load_posterior(asked)
    table = read_csv(asked)
    if {*view.sensitive} <= {*table.columns}:
        shares = distribution_of(table, list(view.sensitive), asked, "a column of probabilities")
        return _typed(shares, view, asked)
    attributes = [name for name in table.columns if name in view.qi]
    if not attributes:
        raise TableError(
            f"{asked!r} has the columns {', '.join(table.columns)}: either {', '.join(view.sensitive)} and P are "
            f"expected, or some of {', '.join(view.qi)} and a column for each value"
        )
    found = table.set_index(attributes)
    values: Any = values_as_printed(list(found.columns), view.sensitive_values)
    return found.set_axis(pd.Index(values), axis=1)


def _typed(found: pd.Series, view: Any, path: str) -> pd.Series:
    """The same values as the release has them, whatever a file makes of numbers."""
    printed = [",".join(map(str, one if isinstance(one, tuple) else [one])) for one in found.index]
    values: Any = values_as_printed(printed, view.sensitive_values)
    if len(lost := set(view.sensitive_values) - {*values}) == len(view.sensitive_values):
        raise unknown_name(f"sensitive value (in {path!r})", next(iter(printed)), lost)
    index = pd.MultiIndex.from_tuples(values) if len(view.sensitive) > 1 else pd.Index(values)
    return found.set_axis(index)
