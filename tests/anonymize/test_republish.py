"""Ways to publish again (Re-publishing, section 4.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import maxent_cvx as mx
from maxent_cvx import MaxEnt, ReleaseSeries, StatementError, TableError
from maxent_cvx.anonymize.anatomy import anatomy_buckets
from maxent_cvx.anonymize.republish import republish
from maxent_cvx.measures.accuracy import individual_entropy
from support.series import patients

seeds = st.integers(0, 10**6)


def people(seed: int, n: int = 24, values: int = 6) -> pd.DataFrame:
    """People of both sexes with evenly frequent diseases."""
    rng = np.random.default_rng(seed)
    disease = np.array(list("abcdefgh")[:values])[np.arange(n) % values]
    return pd.DataFrame({"Id": np.arange(n), "Sex": rng.choice(["f", "m"], n), "Disease": rng.permutation(disease)})


def first_release(table: pd.DataFrame, l: int = 3, qi=("Sex",)) -> mx.Release:
    bucket = anatomy_buckets(table, qi="Sex", sa="Disease", l=l, seed=1)
    return mx.Release.from_buckets(table.assign(Bucket=bucket), qi=list(qi), sa="Disease", bucket="Bucket", id="Id")


def held(release: mx.Release) -> dict[object, tuple[set, list]]:
    """Who is in every bucket, and which values."""
    s, b = release.n_sb.nonzero()
    values = {k: [] for k in range(len(release.buckets))}
    for value, bucket, number in zip(s, b, release.n_sb.data, strict=True):
        values[int(bucket)] += [release.sensitive_values[value]] * int(number)
    names = np.asarray(release.persons.names)
    return {
        name: (set(names[release.persons.bucket == k]), sorted(values[k])) for k, name in enumerate(release.buckets)
    }


@given(seed=seeds, method=st.sampled_from(["independent", "history_guided", "m_invariant"]), stay=st.integers(6, 18))
def test_everybody_is_published_once(seed: int, method: str, stay: int):
    """Every method publishes everybody, in a bucket with everybody's values, and l different ones if possible."""
    every = people(seed, 36)
    before, after = every.iloc[:18], every.iloc[18 - stay : 36 - stay]
    try:
        second = republish(first_release(before), after, method=method, l=3, seed=seed)
    except TableError as error:
        assume("cannot be placed" not in str(error) and "exempt" not in str(error))
        raise
    assert sorted(second.persons.names) == sorted(after["Id"])
    disease = dict(zip(after["Id"], after["Disease"], strict=True))
    for inside, values in held(second).values():
        own = sorted(disease[i] for i in inside)
        rest = list(values)
        for value in own:
            rest.remove(value)
        if method != "m_invariant":
            assert rest == []
        if method != "history_guided":
            assert len(set(values)) >= 3
    truth = ReleaseSeries([first_release(before), second])  # nobody's value is ruled out
    assert all(disease[i] in truth.mcs(i) for i in after["Id"])


@given(seed=seeds, stay=st.integers(3, 18))
def test_m_invariant(seed: int, stay: int):
    """A bucket keeps its values, so that two releases have the posterior of one."""
    every = people(seed, 36)
    before, after = every.iloc[:18], every.iloc[18 - stay : 36 - stay]
    first = first_release(before)
    second = republish(first, after, method="m_invariant", l=3, seed=seed)
    earlier, later = held(first), held(second)
    for name, (inside, values) in earlier.items():
        if name in later:
            assert later[name][1] == values
            assert inside & set(after["Id"]) <= later[name][0]
    together = MaxEnt(ReleaseSeries([first, second])).solve()
    alone = MaxEnt(ReleaseSeries([second])).solve()
    both = individual_entropy(together).loc[sorted(after["Id"])]
    np.testing.assert_allclose(both, individual_entropy(alone), atol=1e-5)


def test_every_slot_is_filled():
    """If people with the same values replace those who leave, the series has the entropy of one release."""
    before = people(0, 24)
    after = before.assign(Id=np.where(before["Id"] < 8, before["Id"] + 100, before["Id"]))
    first = first_release(before)
    second = republish(first, after, method="history_guided", l=3)
    series = ReleaseSeries([first, second])
    assert MaxEnt(series).solve().entropy == pytest.approx(MaxEnt(ReleaseSeries([second])).solve().entropy, abs=1e-7)
    channels = mx.inference_channels(series)
    assert channels.empty
    pd.testing.assert_series_equal(channels.dtypes, mx.inference_channels(patients()).dtypes)
    new = republish(first, after, method="independent", l=3, seed=5)
    assert MaxEnt(ReleaseSeries([first, new])).solve().entropy < MaxEnt(ReleaseSeries([new])).solve().entropy - 0.1


def test_names_of_buckets_and_no_qi():
    """Old buckets keep their names, new ones get others; pseudonyms alone are enough."""
    before = people(0, 12)
    named = before.assign(Bucket=["x", "y", "z", "w"] * 3)
    first = mx.Release.from_buckets(named, qi=[], sa="Disease", bucket="Bucket", id="Id")
    both = pd.concat([before, people(5, 30).iloc[12:].assign(Id=lambda t: t["Id"] + 100)])
    second = republish(first, both, method="history_guided", l=3)
    assert {"x", "y", "z", "w", "new 1"} <= set(second.buckets)
    assert second.qi == ("Id",)


def test_wrong_arguments():
    """People have one pseudonym each of one type and keep their value, and newcomers must have places."""
    before = people(0, 18)
    first = first_release(before)
    plain = mx.Release.from_buckets(before.assign(Bucket=1), qi=["Sex"], sa="Disease", bucket="Bucket")
    other = before.assign(Disease=np.roll(before["Disease"], 1))
    crowd = pd.concat([before, people(0, 60).iloc[18:].assign(Disease="a")])
    for error, release, table, method in [
        (StatementError, plain, before, "history_guided"),
        (StatementError, first, before, "guided"),
        (TableError, first, other, "independent"),
        (TableError, first, other, "history_guided"),
        (TableError, first, other, "m_invariant"),
        (TableError, first, pd.concat([before, before]), "history_guided"),
        (TableError, first, before.astype({"Id": str}), "m_invariant"),
        (TableError, first, crowd, "history_guided"),
    ]:
        with pytest.raises(error):
            republish(release, table, method=method, l=3)
    assert republish(first, crowd, method="m_invariant", l=3).n_records == 60
    assert republish(first, before.head(2), method="m_invariant", l=3).with_counterfeits.all()
