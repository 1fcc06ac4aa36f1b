"""One valid call of every public door, from which wrong ones are made by exchanging one argument."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import cvxpy as cp
import numpy as np
import pandas as pd
import scipy.sparse as sp
import scipy.stats

import maxent_cvx as mx
from maxent_cvx import P

from .door import Door, drawn, on_a_copy, operation, own_backend, registered_once
from .rules import EXAMPLE_1, people_of
from .series import patients
from .techniques import people

QI = ["Gender", "Degree"]


def doors() -> dict[str, Door]:
    """A valid call of everything that :func:`public` finds and is not closed."""
    import matplotlib as mpl

    mpl.use("Agg")
    hospital = mx.datasets.load_hospital()
    plain = hospital.drop(columns=["Name"])
    roles = {"qi": QI, "sa": "Disease", "bucket": "Bucket"}
    release = mx.Release.from_buckets(hospital, **roles)
    allen = hospital.iloc[0][QI].to_dict()
    model = mx.MaxEnt(release).add(P("Flu", given={"Gender": "male"}) == 0.3)
    post = model.solve()
    space = model.space
    series = patients()
    first = series.releases[0]
    prior = mx.QIDistribution.estimate(hospital, qi=["Gender"], sa="Disease", smoothing=0.5)
    rules = mx.anonymize.mine_rules(EXAMPLE_1, qi=["Education", "Gender"], sa="Salary", support=0.3, confidence=0.8)
    view = people_of(EXAMPLE_1)
    group = pd.DataFrame({"x": [0.2, 0.5, 0.3], "y": [0.8, 0.5, 0.7]}, index=["a", "b", "c"])
    values = ["x", "y", "y"]
    table = people(12)
    others = table.drop(columns="Salary")
    transition = pd.DataFrame(0.75 * np.eye(2) + 0.125, index=["male", "female"], columns=["male", "female"])
    transition = transition.div(transition.sum(axis=1), axis=0)
    noise = scipy.stats.laplace(scale=1)
    cells = pd.Series([3.2, 1.7], pd.Index(["male", "female"], name="Gender"))
    counts = pd.DataFrame({"Gender": ["male", "*"], "Disease": ["Flu", "Flu"], "n": ["<5", 3]})
    published = mx.PublishedTable(counts)
    margins = mx.PublishedTable(pd.DataFrame([("a", "x", "<5"), ("a", "*", 9), ("*", "*", 9)], columns=["A", "B", "n"]))
    block, joint = space.marginal(["s"]), space.marginal(["Gender", "s"])
    rows = block == pd.Series(release.n_s / release.n_records, index=block.index)
    qi_table, sa_table = release.to_tables()
    generalized = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]", "*"], "S": ["a", "b", "a"]})
    voters = pd.DataFrame({"Age": [21, 22, 25, 31], "n": [1, 2, 1, 1]})
    grouped = mx.Release.from_generalized(generalized, qi="Age", sa="S", population=voters, count="n")
    said = pd.DataFrame({"no": [0.3, 0.9], "yes": [0.7, 0.1]}, index=pd.Index(["f", "m"], name="Sex"))
    said = said.rename_axis(columns="Flu")
    attacked = pd.DataFrame({"Sex": ["f", "m"], "Flu": "no"})
    attack = mx.attacks.AttackResult(said, said, pd.Series([1, 1], index=said.index), 0.0)
    statistics = [mx.attacks.Statistic({}, 2, mean=21), mx.attacks.Statistic({"sex": "F"}, "<3")]
    residents = pd.DataFrame({"age": [20, 22], "sex": ["F", "M"]})
    possible = {"age": [20, 21, 22], "sex": ["F", "M"]}
    reconstruction = mx.attacks.reconstruct(statistics, possible)
    intersected = mx.attacks.intersection([release, release])
    in_groups = mx.Release.from_generalized(generalized, qi="Age", sa="S")
    present = mx.attacks.membership(in_groups, voters, count="n")
    counted = mx.AnsweredQueries([{"Gender": "male", "Disease": "Flu"}], [2])
    told = mx.attacks.aggregates(counted, hospital, target={"Disease": "Flu"})
    frequency = dict.fromkeys(release.sensitive_values, 1)
    cut = partial(mx.anonymize.mondrian, qi=QI, sa="Disease", k=2, l=2)
    minimality = {"release": cut(hospital), "algorithm": cut, "population": hospital, "limit": 10, "n": 2000}
    minimal = mx.attacks.minimality(**minimality)
    aged = pd.DataFrame({"Age": [20, 21, 30, 31], "S": list("xyxy")})
    by_age = partial(mx.anonymize.mondrian, qi="Age", sa="S", k=2)
    downcoding = {"release": by_age(aged), "algorithm": by_age, "of": "Age", "domain": {"Age": [20, 21, 30, 31]}}
    downcoded = mx.attacks.downcoding(**downcoding)
    folder = Path(tempfile.mkdtemp())
    (folder / "known.txt").write_text("P(Flu | Gender=male) = 0.3\n")
    (folder / "adult.data").write_text(", ".join(["39", *["x"] * 13, "<=50K"]) + "\n")
    rules.to_csv(folder / "rules.csv")
    hospital.to_parquet(folder / "hospital.parquet")
    partitioned = mx.Release.from_parquet(folder / "hospital.parquet", **roles)
    in_parts = mx.PartitionedMaxEnt(partitioned).add(P("Flu", given={"Gender": "male"}) == 0.3)
    of_parts = in_parts.solve(threads=1)
    itemsets = pd.DataFrame(
        {
            "antecedents": [frozenset({"Education_Doctorate"})],
            "consequents": [frozenset({"Salary_50K+"})],
            "support": [1 / 3],
            "confidence": [0.9],
        }
    )
    die = mx.testing.problems.find("loaded die")
    cae = mx.measures.equivocation([1, 2, 4], [0.5, 0.25, 0.25])
    sampling, ranges, binomial = mx.sdc.Sampling(0.5), mx.sdc.RangeQueries(2), mx.sdc.BinomialNoise(10)
    infer = {"known": {"Age": [int(table["Age"].iloc[0])]}, "population": others}
    swept = mx.sweep(model, P("Flu", given={"Gender": "male"}), value=[0.3, 0.35])
    curves = {"K+": mx.quantify(release, hospital, [(0, 0), (1, 0)], min_support=1, progress=False)}
    comparison = mx.compare_solvers(model, ["DUAL_NEWTON", "DUAL_LBFGS"])
    profiled = mx.compare_solvers({"a rumour": model}, ["DUAL_NEWTON", "DUAL_LBFGS"])
    microdata = {"table": hospital, "qi": QI, "sa": "Disease"}
    solve = {"tolerance": 1e-9, "max_iterations": 50, "verbose": False}
    single = mx.Release.from_buckets(hospital.assign(Age=hospital["Bucket"]), **{**roles, "qi": "Age"})

    tree_door = _tree()
    return {
        "mx.AnsweredQueries": Door(mx.AnsweredQueries, {"queries": [{"Gender": "male"}], "answers": [5.0]}),
        "mx.attacks.AggregatesResult.judge": Door(told.judge, {"original": hospital}),
        "mx.attacks.AggregatesResult.plot": Door(drawn(told.plot)),
        "mx.attacks.AttackResult.judge": Door(attack.judge, {"original": attacked}),
        "mx.attacks.AttackResult.plot": Door(drawn(attack.plot)),
        "mx.attacks.Reconstruction.judge": Door(reconstruction.judge, {"original": residents}),
        "mx.attacks.Reconstruction.plot": Door(drawn(reconstruction.plot)),
        "mx.attacks.Statistic": Door(
            mx.attacks.Statistic,
            {"where": {"sex": "F"}, "count": 3, "mean": 36.7, "median": 36.0, "of": "age", "decimals": 1},
        ),
        "mx.attacks.reconstruct": Door(
            mx.attacks.reconstruct, {"tables": statistics, "domain": possible, "limit": 2, "time_limit": 10.0}
        ),
        "mx.attacks.tabulate": Door(
            mx.attacks.tabulate,
            {
                "original": residents,
                "by": [[], "sex", {"age": [20]}],
                "of": "age",
                "suppressed": "<2",
                "decimals": 1,
                "noise": 1,
                "seed": 0,
            },
        ),
        "mx.attacks.skyline": Door(
            mx.attacks.skyline, {"release": release, "target": 1, "others": 1, "same": 1, "threshold": 0.9}
        ),
        "mx.attacks.worst_case": Door(mx.attacks.worst_case, {"release": release, "k": [0, 1], "sensitive": ["Flu"]}),
        "mx.attacks.definetti": Door(mx.attacks.definetti, {"release": release, "iterations": 2}),
        "mx.attacks.IntersectionResult.judge": Door(intersected.judge, {"original": hospital}),
        "mx.attacks.IntersectionResult.plot": Door(drawn(intersected.plot)),
        "mx.attacks.aggregates": Door(
            mx.attacks.aggregates,
            {"answers": counted, "population": hospital, "target": {"Disease": "Flu"}, "members": None, "sd": 0.1},
        ),
        "mx.attacks.intersection": Door(
            mx.attacks.intersection, {"releases": [release, release], "prior": frequency}
        ),
        "mx.attacks.MembershipResult.judge": Door(present.judge, {"original": voters.head(3)}),
        "mx.attacks.MembershipResult.plot": Door(drawn(present.plot)),
        "mx.attacks.membership": Door(
            mx.attacks.membership, {"release": in_groups, "population": voters, "count": "n"}
        ),
        "mx.attacks.MinimalityResult.judge": Door(minimal.judge, {"original": hospital}),
        "mx.attacks.MinimalityResult.plot": Door(drawn(minimal.plot)),
        "mx.attacks.minimality": Door(mx.attacks.minimality, minimality),
        "mx.attacks.DowncodingResult.judge": Door(downcoded.judge, {"original": aged}),
        "mx.attacks.DowncodingResult.plot": Door(drawn(downcoded.plot)),
        "mx.attacks.Minimal": Door(mx.attacks.Minimal, {"k": 2}),
        "mx.attacks.downcoding": Door(mx.attacks.downcoding, downcoding),
        "mx.Block.between": Door(block.between, {"low": 0.1, "high": 0.2}),
        "mx.Block.softly": Door(block.softly, {"value": 0.1, "sd": 0.2, "delta": 0.1}),
        "mx.Block.about": Door(block.about, {"value": 0.1, "eps": 0.2}),
        "mx.Block.at": Door(block.at, {"rows": np.array([0])}),
        "mx.Block.xs": Door(joint.xs, {"key": "male", "level": "Gender"}),
        "mx.Block.sum": Door(joint.sum, {"level": "Gender"}),
        "mx.Block.diff": Door(joint.diff, {"level": "Gender"}),
        "mx.Block.value": Door(block.value, {"p": np.full(len(space), 0.1)}),
        "mx.BucketInvariants": Door(mx.BucketInvariants, {"release": release}),
        "mx.Covariance": Door(mx.Covariance, {"x": "Gender=male", "y": {"Flu": 1.0}, "given": {"Degree": "college"}}),
        "mx.E": Door(mx.E, {"attribute": "Disease", "given": {"Gender": "male"}, "values": {"Flu": 1.0}}),
        "mx.Count": Door(mx.Count, {"value": "Flu", "who": ["Allen", "Brian"]}),
        "mx.MaxEnt": Door(mx.MaxEnt, {"view": release, "people": {"Allen": allen}, "prior": prior}),
        "mx.MaxEnt.solve": Door(model.solve, {}, {**solve, "nonsense": 1}),
        "mx.MaxEnt.certify": Door(
            model.certify, {"counts": post.counts, "multipliers": dict(post.multipliers)}
        ),
        "mx.MaxEnt.audit": Door(model.audit, {"table": published, "progress": False}),
        "mx.MaxEnt.bounds": Door(model.bounds, {"asked": "P(Flu | Gender=male)", "progress": False}),
        "mx.MaxEnt.relax": Door(model.relax, {}),
        "mx.MaxEnt.diagnose": Door(model.diagnose, {}),
        "mx.MaxEnt.add": Door(on_a_copy(model, "add"), {}),
        "mx.MaxEnt.remove": Door(on_a_copy(model, "remove"), {"label": next(iter(model.knowledge))}),
        "mx.MaxEnt.without_row": Door(model.without_row, {"row": model.form.n_facts}),
        "mx.Monotone": Door(mx.Monotone, {"of": P("Flu"), "along": "Degree", "order": ["junior", "college"]}),
        "mx.NoisyMarginal": Door(mx.NoisyMarginal, {"counts": cells, "noise": noise}),
        "mx.soft": Door(mx.soft, {"said": "P(Flu) = 0.3", "sd": 0.1, "delta": 0.1}),
        "mx.P": Door(mx.P, {"value": "Flu"}),
        "mx.PartitionedMaxEnt": Door(mx.PartitionedMaxEnt, {"release": partitioned, "people": {"Allen": allen}}),
        "mx.PartitionedMaxEnt.add": Door(on_a_copy(in_parts, "add"), {}),
        "mx.PartitionedMaxEnt.remove": Door(on_a_copy(in_parts, "remove"), {"label": next(iter(in_parts.knowledge))}),
        "mx.PartitionedMaxEnt.solve": Door(in_parts.copy().solve, {"threads": 1}, {**solve, "nonsense": 1}),
        "mx.PartitionedPosterior.conditional": Door(of_parts.conditional, {"q": [("male", "college")]}),
        "mx.PartitionedPosterior.prices": Door(of_parts.prices, {}),
        "mx.PartitionedPosterior.prob": Door(of_parts.prob, {"value": "Flu"}),
        "mx.PartitionedPosterior.reduce": Door(
            of_parts.reduce, {"measure": lambda p, people, numbers: p.sum(), "combine": sum}
        ),
        "mx.PartitionedPosterior.top": Door(of_parts.top, {"n": 2}),
        "mx.Posterior.prob": Door(post.prob, {"value": "Flu"}),
        "mx.Posterior.prices": Door(post.prices, {"leave_one_out": True}),
        "mx.Posterior.certain": Door(post.certain, {"progress": False}),
        "mx.PublishedCorrelation": Door(
            mx.PublishedCorrelation, {"r": 0.3, "of": ("Gender=male", {"Flu": 1.0}), "sd": 0.5, "decimals": 1}
        ),
        "mx.PublishedMoments": Door(mx.PublishedMoments, {"mean": 3, "sd": 0.5, "values": {"Flu": 1.0}, "decimals": 1}),
        "mx.PublishedQuantile": Door(mx.PublishedQuantile, {"value": 1, "values": {"Flu": 1.0}, "decimals": 0}),
        "mx.PublishedRegression": Door(
            mx.PublishedRegression, {"coefficients": {"intercept": 0.3}, "of": {"Flu": 1}, "decimals": 1}
        ),
        "mx.PublishedRuleList": Door(mx.PublishedRuleList, {"rules": [({"Gender": "male"}, "Flu", 0.4)]}),
        "mx.PublishedTable": Door(mx.PublishedTable, {"table": counts}),
        "mx.PublishedTable.to_view": Door(margins.to_view, {"sa": "B"}),
        "mx.PublishedRules": Door(mx.PublishedRules, {"rules": rules}),
        **tree_door,
        "mx.QIDistribution": Door(mx.QIDistribution, {"tables": ({"Gender": {"m": {"x": 1.0}}},)}),
        "mx.QIDistribution.estimate": Door(mx.QIDistribution.estimate, {**microdata, "qi": "Gender"}),
        "mx.QIDistribution.select": Door(prior.select, {"attributes": "Gender"}),
        "mx.QIDistribution.signatures": Door(prior.signatures, {"people": hospital}),
        "mx.QIDistribution.of": Door(prior.of, {"people": hospital}),
        "mx.QIDistribution.rows": Door(prior.rows, {"people": hospital}),
        "mx.QIDistribution.of_tuples": Door(
            prior.of_tuples, {"tuples": release.quasi_identifiers, "values": release.sensitive_values}
        ),
        "mx.QIDistribution.columns": Door(prior.columns, {"values": release.sensitive_values}),
        "mx.QIDistribution.attribute_set": Door(prior.attribute_set, {}),
        "mx.QITable": Door(
            mx.QITable, {"people": qi_table, "qi": QI, "sa": "Disease", "sa_values": ["a", "b"], "count": "Count"}
        ),
        "mx.RandomizedResponse": Door(mx.RandomizedResponse, {"transition": transition, "reported": "Gender"}),
        "mx.Release.from_buckets": Door(mx.Release.from_buckets, {"table": hospital, **roles}),
        "mx.Release.from_tables": Door(
            mx.Release.from_tables, {"qi_table": qi_table, "sa_table": sa_table, "count": "Count", **roles}
        ),
        "mx.Release.from_generalized": Door(
            mx.Release.from_generalized,
            {"table": generalized, "qi": "Age", "sa": "S", "population": voters, "hierarchies": None, "count": "n"},
        ),
        "mx.Release.from_parquet": Door(
            mx.Release.from_parquet, {"path": folder / "hospital.parquet", "partitions": 2, **roles}
        ),
        **_dask(hospital, roles),
        "mx.Release.from_partitions": Door(mx.Release.from_partitions, {"release": partitioned}),
        "mx.Release.to_tables": Door(release.to_tables, {}),
        "mx.GroupedRelease.named": Door(grouped.named, {"who": "x"}),
        "mx.GroupedRelease.from_frames": Door(mx.GroupedRelease.from_frames, {"frames": grouped.to_frames()}),
        "mx.QITable.from_frames": Door(mx.QITable.from_frames, {"frames": view.to_frames()}),
        "mx.Release.from_frames": Door(mx.Release.from_frames, {"frames": release.to_frames()}),
        "mx.ReleaseSeries.from_frames": Door(mx.ReleaseSeries.from_frames, {"frames": series.to_frames()}),
        "mx.GroupedRelease.described": Door(grouped.described, {"attribute": "Age", "chosen": 21}),
        "mx.Release.named": Door(release.named, {"who": "x"}),
        "mx.Release.described": Door(release.described, {"attribute": "Gender", "chosen": "male"}),
        "mx.QITable.named": Door(view.named, {"who": "x"}),
        "mx.QITable.described": Door(view.described, {"attribute": "Gender", "chosen": "Male"}),
        "mx.ReleaseSeries": Door(mx.ReleaseSeries, {"releases": list(series.releases)}),
        "mx.ReleaseSeries.values_in": Door(series.values_in, {"release": 0}),
        "mx.ReleaseSeries.mcs": Door(series.mcs, {"person": series.persons[0]}),
        "mx.ReleaseSeries.named": Door(series.named, {"who": series.persons[0]}),
        "mx.ReleaseSeries.described": Door(series.described, {"attribute": "release", "chosen": 1}),
        "mx.ReleaseSeries.bucket_name": Door(series.bucket_name, {"release": 0, "bucket": 0}),
        "mx.Rows": Door(
            mx.Rows,
            {"matrix": sp.csr_array(np.eye(2)), "low": np.zeros(2), "high": np.ones(2), "label": "x"},
        ),
        "mx.Rows.at": Door(rows.at, {"rows": np.array([0])}),
        "mx.Rows.name": Door(rows.name, {"i": 0}),
        "mx.Rows.same_as": Door(rows.same_as, {"other": rows}),
        "mx.Rows.residual": Door(rows.residual, {"p": np.full(len(space), 0.1)}),
        "mx.RuleSet": Door(
            mx.RuleSet,
            {
                "table": rules.table, "qi": ["Education", "Gender"], "sa": "Salary", "support": 0.3, "confidence": 0.8,
            },
        ),
        "mx.RuleSet.head": Door(rules.head, {"n": 1}),
        "mx.RuleSet.at": Door(rules.at, {"rules": np.array([0])}),
        "mx.RuleSet.without_scores": Door(rules.without_scores, {}),
        "mx.RuleSet.rounded": Door(rules.rounded, {"decimals": 2}),
        "mx.RuleSet.to_csv": Door(rules.to_csv, {"path": folder / "again.csv"}),
        "mx.RuleSet.from_csv": Door(mx.RuleSet.from_csv, {"path": folder / "rules.csv"}, {"nonsense": 1, "qi": None}),
        "mx.RuleSet.from_mlxtend": Door(
            mx.RuleSet.from_mlxtend,
            {"rules": itemsets, "qi": ["Education"], "sa": "Salary", "support": 0.3, "confidence": 0.8},
        ),
        "mx.SameValue": Door(mx.SameValue, {"first": "a", "second": "b"}),
        "mx.Space.of": Door(mx.Space.of, {"view": release, "prior": prior}),
        "mx.Space.marginal": Door(space.marginal, {"by": ["q"]}),
        "mx.Space.conditional": Door(space.conditional, {"of": "s", "given": "Gender"}),
        "mx.Space.joint": Door(
            space.joint, {"members": sp.csr_array(np.ones((1, len(release.n_q)))), "s": np.array([0])}
        ),
        "mx.Space.row": Door(space.row, {"value": "Flu"}),
        "mx.Space.prob": Door(space.prob, {"value": "Flu"}),
        "mx.Space.described": Door(space.described, {"given": {"Gender": "male"}}),
        "mx.Space.records_described": Door(space.records_described, {"given": {"Gender": "male"}}),
        "mx.Space.records_by": Door(space.records_by, {"attribute": "Degree", "given": {"Gender": "male"}}),
        "mx.Space.count": Door(space.count, {"records": hospital}),
        "mx.Statement.same_as": Door((P("Flu") == 0.3).same_as, {"other": 1}),
        "mx.StrongestAssociations": Door(
            mx.StrongestAssociations, {"original": hospital, "positive": 1, "negative": 1, "min_support": 1}
        ),
        "mx.compare_solvers": Door(
            mx.compare_solvers,
            {"model": model, "solvers": ["DUAL_NEWTON"], "options": {"DUAL_NEWTON": {"tolerance": 1e-9}}},
        ),
        "mx.performance_profile": Door(mx.performance_profile, {"table": profiled, "tau": [1.0, 2.0]}),
        "mx.datasets.load_adult": Door(mx.datasets.load_adult, {"path": folder / "adult.data"}),
        "mx.anonymize.anatomy": Door(mx.anonymize.anatomy, {**microdata, "l": 2}),
        "mx.anonymize.anatomy_buckets": Door(mx.anonymize.anatomy_buckets, {**microdata, "l": 2}),
        "mx.anonymize.mine_rules": Door(mx.anonymize.mine_rules, {**microdata, "support": 0.2, "confidence": 0.3}),
        "mx.anonymize.mondrian": Door(mx.anonymize.mondrian, {**microdata, "k": 2}),
        "mx.anonymize.mondrian_table": Door(mx.anonymize.mondrian_table, {**microdata, "k": 2}),
        "mx.anonymize.randomize": Door(
            mx.anonymize.randomize, {"table": plain, "sa": "Gender", "transition": transition}
        ),
        "mx.anonymize.republish": Door(
            mx.anonymize.republish, {"release": first, "table": mx.datasets.load_patients()[1], "l": 2}
        ),
        "mx.anonymize.sanitize": Door(
            mx.anonymize.sanitize, {"rules": rules.head(2), "view": view, "max_p": 0.99, "progress": False}
        ),
        "mx.anonymize.similar_linkage": Door(mx.anonymize.similar_linkage, {**microdata, "prior": prior, "r": 2}),
        "mx.anonymize.similar_linkage_groups": Door(
            mx.anonymize.similar_linkage_groups, {**microdata, "prior": prior, "r": 2}
        ),
        "mx.explore": Door(
            mx.explore,
            {
                "model": model, "original": hospital, "threshold": 0.5, "sensitive": ["Flu"],
                "statements": list(model.knowledge), "min_support": 2, "max_rows": 3, "time_limit": 60.0,
            },
        ),
        "mx.inference_channels": Door(
            mx.inference_channels, {"series": series, "progress": False}, {"nonsense": 1, **solve}
        ),
        "mx.measures.Equivocation.at": Door(cae.at, {"eps": 1}),
        "mx.measures.Equivocation.grouping": Door(cae.grouping, {"eps": 1}),
        "mx.measures.disclosure": Door(mx.measures.disclosure, {"post": post}),
        "mx.measures.equivocation": Door(
            mx.measures.equivocation, {"values": [1, 2, 4], "probabilities": [0.5, 0.25, 0.25]}
        ),
        "mx.measures.estimation_accuracy": Door(
            mx.measures.estimation_accuracy, {"post": post, "original": hospital}
        ),
        "mx.measures.exposed": Door(
            mx.measures.exposed, {"post": post, "original": hospital, "sensitive": "Flu", "baseline": "overall"}
        ),
        "mx.measures.individual_divergence": Door(
            mx.measures.individual_divergence, {"post": post, "original": hospital}
        ),
        "mx.measures.individual_entropy": Door(mx.measures.individual_entropy, {"post": post}),
        "mx.measures.individual_equivocation": Door(
            mx.measures.individual_equivocation,
            {"post": post, "values": {value: i for i, value in enumerate(release.sensitive_values)}},
        ),
        "mx.measures.leakage": Door(mx.measures.leakage, {"prior": "overall", "post": post}),
        "mx.measures.marginal_distance": Door(mx.measures.marginal_distance, {"published": post, "original": hospital}),
        "mx.measures.overall_divergence": Door(mx.measures.overall_divergence, {"post": post, "original": hospital}),
        "mx.measures.query_error": Door(
            mx.measures.query_error,
            {"published": single, "original": hospital.assign(Age=hospital["Bucket"]), "queries": 5},
        ),
        "mx.measures.reidentification": Door(
            mx.measures.reidentification, {"published": hospital, "qi": ["Gender", "Degree"], "population": 100}
        ),
        "mx.measures.risk_utility": Door(mx.measures.risk_utility, {"post": post, "original": hospital}),
        "mx.measures.term_divergence": Door(mx.measures.term_divergence, {"post": post, "original": hospital}),
        "mx.measures.top_differences": Door(
            mx.measures.top_differences, {"first": post, "second": post, "original": hospital}
        ),
        "mx.mine_associations": Door(mx.mine_associations, {**microdata, "min_support": 1}),
        "mx.plots.before_and_after": Door(
            drawn(mx.plots.before_and_after), {"before": post, "after": post, "who": {"Gender": "male"}}
        ),
        "mx.plots.exposure": Door(drawn(mx.plots.exposure), {"posteriors": {"a": post}, "baseline": "overall"}),
        "mx.plots.inference_channels": Door(
            drawn(mx.plots.inference_channels), {"table": mx.inference_channels(series, blame=False)}
        ),
        "mx.plots.intervals": Door(
            drawn(mx.plots.intervals), {"bounds": pd.DataFrame({"low": [0.1], "high": [0.6]}, index=["P(Flu)"])}
        ),
        "mx.plots.risk_utility": Door(
            drawn(mx.plots.risk_utility), {"table": pd.DataFrame({"risk": [0.1, 0.2], "utility": [1.0, 2.0]})}
        ),
        "mx.plots.likeliest_values": Door(
            drawn(mx.plots.likeliest_values), {"tables": {"a": post.conditional()}, "records": None}
        ),
        "mx.plots.equivocation": Door(drawn(mx.plots.equivocation), {"curves": cae}),
        "mx.plots.worst_case": Door(
            drawn(mx.plots.worst_case), {"tables": {"a": pd.DataFrame({"k": [0, 1], "disclosure": [0.5, 1.0]})}}
        ),
        "mx.plots.posterior": Door(drawn(mx.plots.posterior), {"post": post}
        ),
        "mx.plots.prices": Door(drawn(mx.plots.prices), {"table": post.prices()}
        ),
        "mx.plots.quantification": Door(drawn(mx.plots.quantification), {"curves": curves}
        ),
        "mx.plots.roc": Door(drawn(mx.plots.roc), {"table": told.roc}),
        "mx.plots.solver_comparison": Door(drawn(mx.plots.solver_comparison), {"table": comparison}
        ),
        "mx.plots.performance_profile": Door(
            drawn(mx.plots.performance_profile), {"table": mx.performance_profile(profiled)}
        ),
        "mx.plots.sweep": Door(drawn(mx.plots.sweep), {"table": swept}
        ),
        "mx.quantify": Door(
            mx.quantify,
            {
                "release": release, "original": hospital, "knowledge": [(0, 0), (1, 0)], "min_support": 1,
                "progress": False,
            },
            {"nonsense": 1, **solve},
        ),
        "mx.read_knowledge": Door(mx.read_knowledge, {"path": folder / "known.txt"}),
        "mx.report": Door(
            mx.report,
            {
                "posts": post, "path": folder / "report.html", "threshold": 0.7, "sensitive": ["Flu"],
                "baseline": "overall", "original": hospital, "records": True, "attacks": ["worst_case"],
                "about": {"source": "Fig. 1"}, "rows": 3, "time_limit": 10.0, "progress": False,
            },
        ),
        "mx.sdc.BinomialNoise": Door(mx.sdc.BinomialNoise, {"percent": 10}),
        "mx.sdc.BinomialNoise.publish": Door(binomial.publish, {"table": table, "confidential": "Salary"}),
        "mx.sdc.BinomialNoise.infer": Door(
            binomial.infer, {"published": binomial.publish(table, "Salary"), **infer}
        ),
        "mx.sdc.Channel": Door(mx.sdc.Channel, {"places": 5, "limit": 2}),
        "mx.sdc.RangeQueries": Door(mx.sdc.RangeQueries, {"size": 2}),
        "mx.sdc.RangeQueries.publish": Door(ranges.publish, {"table": table, "confidential": "Salary"}),
        "mx.sdc.RangeQueries.infer": Door(ranges.infer, {"published": ranges.publish(table, "Salary"), **infer}),
        "mx.sdc.Sampling": Door(mx.sdc.Sampling, {"factor": 0.5}),
        "mx.sdc.Sampling.publish": Door(sampling.publish, {"table": table, "confidential": "Salary"}),
        "mx.sdc.Sampling.infer": Door(sampling.infer, {"published": sampling.publish(table, "Salary"), **infer}),
        "mx.sdc.WindowSums": Door(mx.sdc.WindowSums, {"sums": np.array([3.0])}),
        "mx.sdc.WithinBounds": Door(mx.sdc.WithinBounds, {"low": np.array([1, 1]), "high": np.array([2, 1])}),
        "mx.sdc.experiment": Door(
            mx.sdc.experiment,
            {
                "table": table, "confidential": "Salary", "techniques": {mx.sdc.Sampling: [0.5]}, "sizes": [1],
                "targets": 1, "repetitions": 1, "progress": False,
            },
        ),
        "mx.sdc.half_overlapping_bounds": Door(
            mx.sdc.half_overlapping_bounds, {"sums": np.array([6.0, 7.0]), "half": 1, "low": 1.0, "high": 5.0}
        ),
        "mx.sdc.noise_limit": Door(mx.sdc.noise_limit, {"percent": 10, "places": 20}),
        "mx.sdc.record_bounds": Door(
            mx.sdc.record_bounds, {"system": np.array([[1, 1]]), "sums": np.array([6.0]), "low": 1.0, "high": 5.0}
        ),
        "mx.solvers.derivatives": Door(mx.solvers.derivatives, {"problem": _die()}),
        "mx.solvers.find": Door(mx.solvers.find, {"name": "auto"}),
        "mx.solvers.register": Door(registered_once, {"backend": own_backend()}),
        "mx.sweep": Door(
            mx.sweep,
            {"model": model, "probability": P("Flu", given={"Gender": "male"}), "value": 0.3},
            {"nonsense": 1, **solve, "warm_start": None},
        ),
        "mx.testing.check_backend": Door(
            mx.testing.check_backend, {"backend": own_backend(), "problems": ["one equation"]}
        ),
        "mx.testing.check_source": Door(
            mx.testing.check_source, {"source": P("Flu") == 0.3, "space": space}
        ),
        "mx.testing.check_technique": Door(
            mx.testing.check_technique, {"technique": sampling, "table": table, "confidential": "Salary"}
        ),
        "mx.testing.check_view": Door(mx.testing.check_view, {"view": release, "truth": hospital}),
        "mx.testing.problems.Problem.expected": Door(die.expected, {"space": die.model().space}),
        "mx.testing.problems.Problem.suits": Door(die.suits, {"backend": "auto"}),
        "mx.testing.problems.find": Door(mx.testing.problems.find, {"name": "loaded die"}),
        "mx.worlds.Sentence.implies": Door(mx.worlds.has("a", "x").implies, {"other": mx.worlds.has("b", "x")}),
        "mx.worlds.at_least": Door(mx.worlds.at_least, {"k": 1, "sentences": ["a=x", "b=x"]}),
        "mx.worlds.at_most": Door(mx.worlds.at_most, {"k": 1, "sentences": ["a=x", "b=x"]}),
        "mx.worlds.conditions": Door(mx.worlds.conditions, {"release": release, "prior": prior, "r": 2}),
        "mx.worlds.delta_ceiling": Door(mx.worlds.delta_ceiling, {"n": 5, "r": 2, "f_max": 0.3}),
        "mx.worlds.delta_condition": Door(mx.worlds.delta_condition, {"f": [0.1, 0.2, 0.15], "r": 2}),
        "mx.worlds.exactly": Door(mx.worlds.exactly, {"k": 1, "sentences": ["a=x", "b=x"]}),
        "mx.worlds.has": Door(mx.worlds.has, {"person": "a", "value": "x"}),
        "mx.worlds.joint": Door(mx.worlds.joint, {"group": group, "values": values, "who": ["a", "b"]}),
        "mx.worlds.linkage": Door(
            mx.worlds.linkage,
            {"release": release, "prior": prior, "people": {"Allen": allen}, "knowledge": ["not Allen=Flu"]},
        ),
        "mx.worlds.posterior": Door(
            mx.worlds.posterior, {"group": group, "values": values, "knowledge": ["a=x or b=x"]}
        ),
        "mx.worlds.r_robustness": Door(mx.worlds.r_robustness, {"release": release, "prior": prior}),
        "mx.worlds.read_sentence": Door(mx.worlds.read_sentence, {"text": "a=x -> b=y"}),
        "mx.worlds.sample": Door(
            mx.worlds.sample, {"group": group, "values": values, "n": 200, "knowledge": ["a=x or b=x"]}
        ),
        "mx.worlds.sound_condition": Door(mx.worlds.sound_condition, {"group": group, "values": values, "r": 2}),
        # What the front door hands out: probabilities, and their comparisons.
        "Probability.about": Door(P("Flu").about, {"value": 0.3, "eps": 0.1}),
        "Probability.softly": Door(P("Flu").softly, {"value": 0.3, "weight": 5.0}),
        "Probability.missable": Door(
            P("Flu").missable, {"low": 0.1, "high": 0.3, "penalty": mx.soft("P(Flu) = 0.3", sd=0.1).penalty}
        ),
        "Probability.between": Door(P("Flu").between, {"low": 0.3, "high": 0.4}),
        **{
            f"Probability.{name}": Door(operation(P("Flu"), name), {"other": 0.5})
            for name in ("__eq__", "__le__", "__ge__", "__add__", "__sub__", "__rsub__", "__mul__")
        },
        "Probability.__truediv__": Door(lambda other: P("Flu") / other, {"other": 2}),
        **{
            f"Block.{name}": Door(operation(block, name), {"other": 0.5})
            for name in ("__eq__", "__le__", "__ge__", "__add__", "__sub__", "__rsub__", "__mul__")
        },
        "Block.__truediv__": Door(lambda other: block / other, {"other": 2}),
        "Block.__getitem__": Door(lambda key: block[key], {"key": "Flu"}),
    }  # fmt: skip


def _die() -> cp.Problem:
    """Jaynes' die, in CVXPY."""
    x, mean = cp.Variable(6), cp.Parameter(value=4.5)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, np.arange(1, 7) @ x == mean])


def _dask(table: pd.DataFrame, roles: dict[str, object]) -> dict[str, Door]:
    """A table of Dask, where it is there."""
    try:
        import dask.dataframe as dd
    except ImportError:
        return {}
    people = dd.from_pandas(table, npartitions=2)
    return {"mx.Release.from_dask": Door(mx.Release.from_dask, {"table": people, **roles})}


def _tree() -> dict[str, Door]:
    """A decision tree, where scikit-learn is there."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        return {}
    data = pd.DataFrame({"A": [0, 0, 1, 1], "S": ["x", "y", "y", "y"]})
    tree = DecisionTreeClassifier().fit(data[["A"]], data["S"])
    return {
        "mx.PublishedTree": Door(mx.PublishedTree, {"tree": tree}),
    }
