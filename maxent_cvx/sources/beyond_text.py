"""What people write as text, and the notation does not have: the line of Python that says it."""

from __future__ import annotations

import re

# Patterns of texts that cannot be read, each with what to write instead. The lines are examples, about Flu and HIV,
# values of Disease, among people with a Gender and an age; the tests run them.

MEN, WOMEN = 'P("Flu", given={"Gender": "male"})', 'P("Flu", given={"Gender": "female"})'
OF_MEN = 'space.conditional("Disease", given="Gender").xs("male", level="Gender").expr'
JOINT = 'space.marginal(["Gender", "Disease"]).expr'

LINES: dict[str, tuple[str, ...]] = {
    r"\bodds[ -]?ratio|\bOR\b\s*[(=]|/.*/": (f"{MEN} / (1 - {MEN}) <= 2 * odds_of_women",),
    r"\brelative risk|\brisk ratio|\bRR\b": (f"({MEN} / {WOMEN}).between(2, 3)",),
    r"\btimes (as|more|less)\b|\b(is|are) (twice|half)\b": (f"{MEN} == 2 * {WOMEN}",),
    r"\bC\.?I\b|\bconfidence\b|\bSE\b": (f"{MEN}.between(0.2, 0.4)", f"{MEN}.softly(0.3, sd=0.05)"),
    r"\bmutual information|\bI\s*\(": (f"lambda space: cp.sum(cp.kl_div({JOINT}, independent)) <= 0.01",),
    r"\bKL\b|\bdivergence\b|\brelative entropy": (f"lambda space: cp.sum(cp.kl_div({OF_MEN}, reference)) <= 0.1",),
    r"\bentropy\b|\bH\s*\(": (f"lambda space: cp.sum(cp.entr({OF_MEN})) >= 0.5",),
    r"\bgini\b|\bsimpson\b": (f"lambda space: cp.sum_squares({OF_MEN}) <= 1 - 0.2",),
    r"\bmedian\b|\bquantiles?\b|\bquartiles?\b|\bpercentiles?\b": (
        'mx.PublishedQuantile(30, q=0.5, of="age", given={"Disease": "Flu"})',
    ),
    r"\bvar(iance)?\b|\bsd\b|\bstd\b|\bstandard deviation": (
        'mx.PublishedMoments(mean=40, sd=10, of="age", given={"Disease": "Flu"})',
    ),
    r"\bcorr(elation)?\b|\bpearson\b": ('mx.PublishedCorrelation(0.3, ("age", {"Flu": 1}), sd=0.5)',),
    r"\bcov(ariance)?\b": ('mx.Covariance("age", {"Flu": 1}) >= 0',),
    r"\bmax(imum)?\s*\(": ('lambda space: cp.maximum(space.prob("Flu"), space.prob("HIV")) <= 0.9',),
    r"^\s*\||\babs\s*\(": (f"({MEN} - {WOMEN}).between(-0.1, 0.1)",),
    r"\blogit\b|\blog\b|\bln\b|\bexp\b": (f"{MEN} / (1 - {MEN}) == math.exp(-0.5)",),
    r"\^|\*\*|\bsquared?\b": ('lambda space: cp.square(space.prob("Flu", given={"Gender": "male"})) <= 0.5',),
    r"\)\s*\*\s*[PE#]|\bindependent\b": (f"{MEN} == {WOMEN}",),
    r"\bif\b|\bthen\b|->|\bimplies\b": ('mx.worlds.linkage(release, people=people, knowledge=["Ann=HIV -> Bob=HIV"])',),
    r"^\s*\w+ (has|had|is|does)\b": ('P("Flu", who="Ann") == 1',),
    r"\bcount\b|#\([^:]*\)": ('P("Flu") == 3 / release.n_records', 'mx.Count("Flu", who=["Ann", "Bob"]) == 1'),
}  # fmt: skip
PATTERNS = [(re.compile(pattern, re.IGNORECASE), lines) for pattern, lines in LINES.items()]


def lines_of_python(text: str) -> tuple[str, ...]:
    """What to write in Python, for example, instead of a text that cannot be read; nothing if no pattern is in it."""
    return next((lines for pattern, lines in PATTERNS if pattern.search(text)), ())
