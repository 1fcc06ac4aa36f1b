"""The inputs of commands: releases in every form, and wrong input."""

from __future__ import annotations

import functools
import shlex
import unicodedata
from pathlib import Path

import pandas as pd
import pytest

import maxent_cvx as mx
from maxent_cvx.cli.main import main
from support.commands import printed_command, write_table, write_text

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]

BUCKET = [*ROLES, "--bucket", "Bucket"]


# -- missing cells and suspect values ----------------------------------------------------------------


def test_a_table_that_is_all_gaps_is_refused(hospital, refuse):
    is_male = hospital["Gender"] == "male"
    gaps = hospital.assign(Disease=hospital["Disease"].where(is_male), Degree=hospital["Degree"].mask(is_male))
    for table, piece in ((gaps, "every row"), (hospital.assign(Disease=None), "is empty")):
        table.to_csv("gaps.csv", index=False)
        assert piece in refuse("quantify", "gaps.csv", *ROLES, "--l", "2", "--missing", "drop")


@pytest.mark.parametrize("code", ["-9", "NA", "n/a", ""])
def test_codes_of_missing_values(code, run, refuse):
    """A cell that pandas reads as missing stops the command with the option to type; a number such as -9 is a value."""
    write_text("codes.csv", f"age,disease\n30,flu\n{code},flu\n30,cold\n40,cold\n40,flu\n")
    command = ["quantify", "codes.csv", "--qi", "age", "--sa", "disease"]
    if code == "-9":
        run(*command)
    else:
        assert "--missing drop" in refuse(*command)
    run(*command, "--missing", "drop")


def test_missing_cells_of_a_population(run, refuse):
    """The option that the message names leaves the rows out."""
    pd.DataFrame({"sex": ["f", "m"] * 2, "disease": ["flu", "flu", "cold", "HIV"]}).to_csv("open.csv", index=False)
    pd.DataFrame({"sex": ["f", "m", None, "f", "m"]}).to_csv("population.csv", index=False)
    command = ["quantify", "open.csv", "--qi", "sex", "--sa", "disease", "--population", "population.csv"]
    assert "--missing drop" in refuse(*command)
    assert "dropped 1 of 5 rows of population.csv" in run(*command, "--missing", "drop")


def test_codes_of_missing_cells_are_suspected_and_can_be_named(capsys, run):
    """The arguments that the warning names leave the rows out, and no warning is left."""
    ages = [*range(20, 60), *[-9] * 3, *[999] * 2]
    diseases = ["flu", "cold", "HIV"] * 13 + ["99", "99", "?", "?", "HIV", "flu"]
    pd.DataFrame({"age": ages, "disease": diseases}).to_csv("people.csv", index=False)
    command = ["quantify", "people.csv", "--qi", "age", "--sa", "disease", "--out", "p.csv"]
    assert main(command) == 0
    advice = [line.split("give ")[1] for line in capsys.readouterr().err.splitlines() if "--missing-codes" in line]
    assert len(advice) == 2
    text = run(*command, *(argument for line in advice for argument in shlex.split(line)))
    assert pd.read_csv("p.csv", dtype=str)["age"].to_list() == [str(age) for age in range(20, 59)]
    run(*printed_command(text, "instead:"))


def test_a_file_without_a_header_is_suspected(capsys):
    """A file without a header causes a warning, as its first record is lost; other tables, also of years, do not."""
    for text, n in (
        ("23,f,flu\n24,f,flu\n23,m,HIV\n", 1),
        ("age,flu,HIV\n23,0,1\n23,1,0\n", 0),
        (",,,kind\n0.4,0.01,0.18,a\n0.5,0.2,0.3,b\n", 1),
        ("name,2021,2022,2023\nx,3,4,5\ny,6,7,8\n", 0),
    ):
        write_text("people.csv", text)
        assert main(["quantify", "people.csv"]) == 2
        assert capsys.readouterr().err.count("read as a header") == n


