"""Privacy quantification: the paper's tuple of a bound on the adversary's knowledge, and a score."""

from __future__ import annotations

import math
from functools import partial
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import maxent_cvx as mx
from maxent_cvx import MaxEntError, StatementError, StrongestAssociations, UnknownName
from support.helpers import refused
from support.strategies import microdata, publish, quasi

PROPERTY = settings(deadline=None, max_examples=25)
KINDS = {"K+": lambda k: (k, 0), "K-": lambda k: (0, k), "both": lambda k: (k, k)}


def never_rises(values: pd.Series) -> bool:
    return bool((values.diff().dropna() <= 1e-6).all())


@pytest.fixture(scope="module")
def adult() -> pd.DataFrame:
    """A thousand people of Adult in Anatomy's buckets."""
    frame = mx.datasets.load_adult().iloc[::30].head(1000)
    roles = {"qi": mx.datasets.ADULT_QI, "sa": "education"}
    return frame.assign(Bucket=mx.anonymize.anatomy_buckets(frame, **roles, l=5, exempt=2))


@PROPERTY
@given(microdata())
def test_more_knowledge_never_leaves_more_entropy(frame):
    """The first K associations are among the first K + 1: entropy and divergence over terms never rise with K."""
    mined = mx.mine_associations(frame, qi=quasi(frame), sa="S", min_support=1)
    most = {"K+": len(mined.positive), "K-": len(mined.negative)}
    most["both"] = min(most.values())
    for kind, bound in KINDS.items():
        steps = sorted({0, 1, 2, 3, most[kind] // 2, most[kind]} & set(range(most[kind] + 1)))
        found = mx.quantify(publish(frame), frame, [bound(k) for k in steps], min_support=1)
        assert never_rises(found["entropy"])
        assert never_rises(found["term_divergence"])
        assert (found["term_divergence"] >= -1e-9).all()
        assert (found["score"] >= -1e-9).all()


@pytest.mark.parametrize("kind", KINDS)
def test_more_knowledge_of_adult(adult, kind):
    """So it is with a thousand people of Adult, up to a hundred associations of each kind (section 7.1, Fig. 5)."""
    release = mx.Release.from_buckets(adult, qi=mx.datasets.ADULT_QI, sa="education", bucket="Bucket")
    found = mx.quantify(release, adult, [KINDS[kind](k) for k in (0, 5, 20, 100)])
    assert never_rises(found["entropy"])
    assert never_rises(found["term_divergence"])
    assert found["entropy"].iloc[-1] < found["entropy"].iloc[0]
    assert found["score"].iloc[-1] < found["score"].iloc[0]
    assert (found["certified_error"] <= mx.solvers.ACCURACY).all()


def test_no_knowledge(hospital, release):
    """The bound (0, 0) is the adversary who knows the release only (Eq. (1))."""
    found = mx.quantify(release, hospital, [(0, 0)]).iloc[0]
    post = mx.MaxEnt(release).solve()
    assert found["score"] == pytest.approx(mx.measures.overall_divergence(post, hospital), abs=1e-12)
    assert found["term_divergence"] == pytest.approx(mx.measures.term_divergence(post, hospital), abs=1e-12)
    assert found["entropy"] == pytest.approx(post.entropy, abs=1e-12)


def test_a_bound_is_that_knowledge(hospital, release):
    """The bound (K+, K-) is the adversary who knows the top K+ and K- associations (section 4.4)."""
    bounds = [(3, 0), (0, 2), (4, 5)]
    found = mx.quantify(release, hospital, bounds, min_support=1)
    assert list(zip(found["K+"], found["K-"], strict=True)) == bounds
    for (positive, negative), (_, row) in zip(bounds, found.iterrows(), strict=True):
        post = mx.MaxEnt(release).add(StrongestAssociations(hospital, positive, negative, min_support=1)).solve()
        assert row["entropy"] == pytest.approx(post.entropy, abs=1e-7)
        assert row["score"] == pytest.approx(mx.measures.overall_divergence(post, hospital), abs=1e-6)
    assert len(set(found["score"].round(6))) == 3


def test_everything_known_scores_zero(hospital, release):
    """Who knows every association knows P(s | q): the score is 0 bits."""
    mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease", min_support=1)
    found = mx.quantify(release, hospital, [(len(mined.positive), len(mined.negative))], min_support=1)
    assert found["score"].item() == pytest.approx(0, abs=1e-6)


def test_all_associations(hospital, release):
    """None is every association, as in StrongestAssociations: never no knowledge at all."""
    found = mx.quantify(release, hospital, [(None, None)], min_support=1)
    assert found["score"].item() == pytest.approx(0, abs=1e-6)


def test_measure(hospital, release):
    """Any function of the posterior can be the score; one that compares with the original has it bound."""
    found = mx.quantify(release, hospital, [(0, 0), (0, 5)], min_support=1, measure=lambda post: 10 * post.entropy)
    assert found["score"].tolist() == pytest.approx((10 * found["entropy"]).tolist())
    bound = partial(mx.measures.term_divergence, original=hospital)
    bits = mx.quantify(release, hospital, [(0, 0)], measure=bound)
    assert bits["score"].item() == pytest.approx(bits["term_divergence"].item())


def test_several_scores(hospital, release):
    """Several measures have a column each, and several numbers of one have one each."""
    measures = {
        "H": lambda post: post.entropy,
        "nats": partial(mx.measures.overall_divergence, original=hospital, base=math.e),
    }
    found = mx.quantify(release, hospital, [(0, 0), (2, 2)], min_support=1, measure=measures)
    default = mx.quantify(release, hospital, [(0, 0), (2, 2)], min_support=1)
    assert "score" not in found
    assert found["H"].tolist() == found["entropy"].tolist()
    assert (found["nats"] / math.log(2)).tolist() == pytest.approx(default["score"].tolist())
    each = mx.quantify(
        release, hospital, [(0, 0)], measure=partial(mx.measures.individual_divergence, original=hospital)
    )
    share = pd.Series(release.n_q / 10, [f"score[{', '.join(q)}]" for q in release.quasi_identifiers])
    assert each[share.index].iloc[0] @ share == pytest.approx(default["score"][0])
    with refused(StatementError, "cannot be called 'entropy'", "{name: function}"):
        mx.quantify(release, hospital, [(0, 0)], measure={"entropy": lambda post: 1.0})


def of_two(post, table):
    return len(table) * post.entropy


def with_default(post, original=None):
    return -1.0 if original is None else len(original) * post.entropy


class OfTwo:
    """An object of two arguments."""

    def __call__(self, post, original):
        return len(original) * post.entropy


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        (lambda post, original: len(original) * post.entropy, r"functools.partial\(measure, original=...\)"),
        (of_two, r"functools.partial\(of_two, table=...\)"),
        (with_default, r"functools.partial\(with_default, original=...\)"),
        (OfTwo(), r"functools.partial\(OfTwo, original=...\)"),
        (partial(of_two), r"functools.partial\(of_two, table=...\)"),
    ],
)
def test_two_arguments(hospital, release, measure, says):
    """A measure that takes the original second works as it did, and is told once how to be written now."""
    with pytest.warns(DeprecationWarning, match=says) as told:
        found = mx.quantify(release, hospital, [(0, 0), (0, 5)], min_support=1, measure=measure)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert found["score"].tolist() == pytest.approx((10 * found["entropy"]).tolist())


