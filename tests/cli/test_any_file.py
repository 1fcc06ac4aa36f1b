"""Files as they come: every one is the same table, reaches a verdict, or ends in one sentence that says what to type."""

# ruff: noqa: RUF001 (letters of other scripts)

from __future__ import annotations

import io
import json
import shlex

import numpy as np
import pandas as pd
import pytest

from maxent_cvx.cli.files import Format, as_dates, read_csv, read_table
from maxent_cvx.cli.main import main
from maxent_cvx.cli.roles import KEY, OTHER_SA, QI, SA, proposed_roles


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def people():
    """Sixty people with letters of Western Europe, decimal numbers and codes with leading zeros."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "Alter": rng.integers(20, 60, 60), "PLZ": rng.choice(["01067", "80331"], 60),
            "Größe": rng.integers(1500, 2000, 60) / 10, "Krankheit": rng.choice(["Grippe", "Müdigkeit; stark", "Röteln"], 60),
        }
    )  # fmt: skip


WRITTEN = {
    "commas": {}, "semicolons": {"sep": ";"}, "German": {"sep": ";", "decimal": ",", "encoding": "cp1252"},
    "tabs": {"sep": "\t", "decimal": ","}, "bars": {"sep": "|"}, "UTF-8 with a mark": {"encoding": "utf-8-sig"},
    "UTF-16": {"sep": "\t", "encoding": "utf-16"}, "UTF-16 big-endian": {"encoding": "utf-16"},
    "quotes": {"quoting": 1, "sep": ";", "decimal": ","},
}  # fmt: skip


@pytest.mark.parametrize("how", WRITTEN)
def test_a_table_is_the_same_however_it_is_written(people, how):
    """Separator, decimal sign and encoding are detected; codes keep their zeros, and integers are integers."""
    people.to_csv("people.csv", index=False, **WRITTEN[how])
    pd.testing.assert_frame_equal(read_table("people.csv"), people, check_dtype=False)
    assert main(["quantify", "people.csv", "--qi", "PLZ", "--sa", "Krankheit"]) == 0


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_excel_and_parquet(people, ending):
    """The same table, from Excel and from Parquet, in every command."""
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
        people.to_excel("people.xlsx", index=False)
    else:
        people.to_parquet("people.parquet")
    pd.testing.assert_frame_equal(read_table(f"people.{ending}"), people, check_dtype=False)
    roles = ["--qi", "PLZ", "--sa", "Krankheit"]
    assert main(["quantify", f"people.{ending}", *roles]) == 0
    assert main(["report", f"people.{ending}", *roles]) == 0
    assert main(["publish", f"people.{ending}", *roles, "--method", "mondrian", "--k", "5"]) == 0
    assert main(["attack", "worst-case", f"people.{ending}", *roles, "--k", "0"]) == 0


@pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
def test_further_tables_in_any_format(ending, capsys):
    """A release in two tables, and people known by name, give one answer however they are written."""
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    pd.DataFrame({"sex": list("mmffmf"), "bucket": [1, 1, 1, 2, 2, 2]}).to_csv("release.csv", index=False)
    tables = {
        "values": pd.DataFrame({"bucket": [1, 1, 2, 2], "disease": ["flu", "HIV", "flu", "cold"], "n": [2, 1, 1, 2]}),
        "named": pd.DataFrame({"name": ["Ann", "Bob"], "sex": ["f", "m"]}),
    }
    for name, table in tables.items():
        write = {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}[ending]
        write(f"{name}.{ending}", index=False)
    files = ["release.csv", "--sa-table", f"values.{ending}", "--people", f"named.{ending}"]
    roles = ["--qi", "sex", "--sa", "disease", "--bucket", "bucket", "--count", "n"]
    assert main(["quantify", *files, *roles, "--know", "P(HIV | Ann) = 1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["knowledge"]


#: Words in many languages, by the encoding of their Windows or, for the other ones, of their Unix or Macintosh.
WORDS = {
    "cp1252": {
        "French": "diabète hôpital prénom né âge Élève goûter maïs cœur œdème garçon où naïve fièvre août Île Noël État Hélène",
        "German": "männlich Größe Müdigkeit Röteln Straße Übelkeit Österreich Ärztin weiß für über MÜLLER Größenänderung Café",
        "Spanish": "niño diagnóstico Málaga corazón pingüino año varón cáncer Ñandú José Muñoz edad región Pérez más",
        "Portuguese": "São coração infecção informações não irmã mãe avô saúde câncer três açúcar médico você Conceição",
        "Italian": "città più perché età caffè così però università Forlì virtù",
        "Nordic": "Århus Göteborg kön ålder hjärta Malmö køn Ærø Tromsø hjärtinfarkt Jyväskylä äiti øre Søren Guðrún þjóð sýking",
    },
    "cp1250": {
        "Polish": "mężczyzna płeć gorączka ciężki żółtaczka Łódź kość złamanie źrenica gruźlica świnka pięć żołądek",
        "Czech": "zánět žlučník průjem město věk pohlaví muž žena nemoc příušnice děti úraz Dvořák",
        "Hungarian": "férfi nő betegség tüdőgyulladás köhögés őr fűző Erdős megfázás",
    },
    "cp1254": {"Turkish": "yaş kızamık göğüs öksürük doğuştan çalışıyor teşhis"},
    "cp1251": {
        "Russian": "грипп астма диабет возраст диагноз женский Москва рак ГРИПП жена ангина бронхит",
        "Ukrainian": "грип застуда діабет стать вік чоловік жінка Київ хвороба єдність",
    },
    "cp1253": {"Greek": "γρίπη άσθμα διαβήτης ηλικία άνδρας γυναίκα καρκίνος πνευμονία νόσος"},
    "cp932": {"Japanese": "インフルエンザ 病気 糖尿病 男性 女性 がん 性別 肺炎 高血圧"},
}  # fmt: skip
#: Words in encodings that are recognized by several words only.
SEVERAL = {
    "mac_roman": "diabète hôpital prénom né âge élève",
    "iso8859-2": "mężczyzna płeć gorączka ciężki żółtaczka", "koi8-r": "грипп астма диабет возраст диагноз женский",
    "cp866": "грипп астма диабет возраст диагноз женский", "shift_jis": "ポリープ 年齢 かぜ がん 糖尿病",
    "euc_jp": "インフルエンザ 病気 糖尿病 がん かぜ",
    "euc_kr": "감기 천식 당뇨병 성별 나이 남자 여자", "cp1255": "שפעת אסתמה סוכרת גיל מין מחלה ירושלים",
    "cp1256": "مرض العمر الجنس السكري الربو",
}  # fmt: skip


@pytest.mark.parametrize(
    ("encoding", "words"),
    [(encoding, words) for encoding, languages in WORDS.items() for words in languages.values()] + [*SEVERAL.items()],
)
def test_encodings_are_detected_by_words(encoding, words):
    """By one word that is not ASCII among others that are, by three, and by all."""
    words = words.split()
    groups = [words[i : i + n] for n in (1, 3) for i in range(len(words) - n + 1) if encoding not in SEVERAL]
    for group in [*groups, words]:
        text = "age;sex;disease\n" + "".join(f"{30 + i};F;{word}\n31;M;flu\n" for i, word in enumerate(group))
        with open("people.csv", "wb") as file:
            file.write(text.encode(encoding))
        assert read_csv("people.csv")["disease"].to_list()[::2] == group


SIGNS = ["don’t", "38 °C", "«à»", "m²", "½", "µg", "1ª", "£5", "ÅØ", "cm³", "¿Qué?", "Žižek"]


@pytest.mark.parametrize(
    ("encoding", "text"), [*(("cp1252", text) for text in SIGNS), ("utf-16-le", "grypą"), ("utf-16-be", "grypą")]
)
def test_encodings_are_detected_without_words(encoding, text):
    """Signs of Western Europe say nothing about the encoding; UTF-16 needs no mark."""
    with open("people.csv", "wb") as file:
        file.write(f"age;disease\n30;{text}\n31;flu\n".encode(encoding))
    assert read_csv("people.csv")["disease"][0] == text


def test_an_encoding_that_is_wrong(capsys):
    """The encoding that the message names reads the file."""
    with open("people.csv", "wb") as file:
        file.write(b"age,disease\n30,\x81\xe8\n30,flu\n")
    command = ["quantify", "people.csv", "--qi", "age", "--sa", "disease"]
    assert main([*command, "--encoding", "cp1252"]) == 2
    advised = capsys.readouterr().err.split("such as ")[1].split()
    assert main([*command, *advised]) == 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(end):
    """Those of Unix, of Windows, and of Excel for Mac."""
    with open("people.csv", "wb") as file:
        file.write(end.join(["age,sex", "30,f", "31,m", ""]).encode())
    assert read_table("people.csv").to_dict("list") == {"age": [30, 31], "sex": ["f", "m"]}


GROUPED = {
    "German dates": ("pay;born;zip\n1.234,5;10.01.1941;01067\n987,0;31.12.1980;10115\n", [1234.5, 987.0]),
    "German, without dates": ("pay;sex\n1.234,5;f\n987,0;m\n12.000,25;f\n", [1234.5, 987.0, 12000.25]),
    "decimals, without a comma": ("pay;sex\n1.234;f\n0.987;m\n", [1.234, 0.987]),
    "German whole numbers": ("pay;share\n1.234;0,5\n12.000.000;0,25\n", [1234, 12_000_000]),
    "German, in quotes": ('age,pay\n30,"1.234,5"\n31,"30,25"\n', [1234.5, 30.25]),
    "American": ('age,pay\n30,"1,234.50"\n31,"30,000"\n32,7\n', [1234.5, 30_000, 7]),
    "sets of two numbers": ('age,pay\n"18,19",1\n"20,21",2\n', [1, 2]),
    "a gap": ("age;pay\n30;1.234,5\n31;\n", [1234.5, np.nan]),
}


@pytest.mark.parametrize("what", GROUPED)
def test_thousands_are_separated_in_columns_of_numbers_only(what):
    """Points in dates, zeros of codes and commas of sets stay, whatever other columns are written like."""
    text, pay = GROUPED[what]
    with open("pay.csv", "w", encoding="utf-8") as file:
        file.write(text)
    table = read_csv("pay.csv")
    np.testing.assert_array_equal(table["pay"].to_numpy(dtype=float), pay)
    written = pd.read_csv("pay.csv", sep=None, engine="python", dtype=str)
    for name in table.columns.intersection(["born", "zip"]):
        assert table[name].to_list() == written[name].to_list()
    if what == "sets of two numbers":
        assert table["age"].to_list() == ["18,19", "20,21"]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("sep", [",", ";"])
def test_lines_above_the_header_are_left_out(ending, sep, capsys):
    """A title, and an empty line, as reports have them."""
    if ending == "xlsx":
        openpyxl = pytest.importorskip("openpyxl")
    rows = [["age", "sex", "disease"], [30, "f", "flu"], [31, "m", "cold"], [32, "f", "flu"]]
    lines = [["Patients of 2024"], [], *rows]
    if ending == "csv":
        with open("people.csv", "w", encoding="utf-8") as file:
            file.writelines(sep.join(map(str, line)) + "\n" for line in lines)
    else:
        book = openpyxl.Workbook()
        for row in lines:
            book.active.append(row)
        book.save("people.xlsx")
    pd.testing.assert_frame_equal(
        read_table(f"people.{ending}"), pd.DataFrame(rows[1:], columns=rows[0]), check_dtype=False
    )
    assert "the first 2 lines" in capsys.readouterr().out


def test_numbers_that_are_texts_in_excel():
    """Texts that can be read in one way are numbers; 1.234, which can be read in two ways, stays a text."""
    pytest.importorskip("openpyxl")
    table = pd.DataFrame({"a": ["1.234,5", "7"], "b": ["1,234.5", "7.25"], "c": ["1.234", "7"], "d": ["1,5", "7"]})
    table.to_excel("pay.xlsx", index=False)
    expected = table.assign(a=[1234.5, 7], b=[1234.5, 7.25], d=[1.5, 7])
    pd.testing.assert_frame_equal(read_table("pay.xlsx"), expected, check_dtype=False)


def test_integers_beside_missing_cells_stay_integers():
    """18 is written as 18, not as 18.0, also after rows with gaps were dropped."""
    with open("gaps.csv", "w", encoding="utf-8") as file:
        file.write("age,sex,disease\n18,f,flu\n,m,flu\n18,f,cold\n20,m,cold\n20,m,flu\n")
    assert [value for value in read_csv("gaps.csv")["age"] if value == value] == [18, 18, 20, 20]
    roles = ["--qi", "age,sex", "--sa", "disease", "--missing", "drop"]
    assert main(["quantify", "gaps.csv", *roles, "--out", "p.csv"]) == 0
    assert pd.read_csv("p.csv", dtype=str)["age"].to_list() == ["18", "20"]


@pytest.mark.parametrize("code", ["-9", "NA", "n/a", ""])
def test_codes_of_missing_values(code):
    """What pandas reads as missing stops the command with the option to type; a number such as -9 is a value."""
    with open("codes.csv", "w", encoding="utf-8") as file:
        file.write(f"age,disease\n30,flu\n{code},flu\n30,cold\n40,cold\n40,flu\n")
    roles = ["--qi", "age", "--sa", "disease"]
    assert main(["quantify", "codes.csv", *roles]) == (0 if code == "-9" else 2)
    assert main(["quantify", "codes.csv", *roles, "--missing", "drop"]) == 0


def test_output_of_other_tools():
    """ARX writes semicolons and ranges, sdcMicro quotes and row names: both reach a verdict."""
    with open("arx.csv", "w", encoding="utf-8") as file:
        file.write(
            "age;zip;disease\n" + "[20, 30[;81***;flu\n[20, 30[;81***;cold\n[30, 40[;81***;flu\n[30, 40[;81***;cold\n"
        )
    assert main(["quantify", "arx.csv", "--qi", "age,zip", "--sa", "disease", "--generalized"]) == 0
    with open("sdc.csv", "w", encoding="utf-8") as file:
        file.write('"","urbrur","sex","income"\n"1",1,"f",10\n"2",1,"f",20\n"3",2,"m",10\n"4",2,"m",30\n')
    assert main(["quantify", "sdc.csv", "--qi", "urbrur,sex", "--sa", "income"]) == 0


WRONG = {
    "two columns of one name": (b"a,b,a\n1,2,3\n", "'a'"),
    "an empty file": (b"", "empty"),
    "more cells than the header": (b"a,b\n1,2,3\n", "--sep"),
    "a wrong column": (b"age,disease\n1,flu\n2,flu\n", "'agee'"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_read_is_said_in_one_sentence(what, capsys):
    data, said = WRONG[what]
    with open("wrong.csv", "wb") as file:
        file.write(data)
    # A wrong column is found before a wrong option is complained of.
    assert main(["quantify", "wrong.csv", "--qi", "agee", "--sa", "disease", "--bucket", "b"]) == 2
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert said in told


# -- the first command -------------------------------------------------------------------------------


def test_the_first_command_needs_to_know_nothing(people, capsys):
    """Without roles the command that is printed runs, and judges the table as it is."""
    people.to_csv("people.csv", index=False)
    assert main(["quantify", "people.csv"]) == 2
    command = capsys.readouterr().err.split("type:")[1].split()
    assert command[:3] == ["maxent-cvx", "quantify", "people.csv"]
    assert main([argument.strip("'") for argument in command[1:]]) == 0


def test_in_a_terminal_it_asks(people, monkeypatch, capsys):
    """An empty answer accepts the proposal."""
    people.to_csv("people.csv", index=False)
    monkeypatch.setattr("sys.stdin", io.StringIO("PLZ\n\n"))
    monkeypatch.setattr("maxent_cvx.cli.roles.is_terminal", lambda: True)
    assert main(["quantify", "people.csv"]) == 0
    assert "2 groups of equal PLZ" in capsys.readouterr().out


def test_roles_are_proposed_by_values_and_names():
    n = 40
    table = pd.DataFrame(
        {
            "customer_id": range(n), "birthYear": [1950 + i % 30 for i in range(n)], "Geschlecht": ["m", "w"] * (n // 2),
            "salary": [1000.5 + i for i in range(n)], "department": ["a", "b", "c", "d"] * (n // 4),
        }
    )  # fmt: skip
    assert proposed_roles(table).to_dict() == {
        "customer_id": KEY, "birthYear": QI, "Geschlecht": QI, "salary": SA, "department": QI,
    }  # fmt: skip
    # Dates are quasi-identifiers, although all may be different, as names are; and so may salaries be.
    dates = pd.Series(pd.date_range("1950-01-13", periods=n, freq="37D"))
    assert proposed_roles(table.assign(day=dates.dt.strftime("%d.%m.%Y")))["day"] == QI
    assert proposed_roles(table.assign(salary=[f"{i} EUR" for i in range(n)]))["salary"] == SA
    # Of two sensitive columns the one whose values recur is judged first; the other one identifies nobody.
    two = proposed_roles(table.assign(diagnosis=["flu", "cold"] * (n // 2)))
    assert (two["diagnosis"], two["salary"]) == (SA, OTHER_SA)


def test_a_table_as_it_is_has_the_shares_of_its_groups(people, capsys):
    """P(s | q) is the share of the value among the people with these quasi-identifiers."""
    people.to_csv("people.csv", index=False)
    assert main(["quantify", "people.csv", "--qi", "PLZ", "--sa", "Krankheit", "--json"]) == 0
    largest = json.loads(capsys.readouterr().out)["worst_disclosure"]["max_p"]
    shares = people.groupby("PLZ")["Krankheit"].value_counts(normalize=True)
    assert largest == pytest.approx(shares.max(), abs=1e-9)


@pytest.mark.parametrize(
    "method",
    [
        ["--l", "2"],
        ["--method", "mondrian", "--k", "5"],
        ["--method", "rules", "--support", "0.05", "--confidence", "0.3"],
        ["--method", "search", "--threshold", "0.7", "--loss", "discernibility"],
        ["--method", "search", "--threshold", "0.7", "--methods", "full-domain,mondrian"],
    ],
)
def test_publish_says_what_its_file_exposes(people, capsys, method):
    """The verdict that publish prints is that of the command that it prints."""
    people.to_csv("people.csv", index=False)
    assert main(["publish", "people.csv", "--qi", "Alter,PLZ", "--sa", "Krankheit", *method, "--out", "open"]) == 0
    printed = capsys.readouterr().out
    said = next(line for line in printed.splitlines() if "people exposed" in line or "people (" in line)
    command = shlex.split(printed.split("Read them back:")[1])
    assert main(command[1:]) == 0
    assert said.split(": ", 1)[1] in capsys.readouterr().out


@pytest.mark.parametrize(
    ("form", "is_date"),
    [("%d.%m.%Y", True), ("%Y-%m-%d", True), ("%m/%d/%Y", True), ("%d-%m-%Y", True), ("%B %Y", False)],
)
def test_dates_are_published_in_ranges(form, is_date, capsys):
    """Every person's date of birth lies in the range of the group, in which at least k people are."""
    born = pd.Timestamp("1950-01-13") + pd.to_timedelta(np.arange(60) * 37, unit="D")
    table = pd.DataFrame({"born": born.strftime(form), "disease": ["flu", "cold", "HIV"] * 20})
    table.to_csv("people.csv", index=False)
    roles = ["--qi", "born", "--sa", "disease"]
    assert main(["quantify", "people.csv", *roles]) == 0
    assert ("can be published in ranges" in capsys.readouterr().out) == is_date
    assert main(["publish", "people.csv", *roles, "--method", "mondrian", "--k", "5", "--out", "open"]) == 0
    cells = pd.read_csv("open.csv")["born"]
    assert cells.value_counts().min() >= 5
    if not is_date:
        return
    ends = cells.str.extract(r"\[(\d{4}-\d{2}-\d{2}), (\d{4}-\d{2}-\d{2})\]").astype("datetime64[ns]")
    assert ends.notna().all(axis=None)
    for (low, high), group in ends.groupby([0, 1]):
        assert ((born >= low) & (born <= high)).sum() == len(group)
    # Who knows everybody's exact date knows everybody's group: the largest share of a value there is inferred.
    table.assign(born=born)[["born"]].to_csv("population.csv", index=False)
    capsys.readouterr()
    assert main(["quantify", "open.csv", *roles, "--population", "population.csv", "--json"]) == 0
    shares = pd.read_csv("open.csv").groupby("born")["disease"].value_counts(normalize=True)
    largest = json.loads(capsys.readouterr().out)["worst_disclosure"]["max_p"]
    assert largest == pytest.approx(shares.max(), abs=1e-9)


