"""A table is the same in every format, and numbers, dates and layouts are read as people write them."""

# ruff: noqa: RUF001 (apostrophes and dashes)

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maxent_cvx.cli.files import Format, are_ambiguous_dates, as_dates, read_csv, read_table
from maxent_cvx.cli.main import main
from maxent_cvx.cli.roles import QI, SA, proposed_roles
from support.commands import write_table, write_text

ENDINGS = ["csv", "xlsx", "parquet"]


# -- formats and layouts -----------------------------------------------------------------------------


WRITTEN = {
    "commas": {}, "semicolons": {"sep": ";"}, "German": {"sep": ";", "decimal": ",", "encoding": "cp1252"},
    "tabs": {"sep": "\t", "decimal": ","}, "bars": {"sep": "|"}, "UTF-8 with a mark": {"encoding": "utf-8-sig"},
    "UTF-16": {"sep": "\t", "encoding": "utf-16"}, "quotes": {"quoting": 1, "sep": ";", "decimal": ","},
    "ends of lines of Windows": {"lineterminator": "\r\n"}, "ends of lines of Excel for Mac": {"lineterminator": "\r"},
    "gzip": {"sep": ";", "compression": "gzip"},
}  # fmt: skip


@pytest.mark.parametrize("form", [*WRITTEN, "xlsx", "parquet"])
def test_a_table_is_the_same_in_every_format(people, form, run):
    """Separator, decimal sign and encoding are detected; codes keep their zeros, and integers are integers."""
    path = write_table(people, f"people.{'csv' if form in WRITTEN else form}", **WRITTEN.get(form, {}))
    pd.testing.assert_frame_equal(read_table(path), people, check_dtype=False)
    run("quantify", path, "--qi", "PLZ", "--sa", "Krankheit")


@pytest.mark.parametrize(
    "form",
    [{"sep": "|", "decimal": ",", "encoding": "cp1026"}, {}, {"sep": ";", "encoding": "utf-16"}, "xlsx", "parquet"],
    ids=str,
)
def test_further_tables_have_the_format_of_the_first_or_their_own(form, run):
    """The given encoding and signs, which cannot be detected, apply to further tables unless they differ visibly."""
    table = pd.DataFrame({"sex": ["ä", "ö"] * 4, "bmi": [1.5, 2.5] * 4, "disease": ["flu", "cold", "HIV", "flu"] * 2})
    write_table(table, "people.csv", sep="|", decimal=",", encoding="cp1026")
    ending, settings = (form, {}) if isinstance(form, str) else ("csv", form)
    population = write_table(table[["sex", "bmi"]], f"population.{ending}", **settings)
    original = write_table(table, f"original.{ending}", **settings)
    given = ["--qi", "sex,bmi", "--sa", "disease", "--sep", "|", "--decimal", ",", "--encoding", "cp1026"]
    assert "8 people" in run("quantify", "people.csv", *given, "--population", population, "--original", original)


@pytest.mark.parametrize(("ending", "sep"), [("csv", ","), ("csv", ";"), ("xlsx", None)])
def test_lines_above_the_header_are_left_out(ending, sep, capsys):
    """A report may begin with a title and an empty line."""
    rows = [["age", "sex", "disease"], [30, "f", "flu"], [31, "m", "cold"], [32, "f", "flu"]]
    lines = [["Patients of 2024"], [], *rows]
    if ending == "csv":
        write_text("people.csv", "".join(sep.join(map(str, line)) + "\n" for line in lines))
    else:
        book = pytest.importorskip("openpyxl").Workbook()
        for row in lines:
            book.active.append(row)
        book.save("people.xlsx")
    expected = pd.DataFrame(rows[1:], columns=rows[0])
    pd.testing.assert_frame_equal(read_table(f"people.{ending}"), expected, check_dtype=False)
    assert "the first 2 lines" in capsys.readouterr().out


def test_lines_with_fewer_cells_than_the_header():
    """A warning names the first of them, unless most lines lack cells."""
    with pytest.warns(UserWarning, match="line 5, with 2 of 3"):
        read_csv(write_text("people.csv", 'age,"sex\n(f, m)",pay\n30,f,1\n\n31,2\n32,m,\n33,f,3\n'))
    read_csv(write_text("people.csv", "a,b\n1\n2\n3,\n"))