# -- original records --------------------------------------------------------------------------------


@pytest.mark.parametrize(("cell", "looks"), [("20-29", True), ("*", True), ("100-0001", False)])
def test_cells_that_look_generalized(cell, looks, run):
    """The option for generalised cells is named for ranges and stars, and not for Japanese postcodes."""
    write_text("people.csv", f"place,disease\n{cell},flu\n{cell},HIV\nx,flu\n")
    assert ("--generalized" in run("quantify", "people.csv", "--qi", "place", "--sa", "disease")) == looks


def test_original_records_of_published_tables(hospital, run, refuse):
    """How often the likeliest value is right is the same for the records, and for two tables and the records."""

    def accuracy(*arguments: str) -> list[str]:
        return [line for line in run(*arguments).splitlines() if "right for" in line or "Divergence" in line]

    command = printed_command(run("publish", "hospital.csv", *ROLES, "--l", "2"), "Read them back:")
    expected = accuracy("quantify", "hospital.csv", *ROLES, "--l", "2")
    assert accuracy(*command, "--original", "hospital.csv") == expected != []
    hospital.drop(columns="Degree").to_csv("less.csv", index=False)
    assert "'Degree'" in refuse(*command, "--original", "less.csv")


def test_counts_of_original_records_and_of_a_population(run, document):
    """--count is a column of TABLE, of the original records, of the population, or of several of them."""
    write_text("open.csv", "age,sex,ill,n\n20-30,f,flu,2\n30-40,m,gout,3\n")
    write_text("people.csv", "age,sex,n\n20,f,1\n25,f,2\n30,m,3\n")
    command = ["quantify", "open.csv", "--generalized", "--qi", "age,sex", "--sa", "ill", "--count", "n"]
    assert "right for 100.0%" in run(*command, "--original", "open.csv")
    assert document(*command, "--population", "people.csv")["release"]["records"] == 6
    write_text("open.csv", "age,sex,ill\n20-30,f,flu\n30-40,m,gout\n")
    assert document(*command, "--population", "people.csv")["release"]["records"] == 6


def test_original_records_of_a_generalized_release(run, refuse):
    """Exact records are found in their cells, or by the population, as the error says; --missing drop leaves out gaps."""
    table = pd.DataFrame({"age": [20, 21, 30, 31], "disease": ["flu", "HIV", "flu", "flu"]})
    table.to_csv("people.csv", index=False)
    roles = ["--qi", "age", "--sa", "disease"]
    run("publish", "people.csv", *roles, "--method", "mondrian", "--k", "2", "--out", "open")
    command = ["quantify", "open.csv", "--generalized", *roles, "--original"]
    assert "right for 75.0%" in run(*command, "people.csv")
    assert "right for 75.0%" in run(*command, "open.csv")
    table.assign(age=["20-30", "20-30", "30-31", "30-31"]).to_csv("open.csv", index=False)
    assert "give --population people.csv too" in refuse(*command, "people.csv")
    assert "right for" in run(*command, "people.csv", "--population", "people.csv")
    run("report", "open.csv", "--generalized", *roles, "--original", "open.csv", "--records", "--out", "page.html")
    table.assign(age=table["age"].replace(31, None)).to_csv("gap.csv", index=False)
    pd.DataFrame({"age": ["20-29", "20-29", "30"], "disease": ["flu", "HIV", "flu"]}).to_csv("open.csv", index=False)
    assert "--missing drop" in refuse(*command, "gap.csv")
    assert "dropped 1 of 4 rows of gap.csv" in run(*command, "gap.csv", "--missing", "drop")