@pytest.mark.parametrize(
    ("measure", "times"),
    [
        (lambda post, factor=10: factor * post.entropy, 10),
        (lambda *given: 10 * given[0].entropy, 10),
        (partial(of_two, table=range(7)), 7),
        (partial(with_default, original=range(7)), 7),
        (attrgetter("entropy"), 1),
    ],
)
@pytest.mark.filterwarnings("error::DeprecationWarning")
def test_one_argument(hospital, release, measure, times):
    """What can be called with the posterior alone is, without a warning: its defaults stay what they are."""
    found = mx.quantify(release, hospital, [(0, 0)], measure=measure)
    assert found["score"].item() == pytest.approx(times * found["entropy"].item())


@pytest.mark.filterwarnings("error::DeprecationWarning")
def test_the_default_measure(hospital, release):
    """The divergence from the truth is scored without being told to, or told so by name."""
    named = mx.quantify(release, hospital, [(0, 0)], measure=mx.measures.overall_divergence)
    assert named["score"].item() == mx.quantify(release, hospital, [(0, 0)])["score"].item()


def test_attributes(hospital, release):
    """With attributes=T an association sets exactly T quasi-identifiers (section 7.1, Fig. 6)."""
    one = mx.quantify(release, hospital, [(2, 2)], min_support=1, attributes=1).iloc[0]
    known = StrongestAssociations(hospital, 2, 2, min_support=1, attributes=1)
    assert one["entropy"] == pytest.approx(mx.MaxEnt(release).add(known).solve().entropy, abs=1e-7)
    mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease", min_support=1, attributes=1)
    with refused(StatementError, f"only {len(mined.positive)} have a support"):
        mx.quantify(release, hospital, [(len(mined.positive) + 1, 0)], min_support=1, attributes=1)
    with refused(StatementError, "attributes=3", "1 to 2"):
        mx.quantify(release, hospital, [(1, 0)], attributes=3)


