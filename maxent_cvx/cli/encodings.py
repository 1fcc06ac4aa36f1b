"""The likeliest encoding of a file that is not UTF-8: that of Western Europe, unless its words fit another better.

Words are compared with the letters of languages. An encoding is preferred to that of Western Europe only if more words are
possible in it. Words of another script have letters of that script only: a word with one Cyrillic letter among ASCII letters
is a word of Western Europe. Encodings of the same script are distinguished by its most frequent letters.
"""

# ruff: noqa: RUF001 (letters of other scripts)

from __future__ import annotations

import re
from itertools import islice

#: Words in the languages of Western Europe: French and Dutch; German; Nordic; Spanish and Catalan; Portuguese; Italian;
#: Icelandic.
WESTERN = (
    "(?:[a-zàâçèéêëîïôûü]|œ(?=[^bcghlmnprwz]))+|[a-zäöüßàéè]+|[a-zåäöæøéü]+|[a-zàáèéíïñòóúüç]+|"
    "(?:[a-záâàçéêíóôúü]|ã(?=[oe]|s?$)|õ(?=e))+|[a-z]+[àèéìòù]|(?:[abd-pr-vxyáðéíóúýæö]|þ(?=[aeiouyáéíóúýæöjlrv]))+"
)
#: Words in Polish; in Czech and Slovak; in Hungarian; in Croatian and Slovene; in Romanian.
CENTRAL = ("[a-ząćęłńóśźż]+", "[a-záäčďéěíĺľňóôŕřšťúůýž]+", "[a-záéíóöőúüű]+", "[a-zčćđšž]+", "[a-zăâîşţ]+")
TURKISH = "(?:[a-zçıöşüâîû]|(?<=[aeıioöuü])ğ|i̇)+"
#: Encodings of Latin letters, the likeliest first, each with the word patterns of its languages.
LATIN = {
    "cp1252": (WESTERN,), "cp1254": (TURKISH,), "cp1250": CENTRAL, "iso8859-2": CENTRAL, "mac_roman": (WESTERN,),
    "cp850": (WESTERN,),
}  # fmt: skip
CYRILLIC, JAPANESE = ("а-яёђѓєѕіїјљњћќўџґ", "оеаинтсрвлкіъ"), ("ぁ-んァ-ヶー一-龠々", "ぁ-んァ-ヶー")
#: Encodings of other scripts, each with all letters and the most frequent letters.
SCRIPTS = {
    "cp1251": CYRILLIC, "koi8-r": CYRILLIC, "koi8-u": CYRILLIC, "cp866": CYRILLIC, "iso8859-5": CYRILLIC,
    "cp1253": ("α-ωάέήίόύώϊϋΐΰ", "αοιετσνηυρίάό"), "cp1255": ("א-ת", "יוהלאמרתבנ"), "cp1256": ("ء-ْپچژگ", "اليمنوترهب"),
    "cp874": ("ก-๎", "านรกอเงลยม่้"), "cp932": JAPANESE, "euc_jp": JAPANESE,
}  # fmt: skip
#: Encodings among which charset-normalizer chooses if a file has no kana, and the pattern of words in them.
EAST_ASIAN, EAST_ASIAN_WORD = ["cp932", "euc_jp", "gb2312", "big5", "euc_kr"], "[가-힣]+|[ぁ-ヶー一-鿿々]+"
#: Share of words that must be of another script, and different cells that are looked at.
MOST, FIRST_CELLS = 0.75, 5000


def likeliest_encoding(data: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8."""
    # These bytes are not part of a letter. Repeated values contain no further information.
    cells = dict.fromkeys(re.split(rb"[\r\n,;\t\"]+", data))
    sample = b"\n".join(islice((cell for cell in cells if not cell.isascii()), FIRST_CELLS))
    latin = {name: max(_n_latin(_words(sample, name), form) for form in forms) for name, forms in LATIN.items()}
    likeliest = max(latin, key=lambda name: latin[name])  # the first of several
    # Signs, as in 38 °C or «à», and pairs of letters such as ÅØ are not evidence.
    n = sum(len(word) > 2 or re.search("[A-Za-z]", word) is not None for word in _words(sample, "cp1252", "replace"))
    if n == 0 and _words(sample + b"\xe9", "cp1252"):  # no words if the bytes cannot be decoded
        return "cp1252"
    if n and latin[likeliest] >= n / 2:
        return likeliest
    scores = {name: _score(_words(sample, name), *letters) for name, letters in SCRIPTS.items()}
    script = max(scores, key=lambda name: scores[name])
    if scores[script] > 0 and scores[script] >= MOST * len(_words(sample, script)):
        return script
    from charset_normalizer import from_bytes

    for guess in from_bytes(sample, cp_isolation=EAST_ASIAN):
        words = _words(sample, guess.encoding)
        is_word = any(len(word) > 1 for word in words)  # "°C" in Big5 is one letter
        if is_word and sum(re.fullmatch(EAST_ASIAN_WORD, word) is not None for word in words) >= MOST * len(words):
            return guess.encoding
    return likeliest


def _words(sample: bytes, encoding: str, errors: str = "strict") -> list[str]:
    """Return non-ASCII words, of letters or of signs that are letters in other encodings; none if decoding fails."""
    try:
        text = sample.decode(encoding, errors)
    except UnicodeDecodeError:
        return []
    words = re.findall(r"[^\x00-@\[-`{-\x7f\xa0‘’“”„–—…«»°§·€µ®©™×÷]+", text)
    return [*dict.fromkeys(word for word in words if not word.isascii())]


def _n_latin(words: list[str], form: str) -> int:
    """Count the words of at least two letters that match a pattern; superscripts after a word are ignored: m², Name¹."""
    lower = [word.rstrip("ªº¹²³").lower() for word in words if len(word) > 1 and _is_cased(word)]
    return sum(word.isascii() or bool(re.search("[a-z]", word) and re.fullmatch(form, word)) for word in lower)


def _score(words: list[str], letters: str, frequent: str) -> float:
    """Count the words written in a script, with weights from 0.5 to 1.5 by their share of frequent letters."""
    lower = [word.lower() for word in words if len(word) > 1 and _is_cased(word)]
    whole = [word for word in lower if re.fullmatch(f"[{letters}]+", word)]
    return sum(0.5 + len(re.findall(f"[{frequent}]", word)) / len(word) for word in whole)


def _is_cased(word: str) -> bool:
    """Return whether a word is in capitals, or has no capital after its first letter."""
    return word == word.upper() or word[1:] == word[1:].lower()
