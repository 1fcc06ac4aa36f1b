"""Every object shows itself: on a terminal in words, in a notebook as HTML in which all values are escaped."""

from __future__ import annotations

import inspect
from html.parser import HTMLParser

import pandas as pd
import pytest
import scipy.stats
from sklearn.tree import DecisionTreeClassifier

import maxent_cvx as mx
from maxent_cvx.releases.partitioned import divided

#: What a value may be called by somebody who hopes that a notebook runs it.
HOSTILE = "<script>alert(1)</script>"
#: Tags that are ours.
OURS = {"div", "p", "strong", "br", "table", "thead", "tbody", "tr", "th", "td"}
#: Classes that are only derived from.
ABSTRACT = {"Source", "View"}


class Tags(HTMLParser):
    """The tags of a page, which are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag, attrs) -> None:
        self.seen.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def hospital() -> pd.DataFrame:
    """The ten patients, of whom two have a disease that is markup, as is the name of their gender's column."""
    table = mx.datasets.load_hospital().replace({"Disease": {"HIV": HOSTILE}})
    return table.rename(columns={"Gender": "<i>Gender</i>", "Disease": "<b>Disease</b>"})


def objects() -> dict[str, object]:
    """One of each public class, made of hostile data."""
    table = hospital()
    qi, sa = ["<i>Gender</i>", "Degree"], "<b>Disease</b>"
    release = mx.Release.from_buckets(table, qi=qi, sa=sa, bucket="Bucket")
    men = {"<i>Gender</i>": "male"}
    statement = mx.P(HOSTILE, given=men) == 0.25
    model = mx.MaxEnt(release, people={HOSTILE: {"<i>Gender</i>": "male", "Degree": "college"}}).add(statement)
    parts = mx.PartitionedMaxEnt(divided(release, 2)).add(statement)
    first, second = (t.replace({"Disease": {"Flu": HOSTILE}}) for t in mx.datasets.load_patients())
    releases = [
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in (first, second)
    ]
    groups = pd.DataFrame({"Age": ["[20, 29]", "[20, 29]"], "S": [HOSTILE, "b"]})
    voters = pd.DataFrame({"Age": [21, 24, 28, 45]})
    rules = mx.anonymize.mine_rules(table, qi="Degree", sa=sa, support=0.1, confidence=0.5)
    values = {HOSTILE: 1.0, "Flu": 2.0}
    cells = pd.DataFrame({"<i>Gender</i>": ["male", "female"], sa: HOSTILE, "n": ["<5", 3]})
    numbers = pd.DataFrame({"A": [0, 0, 1], "S": [HOSTILE, "y", "y"]})
    return {
        "AnsweredQueries": mx.AnsweredQueries([{**men, sa: HOSTILE}], [1.0]),
        "Block": model.space.marginal(sa),
        "BucketInvariants": mx.BucketInvariants(release),
        "Count": mx.Count(HOSTILE, who=[HOSTILE]),
        "Covariance": mx.Covariance("<i>Gender</i>=male", values),
        "E": mx.E(sa, given=men, values=values),
        "GroupedRelease": mx.Release.from_generalized(groups, qi="Age", sa="S", population=voters),
        "MaxEnt": model,
        "Monotone": mx.Monotone(of=mx.P(HOSTILE), along="Degree", order=["junior", "college"]),
        "NoisyMarginal": mx.NoisyMarginal(pd.Series([3.2], pd.Index([HOSTILE], name=sa)), scipy.stats.norm(scale=1)),
        "P": mx.P(HOSTILE),
        "PartitionedMaxEnt": parts,
        "PartitionedPosterior": parts.solve(threads=1),
        "PartitionedRelease": divided(release, 2),
        "Posterior": model.solve(),
        "PublishedCorrelation": mx.PublishedCorrelation(r=0.3, of=("<i>Gender</i>=male", values), sd=0.5, decimals=1),
        "PublishedMoments": mx.PublishedMoments(mean=1.5, sd=0.5, values=values, decimals=1),
        "PublishedQuantile": mx.PublishedQuantile(value=1, values=values, decimals=0),
        "PublishedRegression": mx.PublishedRegression(coefficients={"intercept": 0.3}, of=values, decimals=1),
        "PublishedRuleList": mx.PublishedRuleList(rules=[(men, HOSTILE, 0.4)]),
        "PublishedRules": mx.PublishedRules(rules),
        "PublishedTable": mx.PublishedTable(cells),
        "PublishedTree": mx.PublishedTree(DecisionTreeClassifier().fit(numbers[["A"]], numbers["S"])),
        "QIDistribution": mx.QIDistribution.estimate(table, qi=["<i>Gender</i>"], sa=sa),
        "QITable": mx.QITable(table, qi=qi, sa=sa, sa_values=[HOSTILE, "Flu"]),
        "RandomizedResponse": mx.RandomizedResponse(
            pd.DataFrame([[0.8, 0.2], [0.2, 0.8]], [HOSTILE, "Flu"], [HOSTILE, "Flu"]), reported="<i>Gender</i>"
        ),
        "Release": release,
        "ReleaseSeries": mx.ReleaseSeries(releases),
        "Rows": model.space.marginal(sa) <= 0.5,
        "RuleSet": rules,
        "SameValue": mx.SameValue(HOSTILE, "Ann"),
        "Space": model.space,
        "Statement": statement,
        "StrongestAssociations": mx.StrongestAssociations(
            mx.mine_associations(table, qi=qi, sa=sa, min_support=1), positive=1, negative=1
        ),
        "mine_associations": mx.mine_associations(table, qi=qi, sa=sa, min_support=1),
        "compare_solvers": mx.compare_solvers({HOSTILE: model}, ["DUAL_NEWTON"]),
        "exposed": mx.measures.exposed(model.solve(), 0.5),
        "measures.reidentification": mx.measures.reidentification(
            table.assign(Degree=HOSTILE), ["<i>Gender</i>", "Degree"], population=100
        ),
        "solvers.Certificate": model.solve().certificate,
        "solvers.find": mx.solvers.find("DUAL_NEWTON"),
        "relax": mx.MaxEnt(release).add("P(Flu | Degree=college) >= 0.9").relax(),
        "soft": mx.soft(statement, sd=0.1),
        "worlds.sample": mx.worlds.sample(pd.DataFrame({HOSTILE: [0.5, 0.4], "y": [0.5, 0.6]}), [HOSTILE, "y"], n=100),
        "worlds.has": mx.worlds.has(HOSTILE, HOSTILE),
        "attacks.membership": mx.attacks.membership(
            mx.Release.from_generalized(groups, qi="Age", sa="S"), voters
        ),
        "sdc.Sampling": mx.sdc.Sampling(0.5).publish(pd.DataFrame({HOSTILE: [HOSTILE] * 4, "S": [1, 2, 3, 4]}), "S"),
        "people": model.space.people,
        "equivocation": mx.measures.equivocation([1, 2, 4], [0.5, 0.25, 0.25]),
    }  # fmt: skip


