"""The command line on bad input: status 2, one line that says what, where and what to do, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from maxent_cvx.cli.main import main

ROLES = ["--qi", "Gender,Degree", "--sa", "Disease"]
BUCKET = [*ROLES, "--bucket", "Bucket"]
SCORE = ["quantify", "hospital", "--min-support", "1"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, hospital) -> Path:
    """A folder with good and bad tables in it."""
    monkeypatch.chdir(tmp_path)
    hospital.to_csv("good.csv", index=False)
    hospital.head(0).to_csv("header.csv", index=False)
    hospital.assign(Gender=hospital["Gender"].where(hospital["Name"] != "Grace")).to_csv("missing.csv", index=False)
    hospital[["Gender", "Degree", "Bucket"]].to_csv("qi.csv", index=False)
    hospital[["Disease", "Bucket"]].head(9).to_csv("sa.csv", index=False)
    hospital.assign(Count=1.5).to_csv("half.csv", index=False)
    Path("empty.csv").touch()
    Path("ragged.csv").write_text("Gender,Degree\nmale,college\nmale,college,Flu\n")
    Path("picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("semicolons.csv").write_text("Gender;Degree\nmale;college\n")
    Path("folder.csv").mkdir()
    Path("folder.png").mkdir()
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    """Every file, with its content."""
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


BAD = {
    # the command itself
    "no command": ([], ["COMMAND"]),
    "unknown command": (["quantfy", "hospital"], ["quantfy", "quantify"]),
    "unknown option": (["quantify", "hospital", "--topp", "3"], ["--topp"]),
    "no table": (["quantify"], ["TABLE"]),
    # the table
    "no file": (["quantify", "nobody.csv", *BUCKET], ["nobody.csv", "file", "hospital"]),
    "misspelt name": (["quantify", "hospitl"], ["hospitl", "did you mean 'hospital'"]),
    "empty file": (["quantify", "empty.csv", *BUCKET], ["empty.csv"]),
    "ragged file": (["quantify", "ragged.csv", *BUCKET], ["ragged.csv", "line 3"]),
    "not text": (["quantify", "picture.csv", *BUCKET], ["picture.csv"]),
    "semicolons": (["quantify", "semicolons.csv", *BUCKET], ["semicolons.csv", "';'", "commas"]),
    "a folder": (["quantify", "folder.csv", *BUCKET], ["folder.csv"]),
    "no rows": (["quantify", "header.csv", *BUCKET], ["no rows"]),
    "missing values": (["quantify", "missing.csv", *BUCKET], ["'Gender' (1 of 10)", "drop"]),
    # columns
    "no roles": (["quantify", "good.csv"], ["--qi", "--sa", "Gender, Degree, Disease"]),
    "no sa": (["quantify", "good.csv", "--qi", "Gender"], ["--sa"]),
    "unknown qi": (["quantify", "good.csv", "--qi", "Gendr", "--sa", "Disease", "--l", "2"], ["'Gendr'", "'Gender'"]),
    "unknown sa": (["quantify", "good.csv", "--qi", "Gender", "--sa", "Diseas", "--l", "2"], ["'Diseas'", "'Disease'"]),
    "unknown bucket": (["quantify", "good.csv", *ROLES, "--bucket", "Bukket"], ["'Bukket'", "'Bucket'"]),
    "two roles": (["quantify", "good.csv", "--qi", "Gender", "--sa", "Gender", "--l", "2"], ["'Gender'", "one role"]),
    # numbers
    "no rows asked": (["quantify", "hospital", "--rows", "0"], ["--rows 0", "10"]),
    "too many rows": (["quantify", "hospital", "--rows", "11"], ["--rows 11", "10"]),
    "rows no number": (["quantify", "hospital", "--rows", "x"], ["--rows", "'x'"]),
    "no l": (["quantify", "good.csv", *ROLES], ["--l", "--bucket"]),
    "l of zero": (["quantify", "good.csv", *ROLES, "--l", "0"], ["--l 0", "1 to 10"]),
    "l too large": (["quantify", "good.csv", *ROLES, "--l", "11"], ["--l 11", "1 to 10"]),
    "not eligible": (["quantify", "good.csv", *ROLES, "--l", "5"], ["'Flu'", "--exempt"]),
    "negative exempt": (["quantify", "good.csv", *ROLES, "--l", "2", "--exempt", "-1"], ["--exempt -1"]),
    "negative seed": (["quantify", "good.csv", *ROLES, "--l", "2", "--seed", "-1"], ["--seed -1"]),
    "top no numbers": ([*SCORE, "--top", "0,x"], ["--top", "'0,x'", "0,10,50"]),
    "top negative": ([*SCORE, "--top=-1"], ["--top", "'-1'"]),
    "top nothing": ([*SCORE, "--top", ""], ["--top", "0,10,50"]),
    "top too many": ([*SCORE, "--top", "999"], ["999 positive", "ask for fewer"]),
    # knowledge
    "cannot be read": (["quantify", "hospital", "--know", "P(Flu = 0.3"], ["character 12", "'|' or ')'"]),
    "no such value": (["quantify", "hospital", "--know", "P(Flux) = 0.3"], ["'Flux'", "did you mean 'Flu'"]),
    "no file of knowledge": (["quantify", "hospital", "--knowledge", "gossip.txt"], ["gossip.txt", "there is no file"]),
    "knowledge and scores": ([*SCORE, "--top", "1", "--know", "P(Flu) = 0.3"], ["--top", "--know"]),
    "no support": (["quantify", "hospital", "--top", "1", "--min-support", "0"], ["support", "0", "at least 1"]),
    # options that do not go together
    "bucket and l": (["quantify", "good.csv", *BUCKET, "--l", "2"], ["--bucket", "--l"]),
    "count of records": (["quantify", "half.csv", *BUCKET, "--count", "Count"], ["'Count'", "whole, non-negative"]),
    "sa table alone": (["quantify", "qi.csv", *ROLES, "--sa-table", "sa.csv"], ["--sa-table", "--bucket"]),
    "sa table scored": (["quantify", "qi.csv", *BUCKET, "--sa-table", "sa.csv", "--top", "1"], ["--sa-table", "--top"]),
    "no sa table": (["quantify", "qi.csv", *BUCKET, "--sa-table", "none.csv"], ["none.csv"]),
    "sa table misfits": (["quantify", "qi.csv", *BUCKET, "--sa-table", "sa.csv"], ["bucket", "equally many"]),
    "unknown count": (["quantify", "qi.csv", *BUCKET, "--sa-table", "good.csv", "--count", "N"], ["'N'"]),
    "halves counted": (
        ["quantify", "half.csv", *BUCKET, "--sa-table", "half.csv", "--count", "Count"],
        ["'Count'", "whole"],
    ),
    # solvers and output
    "unknown solver": (["quantify", "hospital", "--solver", "CLARABELL"], ["'CLARABELL'", "'CLARABEL'"]),
    "out of no kind": (["quantify", "hospital", "--out", "p.txt"], ["p.txt", ".csv or .parquet"]),
    "scores to parquet": ([*SCORE, "--top", "1", "--out", "p.parquet"], ["p.parquet", ".csv"]),
    "plot of no kind": (["quantify", "hospital", "--plot", "p.bmp"], ["p.bmp", ".png"]),
    "out to nowhere": (["quantify", "hospital", "--out", "no/p.csv"], ["no/p.csv", "folder"]),
    "plot to nowhere": (["quantify", "hospital", "--plot", "no/p.png"], ["no/p.png", "folder"]),
    "out is a folder": (["quantify", "hospital", "--out", "folder.csv"], ["folder.csv"]),
    "plot is a folder": (["quantify", "hospital", "--out", "p.csv", "--plot", "folder.png"], ["folder.png"]),
    # compare
    "unknown in compare": (["compare", "hospital", "--solvers", "SCS,CLARABELL"], ["'CLARABELL'", "'CLARABEL'"]),
    "compare to parquet": (["compare", "hospital", "--out", "c.parquet"], ["c.parquet", ".csv"]),
    "compare bucket and l": (["compare", "good.csv", *BUCKET, "--l", "2"], ["--bucket", "--l"]),
    "compare too many": (["compare", "hospital", "--known", "999"], ["500 positive", "ask for fewer"]),
    "compare negative": (["compare", "hospital", "--known", "-2"], ["--known", "'-2'"]),
    # publish
    "publish without l": (["publish", "hospital"], ["--l"]),
    "publish to nowhere": (["publish", "hospital", "--l", "2", "--out", "no/it"], ["no/it_qi.csv", "folder"]),
    "unknown method": (["publish", "hospital", "--l", "2", "--method", "magic"], ["magic", "anatomy"]),
    "publish not eligible": (["publish", "good.csv", *ROLES, "--l", "4"], ["'Flu'", "--exempt"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, folder, capsys):
    """Bad input ends with 2 and one line that names what is wrong and where; no file is made or changed."""
    arguments, says = BAD[name]
    before = everything(folder)
    try:
        status = main(arguments)
    except SystemExit as stopped:  # argparse ends the program itself
        status = stopped.code
    shown = capsys.readouterr().err
    assert status == 2
    assert everything(folder) == before
    for piece in says:
        assert piece in shown
    assert "Grace" not in shown, "no person's record"
    assert "Traceback" not in shown
    assert len(shown.splitlines()) == 1, "one line"


def test_publish_advises_what_it_can_do(capsys):
    """The advice of publish is about its own options: it takes no --bucket."""
    assert main(["publish", "hospital"]) == 2
    assert "--bucket" not in capsys.readouterr().err


def test_library_words_are_not_shown(capsys):
    """The advice on the command line is in its own words: nobody can 'pass None' there."""
    assert main([*SCORE, "--top", "999"]) == 2
    assert "None" not in capsys.readouterr().err


def test_a_full_disk_leaves_no_half_file(folder, capsys, monkeypatch):
    """If writing fails half way there is no file, half a file or folder of drafts, and an old file stays."""
    before = everything(folder)

    def stop(self: object, path: Path, **_: object) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("pandas.DataFrame.to_csv", stop)
    assert main(["quantify", "hospital", "--out", "good.csv"]) == 2
    assert "No space left" in capsys.readouterr().err
    assert everything(folder) == before