def test_files_that_are_not_text(people, refuse):
    """The message names the kind of file, or the kinds that are read."""
    for kind in ("xlsx", "parquet"):
        Path(write_table(people, f"people.{kind}")).rename(f"{kind}.csv")
        assert f".{kind}" in refuse("quantify", f"{kind}.csv")
    people.to_feather("people.feather")
    people.to_json("people.json", orient="records")
    Path("cut.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:-9])
    for name, says in (("people.feather", "Parquet"), ("people.json", "Parquet"), ("cut.csv.gz", "decompressed")):
        assert says in refuse("quantify", name)


@pytest.mark.parametrize("text", ['{"age": [1, 2]}', '[{"age": 1}]', ' {\n "age": 1}\n', "{}", "{age},ill\n1,x\n2,y\n"])
def test_a_brace_begins_json_or_a_name(text, refuse):
    """After the brace of JSON comes a quote, or the closing brace; a name of a column may begin with a brace, too."""
    write_text("table.csv", text)
    if "ill" in text:
        assert read_table("table.csv").columns.to_list() == ["{age}", "ill"]
    else:
        assert "is not a CSV file" in refuse("quantify", "table.csv")


def test_layouts_of_files():
    """Excel's line sep=; is not data, unnamed indices are ignored, and the named index of a Parquet file is a column."""
    expected = pd.DataFrame({"a": [1, 2], "d": ["x", "y"]})
    expected.set_index("a").to_parquet("index.parquet")
    for path in (
        write_text("unix.csv", "sep=;\na;d\n1;x\n2;y\n"),
        write_text("windows.csv", "sep=|\r\na|d\r\n1|x\r\n2|y\r\n"),
        "index.parquet",
    ):
        pd.testing.assert_frame_equal(read_table(path), expected, check_dtype=False)
    assert read_table(write_text("mac.csv", 'a,d\r1,"x\ny"\r2,z\r'))["d"].to_list() == ["x\ny", "z"]
    expected.to_csv("index.csv")
    unnamed, *named = proposed_roles(read_table("index.csv"))
    assert named == [QI, SA]
    assert unnamed not in (QI, SA)


def test_one_of_several_sheets(people, capsys, run, refuse):
    """The first sheet with a table is read, and named in a message, unless another one is given."""
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter("people.xlsx") as book:
        pd.DataFrame(["Patients of 2024", "Confidential"]).to_excel(book, sheet_name="Cover", index=False, header=False)
        people.to_excel(book, sheet_name="North", index=False)
        people.head(40).to_excel(book, sheet_name="South", index=False)
    for sheet, n, lines in ((None, 60, 1), ("South", 40, 0)):
        assert len(read_table("people.xlsx", Format(sheet=sheet))) == n
        assert len(capsys.readouterr().out.splitlines()) == lines
    roles = ["--qi", "PLZ", "--sa", "Krankheit"]
    assert "--sheet South" in refuse("quantify", "people.xlsx", "--sheet", "South")
    assert "40 records" in run("quantify", "people.xlsx", *roles, "--sheet", "South", "--original", "people.xlsx")
    assert "'South'" in refuse("quantify", "people.xlsx", *roles, "--sheet", "Sout")


def test_hidden_sheets():
    """Visible sheets are read first; a hidden one often has the values of lists."""
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter("people.xlsx") as book:
        for name, n in (("Lists", 3), ("People", 4)):
            pd.DataFrame({"age": range(n), "sex": "m"}).to_excel(book, sheet_name=name, index=False)
        book.sheets["Lists"].sheet_state = "hidden"
    for sheet, n in ((None, 4), ("Lists", 3)):
        assert len(read_table("people.xlsx", Format(sheet=sheet))) == n


def test_output_of_other_tools(run):
    """ARX writes semicolons and ranges, sdcMicro quotes and row names: both reach a verdict."""
    cells = ["[20, 30[;81***;flu\n[20, 30[;81***;cold\n", "[30, 40[;81***;flu\n[30, 40[;81***;cold\n"]
    write_text("arx.csv", "age;zip;disease\n" + "".join(cells))
    run("quantify", "arx.csv", "--qi", "age,zip", "--sa", "disease", "--generalized")
    write_text("sdc.csv", '"","urbrur","sex","income"\n"1",1,"f",10\n"2",1,"f",20\n"3",2,"m",10\n"4",2,"m",30\n')
    run("quantify", "sdc.csv", "--qi", "urbrur,sex", "--sa", "income")


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("a,d,a\n1,2,3\n", "'a'"),
        ("a,1,1\na,2,1\n", "add a header"),
        ("", "empty"),
        ("a,d\n1,2,3\n", "--sep"),
        ("a,d\n1,x\n2,x,y\n3,y\n", "line 3 "),
        ('a,d\n1,"x\n2,y\n', "line 2 "),
        ("a,d\n1,x,y\n", "line 2 "),
        ('sep=,\na,d\n"1\n2",x\n2,x,y\n', "line 5 "),
    ],
)
def test_files_that_cannot_be_read(text, piece, refuse):
    """The message names the line of the file, the column or the option, and does not quote the parser of pandas."""
    message = refuse("quantify", write_text("wrong.csv", text), "--qi", "a", "--sa", "d")
    assert piece in message
    assert "okeniz" not in message