def test_a_group_of_one_date_has_that_date():
    pd.DataFrame({"born": ["13.01.1960"], "disease": ["flu"]}).to_csv("one.csv", index=False)
    roles = ["--qi", "born", "--sa", "disease"]
    assert main(["publish", "one.csv", *roles, "--method", "mondrian", "--k", "1", "--out", "open"]) == 0
    assert pd.read_csv("open.csv")["born"].to_list() == ["1960-01-13"]


def test_a_search_with_a_hierarchy_of_texts_of_dates():
    """Dates that a hierarchy names as texts are looked up there; a hierarchy that is given twice is refused."""
    days = [f"{day:02d}.03.1950" for day in range(1, 31)]
    pd.DataFrame({"born": days, "disease": ["flu", "cold", "HIV"] * 10}).to_csv("people.csv", index=False)
    pd.DataFrame({0: days, 1: ["early"] * 15 + ["late"] * 15, 2: "*"}).to_csv(
        "born.csv", sep=";", header=False, index=False
    )
    search = ["publish", "people.csv", "--qi", "born", "--sa", "disease", "--method", "search"]
    assert main([*search, "--hierarchy", "born=born.csv"]) == 0
    assert main([*search, "--hierarchy", "born=born.csv", "--hierarchy", "born=born.csv"]) == 2
    assert main([*search, "--k", "3"]) == 2


