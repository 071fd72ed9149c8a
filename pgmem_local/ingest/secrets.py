"""Secrets in a text -> a mark, before anything is written anywhere. The sentence around them stays.

A word such as "password" is not enough: what follows must have the shape of a value. Known limits: a pass phrase of several
unquoted words, and a secret that nothing announces and that has no known form, are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

MARK = "[secret removed]"


@dataclass(frozen=True)
class Masked:
    """The text that may be stored and how many secrets were taken out of it."""

    text: str
    count: int


def mask_secrets(text: str) -> Masked:
    """Take out keys, passwords, door codes and card numbers. Masking twice changes nothing."""
    count = 0
    for rule in _RULES:
        text, found = rule(text)
        count += found
    return Masked(text, count)


_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
    r"|(?<![\w-])(?:"
    r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{16,}"  # GitHub, GitLab
    r"|sk-[\w-]{20,}|[rsp]k_(?:live|test)_\w{16,}|hf_[A-Za-z0-9]{30,}"  # OpenAI, Anthropic, Stripe, Hugging Face
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|xox[abeprs]-[\w-]{10,}"  # AWS, Google, Slack
    r"|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}"
    r"|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"  # JSON web tokens
    r")|(?<=://)[^\s/:@]{0,64}:[^\s/@]{3,200}(?=@)",  # user:password in an address
    re.DOTALL,
)

_SPACED_DIGITS = re.compile(r"(?<![\w+.])[0-9](?:[ \u00a0\u2009\u202f-]?[0-9]){12,18}(?![0-9])")
_CARD_FORM = re.compile(r"3[47][0-9]{13}|3[0689][0-9]{12}|[2-6][0-9]{15}|[456][0-9]{18}")
_CARD_ANNOUNCED = re.compile(
    r"\b(?:card|visa|mastercard|amex|(?:kredit|bank|giro)?karten?(?:nummer)?|carte|tarjeta|carta)\b[^.!?\n]*$", re.I
)
_CARD_CODE = re.compile(r"\b(cvc|cvv|csc|cvn)(2?\b(?:\s+code)?\s*(?:[:=]|\bis\b|\bist\b)?\s*)[0-9]{3,4}\b", re.I)

_SECRET_WORD = (
    r"(?<![A-Za-z])(?:pass(?:word|phrase|code|wd|wort)|pwd|kennwort|mot de passe|contraseña|senha|wachtwoord|lösenord|hasło|пароль"
    r"|密码|密碼|パスワード)s?(?!\s*(?:manager|safe|vault|app\b|reset|polic|protect))"
)
_ANNOUNCES = r"(?:[:=：]|\b(?:is|was|ist|war|lautet|est|es|é|är|to jest)(?!\w)|是|は)(?:\s+(?:now|still|jetzt|currently)\b)?"
_VALUE = r"""(?P<value>(?!\[secret removed)(?:\\(?!["nrtu])|[^\s"“”„‘’'«»`\\]){3,200})"""
_QUOTED_PASSWORD = re.compile(
    rf"""(?P<before>{_SECRET_WORD}\\?["']?\s*{_ANNOUNCES}\s*\\?["“„‘'«`])(?P<value>(?!\[secret removed)[^"“”‘’'»`\n\\]{{3,200}})""",
    re.I,
)
_NEAR_PASSWORD = re.compile(rf"""(?P<before>{_SECRET_WORD}\\?["']?\s*{_ANNOUNCES}\s*){_VALUE}(?P<end>\s*(?:$|["”’'\n]))?""", re.I)
_FAR_PASSWORD = re.compile(
    rf"(?P<before>{_SECRET_WORD}[^.!?\n\[]{{1,120}}?(?:[:：=]|\b(?:is|to|ist|est)\b)\s+[\"“„‘'«`]?){_VALUE}", re.I
)
_TOKEN = re.compile(
    r"""(?P<before>(?<![A-Za-z])(?:api[_ -]?key|(?:access|secret|private)[_ -]?key|(?:auth|access|bearer)[_ -]?token|token|secret"""
    rf"""|authorization: bearer)\\?["']?\s*(?:[:=]|\bis\b|(?<=bearer)\s)\s*\\?["']?){_VALUE}""",
    re.I,
)
_CODE_WORDS = ("pin", "code", "combination", "geheimzahl")
_PASSWORD_WORDS = (
    "pass", "pwd", "kennwort", "contraseña", "senha", "wachtwoord", "lösenord", "hasło", "пароль", "密码", "密碼", "パスワード",
)  # fmt: skip
_TOKEN_WORDS = ("key", "token", "secret", "bearer")
_DOOR_CODE = re.compile(
    r"(?P<before>(?:(?-i:\bPIN\b)|\b(?:my|the|her|his|our) pin\b|\bpin[ -]?(?:code|number)"
    r"|\b(?:door|gate|alarm|entry|access|security|safe|lock|locker|padlock|garage|keypad|unlock|verification|backup|house|building)"
    r"[ -]?(?:code|combination)|\btürcode|\bgeheimzahl|\bdigicode)s?"
    r"(?:\s+|[^.!?\n\[]{0,120}?(?:[:=]|\b(?:is|was|to|ist|est)\b(?:\s+now\b)?)\s*))"
    r"[#*]*[0-9](?:[ -]?[0-9]){2,9}(?![0-9]|[.,:/-][0-9]|\s?(?:[ap]m\b|%|€|\$|euro|times|years|days))[#*]*",
    re.I,
)
# fmt: off
_ORDINARY = frozenset((
    "again", "always", "back", "bad", "blank", "broken", "changed", "compromised", "correct", "different", "done", "due",
    "easy", "empty", "enough", "everyone", "expired", "false", "fine", "fixed", "forgotten", "gone", "good", "hard", "her",
    "here", "hidden", "him", "impossible", "incorrect", "invalid", "it", "known", "leaked", "long", "lost", "mandatory", "me",
    "mine", "missing", "needed", "new", "no", "none", "not", "nothing", "ok", "okay", "old", "optional", "out", "outdated",
    "public", "ready", "required", "reset", "right", "safe", "saved", "secret", "secure", "set", "shared", "short", "simple",
    "someone", "stolen", "strong", "stupid", "terrible", "that", "them", "there", "this", "today", "tomorrow", "true",
    "unchanged", "unknown", "us", "useless", "valid", "weak", "working", "written", "wrong", "yes", "yours",
))
# fmt: on
_TRAILING = ".,;:!?)]}…。，"


def _mask_keys(text: str) -> tuple[str, int]:
    return _KEY.subn(MARK, text)


def _mask_cards(text: str) -> tuple[str, int]:
    """A card number passes the Luhn check or is called one; its check code is part of the same secret."""

    def mask(match: re.Match[str]) -> str:
        return MARK if _is_card(match[0], text[max(0, match.start() - 160) : match.start()]) else match[0]

    masked = _SPACED_DIGITS.sub(mask, text)
    cards = masked.count(MARK) - text.count(MARK)
    masked, codes = _CARD_CODE.subn(rf"\g<1>\g<2>{MARK}", masked)
    return masked, cards or codes


def _is_card(spaced: str, before: str) -> bool:
    digits = re.sub("[^0-9]", "", spaced)
    if _CARD_ANNOUNCED.search(before):
        return True
    return bool(_CARD_FORM.fullmatch(digits)) and _passes_luhn(digits)


def _passes_luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0


def _mask_passwords(text: str) -> tuple[str, int]:
    """Three shapes, from the surest to the least sure; what one has taken the next does not see."""
    if not _has_one_of(_PASSWORD_WORDS, text):
        return text, 0
    text, quoted = _mask_values(_QUOTED_PASSWORD, text, lambda match, value: bool(value.strip()))
    text, near = _mask_values(_NEAR_PASSWORD, text, _is_near_value)
    text, far = _mask_values(_FAR_PASSWORD, text, _is_far_value)
    return text, quoted + near + far


def _mask_tokens(text: str) -> tuple[str, int]:
    if not _has_one_of(_TOKEN_WORDS, text):
        return text, 0
    return _mask_values(_TOKEN, text, lambda match, value: len(value) >= 12 and _looks_made_up(value))


def _mask_values(pattern: re.Pattern[str], text: str, is_secret: Callable[[re.Match[str], str], bool]) -> tuple[str, int]:
    """Replace the pattern's `value`, less the punctuation that ends its sentence, where `is_secret` says so."""
    count = 0

    def mask(match: re.Match[str]) -> str:
        nonlocal count
        value = match["value"].rstrip(_TRAILING)
        if not is_secret(match, value):
            return match[0]
        count += 1
        start, end = match.start("value") - match.start(), match.end("value") - match.start()
        return match[0][:start] + MARK + match["value"][len(value) :] + match[0][end:]

    return pattern.sub(mask, text), count


def _is_near_value(match: re.Match[str], value: str) -> bool:
    """Right after "password is": anything made up or of digits; a plain word only where the sentence ends with it."""
    if _looks_made_up(value) or re.fullmatch(r"[0-9#*-]{4,}", value):
        return True
    ends = match["end"] is not None or len(value) < len(match["value"])
    return ends and re.fullmatch(r"[\w-]{4,}", value) is not None and value.casefold() not in _ORDINARY


def _is_far_value(match: re.Match[str], value: str) -> bool:
    """Further on in the sentence only what no one would write as a word."""
    return len(value) >= 6 and _looks_made_up(value)


def _looks_made_up(value: str) -> bool:
    if "://" in value or re.search(r"@[\w-]+\.", value):
        return False
    letters = re.search(r"[^\W\d_]", value)
    return bool(letters and (re.search(r"[0-9]", value) or re.search(r"[!#$%^&*+=?~@_<>|](?=\w)|[a-z][A-Z]", value)))


def _has_one_of(words: tuple[str, ...], text: str) -> bool:
    """Spares most of a diary the dear patterns, each of which needs one of its words."""
    folded = text.casefold()
    return any(word in folded for word in words)


def _mask_codes(text: str) -> tuple[str, int]:
    if not _has_one_of(_CODE_WORDS, text):
        return text, 0
    return _DOOR_CODE.subn(rf"\g<before>{MARK}", text)


_RULES: tuple[Callable[[str], tuple[str, int]], ...] = (_mask_keys, _mask_cards, _mask_passwords, _mask_tokens, _mask_codes)