def test_decomposed_letters_are_those_that_are_typed(document, run):
    """Names and values in decomposed Unicode are composed, in files and in options, and the change is said."""
    table = pd.DataFrame({"Größe": ["groß", "groß", "größer", "größer"], "Übel": ["Flu", "Grün", "Grün", "Grün"]})
    apart = functools.partial(unicodedata.normalize, "NFD")
    table.to_csv("composed.csv", index=False)
    table.rename(columns=apart).map(apart).to_csv("apart.csv", index=False)
    table.rename(columns=apart).map(apart).to_excel("apart.xlsx", index=False)
    knowledge = "P(Grün | Größe=groß) <= 0.6"
    write_text("knowledge.txt", apart(knowledge))
    command = ["--qi", "Größe", "--sa", "Übel", "--sensitive", "Grün"]
    expected = document("quantify", "composed.csv", *command, "--know", knowledge, "--original", "apart.csv")
    for name in ("apart.csv", "apart.xlsx"):
        for form in (command, [apart(text) for text in command]):
            given = document("quantify", name, *form, "--knowledge", "knowledge.txt", "--original", "composed.csv")
            for key in ("release", "exposure", "certificate"):
                assert given[key] == expected[key]
    assert "NFC" in run("quantify", "apart.csv", *command)


# -- generalised releases and their people -----------------------------------------------------------


def test_nodes_of_a_hierarchy(document, refuse):
    """Names of nodes are read by a hierarchy, as ARX writes it, one for each attribute."""
    table = pd.DataFrame({"age": ["young", "young", "old", "old"], "disease": ["Flu", "HIV", "Flu", "Flu"]})
    table.to_csv("open.csv", index=False)
    write_text("age.csv", "21;young;*\n25;young;*\n50;old;*\n60;old;*\n")
    voters = pd.DataFrame({"age": [21, 25, 50, 60]})
    voters.to_csv("voters.csv", index=False)
    command = ["quantify", "open.csv", "--qi", "age", "--sa", "disease", "--population", "voters.csv", "--hierarchy"]
    release = mx.Release.from_generalized(
        table, qi="age", sa="disease", population=voters, hierarchies={"age": "age.csv"}
    )
    result = document(*command, "age=age.csv")
    assert result["entropy_nats"] == pytest.approx(mx.MaxEnt(release).solve().entropy)
    assert "--hierarchy" in refuse(*command, "age=age.csv", "--hierarchy", "age=b.csv")
    assert "'age'" in refuse(*command, "aged=age.csv")


def test_cells_that_are_plain_values(document):
    """A cell that is a number, or True, is named in files of people and of baselines as in the release."""
    write_text("open.csv", "age,paid,ill\n30,True,Flu\n30,True,HIV\n40-49,*,Flu\n40-49,*,Flu\n")
    write_text("known.csv", "name,age,paid\nIris,30,True\n")
    write_text("before.csv", "age,Flu,HIV\n30,0.9,0.1\n40-49,0.8,0.2\n")
    command = ["quantify", "open.csv", "--generalized", "--qi", "age,paid", "--sa", "ill", "--threshold", "0.85"]
    assert document(*command, "--people", "known.csv")["people"] == [
        {"person": "Iris", "P": pytest.approx({"Flu": 0.5, "HIV": 0.5})}
    ]
    for name in ("known.csv", "before.csv"):  # tables in which all cells are numbers
        write_text(name, "".join(Path(name).read_text().splitlines(keepends=True)[:2]))
    write_text("open.csv", "age,paid,ill\n30,True,Flu\n30,True,HIV\n30,True,Flu\n")
    result = document(*command, "--people", "known.csv", "--baseline", "before.csv", "--threshold", "0.6")
    assert result["people"][0]["P"] == pytest.approx({"Flu": 2 / 3, "HIV": 1 / 3})
    assert result["exposure"]["people"] == 0, "the baseline of the value is above the threshold"


# -- series ------------------------------------------------------------------------------------------