def test_original_records_are_never_ignored(people, capsys):
    """Where they are of no use the command ends with status 2, and says so."""
    people.assign(B=0).to_parquet("people.parquet")
    roles = ["--qi", "Alter,PLZ", "--sa", "Krankheit", "--bucket", "B", "--original", "people.parquet"]
    assert main(["quantify", "people.parquet", *roles, "--workers", "1"]) == 2
    assert "--original" in capsys.readouterr().err


def test_a_date_that_can_be_read_in_two_ways_stays_a_text():
    column = pd.Series(["01/02/2024", "03/04/2024"])
    assert as_dates(column).equals(column)
    assert as_dates(pd.Series(["01/02/2024", "13/04/2024", None])).dt.month.dropna().to_list() == [2, 4]


def test_original_records_of_published_tables(people, capsys):
    """How often the likeliest value is right is the same for the records, and for two tables and the records."""
    people.to_csv("people.csv", index=False)
    roles = ["--qi", "Alter,PLZ", "--sa", "Krankheit"]

    def said(*arguments: str) -> list[str]:
        assert main([*arguments]) == 0
        return [line for line in capsys.readouterr().out.splitlines() if "right for" in line or "Divergence" in line]

    expected = said("quantify", "people.csv", *roles, "--l", "2")
    assert main(["publish", "people.csv", *roles, "--l", "2", "--out", "open"]) == 0
    printed = capsys.readouterr().out
    command = shlex.split(printed.split("Read them back:")[1])[1:]
    assert said(*command, "--original", "people.csv") == expected
    people.drop(columns="PLZ").to_csv("less.csv", index=False)
    assert main([*command, "--original", "less.csv"]) == 2
    assert "'PLZ'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("born", [f"{day}.0{month}.1960" for day in (11, 17, 23) for month in (1, 2, 3, 4)]),
        ("age", ["30-39", "40-49", "50-59", "<30"] * 3), ("zip", ["01067", "04109", '5"5', "c,d"] * 3),
    ],
)  # fmt: skip
@pytest.mark.parametrize("k", ["2", "4"])
def test_a_generalized_release_is_read_beside_its_people(column, values, k, capsys):
    """Texts, ranges among them, and dates of any form: those whom a table stands for are its population."""
    table = pd.DataFrame({column: values, "sex": ["f", "m"] * 6, "disease": ["flu", "flu", "HIV"] * 4})
    table.to_csv("people.csv", index=False)
    roles = ["--qi", f"{column},sex", "--sa", "disease"]
    assert main(["publish", "people.csv", *roles, "--method", "mondrian", "--k", k, "--out", "open"]) == 0
    assert main(["quantify", "open.csv", "--generalized", *roles, "--population", "people.csv"]) == 0
    assert "Release: 12 records" in capsys.readouterr().out


