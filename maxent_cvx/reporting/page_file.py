"""A finished report: a page that shows itself in a notebook, and is written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from os import PathLike

from ..measures import Exposure
from ..system.files import write_beside

__all__ = ["Report"]


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """One page of HTML, with everything in it, and the verdicts that it tells.

    Attributes
    ----------
    html : str
        The page. It fetches nothing, and every value in it is escaped.
    exposures : dict of str to Exposure
        Who is exposed, by the name of each answer; of one alone under the name "".

    Examples
    --------
    >>> import maxent_cvx as mx
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> report = mx.report(mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0").solve())
    >>> report.html.startswith("<!doctype html>"), [found.people for found in report.exposures.values()]
    (True, [1])
    """

    html: str
    exposures: Mapping[str, Exposure] = field(default_factory=dict)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            Its name ends in .html as a rule, so that a browser opens it.

        Raises
        ------
        TableError
            If the file cannot be written; what was there before is unchanged.

        Examples
        --------
        >>> import maxent_cvx as mx, pathlib, tempfile
        >>> release = mx.Release.from_buckets(mx.datasets.load_hospital(), qi="Gender", sa="Disease", bucket="Bucket")
        >>> report = mx.report(mx.MaxEnt(release).solve())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report.save(pathlib.Path(folder, "report.html"))
        ...     pathlib.Path(folder, "report.html").read_text(encoding="utf-8") == report.html
        True
        """
        data = self.html.encode("utf-8", "replace")
        write_beside(path, lambda draft: draft.write_bytes(data))

    def __repr__(self) -> str:
        return f"<Report: {len(self.html) / 1000:,.0f} kB of HTML; save(path) writes it>"

    def _repr_html_(self) -> str:
        page = escape(self.html)
        return (
            f'<iframe srcdoc="{page}" title="Disclosure report" width="100%" height="600" sandbox="allow-scripts">'
            "</iframe>"
        )