OBJECTS = objects()


def is_shown_as_its_base(cls: type) -> bool:
    """Whether a source is shown by its label, or a view by its counts, as all of them are."""
    return issubclass(cls, mx.Source | mx.View) and not {"__repr__", "_repr_html_", "_tables"} & set(vars(cls))


def test_every_public_class_is_here() -> None:
    """One of each public class that is shown in its own way is below; abstract ones cannot be."""
    classes = {
        name for name in mx.__all__
        if inspect.isclass(cls := getattr(mx, name)) and not issubclass(cls, BaseException)
    }  # fmt: skip
    missing = {name for name in classes - set(OBJECTS) if not is_shown_as_its_base(getattr(mx, name))}
    assert missing == ABSTRACT
    assert all(isinstance(OBJECTS[name], getattr(mx, name)) for name in classes & set(OBJECTS))


@pytest.mark.parametrize("name", OBJECTS)
def test_text_says_what_it_is_and_html_is_escaped(name) -> None:
    """A repr contains neither addresses nor arrays, and its HTML is well-formed whatever the labels contain."""
    text = repr(OBJECTS[name])
    assert " object at 0x" not in text
    assert "array(" not in text
    assert len(text) > len(type(OBJECTS[name]).__name__) + 2
    assert len(text) < 3000
    html = OBJECTS[name]._repr_html_()
    page = Tags()
    page.feed(html)
    page.close()
    assert not page.open
    assert page.seen <= OURS
    assert " object at 0x" not in html
    assert len(html) < 20_000