def test_columns_may_be_named_one_by_one(capsys):
    """--qi A --qi B is --qi A,B."""
    pd.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "S": list("xyxy")}).to_csv("people.csv", index=False)
    assert main(["quantify", "people.csv", "--qi", "A", "--qi", "B", "--sa", "S"]) == 0
    assert "4 groups of equal A, B" in capsys.readouterr().out


def test_a_column_is_no_pseudonym_and_quasi_identifier(capsys):
    pd.DataFrame({"A": [1, 1, 2, 2], "S": list("xyxy")}).to_csv("people.csv", index=False)
    arguments = ["publish", "people.csv", "--qi", "A", "--sa", "S", "--method", "mondrian", "--k", "2", "--id", "A"]
    assert main(arguments) == 2
    assert "'A' is given as --id and as --qi" in capsys.readouterr().err


# -- options of the format ---------------------------------------------------------------------------


def test_options_of_the_format_hold_for_further_tables(capsys):
    """The encoding and the signs that are given are those of further tables too, unless they are written otherwise."""
    table = pd.DataFrame({"sex": ["ä", "ö"] * 4, "bmi": [1.5, 2.5] * 4, "disease": ["flu", "cold", "HIV", "flu"] * 2})
    written = {"sep": "|", "decimal": ",", "encoding": "cp1026"}  # an encoding that is not detected
    table.to_csv("people.csv", index=False, **written)
    given = ["--sep", "|", "--decimal", ",", "--encoding", "cp1026"]
    roles = ["--qi", "sex,bmi", "--sa", "disease"]
    for form in (written, {}, {"sep": ";", "encoding": "utf-16"}):
        table[["sex", "bmi"]].to_csv("population.csv", index=False, **form)
        table.to_csv("original.csv", index=False, **form)
        more = ["--population", "population.csv", "--original", "original.csv"]
        assert main(["quantify", "people.csv", *roles, *given, *more]) == 0
        assert "8 people" in capsys.readouterr().out


