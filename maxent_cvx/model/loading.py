"""Reading a posterior that was saved."""

from __future__ import annotations

from os import PathLike

from ..errors import TableError
from ..solvers import Certificate, Status
from .posterior import Posterior
from .storage.storage import read_terms

__all__ = ["load_posterior"]


def load_posterior(path: str | PathLike[str]) -> Posterior:
    """Read a posterior that :meth:`Posterior.save` wrote.

    Files without a checksum are refused, early ones of version 0.1.0 among them, as nobody can tell whether they were
    changed: solve and save again.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Posterior
        Without its knowledge, its multipliers and its log, which are not in the file.

    Raises
    ------
    TableError
        If the file is not one, or not as it was written: damaged, cut, or edited.

    Examples
    --------
    >>> import maxent_cvx as mx, pathlib, tempfile
    >>> hospital = mx.datasets.load_hospital()
    >>> release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.MaxEnt(release).solve().save(pathlib.Path(folder, "post.parquet"))
    ...     post = mx.load_posterior(pathlib.Path(folder, "post.parquet"))
    >>> round(post.prob("Flu", given={"Gender": "male"}), 6), post.certificate.holds
    (0.305556, True)
    """
    space, counts, about = read_terms(path)
    try:
        certificate, status = Certificate(**about.pop("certificate")), Status(about.pop("status"))
        return Posterior(space=space, counts=counts, certificate=certificate, status=status, **about)
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(
            f"another version of maxent_cvx wrote {str(path)!r}, and said other things of its posterior ({error}); "
            "solve and save again"
        ) from error