def test_several_tables_are_a_series(document, refuse, run):
    """Several tables linked by pseudonyms give the answer of ReleaseSeries, from CSV and Parquet files."""
    tables = mx.datasets.load_patients()
    for name, table in zip(("first", "second"), tables, strict=True):
        write_table(table, f"{name}.csv")
        write_table(table, f"{name}.parquet")
    series = mx.ReleaseSeries(
        mx.Release.from_buckets(t, qi=[], sa="Disease", bucket="Bucket", id="Pseudonym") for t in tables
    )
    command = ["quantify", "first.csv", "second.csv", "--sa", "Disease", "--bucket", "Bucket"]
    result = document(*command, "--id", "Pseudonym", "--threshold", "0.9")
    expected = mx.measures.exposed(mx.MaxEnt(series).solve(), 0.9)
    assert result["exposure"]["people"] == expected.people > 0
    assert result["tables"] == ["first.csv", "second.csv"]
    parquet = ["quantify", "first.parquet", "second.parquet", *command[3:], "--id", "Pseudonym"]
    assert document(*parquet, "--threshold", "0.9")["exposure"] == result["exposure"]
    assert "without --workers" in refuse(*parquet, "--workers", "1")
    assert result["exposure"]["baseline"] is None, "how many people have each value is not published of a series"
    assert "--id" in refuse(*command, "--qi", "Gender")
    assert "--sa-table" in refuse(*command, "--sa-table", "values.csv", "--id", "Pseudonym")
    original = [*command, "--id", "Pseudonym", "--original"]
    assert "one row per person of all releases" in refuse(*original, "first.csv")
    pd.concat(tables).drop_duplicates("Pseudonym").to_csv("people.csv", index=False)
    assert "t: the largest" not in run(*original, "people.csv"), "a series has no overall distribution"


# -- rules -------------------------------------------------------------------------------------------


@pytest.fixture
def rules(hospital):
    """The hospital's rules in a file, as they are published."""
    rules = mx.anonymize.mine_rules(hospital, qi=["Gender", "Degree"], sa="Disease", support=0.2, confidence=0.5)
    rules.to_csv("rules.csv")
    hospital[["Gender", "Degree"]].to_csv("qi.csv", index=False)
    hospital["Disease"].value_counts().reset_index().to_csv("values.csv", index=False)
    return rules


def test_rules_need_people_and_values(rules, refuse):
    """The first line of the file identifies rules; the people and their possible values must be given."""
    assert "--qi-table must be given" in refuse("quantify", "rules.csv")
    message = refuse("quantify", "rules.csv", "--qi-table", "qi.csv")
    assert "--values must be given" in message
    assert all(repr(value) in message for value in rules.table["Disease"].unique())


def test_rules_disclose_as_much_as_in_the_library(rules, hospital, document):
    """The values come from the command line, from the table of people itself, or with their published distribution."""
    values = sorted(hospital["Disease"].unique())
    shares = hospital["Disease"].value_counts()
    for options, arguments in (
        (["--qi-table", "qi.csv", "--values", ",".join(values)], {"sa_values": values}),
        (["--qi-table", "hospital.csv"], {"sa_values": values}),
        (["--qi-table", "qi.csv", "--distribution", "values.csv"], {"sa_distribution": shares}),
    ):
        view = mx.QITable(hospital, qi=["Gender", "Degree"], sa="Disease", **arguments)
        expected = mx.MaxEnt(view).add(mx.PublishedRules(rules)).solve()
        assert document("quantify", "rules.csv", *options)["entropy_nats"] == pytest.approx(expected.entropy)