def test_printed_commands_keep_the_format(people, capsys):
    """Commands that are printed run as they are, although the encoding is not detected."""
    people.to_csv("people.csv", index=False, sep="\t", decimal=",", encoding="cp1026")
    given = ["--sep", "tab", "--decimal", ",", "--encoding", "cp1026"]
    assert main(["quantify", "people.csv", *given]) == 2
    command = capsys.readouterr().err.split("type:")[1]
    assert main(shlex.split(command)[1:]) == 0
    roles = ["--qi", "Alter,Größe", "--sa", "Krankheit"]
    assert main(["quantify", "people.csv", *roles, *given, "--fail-above", "0.6"]) == 1
    printed = capsys.readouterr().out
    for before in ("instead:", "Publish them:"):
        command = printed.split(before)[1].splitlines()[0]
        assert main([*shlex.split(command)[1:], "--out", "open"]) == 0
        again = capsys.readouterr().out.split("Read them back:")[1].splitlines()[0]
        assert main(shlex.split(again)[1:]) == 0


def test_one_of_several_sheets(people, capsys):
    """The first one with a table, which is said, or the one that is given."""
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter("people.xlsx") as book:
        pd.DataFrame(["Patients of 2024", "Confidential"]).to_excel(book, sheet_name="Cover", index=False, header=False)
        people.to_excel(book, sheet_name="North", index=False)
        people.head(40).to_excel(book, sheet_name="South", index=False)
    assert len(read_table("people.xlsx")) == 60
    said = capsys.readouterr().out
    assert len(said.splitlines()) == 1
    assert len(read_table("people.xlsx", Format(sheet="South"))) == 40
    assert capsys.readouterr().out == ""
    roles = ["--qi", "PLZ", "--sa", "Krankheit"]
    assert main(["quantify", "people.xlsx", "--sheet", "South"]) == 2
    assert "--sheet South" in capsys.readouterr().err
    assert main(["quantify", "people.xlsx", *roles, "--sheet", "South", "--original", "people.xlsx"]) == 0
    assert "40 records" in capsys.readouterr().out
    assert main(["quantify", "people.xlsx", *roles, "--sheet", "Sout"]) == 2
    assert "'South'" in capsys.readouterr().err


