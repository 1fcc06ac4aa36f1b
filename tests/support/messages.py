"""The messages of a report: what its templates and tables, and the measures that it shows, have translated."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import maxent_cvx
from maxent_cvx.reporting import report, tables

#: The calls whose first argument is a message.
CALLS = {"text", "Message", "_"}
PACKAGE = Path(maxent_cvx.__file__).parent
SOURCES = [
    *(PACKAGE / "reporting").glob("*.py"),
    *(PACKAGE / "measures" / f"{name}.py" for name in ("exposure", "reidentification", "utility")),
    *(PACKAGE / "attacks").glob("*.py"),
]


def messages() -> set[str]:
    """Every message in English."""
    fixed = {text for _, title, lead, _ in report.SECTIONS for text in (title, lead)}
    fixed |= {
        *tables.SIDES.values(),
        *(text for pair in tables.SINGULAR.values() for text in pair),
        *tables.INFORMATION,
    }
    in_python = {text for file in SOURCES for text in _of_python(ast.parse(file.read_text(encoding="utf-8")))}
    return {text for text in fixed | in_python | set(_of_templates()) if any(map(str.isalpha, text))}


def _of_python(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS and node.args:
            yield from _constants(node.args[0])
        elif isinstance(node, ast.keyword) and node.arg == "order":
            yield from _constants(node.value)
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 5:
            yield from _constants(node.value.elts[1])  # a measure's name, and what it says
            yield from _constants(node.value.elts[4])


def _constants(node: ast.expr) -> Iterator[str]:
    """The texts that an expression is, or one of which it is."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)


def _of_templates() -> Iterator[str]:
    from jinja2 import nodes

    environment = report._environment()
    for file in (PACKAGE / "reporting" / "templates").glob("*.html"):
        tree = environment.parse(file.read_text(encoding="utf-8"))
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_" and isinstance(call.args[0], nodes.Const):
                yield call.args[0].value
        for applied in tree.find_all(nodes.Filter):
            if applied.name == "plural":
                yield from (argument.value for argument in applied.args)
