"""The language of a report: every message is translated, and its numbers are those of the English one."""

from __future__ import annotations

import ast
import base64
import json
import re
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from jinja2 import nodes

import maxent_cvx as mx
from maxent_cvx._utils.formatting import Message
from maxent_cvx.reporting import report, tables
from maxent_cvx.reporting.language import NUMBER, languages, speaking, text
from maxent_cvx.reporting.tables import percent
from support.reports import read

PACKAGE = Path(mx.__file__).parent
OTHERS = [code for code in languages() if code != "en"]


def catalogue(code):
    """The translations of a language."""
    path = PACKAGE / "reporting" / "languages" / f"{code}.json"
    return json.loads(path.read_text(encoding="utf-8"))["messages"]


def messages():
    """Every message in English of the report, and of the measures and attacks that it shows."""
    texts = {text for _, title, lead, _ in report.SECTIONS for text in (title, lead)}
    texts |= {
        *tables.SIDES.values(),
        *(text for pair in tables.SINGULAR.values() for text in pair),
        *tables.INFORMATION,
    }
    for file in [
        *(PACKAGE / "reporting").glob("*.py"),
        *(PACKAGE / "measures" / f"{name}.py" for name in ("exposure", "reidentification", "utility")),
        *(PACKAGE / "attacks").glob("*.py"),
    ]:
        texts |= set(messages_of_python(ast.parse(file.read_text(encoding="utf-8"))))
    environment = report._environment()
    for file in (PACKAGE / "reporting" / "templates").glob("*.html"):
        tree = environment.parse(file.read_text(encoding="utf-8"))
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_" and isinstance(call.args[0], nodes.Const):
                texts.add(call.args[0].value)
        for applied in tree.find_all(nodes.Filter):
            if applied.name == "plural":
                texts |= {argument.value for argument in applied.args}
    return {text for text in texts if any(map(str.isalpha, text))}


def messages_of_python(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("text", "Message", "_") and node.args:
            yield from constants(node.args[0])
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("template", "templates"):
            for part in ast.walk(node.value):
                yield from constants(part)
        elif isinstance(node, ast.keyword) and node.arg == "order":
            yield from constants(node.value)
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 5:
            yield from constants(node.value.elts[1])  # the name of a measure, and its sentence
            yield from constants(node.value.elts[4])


def constants(node):
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def placeholders(message):
    """What is inserted into a message, and how it is written."""
    return {(name, spec, conversion) for _, name, spec, conversion in string.Formatter().parse(message) if name}


@pytest.mark.parametrize("code", OTHERS)
def test_every_message_is_translated(code):
    """Every message has a translation with the same placeholders: no value is lost, and none is unknown."""
    translations = catalogue(code)
    assert messages() - translations.keys() == set()
    different = {message for message, text in translations.items() if placeholders(message) != placeholders(text)}
    assert different == set()


@pytest.mark.parametrize("code", OTHERS)
def test_measures_are_translated(code, post, hospital):
    """The sentences of measures are messages, with and without a population, numbers and the original records."""
    measures = pd.concat(
        [
            mx.measures.risk_utility(post, hospital, population=1000),
            mx.measures.risk_utility(post, population=hospital[["Gender", "Degree"]]),
        ]
    )
    templates = {getattr(sentence, "template", sentence) for sentence in measures["says"]}
    assert (templates | set(measures.index.get_level_values("measure"))) - catalogue(code).keys() == set()


def test_numbers_of_a_german_page_are_the_same(post, hospital):
    """A page in German has the same numbers behind its cells, and writes them with a decimal comma."""
    english, german = (
        read(mx.report(post, original=hospital, language=code, progress=False).html) for code in ("en", "de")
    )
    assert "1 von 10 Personen ist gefährdet" in german.text
    assert len(german.tables) == len(english.tables)
    numbers = [
        [[value for _, value in row] for rows in page.tables.values() for row in rows] for page in (english, german)
    ]
    assert numbers[0][:-20] == numbers[1][:-20]  # the last table has the date and versions


def test_numbers_are_written_in_the_language():
    """1,234.5 % in English is 1.234,5 % in German, also within sentences."""
    with speaking("de"):
        assert percent(0.123).replace("\u00a0", " ") == "12,3 %"
        assert text("{n:,} of {total:,}", n=1234, total=56789) == "1.234 von 56.789"
        assert text(Message("{share} of all have unique quasi-identifiers", share="10.5%")).startswith(
            "10,5\u00a0% aller"
        )
        message = Message("{n:,} records have {classes:,} different quasi-identifiers", n=12345, classes=10)
        assert text(message).startswith("12.345 Datensätze")
        assert text("over {percent}", percent=percent(0.123)).replace("\u00a0", " ") == "über 12,3 %"
    assert percent(0.123).replace("\u00a0", " ") == "12.3 %"
    assert NUMBER.fullmatch("1,234.5%")
    assert not NUMBER.fullmatch("1st")


def test_pictures_translate_their_own_words_only():
    """A column with the name of a message keeps it; groups that share a row are counted in the language."""
    table = pd.DataFrame({"Number": range(60), "Value": ["a", "b"] * 30, "bucket": np.arange(60) // 2})
    release = mx.Release.from_buckets(table, qi="Number", sa="Value", bucket="bucket")
    html = mx.report(mx.MaxEnt(release).solve(), language="de", progress=False).html
    drawings = [base64.b64decode(data).decode() for data in re.findall(r"base64,([A-Za-z0-9+/=]{100,})", html)]
    words = {word for drawing in drawings for word in re.findall(r"<text[^>]*>([^<]+)</text>", drawing)}
    assert {"Number", "Value", "Wahrscheinlichkeit", "0 und 59 weitere"} <= words


def test_attacks_in_the_language_of_the_report(post, hospital):
    """The sentence of an attack is in the language of the report."""
    attacks = {"membership": lambda view: mx.attacks.membership(view, population=hospital[["Gender", "Degree"]])}
    sentence = attacks["membership"](post.view).sentence
    pages = [mx.report(post, attacks=attacks, language=code, progress=False).html for code in ("en", "de")]
    assert [sentence in read(page).text for page in pages] == [True, False]
    with speaking("de"):
        assert text(sentence) in read(pages[1]).text


def test_values_are_not_translated(hospital):
    """A disease with the name of a message keeps it."""
    table = hospital.replace({"Disease": {"Flu": "People"}})
    release = mx.Release.from_buckets(table, qi=["Gender", "Degree"], sa="Disease", bucket="Bucket")
    page = mx.report(mx.MaxEnt(release).solve(), language="de", progress=False).html
    assert re.search(r">\s*People\s*<", page)


def test_messages_among_other_texts_are_translated():
    """The command line's notes on the data, the reasons why certain values do not count, and durations."""
    table = pd.DataFrame(
        {"ward": list("mmff"), "sex": list("mmff"), "born": ["2024-01-01", "2024-01-02", "2024-06-01", "2024-06-01"]}
    )
    post = mx.MaxEnt(mx.Release.from_buckets(table, qi="sex", sa="born", bucket="ward")).solve()
    about = {"buckets": Message("made by Anatomy, l = {l}, exempt = {exempt}", l=2, exempt=0)}
    settings = {"sensitive": ["2024-01-01", "2024-01-02"], "within": "30 days", "progress": False, "language": "de"}
    page = read(mx.report(post, about=about, **settings).html).text
    for german in (
        "von Anatomy gebildet, l = 2",
        "er ist nicht unter den sensiblen Werten",
        "Abstand höchstens 30 Tage",
    ):
        assert german in page
    assert re.search("made by|it is not among|30 days", page) is None
