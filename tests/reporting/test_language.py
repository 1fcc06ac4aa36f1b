"""The language of a report: every message is translated, and its numbers are those of the English one."""

from __future__ import annotations

import base64
import json
import re
import string
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx._utils.formatting import Message
from maxent_cvx.reporting.language import NUMBER, languages, speaking, text
from maxent_cvx.reporting.tables import percent
from support.messages import messages
from support.reports import read

ROLES = {"qi": ["Gender", "Degree"], "sa": "Disease", "bucket": "Bucket"}
OTHERS = [code for code in languages() if code != "en"]


def catalogue(code):
    return json.loads((files("maxent_cvx.reporting") / "languages" / f"{code}.json").read_text(encoding="utf-8"))[
        "messages"
    ]


def placeholders(message):
    """What is inserted into a message, and how it is written."""
    return {(name, spec, conversion) for _, name, spec, conversion in string.Formatter().parse(message) if name}


@pytest.fixture(scope="module")
def post():
    release = mx.Release.from_buckets(mx.datasets.load_hospital(), **ROLES)
    return mx.MaxEnt(release).add("P(Breast Cancer | Gender=male) = 0", "P(Flu | Gender=male) <= 0.4").solve()


@pytest.mark.parametrize("code", OTHERS)
def test_every_message_is_translated(code):
    """A page in a language has no English sentence but error messages."""
    assert messages() - catalogue(code).keys() == set()


@pytest.mark.parametrize("code", OTHERS)
def test_translations_insert_the_same_values(code):
    """A translation has the placeholders of the English message: no value is lost, and none is unknown."""
    different = {
        message
        for message, translation in catalogue(code).items()
        if placeholders(message) != placeholders(translation)
    }
    assert different == set()


@pytest.mark.parametrize("code", OTHERS)
def test_measures_are_translated(code, post):
    """What the measures say is a message, with and without a population, numbers and the original records."""
    tables = [
        mx.measures.risk_utility(post, mx.datasets.load_hospital(), population=1000),
        mx.measures.risk_utility(post, population=mx.datasets.load_hospital()[["Gender", "Degree"]]),
    ]
    said = pd.concat(tables)
    templates = {getattr(says, "template", says) for says in said["says"]} | set(said.index.get_level_values("measure"))
    assert templates - catalogue(code).keys() == set()


def test_numbers_of_a_german_page_are_the_same(post):
    """A page in German has the same numbers behind its cells, and writes them with a decimal comma."""
    pages = {
        code: read(mx.report(post, original=mx.datasets.load_hospital(), language=code, progress=False).html)
        for code in ("en", "de")
    }
    english, german = pages.values()
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
        says = Message("{n:,} records have {classes:,} different quasi-identifiers", n=12345, classes=10)
        assert text(says).startswith("12.345 Datensätze")
        assert text("over {percent}", percent=percent(0.123)).replace("\u00a0", " ") == "über 12,3 %"
    assert percent(0.123).replace("\u00a0", " ") == "12.3 %"
    assert NUMBER.fullmatch("1,234.5%")
    assert not NUMBER.fullmatch("1st")


def test_pictures_translate_their_own_words_only():
    """A column that is called like a message keeps its name; groups that share a row are counted in the language."""
    table = pd.DataFrame({"Number": range(60), "Value": ["a", "b"] * 30, "bucket": np.arange(60) // 2})
    release = mx.Release.from_buckets(table, qi="Number", sa="Value", bucket="bucket")
    html = mx.report(mx.MaxEnt(release).solve(), language="de", progress=False).html
    drawings = [base64.b64decode(one).decode() for one in re.findall(r"base64,([A-Za-z0-9+/=]{100,})", html)]
    words = {word for drawing in drawings for word in re.findall(r"<text[^>]*>([^<]+)</text>", drawing)}
    assert {"Number", "Value", "Wahrscheinlichkeit", "0 und 59 weitere"} <= words


def test_attacks_speak_the_language(post):
    """The sentence of an attack is in the language of the report."""
    population = mx.datasets.load_hospital()[["Gender", "Degree"]]
    attacks = {"membership": lambda release: mx.attacks.membership(release, population=population)}
    says = attacks["membership"](post.view).sentence
    pages = [mx.report(post, attacks=attacks, language=code, progress=False).html for code in ("en", "de")]
    assert [says in read(page).text for page in pages] == [True, False]
    with speaking("de"):
        assert text(says) in read(pages[1]).text


def test_values_are_not_translated():
    """A disease that is called like a message keeps its name."""
    table = mx.datasets.load_hospital().replace({"Disease": {"Flu": "People"}})
    release = mx.Release.from_buckets(table, **ROLES)
    page = mx.report(mx.MaxEnt(release).solve(), language="de", progress=False).html
    assert re.search(r">\s*People\s*<", page)
