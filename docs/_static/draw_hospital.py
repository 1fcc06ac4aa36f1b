"""Draw hospital.png, the README's picture: what is inferred of the ten patients before and after two statements."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt

import maxent_cvx as mx

hospital = mx.datasets.load_hospital()
release = mx.Release.from_buckets(hospital, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
nothing = mx.MaxEnt(release).solve()
rumours = mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) = 0.5 +- 0.04").solve()

figure, axes = plt.subplots(1, 2, figsize=(12, 3.9), layout="constrained", sharey=True)
for post, ax, title in zip(
    (nothing, rumours), axes, ("from the release alone", "with two rumours about men"), strict=True
):
    mx.plots.posterior(post, ax=ax)
    ax.set_title(f"P(Disease | Gender, Degree), {title}")
axes[1].set_ylabel("")
figure.axes[2].remove()  # one scale is enough for both
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("hospital.png"), dpi=110)
