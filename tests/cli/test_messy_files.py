"""Numbers, dates, blanks, codes of missing cells and layouts as people write them, from many countries."""

# ruff: noqa: RUF001 (apostrophes and dashes)

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest

from maxent_cvx.cli.files import Format, are_ambiguous_dates, as_dates, read_table
from maxent_cvx.cli.main import main
from maxent_cvx.cli.roles import QI, SA, proposed_roles


def write(name: str, text: str) -> str:
    """Write a text file, and give its name."""
    with open(name, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return name


@pytest.mark.parametrize(
    ("sep", "cells", "numbers"),
    [
        (";", ["990", "1.000", "5.000"], [990, 1000, 5000]),
        ("\t", ["990", "1.000", "1.200.000"], [990, 1000, 1_200_000]),
        (";", ["1.005 €", "5.000 €"], [1005, 5000]),
        (",", ["990", "1.000", "5.000"], [990, 1, 5]),
        (";", ["1990", "1.000"], [1990, 1]),
        (";", ["0.990", "1.000"], [0.99, 1]),
        (";", ["1.5", "1.000"], [1.5, 1]),
    ],
)
def test_points_between_thousands(sep, cells, numbers):
    """In a European file points in groups of three digits separate thousands, unless a number contradicts it."""
    path = write("pay.csv", f"a{sep}pay\n" + "".join(f"x{sep}{cell}\n" for cell in cells))
    assert read_table(path)["pay"].to_list() == numbers


def test_points_mean_the_same_in_a_whole_file():
    """A height of 1.68 shows that points are decimal; --decimal decides, too."""
    path = write("pay.csv", "height;pay\n1.68;1.005\n1.7;5.000\n")
    assert read_table(path)["pay"].to_list() == [1.005, 5]
    path = write("pay.csv", "a;pay\nx;1.005\ny;5.000\n")
    assert read_table(path, Format(decimal="."))["pay"].to_list() == [1.005, 5]
    assert read_table(path, Format(decimal=","))["pay"].to_list() == [1005, 5000]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["4\u202f193,25", "51\u202f695,5"], [4193.25, 51695.5]),
        (["4\xa0193,25", "7,5"], [4193.25, 7.5]),
        (["4 193,25", "1 000 000"], [4193.25, 1_000_000]),
        (["51'695.25", "36’945.5"], [51695.25, 36945.5]),
        (["51.695,25 €", "7,5 €"], [51695.25, 7.5]),
        (["$51,695.25", "-$7.50"], [51695.25, -7.5]),
        (["50.5%", "7.25 %"], [50.5, 7.25]),
        (["1,72", "1,8"], [1.72, 1.8]),
        (["7.857,50", "12,00"], [7857.5, 12]),
        (["5 €", "7 $"], None),
        (["50%", "0.5"], None),
        (["18,19", "20,21a"], None),
    ],
)
def test_numbers_as_they_are_written(ending, cells, numbers):
    """They are numbers in every kind of file, if the whole column is, with one unit."""
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    table = pd.DataFrame({"name": ["x", "y"], "pay": cells})
    save = {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}[ending]
    save(f"pay.{ending}", index=False, **({"sep": ";"} if ending == "csv" else {}))
    assert read_table(f"pay.{ending}")["pay"].to_list() == (cells if numbers is None else numbers)


