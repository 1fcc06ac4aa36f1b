r"""Conversion of the model into a CVXPY program, and of a solved program into a posterior.

    maximize    sum_t entr(x_t) + x_t log w_t  -  sum of the costs of the soft statements
    subject to  the constraints of every source, x >= 0

x = N p are the counts of the terms, ``space.counts``, and w_t is the number of people whom a term t describes, times
its prior if there is one; without named people and a prior all w are 1. The first sum is N H(p) - N log N, nats.

CVXPY's dual value of a constraint, with the sign of its relation and in the unit of its rows, is the multiplier of the
rows; the multiplier of a soft row is the slope of its cost at the solution. The certificate is computed from the
multipliers as for every other solver.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.errors import SolverError, StatementError, join_names, pluralize, short_repr
from .._utils.formatting import escaped
from ..solvers.answer import Answer, Status
from ..solvers.attempts import certificate_of, presolved
from ..solvers.backends import STATUS
from ..solvers.certificate import Solution
from ..solvers.convex import multipliers_at
from ..solvers.sparse import most_by_row
from ..sources.base import ConstraintGroup
from ..sources.statements import ParametricStatement, Statement
from ..terms.rows import Rows
from ..terms.space import Space

if TYPE_CHECKING:
    import cvxpy as cp

    from .maxent import MaxEnt


@dataclass(frozen=True, eq=False)
class Program:
    """The objective and the constraints of a model in CVXPY, with the CVXPY objects of the sources themselves."""

    entropy: cp.Expression
    costs: dict[str, cp.Expression]  # by label of the soft source, nats
    constraints: dict[str, list[cp.Constraint]]  # by label of the source
    objective: cp.Maximize  # the entropy minus the costs
    problem: cp.Problem  # the objective and all constraints, in the order of the model

    @classmethod
    def of(cls, space: Space, groups: Mapping[str, ConstraintGroup]) -> Program:
        """Return the program of the groups of a model."""
        import cvxpy as cp

        constraints = {
            label: [statement.constraint for statement in group.stated(space, label)] for label, group in groups.items()
        }
        costs = {}
        for label, group in groups.items():
            if parts := group.costs(space, label):
                costs[label] = sum(parts[1:], parts[0]).set_label(label)
        entropy, weights = cp.sum(cp.entr(space.counts)), _weights(space)
        if weights is not None:
            entropy += cp.Constant(np.log(weights), name="log(w)") @ space.counts
        objective = cp.Maximize(sum((-cost for cost in costs.values()), entropy))
        problem = cp.Problem(objective, list(itertools.chain.from_iterable(constraints.values())))
        return cls(entropy, costs, constraints, objective, problem)


def _weights(space: Space) -> np.ndarray | None:
    """Return the weights w of the terms, or None if all are 1."""
    weights = np.asarray(space.multiplicities * space.prior_density)
    return weights if (weights != 1).any() else None


def summands(expression: Any, sign: int = 1) -> Iterator[tuple[Any, int]]:
    """Yield the summands of an expression as written, each with its sign."""
    kind = type(expression).__name__
    if kind not in ("AddExpression", "NegExpression"):
        yield expression, sign
        return
    for part in expression.args:
        yield from summands(part, -sign if kind == "NegExpression" else sign)


def model_of_problem(model: MaxEnt, program: Program, problem: cp.Problem) -> MaxEnt:
    """Return the model of a problem: without the sources that the problem lacks, and with its added constraints."""
    import cvxpy as cp

    if not isinstance(problem, cp.Problem):
        raise StatementError(f"expected a solved cvxpy.Problem over model.space.counts, got {short_repr(problem)}")
    counts = model.space.counts
    if others := [variable.name() for variable in problem.variables() if variable.id != counts.id]:
        raise StatementError(
            f"the problem has other variables than model.space.counts, {join_names(others)}; the certificate requires "
            "constraints on the counts alone, without further variables"
        )
    kept_costs = _kept_costs(program, problem)
    contained = {id(constraint) for constraint in problem.constraints}
    lacking = {
        label
        for label, constraints in program.constraints.items()
        if not contained.issuperset(map(id, constraints)) or (label in program.costs and label not in kept_costs)
    }
    if published := [label for label in lacking if label not in model.knowledge]:
        raise StatementError(
            f"the problem lacks constraints of {join_names(published)}, which always hold; start from "
            "model.problem.constraints, and remove only knowledge"
        )
    kept = [program.constraints[label] for label in program.constraints if label not in lacking]
    known = set(map(id, itertools.chain.from_iterable(kept)))
    added = [constraint for constraint in problem.constraints if id(constraint) not in known]
    changed = model.copy() if lacking or added else model
    for label in lacking:
        changed.remove(label)
    for constraint in added:
        name = getattr(constraint, "label", None)
        changed.add(constraint, label=None if name is None or str(name) in changed.knowledge else str(name))
    return changed


def _kept_costs(program: Program, problem: cp.Problem) -> set[str]:
    """Return the labels of the soft sources whose costs the objective contains; raise for any other objective."""
    objective = problem.objective
    of_problem = summands(objective.args[0], 1 if objective.NAME == "maximize" else -1)
    given = Counter((id(part), sign) for part, sign in of_problem)
    of_cost = {label: [(id(part), -sign) for part, sign in summands(cost)] for label, cost in program.costs.items()}
    kept = {label for label, parts in of_cost.items() if not given.keys().isdisjoint(parts)}
    expected = Counter((id(part), sign) for part, sign in summands(program.entropy))
    for label in kept:
        expected.update(of_cost[label])
    if given != expected:
        raise StatementError(
            "the objective of the problem is not the entropy of this model minus costs of its soft statements, so "
            "its solution is not a maximum-entropy posterior; use model.objective, or remove whole costs from it"
        )
    return kept


def read_solution(model: MaxEnt, problem: cp.Problem) -> Solution:
    """Return the solution of a solved program of a model, certified by its dual values."""
    counts = model.space.counts.value
    status = STATUS.get(str(problem.status), Status.FAILED)
    if counts is None or problem.status is None or status is Status.INFEASIBLE:  # counts may be of another problem
        reason = "it is not solved yet" if problem.status is None else f"its status is {problem.status!r}"
        raise SolverError(
            f"the problem has no solution: {reason}; call problem.solve() first, or, if it is infeasible, "
            "model.diagnose() to find the statements that contradict each other"
        )
    form, statistics, x = model.form, problem.solver_stats, np.asarray(counts, dtype=float)
    multipliers = _multipliers(model, x)
    name = str(getattr(statistics, "solver_name", None) or "CVXPY")
    answer = Answer(
        status,
        x,
        form.project_to_dual_cone(np.where(np.isfinite(multipliers), multipliers, 0.0)),
        int(getattr(statistics, "num_iters", None) or 0),
        float(problem.compilation_time or 0.0),
        float(getattr(statistics, "solve_time", None) or 0.0),
        str(problem.status),
        convex=multipliers_at(convex, x) if (convex := model.posed.convex) else {},
    )
    settled = presolved(model.posed).settled_for(x)
    return Solution(answer, certificate_of(model.posed, settled, answer), name)


def _multipliers(model: MaxEnt, counts: np.ndarray) -> np.ndarray:
    """Return the multipliers of all rows, from dual values, or from the slopes of costs for soft rows."""
    base, form = model._base, model.form
    starts = {id(rows): int(start) for rows, start in zip(base.blocks, base.blocks.starts, strict=False)}
    typed = np.zeros(form.shape[0])
    for label, group in base.groups.items():
        for piece in group.stated(base.space, label):
            dual = piece.constraint.dual_value
            if piece.block is None or piece.rows is None or dual is None:
                continue
            matrix = group.rows[piece.block].matrix
            most = most_by_row(np.abs(matrix.data), matrix)
            scale = base.space.n_records / np.where(most > 0, most, 1.0)
            values = piece.to_multiplier * np.atleast_1d(np.asarray(dual, dtype=float)).ravel(order="F")
            typed[starts[id(group.rows[piece.block])] + piece.rows] += values / scale[piece.rows]
    multipliers = form.transformed_multipliers(typed)
    if form.penalties is not None:
        value = form.matvec(np.maximum(counts, 0.0))[form.n_hard :]
        low, high = form.low[form.n_hard :], form.high[form.n_hard :]
        multipliers[form.n_hard :] = form.penalties.multiplier(low, high, value)
    return multipliers


# The program as text, and as formulas.

#: Maximum number of rows of a family that are written in full; a larger family is written as its name and size.
WRITTEN_IN_FULL = 12
#: The name of a row that is a relation itself, such as the label of a statement.
RELATED = re.compile(r"[)|] *([<>=~]|in \[)[^()]*$")
#: Maximum number of sources listed in the text, about a screen of lines.
MOST_LINES = 30


def in_words(model: MaxEnt) -> str:
    """Return the program as text: the objective, and one line per source with its label and its size."""
    lines = _lines(model)
    width = min(max(len(what) for _, what, _ in lines), 60)
    return "\n".join(f"{head:<12}{what:<{width}}  {size}".rstrip() for head, what, size in lines)


def in_html(model: MaxEnt) -> str:
    """Return the program as an HTML table."""
    style = ' style="text-align: left"'
    rows = ("".join(f"<td{style}>{escaped(cell)}</td>" for cell in line) for line in _lines(model))
    return f"<div><table><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table></div>"


def _lines(model: MaxEnt) -> list[tuple[str, str, str]]:
    """Return the lines of the program: a heading, the objective or a label, and a size."""
    space, groups = model.space, model._base.groups
    terms, people = pluralize(len(space), "term"), pluralize(space.n_records, "person", "people")
    weighted = "" if _weights(space) is None else " + log(w)' counts"
    soft = [label for label, group in groups.items() if any(rows.penalty is not None for rows in group.rows)]
    hard = [
        label
        for label, group in groups.items()
        if group.convex or any(rows.penalty is None and len(rows) for rows in group.rows)
    ]
    lines = [("maximize", f"sum entr(counts){weighted}", f"{terms} {space.term}, {people}")]
    lines += [("", f"- cost of {label}", _size(groups[label])) for label in soft]
    lines += [("", label, _size(groups[label])) for label in hard[:MOST_LINES]]
    if len(hard) > MOST_LINES:
        lines.append(("", f"... and {len(hard) - MOST_LINES} more sources: see describe()", ""))
    lines.append(("", "counts >= 0", ""))
    lines[1 + len(soft)] = ("subject to", *lines[1 + len(soft)][1:])
    return lines


def _size(group: ConstraintGroup) -> str:
    """Return the number of rows of each kind in a source, as text."""
    kinds = {"equation": 0, "inequality": 0, "interval": 0, "soft row": 0, "convex constraint": len(group.convex)}
    for rows in group.rows:
        if rows.penalty is not None:
            kinds["soft row"] += len(rows)
            continue
        is_equation, is_interval = rows.low == rows.high, np.isfinite(rows.low) & np.isfinite(rows.high)
        kinds["equation"] += int(is_equation.sum())
        kinds["interval"] += int((is_interval & ~is_equation).sum())
        kinds["inequality"] += int((~is_interval).sum())
    several = {"inequality": "inequalities"}
    return ", ".join(pluralize(n, kind, several.get(kind, f"{kind}s")) for kind, n in kinds.items() if n) or "no rows"


def latex(model: MaxEnt) -> str:
    """Return the program as an ``align*`` environment."""
    space, base = model.space, model._base
    indices = space.term[space.term.index("(") + 1 : -1].replace(" ", "")
    p = f"P({indices})"
    inside = p if _weights(space) is None else rf"\frac{{{p}}}{{w({indices})}}"
    entropy = rf"-\sum_{{{indices}}} {p} \ln {inside}"
    soft = [rows for group in base.groups.values() for rows in group.rows if rows.penalty is not None]
    if soft:
        costs = "".join(rf" - c\bigl({_latex_of(rows.label)}\bigr)" for rows in soft)
        entropy = rf"N \Bigl({entropy}\Bigr){costs}"
    lines = [rf"\text{{maximize}}\quad & {entropy}"]
    for label, group in base.groups.items():
        hard = [rows for rows in group.rows if rows.penalty is None]
        if isinstance(group.source, Statement | ParametricStatement):
            lines += [rf"& {_latex_of(group.source.label)}"] * len(hard)
        else:
            lines += [line for rows in hard for line in _latex_rows(rows)]
        lines += [_latex_convex(constraint, label) for constraint in group.convex]
    lines.append(rf"& {p} \ge 0")
    lines[1] = r"\text{subject to}\quad " + lines[1]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _latex_rows(rows: Rows) -> list[str]:
    """Return one formula per hard row, or a single one for a large family."""
    if len(rows) > WRITTEN_IN_FULL:
        return [rf"& {_latex_of(rows.label)} \quad \text{{({len(rows):,} rows)}}"]
    lines = []
    for i in range(len(rows)):
        low, high, name = float(rows.low[i]) + 0.0, float(rows.high[i]) + 0.0, _latex_of(_with_values(rows.name(i)))
        if RELATED.search(rows.name(i)):
            lines.append(f"& {name}")
        elif low == high:
            lines.append(f"& {name} = {low:.6g}")
        else:
            lower = rf"{low:.6g} \le " if np.isfinite(low) else ""
            right = rf" \le {high:.6g}" if np.isfinite(high) else ""
            lines.append(f"& {lower}{name}{right}")
    return lines


def _latex_convex(constraint: Any, label: str) -> str:
    """Return the formula of a convex constraint, named by its label, because CVXPY would print its data."""
    right = constraint.args[-1]
    limit = (
        f"{float(right.value):.6g}" if len(constraint.args) == 2 and right.is_constant() and right.size == 1 else "0"
    )
    return rf"& f_{{\text{{{_escaped(label)}}}}}(P) \le {limit}"


def _with_values(name: str) -> str:
    """Convert a row name of the form "P(Disease | Gender): Flu, male" to "P(Disease=Flu | Gender=male)"."""
    match = re.fullmatch(r"P\(([^()|]+?)(?: \| ([^()|]+))?\): (.*)", name)
    if match is None:
        return name
    of, conditions = match[1].split(", "), match[2].split(", ") if match[2] else []
    values = match[3].split(", ")
    if len(values) != len(of) + len(conditions):
        return name
    pairs = [f"{attribute}={value}" for attribute, value in zip([*of, *conditions], values, strict=True)]
    condition = " | " * bool(conditions) + ", ".join(pairs[len(of) :])
    return f"P({', '.join(pairs[: len(of)])}{condition})"


def _latex_of(text: str) -> str:
    """Return a label as LaTeX mathematics: relations and P(... | ...) as symbols, and names as text."""
    symbols = {"<=": r"\le", ">=": r"\ge", "~": r"\sim", "+-": r"\pm", "|": r"\mid", "*": r"\cdot"}
    pieces = []
    value = r"\"[^\"]*\"|(?<=[=(])[<>]=?[^\s,()|]+"  # Adult's "<=50K" and >50K
    for token in re.split(rf"({value}|<=|>=|\+-|[~|=<>*+(),:]|\s+)", text):
        if not token or token.isspace():
            continue
        words = _escaped(token.strip('"'))
        if token in symbols or re.fullmatch(r"[=<>+(),:]|-?\d+(\.\d+)?(e-?\d+)?|P|E", token):
            pieces.append(symbols.get(token, token))
        elif pieces and pieces[-1].startswith(r"\text{"):
            pieces[-1] = pieces[-1][:-1] + " " + words + "}"
        else:
            pieces.append(rf"\text{{{words}}}")
    return " ".join(pieces)


def _escaped(text: str) -> str:
    """Escape the characters that LaTeX interprets as commands."""
    return re.sub(r"([&%$#_{}])", r"\\\1", text.replace("\\", r"\textbackslash ")).replace("^", r"\^{}")