# -- cells -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pay"),
    [
        # separators of thousands beside other columns, which keep dates, zeros of codes and commas of sets
        ("pay;born;zip\n1.234,5;10.01.1941;01067\n987,0;31.12.1980;10115\n", [1234.5, 987]),
        ("pay;sex\n1.234,5;f\n987,0;m\n12.000,25;f\n", [1234.5, 987, 12000.25]),
        ("pay;sex\n1.234;f\n0.987;m\n", [1.234, 0.987]),
        ("pay;share\n1.234;0,5\n12.000.000;0,25\n", [1234, 12_000_000]),
        ('age,pay\n30,"1.234,5"\n31,"30,25"\n', [1234.5, 30.25]),
        ('age,pay\n30,"1,234.50"\n31,"30,000"\n32,7\n', [1234.5, 30_000, 7]),
        ('set,pay\n"18,19",1\n"20,21",2\n', [1, 2]),
        ('net,pay\n"-4,9","18,19"\n"2,5","20,21"\n', [18.19, 20.21]),
        ('net,pay\n"0,05",1\n"2,5","20,21"\n', [1, 20.21]),
        ('net,pay\n"-4,900",1\n"2,005","20,021"\n', [1, 20_021]),
        ("age;pay\n30;1.234,5\n31;\n", [1234.5, np.nan]),
        # in a European file groups of three digits are thousands, unless a number in any column contradicts it
        ("a;pay\nx;990\nx;1.000\nx;5.000\n", [990, 1000, 5000]),
        ("a\tpay\nx\t990\nx\t1.000\nx\t1.200.000\n", [990, 1000, 1_200_000]),
        ("a;pay\nx;1.005 €\nx;5.000 €\n", [1005, 5000]),
        ("a|pay\nx|900 €\nx|2.500 €\n", [900, 2500]),
        ("a\tpay\nx\t$900\nx\t$2,500\n", [900, 2500]),
        ("a|pay\nx|1,200,000\nx|2,500\n", [1_200_000, 2500]),
        ("a|pay\nx|1,005\nx|1,5\n", [1.005, 1.5]),
        ("height\tpay\n1,7\t1,005\n1,68\t5,000\n", [1.005, 5]),
        ("a\tpay\nx\t0,005\nx\t5,000\n", [0.005, 5]),
        ("a;pay\nx;1,005\nx;5,000\n", [1.005, 5]),
        ("a,pay\nx,990\nx,1.000\nx,5.000\n", [990, 1, 5]),
        ("a;pay\nx;1990\nx;1.000\n", [1990, 1]),
        ("a;pay\nx;0.990\nx;1.000\n", [0.99, 1]),
        ("a;pay\nx;1.5\nx;1.000\n", [1.5, 1]),
        ("height;pay\n1.68;1.005\n1.7;5.000\n", [1.005, 5]),
    ],
)
def test_numbers_with_separators_of_thousands(text, pay):
    """The whole file decides how numbers are read; dates, codes with leading zeros and sets remain texts."""
    table = read_csv(write_text("pay.csv", text))
    np.testing.assert_array_equal(table["pay"].to_numpy(dtype=float), pay)
    others = table.columns.intersection(["born", "zip", "set"])
    as_written = pd.read_csv("pay.csv", sep=None, engine="python", dtype=str)
    pd.testing.assert_frame_equal(table[others], as_written[others])


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["4\u202f193,25", "51\u202f695,5"], [4193.25, 51695.5]),
        (["4\xa0193,25", "7,5"], [4193.25, 7.5]),
        (["4 193,25", "1 000 000"], [4193.25, 1_000_000]),
        (["51'695.25", "36’945.5"], [51695.25, 36945.5]),
        (["51.695,25 €", "7,5 €"], [51695.25, 7.5]),
        (["$51,695.25", "-$7.50"], [51695.25, -7.5]),
        (["R$ 51.695,25", "R$ 7,50"], [51695.25, 7.5]),
        (["1,200,000円", "380,000円"], [1_200_000, 380_000]),
        (["50.5%", "7.25 %"], [50.5, 7.25]),
        (["1,72", "1,8"], [1.72, 1.8]),
        (["7.857,50", "12,00"], [7857.5, 12]),
        (["5 €", "7 $"], None),
        (["50%", "0.5"], None),
        (["18,19", "20,21a"], None),
    ],
)
def test_numbers_with_signs(ending, cells, numbers):
    """Cells are numbers in every kind of file, if the whole column is, with one unit."""
    path = write_table(pd.DataFrame({"name": ["x", "y"], "pay": cells}), f"pay.{ending}", sep=";")
    assert read_table(path)["pay"].to_list() == (cells if numbers is None else numbers)


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_texts_of_digits_in_typed_files(ending, capsys):
    """A text 10115 is a code; 1.234 could be two numbers, and is one if the option or another column says which."""
    table = pd.DataFrame({"zip": ["10115", "80331"], "pay": ["1.234", "5.678"]})
    path = write_table(table, f"people.{ending}")
    pd.testing.assert_frame_equal(read_table(path), table)
    assert read_table(path, Format(decimal=","))["pay"].to_list() == [1234, 5678]
    write_table(table.assign(height=["1,7", "1,68"]), path)
    assert read_table(path)["pay"].to_list() == [1234, 5678]
    capsys.readouterr()
    read_table(write_table(table.assign(pay=["800", "1.005"]), path))
    assert "'1.005' can be two numbers" in capsys.readouterr().out  # 800 cannot
    both = table.assign(german=["1.234,5", "7"], english=["1,234.5", "7.25"], height=["1,5", "7"])
    expected = table.assign(german=[1234.5, 7], english=[1234.5, 7.25], height=[1.5, 7])
    pd.testing.assert_frame_equal(read_table(write_table(both, path)), expected, check_dtype=False)


