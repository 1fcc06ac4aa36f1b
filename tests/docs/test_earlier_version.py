"""Nothing public is lost from version to version, and what an earlier one saved is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from support import public_api
from support.stored_views import KINDS

SUPPORT = Path(public_api.__file__).parent
#: Versions whose public names and saved posteriors are kept.
VERSIONS = ("0.1.0", "0.2.0")
#: The optional fields of an exposure.
EXPOSURE = (
    "values=<factory>, uncounted=<factory>, warnings=(), baseline=None, within=None, expected_error=None, "
    "expected_error_before=None, undecided=())"
)
#: Lines of the earlier version, and what they have become: parameters that one may give, and need not.
WIDER = {
    "mx.Rows(matrix, low, high, label, index=None, view=None, typed=None, remedy='', exact=False)": "mx.Rows(matrix, "
    "low, high, label, index=None, view=None, typed=None, remedy='', exact=False, penalty=None)",
    "mx.Statement(terms, low, high, where='')": "mx.Statement(terms, low, high, where='', penalty=None)",
    "mx.NoisyMarginal(counts, noise, confidence=0.95, integer=True)": "mx.NoisyMarginal(counts, noise, "
    "confidence=None, integer=None, how='box')",
    "mx.Block(space, matrix, index, label)": "mx.Block(space, matrix, index, label, constant=None, "
    "provenance=<factory>)",
    "mx.MaxEnt.bounds(self, asked, integer=False, *, time_limit=60.0, progress=None)": "mx.MaxEnt.bounds(self, "
    "asked=None, integer=False, *, exact=None, time_limit=None, progress=None)",
    "mx.MaxEnt.diagnose(self)": "mx.MaxEnt.diagnose(self, time_limit=None)",
    "mx.MaxEnt.relax(self, priority=None)": "mx.MaxEnt.relax(self, priority=None, time_limit=None)",
    "mx.MaxEnt.solve(self, solver='auto', *, presolve=True, allow_inaccurate=False, warm_start=None, polish=False, "
    "**options)": "mx.MaxEnt.solve(self, solver='auto', *, presolve=True, allow_inaccurate=False, warm_start=None, "
    "polish=False, time_limit=inf, callback=None, **options)",
    "mx.Posterior.certain(self, progress=None, *, integer=False, time_limit=60.0)": "mx.Posterior.certain(self, "
    "progress=None, *, integer=False, time_limit=None)",
    "mx.Posterior.prices(self, leave_one_out=False, measure=None)": "mx.Posterior.prices(self, leave_one_out=False, "
    "measure=None, *, time_limit=inf, progress=None)",
    "mx.quantify(release, original, knowledge=((0, 0), (50, 50), (200, 200)), *, min_support=3, attributes=None, "
    "measure=overall_divergence, progress=None, **solve)": "mx.quantify(release, original, knowledge=((0, 0), "
    "(50, 50), (200, 200)), *, min_support=3, attributes=None, measure=overall_divergence, progress=None, n_jobs=None, "
    "client=None, time_limit=inf, **solve)",
    "mx.sweep(model, probability, *, value=None, eps=0.0, measure=None, solver='auto', **options)": "mx.sweep(model, "
    "probability, *, value=None, eps=0.0, measure=None, solver='auto', n_jobs=None, client=None, time_limit=inf, "
    "progress=None, **options)",
    "mx.inference_channels(series, tolerance=0.0001, blame=True, progress=None, **solve)": "mx.inference_channels("
    "series, tolerance=0.0001, blame=True, progress=None, *, n_jobs=None, client=None, **solve)",
    "mx.sdc.experiment(table, confidential, techniques, *, known=None, sizes=None, targets=10, draw='people', "
    "repetitions=30, at=(), seed=0, n_jobs=None, progress=None)": "mx.sdc.experiment(table, confidential, techniques, "
    "*, known=None, sizes=None, targets=10, draw='people', repetitions=30, at=(), seed=0, n_jobs=None, client=None, "
    "progress=None)",
    "mx.anonymize.anatomy(table, *, qi, sa, l, exempt=0, seed=0)": "mx.anonymize.anatomy(table, *, qi, sa, l, exempt=0, "
    "seed=0, safe=None)",
    "mx.anonymize.anatomy_buckets(table, *, qi, sa, l, exempt=0, seed=0)": "mx.anonymize.anatomy_buckets(table, *, qi, "
    "sa, l, exempt=0, seed=0, safe=None)",
    "mx.anonymize.mondrian(table, *, qi, sa, k, l=None, id=None)": "mx.anonymize.mondrian(table, *, qi, sa, k, l=None, "
    "id=None, safe=None)",
    "mx.anonymize.mondrian_table(table, *, qi, sa, k, l=None)": "mx.anonymize.mondrian_table(table, *, qi, sa, k, "
    "l=None, safe=None)",
    "mx.compare_solvers(model, solvers=None, *, presolve=True, options=None)": "mx.compare_solvers(model, "
    "solvers=None, *, presolve=True, options=None, time_limit=inf, progress=None)",
    "mx.RuleSet.from_mlxtend(rules, *, qi, sa, support, confidence, strict=False, complete=False, separator='_', "
    "attributes=None)": "mx.RuleSet.from_mlxtend(rules, *, qi, sa, support=None, confidence=None, strict=False, "
    "complete=False, separator='_', attributes=None)",
    "mx.solvers.Answer(status, counts, multipliers, iterations, compile_seconds, solve_seconds, message, proofs=(), "
    "log=(), corner=None)": "mx.solvers.Answer(status, counts, multipliers, iterations=0, compile_seconds=0.0, "
    "solve_seconds=0.0, message='', proofs=(), log=(), corner=None)",
    "mx.measures.Exposure(threshold, people, who, histogram, attack_success)": "mx.measures.Exposure(threshold, "
    f"people, who, histogram, attack_success, {EXPOSURE}",
    "mx.measures.Exposure(threshold, people, who, histogram, attack_success, values=<factory>, uncounted=<factory>, "
    "warnings=(), baseline=None)": f"mx.measures.Exposure(threshold, people, who, histogram, attack_success, "
    f"{EXPOSURE}",
    "mx.measures.exposed(post, threshold=0.8, original=None)": "mx.measures.exposed(post, threshold=0.8, "
    "original=None, *, sensitive=None, baseline=None, within=None, rho1=None)",
    "mx.measures.exposed(post, threshold=0.8, original=None, *, sensitive=None, baseline=None)": "mx.measures.exposed("
    "post, threshold=0.8, original=None, *, sensitive=None, baseline=None, within=None, rho1=None)",
    "mx.measures.risk_utility(post, original=None, *, threshold=0.8, sensitive=None, baseline='overall', "
    "population=None, k=5, hierarchies=None)": "mx.measures.risk_utility(post, original=None, *, threshold=0.8, "
    "sensitive=None, baseline='overall', within=None, population=None, k=5, hierarchies=None)",
    "mx.plots.exposure(posteriors, ax=None, *, sensitive=None, baseline=None)": "mx.plots.exposure(posteriors, "
    "ax=None, *, sensitive=None, baseline=None, within=None)",
    "mx.report(posts, path=None, *, threshold=0.8, sensitive=None, baseline='overall', original=None, "
    "population=None, records=False, attacks=(), about=None, rows=25, time_limit=60.0, progress=None)": "mx.report("
    "posts, path=None, *, threshold=0.8, sensitive=None, baseline='overall', within=None, original=None, "
    "population=None, records=False, attacks=(), about=None, rows=25, time_limit=60.0, progress=None)",
    "mx.measures.query_error(published, original, *, queries=1000, attributes=None, dimensions=None, "
    "selectivity=0.05, seed=0)": "mx.measures.query_error(published, original, *, queries=1000, attributes=None, "
    "dimensions=None, selectivity=0.05, seed=0, hierarchies=None)",
    "mx.worlds.linkage(release, prior, attributes=None, *, limit=200000000.0)": "mx.worlds.linkage(release, "
    "prior=None, attributes=None, *, people=None, knowledge=(), limit=200000000.0)",
    "mx.worlds.posterior(group, values, *, ties=None, limit=200000000.0)": "mx.worlds.posterior(group, values, *, "
    "ties=None, knowledge=(), limit=200000000.0)",
    "mx.attacks.Reconstruction(table, baseline, records, error, solutions, complete, certain, decided, _independent)": (
        "mx.attacks.Reconstruction(table, baseline, records, error, solutions, complete, certain, decided, "
        "_independent, stopped='')"
    ),
    "mx.load_posterior(path)": "mx.load_posterior(path, verify=False)",
    "mx.worlds.sample(group, values, n=10000, *, seed=0)": "mx.worlds.sample(group, values, n=10000, *, seed=0, "
    "knowledge=())",
}
#: What has gone, as the changelog says.
REMOVED = {"mx.worlds.sample_linkage(release, people, knowledge=(), n=10000, *, seed=0)"}


@pytest.mark.parametrize("version", VERSIONS)
def test_no_public_name_is_lost(version: str):
    """Every name, signature and attribute of an earlier version is there; `disguise` has become `anonymize`."""
    before = (SUPPORT / f"public_api_{version}.txt").read_text(encoding="utf-8").splitlines()
    assert len(before) > 500
    renamed = (line.replace("mx.disguise", "mx.anonymize") for line in before if not line.startswith("errors."))
    lost = {WIDER.get(line, line) for line in renamed} - set(public_api.lines()) - REMOVED
    assert not lost


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_an_earlier_version_saved_is_read(kind: str, version: str):
    """Posteriors of every kind of view, saved by an earlier version, are those that are solved for now."""
    earlier = mx.load_posterior(SUPPORT / "saved" / version / f"{kind}.parquet")
    now = KINDS[kind]().solve()
    assert type(earlier.space.view) is type(now.space.view)
    pd.testing.assert_index_equal(earlier.joint().index, now.joint().index)
    bound = earlier.certificate.bound + now.certificate.bound + 1e-12
    np.testing.assert_allclose(earlier.conditional(), now.conditional(), atol=bound)
