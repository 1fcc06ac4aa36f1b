"""Sentences as text and as objects: how they are read and written, and what remains of them when values are known."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pandas as pd
import pytest

from maxent_cvx import StatementError, UnknownName
from maxent_cvx.worlds.sentences import (
    FALSE,
    TRUE,
    PersonKnowledge,
    Residuals,
    at_least,
    at_most,
    atoms,
    exactly,
    has,
    read_sentence,
)
from support.helpers import refused
from support.sentences import random_sentence

ANN, BOB, EVE = (has(name, "HIV") for name in ("Ann", "Bob", "Eve"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Ann=HIV", ANN),
        ("  Ann =HIV or Bob= HIV", ANN | BOB),
        ("not (Ann=HIV and Bob=HIV)", ~(ANN & BOB)),
        ("not Ann=HIV and Bob=HIV", ~ANN & BOB),
        ("Ann=HIV or Bob=HIV and Eve=HIV", ANN | (BOB & EVE)),
        ("Ann=HIV -> Bob=HIV -> Eve=HIV", ANN.implies(BOB.implies(EVE))),
        ("(Ann=HIV->Bob=HIV)->Eve=HIV", ANN.implies(BOB).implies(EVE)),
        ("Ann=HIV or Bob=HIV -> not Eve=HIV", (ANN | BOB).implies(~EVE)),
        ("exactly 1 of (Ann=HIV, Bob=HIV or Eve=HIV)", exactly(1, [ANN, BOB | EVE])),
        ("at least 2 of (Ann=HIV, Bob=HIV, Eve=HIV)", at_least(2, [ANN, BOB, EVE])),
        ("at most 1 of (Ann=HIV, Bob=HIV, Eve=HIV)", at_most(1, [ANN, BOB, EVE])),
        ("at  least 1 of(Ann=HIV, Bob=HIV)", ANN | BOB),
        ("Mary Ann=Lung Cancer", has("Mary Ann", "Lung Cancer")),
        ("Exec-managerial=50K+", has("Exec-managerial", "50K+")),
        ('"A and B"="Flu, mild (or so)"', has("A and B", "Flu, mild (or so)")),
        (r"'it\'s'='->'", has("it's", "->")),
        ("1=2.5", has(1, 2.5)),
        ("'1'=True", has("1", True)),
        ("at least=exactly", has("at least", "exactly")),
        ("Andy=notable or orwell=x", has("Andy", "notable") | has("orwell", "x")),
        ('"exactly 1 of us"="at most 2 of"', has("exactly 1 of us", "at most 2 of")),
        (
            "exactly one of us=not-sick->at least 1 off=x",
            has("exactly one of us", "not-sick").implies(has("at least 1 off", "x")),
        ),
        ("Ann=" + "7" * 5000, has("Ann", "7" * 5000)),
        ("(Ann=('Flu, mild', 1) or Bob=( HIV,'1'))", has("Ann", ("Flu, mild", 1)) | has("Bob", ("HIV", "1"))),
    ],
)
def test_read(text, sentence):
    """A text is read as the sentence that objects give, and the text of the sentence is read as the same."""
    assert read_sentence(text) == sentence
    assert read_sentence(str(sentence)) == sentence


@pytest.mark.parametrize(
    ("text", "character"),
    [
        ("Ann", 4), ("Ann=HIV Bob=HIV", 12), ("(Ann=HIV or Bob=HIV", 20), ("Ann=HIV and", 12), ("or=HIV", 1),
        ("Ann=not", 5), ("exactly 3 of (Ann=HIV, Bob=HIV)", 9), ("exactly 1 of Ann=HIV", 14),
        ("exactly " + "9" * 5000 + " of (Ann=HIV)", 9), ("Ann=HIV or->Bob=HIV", 11), ("Ann=not->Bob=HIV", 5),
        ("at most 1 of (Ann=HIV Bob=HIV)", 26), ("", ""), ("(" * 500 + "Ann=HIV" + ")" * 500, ""),
        ("not " * 500 + "Ann=HIV", ""), ("Ann=(HIV or Flu, 1)", 10),
    ],
)  # fmt: skip
def test_cannot_be_read(text, character):
    """The error names the character at which the sentence cannot be read."""
    with refused(StatementError, f"character {character}" if character else ""):
        read_sentence(text)


def test_random_sentences_are_read_as_written():
    """The text of a random sentence of all kinds is read as the same sentence."""
    rng = np.random.default_rng(0)
    labels = ["a", "b c", "or", 'q"', "->", "1", 1, 2.5, "x=y", "tab\there", "back\\slash", ""]
    for _ in range(100):
        sentence, _ = random_sentence(rng, ["Ann", "not", "Mary Ann", "it's"], labels, depth=3)
        assert read_sentence(str(sentence)) == sentence


def test_what_remains():
    """In whichever order the values of people become known, the sentence that remains at the end is true or false."""
    rng = np.random.default_rng(1)
    names, values = ["a", "b", "c", "d"], ["x", "y", "z"]
    for _ in range(100):
        sentence, truth = random_sentence(rng, names, values[:2], depth=3)
        residuals = Residuals()
        positions = {atom: (names.index(atom.person), values.index(atom.value)) for atom in atoms(sentence)}
        root = residuals.of(sentence, positions)
        for world in itertools.product(range(3), repeat=4):
            residual = root
            for person in rng.permutation(4).tolist():
                residual = residuals.after(residual, person, world[person])
            assert residual in (FALSE, TRUE)
            assert (residual == TRUE) == truth({name: values[x] for name, x in zip(names, world, strict=True)})


def test_texts_that_look_like_numbers():
    """They are written in quotes, and the error about one without quotes says so."""
    people, values = pd.Index(["Ann"]), pd.Index(["1305", "True"])
    known = PersonKnowledge.of(["Ann='1305' or Ann='True'"], people, values, "person")
    assert list(known.positions.values()) == [(0, 0), (0, 1)]
    for text in ("Ann=1305", "Ann=True"):
        with refused(UnknownName, "quotes"):
            PersonKnowledge.of([text], people, values, "person")


@pytest.mark.parametrize(
    "make",
    [
        lambda: bool(ANN),
        lambda: ANN & "Bob=HIV",
        lambda: exactly(3, [ANN, BOB]),
        lambda: at_least(0, []),
        lambda: at_most(1, 3),
        lambda: at_most(1, [ANN, 3]),
        lambda: at_most(1, [ANN, BOB, "Ann=HIV"]),
        lambda: read_sentence("at most 1 of (Ann=HIV, Ann=HIV)"),
        lambda: has(["Ann"], "HIV"),
        lambda: has("Ann", None),
        lambda: functools.reduce(lambda sentence, _: ~sentence, range(200), ANN),
    ],
)
def test_wrong_objects(make):
    """A sentence is neither true nor false, and its parts must be sentences, not nested too deeply."""
    with pytest.raises(StatementError):
        make()
