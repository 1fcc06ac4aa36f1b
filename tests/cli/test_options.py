"""The options of commands are parsed once, and nothing changes them afterwards."""

from __future__ import annotations

import dataclasses

import pytest

from maxent_cvx.cli.options import UsageError, format_list, names, parse
from maxent_cvx.datasets import ADULT_QI


def test_options_are_frozen():
    """No command changes the options of another one."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        parse(["quantify", "hospital"]).table = "adult"


def test_defaults_of_built_in_tables():
    """Options for Anatomy replace the default buckets, and options for a verdict replace the default scores."""
    assert parse(["quantify", "hospital"]).bucket == "Bucket"
    assert parse(["quantify", "hospital", "--l", "2"]).bucket is None
    adult = parse(["quantify", "adult"])
    assert (adult.qi, adult.l, adult.exempt, adult.rows) == (ADULT_QI, 5, 2, 14_210)
    assert adult.top
    for option in (["--know", "P(flu) = 0.3"], ["--fail-above", "0.5"], ["--json"], ["--report", "r.html"]):
        assert parse(["quantify", "adult", *option]).top == ()
    assert parse(["quantify", "adult", "--rows", "20", "--sa", "sex"]).rows == 20
    assert parse(["publish", "adult", "--method", "mondrian", "--k", "5"]).exempt is None


@pytest.mark.parametrize("listed", [["age", "sex"], ["a,b", 'say "hi"', "c"], []])
def test_lists_of_names_are_read_as_they_are_written(listed):
    """Names may contain commas and quotes; --qi A --qi B is --qi A,B."""
    assert names(format_list(listed)) == listed
    assert parse(["quantify", "x", *(text for name in listed for text in ("--qi", format_list([name])))]).qi == (
        tuple(listed) or None
    )


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["quantfy"], ["quantify"], ["quantify", "x", "--buckt", "B"], ["quantify", "hospital", "--fail-above", "1"],
        ["quantify", "x", "--top", "few"],
        ["quantify", "x", "--fail-above", "50"], ["quantify", "x", "--missing", "ignore"],
        ["quantify", "x", "--threshold", "y"], ["quantify", "x", "--topp", "3"],
        ["publish", "x", "--safe", "0.5"], ["quantify", "x", "--hierarchy", "age.csv"], ["quantify", "x", "--rows", "y"],
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_a_usage_error(arguments):
    """Unknown commands and options, and values of another form, are usage errors."""
    with pytest.raises(UsageError):
        parse(arguments)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["quantify", "x", "--buckt", "B"], "did you mean --bucket?"), (["compare", "x", "--counts", "n"], "--count?"),
        (["compare", "x", "--id", "n"], ""), (["solvers", "--json"], ""), (["quantify", "x", "--tables", "y"], "--sa-table?"),
    ],
)  # fmt: skip
def test_a_suggested_option_is_one_of_the_command(arguments, hint):
    """Names of other commands' options, and of arguments without a name, are not suggested."""
    with pytest.raises(UsageError) as error:
        parse(arguments)
    assert hint in str(error.value)
    assert ("did you mean" in str(error.value)) == bool(hint)
