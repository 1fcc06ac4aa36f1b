"""Load a posterior that was saved, in memory or in partitions."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

from .._utils.errors import TableError, join_names
from .._utils.files import path_of
from .._utils.validation import check_bool, check_int, check_seconds, check_str
from ..solvers.answer import Status
from ..solvers.certificate import Certificate
from .maxent import MaxEnt, certified_by
from .posterior import ABOUT, Posterior
from .storage import decoding, model_of_parts, read_terms

__all__ = [
    "load_posterior",
]


def load_posterior(path: str | PathLike[str], verify: bool = False) -> Posterior:
    """Read a posterior that :meth:`Posterior.save` wrote.

    The checksum in the file finds damage. It is not a signature: whoever forges a file can compute its checksum, and
    the certificate in it is then whatever the forger wrote. Files without a checksum, such as early ones of version
    0.1.0, are refused: solve and save again.

    Parameters
    ----------
    path : str or path
    verify : bool
        Make the model again from the view and the knowledge in the file, solve it, and certify the counts of the file
        against it. This proves that they are the maximum-entropy answer to ``post.model.knowledge``, up to the bound of
        the new certificate. It does not prove who wrote the file, nor that the view and the knowledge in it are those
        that you expect: compare ``post.space.view`` and ``post.model.knowledge``. Nor does it check what the file says
        of the solve: `solver`, `iterations` and the seconds.

    Returns
    -------
    Posterior
        Without its model, its multipliers and its log. With `verify` it has a model, the multipliers of the new solve,
        and the new certificate.

    Raises
    ------
    TableError
        If the file is not one, or not as it was written: damaged, cut, or edited. With `verify` also if the file
        claims a certificate that its counts do not have, or lacks the knowledge: files of version 0.2.0 and earlier do,
        and those of models with convex constraints.
    Infeasible, SolverError
        With `verify`: if the model in the file has no answer, or none is found.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.MaxEnt(release).add("P(HIV | Gender=male) = 0.1").solve().save(pathlib.Path(folder, "post.parquet"))
    ...     post = mx.load_posterior(pathlib.Path(folder, "post.parquet"), verify=True)
    >>> round(post.prob("Flu", given={"Gender": "male"}), 6), post.certificate.holds
    (0.320859, True)
    >>> list(post.model.knowledge)
    ['P(HIV | Gender=male) = 0.1']
    """
    check_bool(verify, "verify")
    space, counts, about, parts = read_terms(path)
    what = repr(str(path_of(path)))
    with decoding(what, "solve and save again"):
        if unknown := about.keys() - {"certificate", *ABOUT}:
            raise TableError(f"it says something unknown of the posterior: {join_names(sorted(unknown))}")
        loaded = Posterior(
            space,
            counts,
            _certificate(about["certificate"]),
            Status(about["status"]),
            check_str(about["solver"], "solver"),
            check_int(about["iterations"], "iterations", 0),
            check_seconds(about["compile_seconds"], "compile_seconds"),
            check_seconds(about["solve_seconds"], "solve_seconds"),
        )
    return _verified(loaded, parts, what) if verify else loaded


def _certificate(written: dict[str, Any]) -> Certificate:
    """Read a certificate: non-negative numbers, some of which may be infinite."""
    forced = check_int(written.pop("forced"), "forced", 0)
    return Certificate(forced=forced, **{name: check_seconds(value, name) for name, value in written.items()})


def _verified(loaded: Posterior, parts: dict[str, Any] | None, what: str) -> Posterior:
    """Certify a posterior again, against the model that its file contains."""
    if not isinstance(parts, dict | None):
        raise TableError(f"{what} is damaged: its model is a {type(parts).__name__}; solve and save again")
    reason = "an earlier version of maxent_cvx wrote it" if parts is None else parts.get("missing")
    if reason is not None:
        raise TableError(
            f"{what} does not contain the knowledge of its model ({reason}), so that its counts cannot be certified; "
            "make the model, and compare with model.certify(post.counts)"
        )
    with decoding(what, "solve and save again"):
        assert parts is not None
        model = MaxEnt._made_of(model_of_parts(loaded.space.view, loaded.space.people, parts))
        model.form  # noqa: B018 - rows that do not fit together are found here
    solved = model.solve()
    certificate = certified_by(model, loaded.counts, solved)
    if loaded.certificate.holds and not certificate.holds:
        raise TableError(
            f"{what} claims a certificate that its counts do not have: {certificate}; they are not the maximum-entropy "
            "answer to the view and the knowledge in the file. Solve and save again"
        )
    return replace(loaded, space=model.space, certificate=certificate, multipliers=solved.multipliers, model=model)