@pytest.mark.parametrize("ending", ENDINGS)
def test_blanks_at_the_ends_of_cells(ending, document):
    """Blanks at the ends of cells and column names are removed: 'HIV ' is HIV."""
    table = pd.DataFrame({" sex": ["f", " f", "f", "m", "m"], "disease ": ["HIV", "HIV ", " HIV", "flu", "cold"]})
    result = document("quantify", write_table(table, f"people.{ending}"), "--qi", "sex", "--sa", "disease")
    assert result["exposure"]["people"] == 3
    assert result["release"]["buckets"] == 2


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
        (["01/02/2024", "13/04/2024"], ["2024-02-01", "2024-04-13"]),
        (["2020-01-01 10:00:00", "2020-05-01 00:00:00"], ["2020-01-01 10:00", "2020-05-01"]),
    ],
)
def test_forms_of_dates(texts, days):
    """A column of texts is dates if one form reads all of them; years of two digits are not in the future."""
    column = pd.Series([*texts, None])
    assert as_dates(column).dropna().to_list() == [pd.Timestamp(day) for day in days]
    assert not are_ambiguous_dates(column)


@pytest.mark.parametrize("texts", [["01/02/2024"], ["01/02/24", "03/04/25"], ["09.06.03", "10.11.12"], ["01-02-1980"]])
def test_ambiguous_dates(texts, capsys):
    """Dates that can be read in two ways stay texts, and one warning names the column."""
    column = pd.Series(texts)
    assert are_ambiguous_dates(column)
    assert as_dates(column).equals(column)
    pd.DataFrame({"born": texts, "disease": "flu"}).to_csv("people.csv", index=False)
    assert main(["quantify", "people.csv", "--qi", "born", "--sa", "disease"]) == 0
    assert sum("'born'" in line for line in capsys.readouterr().err.splitlines()) == 1