def test_texts_of_digits_stay_codes_in_typed_files():
    """A text 10115 is a code; 1.234 could be two numbers, and is one if the option or another column says which."""
    table = pd.DataFrame({"zip": ["10115", "80331"], "pay": ["1.234", "5.678"]})
    table.to_parquet("people.parquet")
    pd.testing.assert_frame_equal(read_table("people.parquet"), table)
    assert read_table("people.parquet", Format(decimal=","))["pay"].to_list() == [1234, 5678]
    table.assign(height=["1,7", "1,68"]).to_parquet("people.parquet")
    assert read_table("people.parquet")["pay"].to_list() == [1234, 5678]


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_blanks_at_the_ends_of_cells(ending, capsys):
    """'HIV ' is HIV: whoever is in the group has it with certainty."""
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    table = pd.DataFrame({"sex": ["f", " f", "f", "m", "m"], "disease": ["HIV", "HIV ", " HIV", "flu", "cold"]})
    save = {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}[ending]
    save(f"people.{ending}", index=False)
    assert main(["quantify", f"people.{ending}", "--qi", "sex", "--sa", "disease", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["exposure"]["people"] == 3
    assert document["release"]["buckets"] == 2


def test_values_that_differ_by_case_are_named(capsys):
    """They stay different values, also of a quasi-identifier, and a warning names them."""
    write("people.csv", "sex,disease\nM,HIV\nm,hiv\nM,flu\nm,flu\n")
    assert main(["quantify", "people.csv", "--qi", "sex", "--sa", "disease"]) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert [{name for name in ("'M'", "'m'", "'HIV'", "'hiv'", "'flu'") if name in line} for line in warnings] == [
        {"'M'", "'m'"}, {"'HIV'", "'hiv'"},
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["zip", "disease"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("quantify", "--count"),
        ("quantify", "--id"),
        ("quantify", "--bucket"),
        ("publish", "--count"),
        ("publish", "--id"),
    ],
)
def test_a_column_has_one_role(command, option, column, capsys):
    write("people.csv", "zip,disease\n1,2\n1,1\n2,1\n2,3\n")
    assert main([command, "people.csv", "--qi", "zip", "--sa", "disease", option, column]) == 2
    said = capsys.readouterr().err
    assert f"'{column}'" in said
    assert option in said


@pytest.mark.parametrize(
    ("texts", "days"),
    [
        (["1995-10-19T00:00:00Z", "2006-06-23T00:00:00Z"], ["1995-10-19", "2006-06-23"]),
        (["19.10.95", "23.06.06"], ["1995-10-19", "2006-06-23"]),
        (["19.10.45", "23.06.66"], ["1945-10-19", "1966-06-23"]),
        (["19 Oct 1995", "01 May 2006"], ["1995-10-19", "2006-05-01"]),
        (["01 May 1995", "02 May 2006"], ["1995-05-01", "2006-05-02"]),
        (["1995-10", "2006-06"], ["1995-10-01", "2006-06-01"]),
        (["3. März 1995", "12. Dez. 2006"], ["1995-03-03", "2006-12-12"]),
        (["1er août 1995", "3 févr. 2006"], ["1995-08-01", "2006-02-03"]),
        (["1976年10月02日", "1980年01月31日"], ["1976-10-02", "1980-01-31"]),
        (["10/19/95", "06/23/06"], ["1995-10-19", "2006-06-23"]),
        (["2020-01-01 10:00:00", "2020-05-01 00:00:00"], ["2020-01-01 10:00", "2020-05-01"]),
    ],
)
def test_forms_of_dates(texts, days):
    """Years of two digits are not in the future."""
    assert as_dates(pd.Series(texts)).to_list() == [pd.Timestamp(day) for day in days]
    assert not are_ambiguous_dates(pd.Series(texts))


@pytest.mark.parametrize("texts", [["01/02/2024"], ["01/02/24", "03/04/25"], ["09.06.03", "10.11.12"], ["01-02-1980"]])
def test_ambiguous_dates(texts, capsys):
    """They stay texts, and one warning says so."""
    column = pd.Series(texts)
    assert are_ambiguous_dates(column)
    assert as_dates(column).equals(column)
    pd.DataFrame({"born": texts, "disease": "flu"}).to_csv("people.csv", index=False)
    assert main(["quantify", "people.csv", "--qi", "born", "--sa", "disease"]) == 0
    assert sum("'born'" in line for line in capsys.readouterr().err.splitlines()) == 1


def test_long_labels(tmp_path, capsys):
    """Labels of 300 characters are shortened in what people read, and whole in what programs read."""
    labels = [f"{'a word of a label ' * 20}{number}"[-300:] for number in range(3)]
    pd.DataFrame({"age": [20, 30] * 9, "job": labels * 6}).to_csv(tmp_path / "long.csv", index=False)
    command = ["quantify", str(tmp_path / "long.csv"), "--qi", "age", "--sa", "job", "--threshold", "0.3"]
    main(command)
    assert max(map(len, capsys.readouterr().out.splitlines())) < 300
    main([*command, "--json"])
    values = json.loads(capsys.readouterr().out)["release"]["values"]
    assert [value["value"] for value in values] == labels


def test_times_of_sensitive_dates_are_kept(capsys):
    """A day and an hour is not the day: the values are as different as in the file."""
    write("people.csv", "sex,when\nf,2020-01-01T10:00:00Z\nf,2020-01-01T11:00:00Z\nm,2020-03-01T00:00:00Z\n")
    assert main(["quantify", "people.csv", "--qi", "sex", "--sa", "when", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["release"]["values"]) == 3


def test_codes_of_missing_cells_are_suspected_and_can_be_named(capsys):
    """The arguments that the warning names leave the rows out, and no warning is left."""
    ages = [*range(20, 60), *[-9] * 3, *[999] * 2]
    diseases = ["flu", "cold", "HIV"] * 13 + ["99", "99", "flu", "cold", "HIV", "flu"]
    pd.DataFrame({"age": ages, "disease": diseases}).to_csv("people.csv", index=False)
    command = ["quantify", "people.csv", "--qi", "age", "--sa", "disease", "--out", "p.csv"]
    assert main(command) == 0
    said = [line.split("give ")[1] for line in capsys.readouterr().err.splitlines() if "--missing-codes" in line]
    assert len(said) == 2
    assert main([*command, *(argument for line in said for argument in shlex.split(line))]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    assert pd.read_csv("p.csv", dtype=str)["age"].to_list() == [str(age) for age in range(20, 59)]
    # The printed command about the same table runs.
    printed = captured.out.split("instead:")[1].splitlines()[0]
    assert main(shlex.split(printed)[1:]) == 0


@pytest.mark.parametrize("values", [[-2, -1, 0, 1, 2] * 3, [18, 40, 95, 99, 99, 98], [-5, -3, -9, -9, 4, 5]])
def test_plausible_numbers_are_not_suspected(values, capsys):
    """Scores around zero, old people, and temperatures."""
    pd.DataFrame({"x": values, "disease": "flu"}).to_csv("people.csv", index=False)
    assert main(["quantify", "people.csv", "--qi", "x", "--sa", "disease"]) == 0
    assert "--missing-codes" not in capsys.readouterr().err


def test_layouts_of_files(capsys):
    """Excel's first line, an index without a name, and the named index of a Parquet file."""
    expected = pd.DataFrame({"a": [1, 2], "d": ["x", "y"]})
    pd.testing.assert_frame_equal(read_table(write("sep.csv", "sep=;\na;d\n1;x\n2;y\n")), expected, check_dtype=False)
    pd.testing.assert_frame_equal(
        read_table(write("sep.csv", "sep=|\r\na|d\r\n1|x\r\n2|y\r\n")), expected, check_dtype=False
    )
    expected.to_csv("index.csv")
    table = read_table("index.csv")
    roles = proposed_roles(table)
    assert [*roles[1:]] == [QI, SA]
    assert roles.iloc[0] not in (QI, SA)
    expected.set_index("a").to_parquet("index.parquet")
    pd.testing.assert_frame_equal(read_table("index.parquet"), expected, check_dtype=False)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a,d\n1,x\n2,x,y\n3,y\n", 3), ('a,d\n1,"x\n2,y\n', 2), ("a,d\n1,x,y\n", 2), ('sep=,\na,d\n"1\n2",x\n2,x,y\n', 5)],
)
def test_lines_that_cannot_be_read_are_named(text, line, capsys):
    """The line is that of the file, in words that are not those of pandas."""
    assert main(["quantify", write("wrong.csv", text), "--qi", "a", "--sa", "d"]) == 2
    said = capsys.readouterr().err
    assert f"line {line} " in said
    assert "okeniz" not in said


def test_a_column_that_is_called_as_a_count(capsys):
    """The option that the message names goes on, and the printed command does, too."""
    table = pd.DataFrame({"age": range(30), "n": [1, 2, 3] * 10, "disease": ["flu", "cold", "HIV"] * 10})
    table.to_csv("people.csv", index=False)
    command = ["quantify", "people.csv", "--qi", "age", "--sa", "disease"]
    assert main(command) == 2
    assert "--no-count" in capsys.readouterr().err
    assert main([*command, "--no-count"]) == 0
    printed = capsys.readouterr().out.split("instead:")[1].splitlines()[0]
    assert main(shlex.split(printed)[1:]) == 0


def test_statistics_with_decimal_commas(capsys):
    """Two men of mean age 35,0 and two women of mean age 25,0 are those of 35.0 and 25.0."""
    tables = {
        "points.csv": "sex,age,n,mean,median\n,,4,30.0,28\nF,,2,25.0,25\nM,,2,35.0,35\n",
        "commas.csv": "sex;age;n;mean;median\n;;4;30,0;28\nF;;2;25,0;25\nM;;2;35,0;35\n",
    }
    answers = []
    for name, text in tables.items():
        assert main(["attack", "reconstruct", write(name, text), "--domain", "age=22-40;sex=F|M", "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out)["solutions"])
    assert answers[0] == answers[1] != []