# -- columns that cannot be used ---------------------------------------------------------------------


def test_columns_of_lists_and_without_values(capsys):
    """They are not proposed, and if they are named, the message says what they contain."""
    table = pd.DataFrame({"age": [30, 30, 31, 31], "tags": [["a"], ["b"], None, ["a", "b"]], "bmi": None})
    table.assign(disease=["flu", "cold"] * 2).to_parquet("people.parquet")
    assert main(["quantify", "people.parquet"]) == 2
    assert "--qi age --sa disease" in capsys.readouterr().err
    for column, said in (("tags", "lists"), ("bmi", "empty")):
        assert main(["quantify", "people.parquet", "--qi", f"age,{column}", "--sa", "disease"]) == 2
        told = capsys.readouterr().err
        assert f"'{column}'" in told
        assert said in told
    assert main(["publish", "people.parquet", "--qi", "age", "--sa", "disease", "--l", "2"]) == 0


def test_missing_cells_of_a_population(capsys):
    """The option that the message names leaves the rows out."""
    pd.DataFrame({"sex": ["f", "m"] * 2, "disease": ["flu", "flu", "cold", "HIV"]}).to_csv("open.csv", index=False)
    pd.DataFrame({"sex": ["f", "m", None, "f", "m"]}).to_csv("population.csv", index=False)
    command = ["quantify", "open.csv", "--qi", "sex", "--sa", "disease", "--population", "population.csv"]
    assert main(command) == 2
    assert "--missing drop" in capsys.readouterr().err
    assert main([*command, "--missing", "drop"]) == 0
    assert "dropped 1 of 5 rows of population.csv" in capsys.readouterr().out


