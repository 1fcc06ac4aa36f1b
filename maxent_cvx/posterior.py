"""The posterior: what an adversary infers, with the proof of how precise it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import xlogy

from .errors import StatementError, TableError, listing
from .solvers import Certificate, Solution, Status
from .sources import Probability
from .space import Space
from .views import Release

__all__ = ["Posterior", "load_posterior"]

#: Where a saved posterior keeps everything that is not a column.
METADATA = b"maxent_cvx"


@dataclass(frozen=True, eq=False)
class Posterior:
    """The maximum-entropy distribution P(q, s, b), and how it was found.

    Attributes
    ----------
    space : Space
        The terms.
    counts : ndarray
        N P(q, s, b), people, one a term.
    certificate : Certificate
        How far any P(s | q) can be from the exact answer, recomputed from the rows.
    status : Status
        Why the solver stopped.
    solver : str
    iterations : int
    compile_seconds, solve_seconds : float
        Time to hand the problem over, and to solve it.
    """

    space: Space
    counts: np.ndarray
    certificate: Certificate
    status: Status
    solver: str
    iterations: int
    compile_seconds: float
    solve_seconds: float

    @classmethod
    def of(cls, space: Space, solution: Solution) -> Posterior:
        """Label a solution with the terms of its space."""
        answer = solution.answer
        assert answer.counts is not None
        return cls(
            space, np.maximum(answer.counts, 0.0), solution.certificate, answer.status, solution.solver,
            answer.iterations, answer.compile_seconds, answer.solve_seconds,
        )  # fmt: skip

    def joint(self) -> pd.Series:
        """P(q, s, b) over the terms, probabilities, labelled by QI attributes, sensitive attribute and bucket."""
        return pd.Series(self.counts / self.space.n_records, index=self.space.index, name="P(q, s, b)")

    @cached_property
    def table(self) -> np.ndarray:
        """N P(q, s), people, shape (QI tuples, sensitive values)."""
        view = self.space.view
        shape = (len(view.quasi_identifiers), len(view.sensitive_values))
        key = self.space.codes["q"] * shape[1] + self.space.codes["s"]
        return np.bincount(key, self.counts, shape[0] * shape[1]).reshape(shape)

    def conditional(self) -> pd.DataFrame:
        """P(s | q) = sum_b P(q, s, b) / P(q), probabilities: a row a QI tuple, a column a sensitive value.

        Nothing is renormalised: rows sum to 1 as closely as the certificate's residual says.
        (Privacy-MaxEnt, section 3.1.)
        """
        view = self.space.view
        index: pd.Index = view.quasi_identifiers
        if index.nlevels == 1:
            index = index.get_level_values(0)
        return pd.DataFrame(self.table / view.n_q[:, None], index=index, columns=view.sensitive_values)

    def prob(self, value: object, given: Mapping[str, object] | None = None) -> float:
        """P(value | given) under the posterior; or the value of a combination of ``P(...)``.

        Raises
        ------
        UnknownName, StatementError
            As :meth:`maxent_cvx.space.Space.prob`.
        """
        if not isinstance(value, Probability):
            return float((self.space.row(value, given) @ self.counts)[0] / self.space.n_records)
        if given is not None:
            raise StatementError(f"{value} says already what is given; leave the second argument out")
        p = self.counts / self.space.n_records
        return value.constant + sum(float((event.row(self.space) @ p)[0]) * a for event, a in value.terms.items())

    @cached_property
    def entropy(self) -> float:
        """H(Q, S, B) = -sum P(q, s, b) log P(q, s, b), nats (Eq. (3))."""
        p = self.counts / self.space.n_records
        return float(-xlogy(p, p).sum())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the posterior to a Parquet file, for :func:`load_posterior` and for any other program.

        A row a term: its labels, the published n(q, b) and n(s, b), and ``count`` = N P(q, s, b).

        Raises
        ------
        TableError
            If a column holds values that Parquet cannot store together.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        view, codes = self.space.view, self.space.codes
        columns = [*view.qi, view.sa, view.bucket]
        frame = self.space.index.to_frame(index=False)
        frame.columns = pd.RangeIndex(len(columns))  # a column may be called "count"
        frame["n_qb"] = np.asarray(view.n_qb[codes["q"], codes["bucket"]]).ravel()
        frame["n_sb"] = np.asarray(view.n_sb[codes["s"], codes["bucket"]]).ravel()
        frame["count"] = self.counts
        frame.columns = pd.Index([*columns, "N P(q,b)", "N P(s,b)", "N P(q,s,b)"])
        about = {
            "version": version("maxent-cvx"),
            "qi": list(view.qi),
            "sa": view.sa,
            "bucket": view.bucket,
            "certificate": self.certificate.to_dict(),
            **{name: getattr(self, name) for name in ABOUT},
        }
        try:
            table = pa.Table.from_pandas(frame, preserve_index=False)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise TableError(f"Parquet cannot store these labels together: {error.args[0]}") from error
        metadata = {**(table.schema.metadata or {}), METADATA: json.dumps(about).encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)

    def __repr__(self) -> str:
        return (
            f"<Posterior: H = {self.entropy:.6f} nats over {len(self.space)} terms, {self.status} by {self.solver} in "
            f"{self.iterations} iterations; {self.certificate}>"
        )

    def _repr_html_(self) -> str:
        view = self.space.view
        shown = self.conditional().head(10)
        shown.columns = pd.Index([f"{view.sa} = {value}" for value in shown.columns])
        styled = shown.to_html(float_format=lambda p: f"{p:.4g}", border=0)
        more = f"{len(view.quasi_identifiers)} QI tuples, {view.n_records} people"
        certificate = "certified" if self.certificate.holds else "<strong>not certified</strong>"
        return (
            f"<p><strong>P({view.sa} | {', '.join(view.qi)})</strong>: {more}<br>"
            f"H = {self.entropy:.6f} nats &middot; {self.status} by {self.solver}, {certificate}: "
            f"every P(s | q) within {self.certificate.bound:.1e}</p>{styled}"
        )


#: Fields that are stored as they are.
ABOUT = ("status", "solver", "iterations", "compile_seconds", "solve_seconds")


def load_posterior(path: str | PathLike[str]) -> Posterior:
    """Read a posterior that :meth:`Posterior.save` wrote.

    Raises
    ------
    TableError
        If the file is not one.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.read_table(path)
        about: dict[str, Any] = json.loads(stored.schema.metadata[METADATA])
    except FileNotFoundError as error:
        raise TableError(f"there is no file {str(path)!r}") from error
    except (pa.ArrowInvalid, KeyError, TypeError) as error:
        raise TableError(f"{str(path)!r} was not written by Posterior.save; give such a Parquet file") from error
    frame = stored.to_pandas()
    qi, sa, bucket = about["qi"], about["sa"], about["bucket"]
    n_qb, n_sb, counts = (frame.iloc[:, -3 + i] for i in range(3))
    pairs = [
        frame[columns].assign(**{COUNT: count}).drop_duplicates()
        for columns, count in (([*qi, bucket], n_qb), ([bucket, sa], n_sb))
    ]
    view = Release.from_tables(*pairs, qi=qi, sa=sa, bucket=bucket, count=COUNT)
    space = Space.of(view)
    if not frame[[*qi, sa, bucket]].equals(space.index.to_frame(index=False)):
        strange = listing(sorted(set(map(str, frame.columns))))
        raise TableError(f"the terms in {str(path)!r} are not in the order they were written (columns {strange})")
    return Posterior(
        space,
        counts.to_numpy(),
        Certificate(**about["certificate"]),
        Status(about["status"]),
        **{name: about[name] for name in ABOUT if name != "status"},
    )


#: A column name that no table has.
COUNT = "N P (maxent_cvx)"
