"""``maxent-cvx demo``: the hospital example of the paper (Privacy-MaxEnt, Fig. 1)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from .. import measures
from ..datasets.load import load_hospital
from ..model.maxent import MaxEnt
from ..model.posterior import Posterior
from ..releases.release import Release
from ..sources.statements import P
from .options import Options


def run(options: Options) -> None:
    """Print the example."""
    print("\n\n".join(story()))


def story() -> Iterator[str]:
    """Yield the paragraphs of the example; every number is computed."""
    hospital = load_hospital()
    release = Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    published = hospital.groupby("Bucket").agg(
        people=(
            "Gender",
            lambda g: ", ".join(f"{a} {b}" for a, b in zip(g, hospital.loc[g.index, "Degree"], strict=True)),
        ),
        diseases=("Disease", lambda d: ", ".join(sorted(d))),
    )
    yield (
        "A hospital publishes ten patients in three buckets. For each bucket everybody can see who is in it and\n"
        f"which diseases occur, but not who has which:\n\n{published.to_string(justify='left')}"
    )

    nothing = MaxEnt(release).solve()
    yield (
        "An adversary who knows nothing else distributes each bucket's diseases evenly over its people.\n"
        f"P(Disease | Gender, Degree), by maximum entropy:\n\n{_table(nothing.conditional())}\n\n"
        f"Nobody's disease is likelier than {_most(nothing)}."
    )

    rule = P("Breast Cancer", given={"Gender": "male"}) == 0
    medicine = MaxEnt(release).add(rule).solve()
    yield (
        f"But everybody knows some medicine: {rule}. In buckets 1 and 2\nonly the women can have breast cancer:\n\n"
        f"{_table(medicine.conditional())}\n\n"
        f"Now somebody's disease is known with P = {_most(medicine)}: Grace (female, junior) is not protected by her bucket."
    )

    men, women = {"Gender": "male"}, {"Gender": "female"}
    vague = P("Flu", given=men).about(0.5, eps=0.05)
    more = MaxEnt(release).add(rule, vague).solve()
    yield (
        f"Knowledge may also be vague: {vague}.\nWith medicine alone the adversary infers P(Flu) = "
        f"{medicine.prob('Flu', given=men):.3f} for men and {medicine.prob('Flu', given=women):.3f} for women; "
        f"with both statements, {more.prob('Flu', given=men):.3f} and {more.prob('Flu', given=women):.3f}."
    )

    lines = [
        "Divergence of each adversary from the truth (0 bits: everything that Gender and Degree determine is known):\n"
    ]
    for name, post in (("knows nothing else", nothing), ("knows medicine", medicine), ("also knows about flu", more)):
        bits = measures.overall_divergence(post, hospital)
        lines.append(f"  {name:22s} {bits:6.3f} bits   every P(s | q) certified within {post.certificate.bound:.0e}")
    yield "\n".join(lines)


def _table(conditional: pd.DataFrame) -> str:
    return conditional.to_string(float_format="{:.3f}".format)


def _most(post: Posterior) -> str:
    return f"{post.conditional().to_numpy().max():.3f}"