@pytest.mark.parametrize("values", ["1000,2000,3000", "1000.0,2e3,3000"])
def test_values_that_are_numbers(values, document):
    """The values of a numeric sensitive column are numbers: statements, --sensitive and --within use them as such."""
    people = pd.DataFrame({"sex": ["m", "f"] * 12, "pay": [1000, 2000, 3000, 1000, 1000, 2000] * 4})
    rules = mx.anonymize.mine_rules(people, qi="sex", sa="pay", support=0.1, confidence=0.3)
    rules.to_csv("rules.csv")
    people[["sex"]].to_csv("people.csv", index=False)
    view = mx.QITable(people, qi="sex", sa="pay", sa_values=[1000, 2000, 3000])
    post = mx.MaxEnt(view).add(mx.PublishedRules(rules), "P(1000 | sex=m) <= 0.5").solve()
    expected = mx.measures.exposed(post, 0.4, sensitive=[1000], within=1000)
    result = document(
        "quantify", "rules.csv", "--qi-table", "people.csv", "--values", values, "--know", "P(1000 | sex=m) <= 0.5",
        "--sensitive", "1000", "--within", "1000", "--threshold", "0.4",
    )  # fmt: skip
    assert result["exposure"]["people"] == expected.people > 0
    assert result["entropy_nats"] == pytest.approx(post.entropy)


# -- wrong input -------------------------------------------------------------------------------------


@pytest.fixture
def files(folder, hospital):
    """Good and bad tables in the folder; return every file with its content."""
    hospital.to_csv("good.csv", index=False)
    hospital.head(0).to_csv("header.csv", index=False)
    hospital.assign(Gender=hospital["Gender"].where(hospital["Name"] != "Grace")).to_csv("missing.csv", index=False)
    hospital[["Gender", "Degree", "Bucket"]].to_csv("qi.csv", index=False)
    hospital[["Disease", "Bucket"]].head(9).to_csv("sa.csv", index=False)
    hospital.assign(Count=1.5).to_csv("half.csv", index=False)
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("folder.csv").mkdir()
    texts = {"other": "x,y\n1,2\n", "age": "age,n\n,3\n", "header_only": "age,n\n", "ragged": "age,n\n0-4,3,\n,5,\n"}
    texts |= {"square": "age,n\n,²\n", "nan": "age,n,mean\n,3,nan\n", "word": "age,n,mean\n,3,4\n1,2,five\n"}
    for name, text in texts.items():
        write_text(f"{name}.csv", text)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, with its content."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


HOSPITAL = shlex.join(ROLES)
GROUPS = shlex.join(BUCKET)


