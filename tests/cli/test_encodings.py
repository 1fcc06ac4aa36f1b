"""The encoding of a file that is not UTF-8 is detected from its words."""

# ruff: noqa: RUF001 (letters of other scripts)

from __future__ import annotations

from pathlib import Path

import pytest

from maxent_cvx.cli.files import read_csv


def written(text: str, encoding: str) -> str:
    """Write a file in an encoding, and return its path."""
    Path("people.csv").write_bytes(text.encode(encoding))
    return "people.csv"


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
        assert read_csv(written(text, encoding))["disease"].to_list()[::2] == group


SIGNS = ["don’t", "38 °C", "«à»", "m²", "½", "µg", "1ª", "£5", "ÅØ", "cm³", "¿Qué?", "Žižek"]


@pytest.mark.parametrize(
    ("encoding", "text"), [*(("cp1252", text) for text in SIGNS), ("utf-16-le", "grypą"), ("utf-16-be", "grypą")]
)
def test_encodings_are_detected_without_words(encoding, text):
    """Signs of Western Europe say nothing about the encoding; UTF-16 needs no mark."""
    assert read_csv(written(f"age;disease\n30;{text}\n31;flu\n", encoding))["disease"][0] == text


def test_a_wrong_encoding(run, refuse):
    """The encoding that the message names reads the file."""
    Path("people.csv").write_bytes(b"age,disease\n30,\x81\xe8\n30,flu\n")
    command = ["quantify", "people.csv", "--qi", "age", "--sa", "disease"]
    message = refuse(*command, "--encoding", "cp1252")
    run(*command, *message.split("such as ")[1].split())