def test_min_support(hospital, release):
    """Associations need min_support records behind them: three, unless told otherwise (section 7.1)."""
    mined = mx.mine_associations(hospital, qi=["Gender", "Degree"], sa="Disease", min_support=3)
    with refused(StatementError, f"only {len(mined.negative)} have a support of 3 records"):
        mx.quantify(release, hospital, [(0, len(mined.negative) + 1)])
    with refused(StatementError, "min_support", "0"):
        mx.quantify(release, hospital, [(0, 0)], min_support=0)


def test_without_buckets(hospital, release):
    """Original data without buckets are scored over q, and no divergence over the terms is reported."""
    found = mx.quantify(release, hospital.drop(columns="Bucket"), [(0, 0)])
    assert "term_divergence" not in found
    assert found["score"].item() == pytest.approx(mx.quantify(release, hospital, [(0, 0)])["score"].item())


def test_solver_options(hospital, release):
    """Solver and options are handed on: Clarabel's scores are the default's."""
    ours = mx.quantify(release, hospital, [(3, 3)], min_support=1)
    theirs = mx.quantify(release, hospital, [(3, 3)], min_support=1, solver="CLARABEL")
    assert theirs["score"].item() == pytest.approx(ours["score"].item(), abs=1e-3)
    with refused(UnknownName, "'NEWTON'", "DUAL_NEWTON"):
        mx.quantify(release, hospital, [(3, 3)], min_support=1, solver="NEWTON")


def test_progress(hospital, release, capsys):
    """The bar shows where it is asked for, on stderr, and nothing shows where there is no terminal."""
    mx.quantify(release, hospital, [(0, 0)])
    assert capsys.readouterr() == ("", "")
    mx.quantify(release, hospital, [(0, 0)], progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "bounds" in shown.err


@pytest.mark.parametrize("bound", [(1,), 5, "ab", (1, 2, 3), None])
def test_a_bound_is_a_pair(hospital, release, bound):
    """What is not a pair is refused by name, before anything is solved."""
    with refused(StatementError, f"knowledge holds {bound!r}", "(K+, K-)"):
        mx.quantify(release, hospital, [(0, 0), bound])


@pytest.mark.parametrize("bound", [(-1, 0), (1.5, 0), ("a", 0), (0, -3), (True, 0), (np.nan, 0)])
def test_a_bound_counts(hospital, release, bound):
    """K+ and K- are whole numbers from 0 on."""
    with refused(StatementError, "whole number"):
        mx.quantify(release, hospital, [bound])


@pytest.mark.parametrize("bound", [(0, 0), (1, 1)])
def test_other_people(hospital, release, bound):
    """Records of other people are refused: what was mined from them is not knowledge of these."""
    others = hospital.assign(Disease=hospital["Disease"].replace("Lung Cancer", "HIV"))
    with pytest.raises(MaxEntError, match="pass the table that was published"):
        mx.quantify(release, others, [bound], min_support=1)