@pytest.mark.parametrize(
    ("command", "piece"),
    [
        ("", "COMMAND"),
        ("quantify hospital --topp 3", "--topp"),
        ("quantify hospitl", "'hospital'"),
        (f"quantify picture.csv {GROUPS}", "picture.csv"),
        (f"quantify folder.csv {GROUPS}", "folder.csv"),
        (f"quantify header.csv {GROUPS}", "no rows"),
        (f"quantify missing.csv {GROUPS}", "--missing"),
        ("quantify good.csv", "--qi"),
        (f"quantify good.csv {HOSPITAL} --bucket Bukket", "'Bucket'"),
        ("quantify good.csv --qi Gender,Degre --sa Disease --bucket Bukket", "'Degree'"),
        (f"quantify good.csv {HOSPITAL} --l 5", "'Flu'"),
        (f"quantify good.csv {GROUPS} --l 2", "--bucket and --l"),
        (f"quantify good.csv {HOSPITAL} --counterfeits", "--sa-table"),
        (f"quantify half.csv {GROUPS} --sa-table half.csv --count Count", "'Count'"),
        (f"quantify half.csv {GROUPS} --count Count", "'Count'"),
        (f"quantify qi.csv {GROUPS} --sa-table good.csv --top 1", "--original"),
        (f"quantify qi.csv {GROUPS} --sa-table sa.csv", "'Bucket'"),
        ("quantify hospital --min-support 1 --top 999", "25"),
        ("quantify hospital --min-support 1 --top 1 --know 'P(Flu) = 0.3'", "--know"),
        ("quantify hospital --min-support 1 --top 1 --report q.html", "--report"),
        ("quantify hospital --know 'P(Flu = 0.3'", "P(Flu = 0.3"),
        ("quantify hospital --baseline other.csv", "other.csv"),
        ("quantify hospital --distribution other.csv", "--distribution is about association rules"),
        ("quantify hospital --baseline other.parquet", "'other.parquet' does not exist"),
        ("quantify hospital --workers 2", "--workers"),
        ("quantify hospital --solver CLARABELL", "'CLARABEL'"),
        ("quantify hospital --out p.txt", "p.txt"),
        ("quantify hospital --plot p.bmp", "p.bmp"),
        ("quantify hospital --out no/p.csv", "no/p.csv"),
        ("quantify hospital --out folder.csv", "folder.csv"),
        (f"report good.csv {GROUPS} --out report.pdf", "report.pdf"),
        (f"report good.csv {GROUPS} --language fr", "language"),
        ("compare hospital --solvers SCS,CLARABELL", "'CLARABEL'"),
        ("compare hospital --out c.parquet", "c.parquet"),
        ("compare hospital --known 999", "500"),
        (f"publish good.csv {HOSPITAL}", "--l"),
        (f"publish good.csv {HOSPITAL} --method mondrian", "--k"),
        (f"publish good.csv {HOSPITAL} --method mondrian --k 11", "k must"),
        (f"publish good.csv {HOSPITAL} --method mondrian --k 3 --seed 3", "--seed"),
        (f"publish good.csv {HOSPITAL} --l 2 --id Nam", "'Name'"),
        (f"publish good.csv {HOSPITAL} --method republish --l 2", "--before"),
        (f"publish good.csv {HOSPITAL} --method rules --support 0.2", "--confidence"),
        (f"publish good.csv {HOSPITAL} --method search --k 3", "--k"),
        (f"publish good.csv {HOSPITAL} --method similar-linkage --r 2", "'Flu'"),
        (f"attack worst-case good.csv qi.csv {GROUPS} --sa-table x.csv", "--sa-table"),
        (f"attack definetti good.csv {GROUPS} --smoothing -1", "smoothing"),
        (f"attack definetti good.csv {GROUPS} --out x.txt", "x.txt"),
        ("attack reconstruct age.csv --domain sex=f", "'age'"),
        ("attack reconstruct age.csv --domain age", "'age'"),
        ("attack reconstruct age.csv --domain age=9-1", "9-1"),
        ("attack reconstruct age.csv --domain 'age=0-9;n=0-9'", "'n'"),
        ("attack reconstruct age.csv --domain 'age=1;age=2'", "'age'"),
        ("attack reconstruct nowhere.csv --domain age=0-9", "nowhere.csv"),
        ("attack reconstruct header_only.csv --domain age=0-9", "header_only.csv"),
        ("attack reconstruct ragged.csv --domain age=0-9", "line 2"),
        ("attack reconstruct square.csv --domain age=0-9", "²"),
        ("attack reconstruct nan.csv --domain age=0-9", "mean"),
        ("attack reconstruct word.csv --domain age=0-9", "'five'"),
    ],
)
def test_wrong_input(command, piece, folder, files, capsys):
    """The command ends with status 2 and one line that names the wrong argument; no file is made or changed."""
    assert main(shlex.split(command)) == 2
    captured = capsys.readouterr()
    assert len(captured.err.splitlines()) == 1
    assert piece in captured.err
    assert "Grace" not in captured.err, "no person's record"
    assert "exposed" not in captured.out
    assert contents(folder) == files


def test_a_full_disk_leaves_no_half_file(folder, files, refuse, monkeypatch):
    """If writing fails half way there is no file, half a file or folder of drafts, and an old file stays."""

    def stop(self: object, path: Path, **_: object) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("pandas.DataFrame.to_csv", stop)
    assert "No space left" in refuse("quantify", "hospital", "--out", "good.csv")
    assert contents(folder) == files


# -- releases in partitions --------------------------------------------------------------------------


KNOWN = ["--know", "P(Flu | Gender=male) = 0.3"]


@pytest.fixture
def partitions(folder, hospital) -> list[str]:
    """Two files of whole buckets."""
    (folder / "people").mkdir()
    is_last = hospital["Bucket"] == 3
    return [write_table(hospital[part], f"people/{i}.parquet") for i, part in enumerate((~is_last, is_last))]


