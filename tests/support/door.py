"""A public door: a valid call of it, and which doors there are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any

import maxent_cvx as mx

__all__ = ["CLOSED", "Door", "drawn", "on_a_copy", "operation", "own_backend", "public", "registered_once"]

#: Doors that are not knocked at, and why.
CLOSED = {
    "mx.Posterior": "made by solve(), which has checked everything; it only holds what it is given",
    "mx.Posterior.of": "called by solve() with what a solver returned",
    "mx.Posterior.save": "tests/model/test_posterior_saved.py",
    "mx.MaxEnt.save": "tests/model/test_model_saved.py",
    "mx.MaxEnt.load": "tests/model/test_model_saved.py",
    "mx.solvers.Iteration": "made by a solve; it only holds what it is given",
    "mx.load_posterior": "tests/model/test_posterior_saved.py",
    "mx.Source": "abstract; what its rows() emit is checked when a model takes them",
    "mx.Source.rows": "abstract",
    **{
        f"mx.{source}.rows": "called by a model, with its own space"
        for source in (
            "AnsweredQueries",
            "BucketInvariants",
            "Monotone",
            "NoisyMarginal",
            "PublishedCorrelation",
            "PublishedMoments",
            "PublishedQuantile",
            "PublishedRegression",
            "PublishedRuleList",
            "PublishedRules",
            "PublishedTable",
            "PublishedTree",
            "RandomizedResponse",
            "SameValue",
            "Statement",
            "StrongestAssociations",
            "sdc.WindowSums",
            "sdc.WithinBounds",
        )
    },
    "mx.PublishedTable.matrix": "called by a model, with its own space",
    "mx.PublishedQuantile.alternatives": "called by a model, with its own space",
    "mx.View": "abstract",
    "mx.View.named": "abstract",
    "mx.View.described": "abstract",
    "mx.View.from_frames": "abstract: a class of one's own is made",
    "mx.Release": "made by from_buckets() and its sisters, which check tables; it only holds what it is given",
    "mx.GroupedRelease": "made by Release.from_generalized()",
    "mx.PartitionedRelease": "made by Release.from_parquet() and from_dask(), which check tables; it only holds them",
    "mx.PartitionedPosterior": "made by solve(); it only holds what it is given",
    "mx.PartitionedPosterior.to_parquet": "tests/model/partitioned/test_partitioned_model.py",
    "mx.Space": "made by MaxEnt",
    "mx.Block": "made by Space",
    "mx.Statement": "made by comparing P(...)",
    "mx.BucketInvariants.closed_form": "between a view's invariants and the solvers",
    "mx.BucketInvariants.closed_bounds": "between a view's invariants and the solvers",
    "mx.BucketInvariants.closed_bounds_of_each": "between a view's invariants and the solvers",
    "mx.attacks.AggregatesResult": "made by aggregates(); it only holds what it is given",
    "mx.attacks.AttackResult": "made by an attack; it only holds what it is given",
    "mx.attacks.DowncodingResult": "made by downcoding(); it only holds what it is given",
    "mx.attacks.IntersectionResult": "made by intersection(); it only holds what it is given",
    "mx.attacks.MinimalityResult": "made by minimality(); it only holds what it is given",
    "mx.attacks.Judgement": "made by AttackResult.judge(); it only holds what it is given",
    "mx.attacks.Reconstruction": "made by reconstruct(), which checks everything; it only holds what it is given",
    "mx.attacks.MembershipResult": "made by membership(); it only holds what it is given",
    "mx.anonymize.Sanitized": "made by sanitize(); it only holds what it is given",
    "mx.measures.Equivocation": "made by equivocation()",
    "mx.measures.Exposure": "made by exposed(); it only holds what it is given",
    "mx.measures.Reidentification": "made by reidentification(); it only holds what it is given",
    "mx.sdc.NoisyTable": "made by BinomialNoise.publish(); it only holds what it is given",
    "mx.sdc.NoisyTable.places": "between a technique and its own table",
    "mx.sdc.NoisyTable.of_people_like": "between a technique and its own table",
    "mx.sdc.Channel.draw": "between a technique and its own table",
    "mx.sdc.Channel.probability": "between a technique and its own table",
    "mx.sdc.Published": "made by publish(); it only holds what it is given",
    "mx.sdc.RangeSums": "made by RangeQueries.publish(); it only holds what it is given",
    "mx.sdc.Sample": "made by Sampling.publish(); it only holds what it is given",
    "mx.sdc.Technique": "a protocol",
    "mx.sdc.Technique.publish": "a protocol",
    "mx.sdc.Technique.infer": "a protocol",
    "mx.solvers.Answer": "what a solver returns; it only holds what it is given",
    "mx.solvers.Certificate": "made by a solve; it only holds what it is given",
    "mx.solvers.Solution": "made by a solve; it only holds what it is given",
    "mx.solvers.Status": "Python's own enumeration",
    "mx.solvers.DualNewton": "called by CVXPY, by its protocol",
    "mx.solvers.DualNewton.cite": "called by CVXPY, by its protocol",
    "mx.solvers.DualNewton.can_solve": "called by CVXPY, by its protocol",
    "mx.solvers.DualNewton.solve_via_data": "called by CVXPY, by its protocol",
    "mx.solvers.DualNewton.invert": "called by CVXPY, by its protocol",
    "mx.testing.problems.Problem": "made by the depot; it only holds what it is given",
    "mx.worlds.DeltaCondition": "made by delta_condition(); it only holds what it is given",
    "mx.worlds.SampledPosterior": "made by sample(); it only holds what it is given",
    "mx.worlds.Sentence": "made by has() and read_sentence()",
    "mx.worlds.SoundCondition": "made by sound_condition(); it only holds what it is given",
}


@dataclass(frozen=True)
class Door:
    """A valid call: a function, its arguments by name, and options that its signature does not name."""

    function: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Those of the signature, but for self."""
        return dict(inspect.signature(self.function).parameters)

    @property
    def exchangeable(self) -> list[str]:
        """The names of what can be given."""
        named = [name for name, p in self.parameters.items() if p.kind is not p.VAR_KEYWORD]
        return [*named, *self.options]

    def call(self, **exchanged: Any) -> Any:
        """Make the call with some arguments exchanged."""
        given = {**self.arguments, **exchanged}
        several = [name for name, p in self.parameters.items() if p.kind is p.VAR_POSITIONAL]
        positional = given.pop(several[0], ()) if several else ()
        if several and several[0] in exchanged:
            positional = (positional,)
        return self.function(*positional, **given)