# -- missing cells -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(("names", "dtype"), [(["age", "disease", "sex"], "str"), ([1, 2, 3], "category")])
def test_words_that_are_read_as_missing(ending, names, dtype, capsys):
    """The words are named with their columns: a warning among texts, which may be values, a message among numbers."""
    disease = pd.Series(["None", "flu", " n/a "], dtype=dtype)
    table = pd.DataFrame({"age": ["30.5", "NA", "40"], "disease": disease, "sex": ["m", "", "f"]}).set_axis(
        names, axis=1
    )
    path = write_table(table, f"people.{ending}")
    warning = rf"'None', 'n/a' in '{names[1]}' \(2 cells\) of .* is read as missing"
    with pytest.warns(UserWarning, match=warning) as caught:
        read = read_table(path)
    assert len(caught) == 1  # an empty cell needs no warning
    assert f"missing cells for 'NA' in '{names[0]}' (1 cell)" in capsys.readouterr().out
    assert read.isna().to_numpy().tolist() == [[False, True, False], [True, False, True], [False, True, False]]
    assert read[str(names[0])].dropna().tolist() == [30.5, 40]


# -- columns of several types and notations ----------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([22, "22", "23.5"], [22, 22, 23.5]),
        ([1067, "01067", 80331], ["01067", "01067", "80331"]),
        ([1.0, "1a", 2], ["1", "1a", "2"]),
        ([22, "Total", 23], [22, "Total", 23]),
        ([True, "unknown", False], [True, "unknown", False]),
        ([pd.Timestamp("2024-01-31"), "28.02.2024", None], [pd.Timestamp("2024-01-31"), pd.Timestamp("2024-02-28")]),
    ],
    ids=str,
)
def test_cells_of_several_types(cells, expected, capsys):
    """In a workbook, a text 22 is the number 22, and the number 1067 the code 01067, if the column has both."""
    path = write_table(pd.DataFrame({"a": pd.Series(cells, dtype=object), "b": 1}), "cells.xlsx")
    assert read_table(path)["a"].dropna().to_list() == expected
    assert ("cells of one type in 'a'" in capsys.readouterr().out) == (expected != cells[: len(expected)])


def test_long_integers_beside_missing_cells():
    """Integers that floats do not represent stay different, also if pandas would read them as floats or texts."""
    cells = [str(start + i) for start in (2**60, 2**63) for i in range(3)]
    for column in (cells[:3], cells[3:], [f"{cell}.25" for cell in cells], [f"{cell} EUR" for cell in cells]):
        write_text("long.csv", "id,sex\n" + "".join(f"{cell},m\n" for cell in (*column, "")))
        assert read_csv("long.csv")["id"].dropna().to_list() == column


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_rows_without_any_value(ending, capsys):
    """Empty rows of a spreadsheet are not people."""
    table = pd.DataFrame({"age": [20, None, None, 30], "sex": ["m", None, None, None]}).astype({"age": "Int64"})
    path = write_table(table, f"people.{ending}")
    ages = read_table(path)["age"]
    assert ages.to_list() == [20, 30]
    assert pd.api.types.is_integer_dtype(ages)  # as in the file, not 20.0
    assert "2 rows without any value left out" in capsys.readouterr().out


@pytest.mark.parametrize("values", [["Lung cancer", "Lung\u00a0cancer"], ["\uff21", "A"], ["HIV", "hiv"]], ids=ascii)
def test_values_that_look_alike(values, capsys):
    """A warning names values that differ by what is easily overlooked."""
    path = write_table(pd.DataFrame({"age": [20, 30] * 2, "disease": values * 2}), "alike.csv")
    assert main(["quantify", path, "--qi", "age", "--sa", "disease"]) == 0
    assert "that differ in capital letters, blanks or invisible characters only" in capsys.readouterr().err