def test_partitions_are_judged_as_the_table_in_memory(run, document, partitions):
    """Files, their folder or a pattern give the same output, and the exit status and document of the table in memory."""
    text = run("quantify", *partitions, *BUCKET, *KNOWN)
    assert "10 records in 3 buckets" in text
    exposed = [
        line.split(";")[0] for line in run("quantify", "hospital", *KNOWN).splitlines() if "people exposed" in line
    ]
    assert exposed
    assert all(line in text for line in exposed)
    for path in ("people", "people/*.parquet"):
        assert run("quantify", path, *BUCKET, *KNOWN) == text
    question = [*BUCKET, "--know", "P(Breast Cancer | Gender=male) = 0", "--fail-above", "0.8"]
    parts, whole = (document("quantify", *table, *question, status=1) for table in (partitions, ["hospital"]))
    assert parts["tables"] == partitions
    assert parts["release"]["kind"] == "PartitionedRelease"
    assert parts["release"]["buckets"] == 3
    for key in ("people", "of"):
        assert parts["fail_above"][key] == whole["fail_above"][key]
    assert parts["entropy_nats"] == pytest.approx(whole["entropy_nats"])
    assert [row["group"] for row in parts["exposure"]["who"]] == [row["group"] for row in whole["exposure"]["who"]]


@pytest.mark.parametrize(
    ("values", "status"),
    [
        (["Flu ", "Flu"], 2),
        (["None", "Flu"], 2),
        (["$20", "$30"], 2),
        (["30.01.2024", "31.01.2024"], 2),
        (["FLU", "Flu"], 0),
    ],
)
def test_cells_of_partitions(capsys, partitions, hospital, values, status):
    """Values that would be changed in memory are refused, as the answer would be another one; a warning names twins."""
    for path, value in zip(partitions, values, strict=True):
        write_table(hospital.assign(Disease=value), path)
    assert main(["quantify", *partitions, *BUCKET]) == status
    assert values[0] in capsys.readouterr().err


def test_people_known_by_name_are_in_the_document_of_partitions(document, partitions):
    """Their probabilities are those of the table in memory."""
    write_text("known.csv", "name,Gender,Degree\nIris,female,college\n")
    command = [*BUCKET, "--people", "known.csv", "--know", "P(HIV | Iris) = 0.3"]
    parts, whole = (document("quantify", *table, *command)["people"] for table in (partitions, ["hospital.csv"]))
    assert [row["person"] for row in parts] == ["Iris"]
    assert parts[0]["P"] == pytest.approx(whole[0]["P"], abs=1e-6)
    assert parts[0]["P"]["HIV"] == pytest.approx(0.3)


def test_a_folder_is_written_whole_under_a_new_name(run, refuse, partitions):
    """The probabilities of partitions are in a new folder, and obey the knowledge."""
    command = ["quantify", *partitions, *BUCKET, *KNOWN, "--out", "answer"]
    run(*command)
    written = pd.read_parquet("answer")
    men = written[written["Gender"] == "male"]
    p = next(name for name in written.columns if name.startswith("P("))
    assert men.loc[men["Disease"] == "Flu", p].sum() / men[p].sum() == pytest.approx(0.3)
    assert "answer" in refuse(*command)


@pytest.mark.parametrize(
    "options",
    [
        ["--top", "5"], ["--exempt", "1"], ["--solver", "CLARABEL"], ["--workers", "0"], ["--cluster", "nowhere"],
        ["--workers", "1", "--cluster", "tcp://here:1"], ["--original", "hospital.csv"], ["--missing", "drop"],
        ["--counterfeits"],
    ],
)  # fmt: skip
def test_options_that_partitions_do_not_support(refuse, partitions, options):
    """An unsupported option is refused before any work."""
    assert options[0] in refuse("quantify", *partitions, *BUCKET, *options)