@pytest.mark.parametrize("methods", ["full-domain", "mondrian", "anatomy"])
def test_what_a_search_finds_is_judged_beside_its_people(methods, capsys):
    """Generalised records are written as Mondrian's, so that whoever knows everybody's quasi-identifiers can be asked about."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.integers(20, 60, 40), "sex": rng.choice(["f", "m"], 40), "disease": rng.choice(["flu", "HIV"], 40)}
    )
    table.to_csv("people.csv", index=False)
    roles = ["--qi", "age,sex", "--sa", "disease"]
    search = ["--method", "search", "--threshold", "0.9", "--methods", methods, "--out", "open"]
    assert main(["publish", "people.csv", *roles, *search]) == 0
    command = shlex.split(capsys.readouterr().out.split("Read them back:")[1])[1:]
    population = [] if methods == "anatomy" else ["--population", "people.csv"]
    assert main([*command, *population]) == 0
    assert "0 of 40 people exposed" in capsys.readouterr().out
    assert methods == "anatomy" or not pd.read_csv("open.csv")["age"].str.contains(r"\\.").any()


def test_original_records_of_a_generalized_release(capsys):
    """Exact records are found among generalised ones by the population; the error says so, and what it says works."""
    table = pd.DataFrame({"age": [20, 21, 30, 31], "disease": ["flu", "HIV", "flu", "flu"]})
    table.to_csv("people.csv", index=False)
    roles = ["--qi", "age", "--sa", "disease"]
    assert main(["publish", "people.csv", *roles, "--method", "mondrian", "--k", "2", "--out", "open"]) == 0
    asked = ["quantify", "open.csv", "--generalized", *roles]
    assert main([*asked, "--original", "people.csv"]) == 2
    assert "give --population people.csv too" in capsys.readouterr().err
    assert main([*asked, "--original", "people.csv", "--population", "people.csv"]) == 0
    assert "right for" in capsys.readouterr().out
    assert main([*asked, "--original", "open.csv"]) == 0