def public(module: Any = mx, prefix: str = "mx.") -> Iterator[str]:
    """Walk the front door: every function, class and public method that is listed, but errors and warnings."""
    for name in module.__all__:
        found = getattr(module, name)
        if inspect.ismodule(found):
            yield from public(found, f"{prefix}{name}.")
        elif inspect.isclass(found) and not issubclass(found, Exception):
            yield prefix + name
            own = [c for c in found.__mro__ if c.__module__.startswith("maxent_cvx")]
            methods = {
                method: value
                for one in reversed(own)
                for method, value in vars(one).items()
                if not method.startswith("_")
                and (inspect.isfunction(getattr(found, method)) or inspect.ismethod(getattr(found, method)))
            }
            takes = [m for m in methods if len(inspect.signature(getattr(found, m)).parameters) > _own(methods[m])]
            yield from (f"{prefix}{name}.{method}" for method in takes)
        elif inspect.isfunction(found) and inspect.signature(found).parameters:
            yield prefix + name


def _own(method: Any) -> int:
    """How many parameters of an unbound method are not the caller's: self, but of class methods none."""
    return 0 if isinstance(method, classmethod | staticmethod) else 1


def drawn(plot: Callable[..., Any]) -> Callable[..., Any]:
    """Close the figure again."""

    @wraps(plot)
    def close(*given: Any, **named: Any) -> None:
        import matplotlib.pyplot as plt

        try:
            plot(*given, **named)
        finally:
            plt.close("all")

    return close


def on_a_copy(model: mx.MaxEnt, method: str) -> Callable[..., Any]:
    """A method that changes the model, of a copy."""

    @wraps(getattr(model, method))
    def call(*given: Any, **named: Any) -> Any:
        return getattr(model.copy(), method)(*given, **named)

    return call


def operation(left: Any, name: str) -> Callable[..., Any]:
    """An operator with something on its left."""
    return lambda other: getattr(left, name)(other)


def own_backend() -> Any:
    """A solver that is the default one by another name."""
    newton = mx.solvers.find("DUAL_NEWTON")
    return type("Own", (), {"name": "OWN", "solve": lambda _, form, start=None: newton.solve(form, start)})()


@wraps(mx.solvers.register)
def registered_once(backend: Any) -> Any:
    """Register a solver, and forget it."""
    before = dict(mx.solvers.SOLVERS)
    try:
        return mx.solvers.register(backend)
    finally:
        mx.solvers.SOLVERS.clear()
        mx.solvers.SOLVERS.update(before)
