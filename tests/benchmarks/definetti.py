"""The calibrated deFinetti attack on Adult:  python -m tests.benchmarks.definetti --l 2 3 4 5 6 --seeds 3.

Occupation is sensitive, eight other attributes are quasi-identifiers. `--how anatomy` makes buckets of l; `mondrian` makes
groups of at least 4 people with l values, and the attacker has a voter list, so that exact quasi-identifiers are known;
`series` are two Anatomy releases of the same people, each attacked by itself; then two m-invariant and two history-guided
releases, between which a quarter of the people leaves and another quarter comes, attacked together. `right` is the share
of records whose likeliest value is the true one, `says` the mean of its probability, `error` the calibration error (the
mean over tenths, weighed by records, of |says - right|). The rows `others' truth` learn the logistic model from the true values
of all people outside of the bucket's fold. In the rows `permuted` the values were permuted among the people before
publication, so that nothing can be learnt.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd

import maxent_cvx as mx
from maxent_cvx.attacks.definetti import BucketWorlds, Logistic
from maxent_cvx.attacks.result import Judgement

#: The sensitive attribute; Anatomy needs no exempt value of it up to l = 7.
SENSITIVE = "occupation"
QI = [name for name in (*mx.datasets.ADULT_QI, "education") if name != SENSITIVE]
COLUMNS = ["right", "says", "error", "baseline", "evidence", "p", "temperature", "seconds"]
#: People of the smallest group of Mondrian.
K = 4
FOLDS = 5
#: Fits of some steps each, after which the logistic model of known values does not change any more.
FITS = 10


def publications(table: pd.DataFrame, how: str, l: int, seed: int) -> list[pd.Series]:
    """The bucket of every record, for every publication."""
    if how == "mondrian":
        groups = mx.anonymize.mondrian_table(table, qi=QI, sa=SENSITIVE, k=K, l=l)
        return [groups[QI].astype(str).groupby(QI).ngroup()]
    exempt = int((table[SENSITIVE].value_counts() > len(table) // l).sum())
    seeds = [seed, seed + 1000] if how == "series" else [seed]
    return [mx.anonymize.anatomy_buckets(table, qi=QI, sa=SENSITIVE, l=l, exempt=exempt, seed=each) for each in seeds]


def calibration(score: Judgement) -> tuple[float, float]:
    """The mean probability of the likeliest value, and the calibration error."""
    tenths = score.calibration[score.calibration["records"] > 0]
    weight = tenths["records"] / tenths["records"].sum()
    return float((weight * tenths["said"]).sum()), float((weight * (tenths["said"] - tenths["right"]).abs()).sum())


def from_true_values(release: mx.Release, published: pd.DataFrame, seed: int) -> mx.attacks.AttackResult:
    """P(s | bucket, QI tuple) by a logistic model that is learnt from the true values of people of other folds."""
    worlds = BucketWorlds(release)
    fold = np.random.default_rng(seed).permutation(len(release.buckets)) % FOLDS
    q = release.quasi_identifiers.get_indexer(pd.MultiIndex.from_frame(published[QI]))
    s = release.sensitive_values.get_indexer(published[SENSITIVE])
    fold_of_record = fold[release.buckets.get_indexer(published["Bucket"])]
    p = shares = worlds.equally_likely()
    for number in range(FOLDS):
        truth = np.zeros((len(release.quasi_identifiers), len(release.sensitive_values)))
        np.add.at(truth, (q[fold_of_record != number], s[fold_of_record != number]), 1.0)
        model = Logistic(release)
        log_f = [model.learnt(truth)[0] for _ in range(FITS)][-1]
        inferred = worlds.posterior(np.vstack([log_f, np.zeros(log_f.shape[1])]), 2e8)[0]
        p = np.where((fold[worlds.rows[0]] == number)[:, None], inferred, p)
    index, values = worlds.index, release.sensitive_values
    records = pd.Series(worlds.records, index)
    return mx.attacks.AttackResult(
        table=pd.DataFrame(p, index, values), baseline=pd.DataFrame(shares, index, values), records=records, error=0.0
    )


def attacks(table: pd.DataFrame, buckets: pd.Series, seed: int, *, permuted: bool) -> Iterator[dict[str, object]]:
    """A line for every attack on one publication."""
    published = table.assign(Bucket=buckets)
    release = mx.Release.from_buckets(published, qi=QI, sa=SENSITIVE, bucket="Bucket")
    for classifier in ("logistic",) if permuted else ("naive Bayes", "logistic", "others' truth"):
        begun, line = time.process_time(), {"table": "permuted" if permuted else "true", "classifier": classifier}
        if classifier == "others' truth":
            result = from_true_values(release, published, seed)
        else:
            result = mx.attacks.definetti(
                release, classifier=classifier, calibrate=classifier == "logistic", seed=seed, progress=False
            )
            line |= {"evidence": result.evidence, "p": result.p_value, "temperature": result.temperature}
        score = result.judge(published)
        says, error = calibration(score)
        seconds = time.process_time() - begun
        yield {
            **line,
            "right": score.right,
            "says": says,
            "error": error,
            "baseline": score.baseline,
            "seconds": seconds,
        }


def attacks_on_series(table: pd.DataFrame, l: int, seed: int) -> Iterator[dict[str, object]]:
    """A line for every attack on both releases of a series together."""
    people, quarter = table.assign(Person=np.arange(len(table))), len(table) // 4
    earlier = people.iloc[: 3 * quarter]
    buckets = mx.anonymize.anatomy_buckets(earlier, qi=QI, sa=SENSITIVE, l=l, seed=seed)
    first = mx.Release.from_buckets(earlier.assign(Bucket=buckets), qi=QI, sa=SENSITIVE, bucket="Bucket", id="Person")
    later = people.iloc[quarter:][[*QI, SENSITIVE, "Person"]]
    for method, name in (("m_invariant", "invariant"), ("history_guided", "guided")):
        series = mx.ReleaseSeries([first, mx.anonymize.republish(first, later, method=method, l=l, seed=seed)])
        for classifier in ("naive Bayes", "logistic"):
            begun = time.process_time()
            score = mx.attacks.definetti(series, classifier=classifier, progress=False).judge(people)
            says, error = calibration(score)
            yield {
                "table": name,
                "classifier": classifier,
                "right": score.right,
                "says": says,
                "error": error,
                "baseline": score.baseline,
                "seconds": time.process_time() - begun,
            }


def show(l: int, seed: int, line: dict[str, object]) -> None:
    """Print a line of the table."""
    numbers = (f"{line[name]:11.3f}" if line.get(name) is not None else f"{'-':>11}" for name in COLUMNS)
    print(f"{l:2} {seed:4} {line['table']:>9} {line['classifier']:>14}", *numbers, flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--how", choices=["anatomy", "mondrian", "series"], default="anatomy")
    parser.add_argument("--l", type=int, nargs="+", default=[2, 3, 4, 5, 6])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--records", type=int, default=30_162)
    options = parser.parse_args()
    print(f"{'l':>2} {'seed':>4} {'table':>9} {'classifier':>14}", *(f"{name:>11}" for name in COLUMNS))
    adult = mx.datasets.load_adult().head(options.records)
    for l in options.l:
        for seed in range(options.seeds):
            shuffled = np.random.default_rng(seed).permutation(adult[SENSITIVE])
            for table in (adult, adult.assign(**{SENSITIVE: shuffled})):
                published = publications(table, options.how, l, seed)
                for buckets in published:
                    for line in attacks(table, buckets, seed, permuted=table is not adult):
                        show(l, seed, line)
                if options.how == "series" and table is adult:
                    for line in attacks_on_series(table, l, seed):
                        show(l, seed, line)


if __name__ == "__main__":
    main()