def test_dates_in_several_notations(capsys):
    """A warning says that dates of two notations are different texts."""
    table = pd.DataFrame({"born": ["2024-01-31", "31.01.2024"] * 4, "disease": ["flu", "HIV"] * 4})
    assert main(["quantify", write_table(table, "dates.csv"), "--qi", "born", "--sa", "disease"]) == 0
    assert "the dates of 'born' have several notations, such as '2024-01-31', '31.01.2024'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "first", [["years", "code", "ICD"], ["---", "---", "---"], ["Alter", "PLZ", "Krankheit"]], ids=str
)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_second_headers_and_units(first, ending, capsys):
    """A warning says that a second header is read as a person; a first person with words in all cells is none."""
    table = pd.DataFrame({"age": [20, 30] * 4, "zip": ["01067", "80331"] * 4, "disease": ["flu", "HIV"] * 4})
    for words, warns in ((first, True), (["unknown", "01067", "flu"], False)):
        with_words = pd.concat([pd.DataFrame([words], columns=table.columns), table])
        path = write_table(with_words, f"people.{ending}")
        assert main(["quantify", path, "--qi", "age,zip", "--sa", "disease"]) == 0
        assert ("looks like a second header" in capsys.readouterr().err) == warns


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("last", "warns"),
    [(["Summe", None, 12_000], True), (["Ann", None, 4000], False), (["HR", "E9", 12_000], False)],
    ids=str,
)
def test_a_row_of_totals(last, warns, ending, capsys):
    """A warning says that a last row of totals is read as a person, unless the row is left out."""
    people = pd.DataFrame({"unit": ["IT", "HR"] * 2, "level": ["E9"] * 4, "pay": [2000, 3000, 3000, 4000]})
    path = write_table(pd.concat([people, pd.DataFrame([last], columns=people.columns)]), f"people.{ending}")
    assert main(["quantify", path, "--qi", "unit", "--sa", "pay"]) == 0
    assert ("looks like totals" in capsys.readouterr().err) == warns
    assert main(["quantify", path, "--qi", "unit,level", "--sa", "pay", "--missing", "drop"]) == 0
    assert "looks like totals" not in capsys.readouterr().err


def test_numbers_remain_numbers_after_words_are_left_out(run):
    """A question mark or a sum in a last row, which are left out, do not make texts of the numbers."""
    write_text("total.csv", "sex,pay\nm,1000\nf,2000\nm,?\nf,3000\n,Total\n")
    command = ["quantify", "total.csv", "--qi", "sex", "--sa", "pay", "--missing-codes=?", "--missing", "drop"]
    assert "1,000" in run(*command, "--within", "1000")  # a distance between numbers
    write_text("total.csv", "sex;pay;other\nm;1000,5;1,5\nf;2000,5;2,5\nm;?;2,5\nf;3000,5;1,5\n")
    assert "pay is read as numbers: 1000,5 as 1000.5" in run(*command, "--within", "1000")
    write_text("total.csv", "sex;pay\nm;1.000\nf;2.000\nm;?\nf;3.000\n")  # thousands, or 1, 2 and 3
    assert "read as numbers" not in run(*command)
    assert "1,000" in run(*command, "--within", "1000", "--decimal", ",")


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        (b"BZh91AY&SY", "compressed by bzip2"), (b"\xfd7zXZ\x00", "compressed by xz"), (b"7z\xbc\xaf'", "a 7z archive"),
        (b"$FL2@(#) SPSS DATA FILE" + bytes(99), "an SPSS file"), (b"%PDF-1.4\n\xe2\xe3", "a PDF file"),
    ],
)  # fmt: skip
def test_other_kinds_of_files(content, piece, refuse):
    """The message says what a file is."""
    Path("people.csv").write_bytes(content)
    assert piece in refuse("quantify", "people.csv")


def test_text_files_named_as_workbooks(refuse):
    """A CSV file with the ending of a workbook is no internal error."""
    write_text("people.xlsx", "age,sex\n20,m\n")
    assert "give it the ending .csv" in refuse("quantify", "people.xlsx")
