"""The fields of one record of an export, each checked as it is taken. What is wrong with a record is `Damaged`, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

from pgmem_local.conversation import Moment

Choice = TypeVar("Choice", bound=Enum)


class Damaged(ValueError):
    """A record that cannot be what an export wrote. The reader adds the line, and makes an IngestError of it."""


class Fields:
    """Names and values of one JSON object. Further names are ignored: a later release of the same version may write them."""

    def __init__(self, values: object) -> None:
        if not isinstance(values, dict):
            raise Damaged("this is no JSON object")
        self._values: Mapping[str, Any] = values

    def _get(self, name: str, wanted: type | tuple[type, ...], what: str) -> Any:
        value = self._values.get(name)
        if name not in self._values or not isinstance(value, wanted) or (isinstance(value, bool) and bool not in _types(wanted)):
            raise Damaged(f"{name!r} should be {what}")
        return value

    def text(self, name: str) -> str:
        return _clean(self._get(name, str, "a text"))

    def text_or_none(self, name: str) -> str | None:
        value = self._get(name, (str, type(None)), "a text or null")
        return None if value is None else _clean(value)

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._get(name, list, "a list of texts")
        if not all(isinstance(one, str) for one in values):
            raise Damaged(f"{name!r} should be a list of texts")
        return tuple(_clean(one) for one in values)

    def flag(self, name: str) -> bool:
        return bool(self._get(name, bool, "true or false"))

    def number(self, name: str) -> int:
        value: int = self._get(name, int, "a whole number")
        if not 0 < value < 2**63:
            raise Damaged(f"{name!r} should be a whole number above 0")
        return value

    def probability(self, name: str) -> float:
        value = self._get(name, (int, float), "a number from 0 to 1")
        if not 0 <= value <= 1:
            raise Damaged(f"{name!r} should be a number from 0 to 1")
        return float(value)

    def choice(self, name: str, kind: type[Choice]) -> Choice:
        value = self._get(name, str, f"one of {', '.join(one.value for one in kind)}")
        try:
            return kind(value)
        except ValueError:
            raise Damaged(f"{name!r} should be one of {', '.join(one.value for one in kind)}") from None

    def moment(self, name: str) -> Moment | None:
        value = self.text_or_none(name)
        if value is None:
            return None
        try:
            return Moment.of(datetime.fromisoformat(value))
        except (ValueError, OverflowError):
            raise Damaged(f"{name!r} should be a time with its offset, such as 2026-03-01T12:00:00+01:00") from None

    def identifier(self, name: str, letters: str) -> str:
        return _identifier(name, self.text(name), letters)

    def identifier_or_none(self, name: str, letters: str) -> str | None:
        value = self.text_or_none(name)
        return None if value is None else _identifier(name, value, letters)

    def identifiers(self, name: str, letters: str) -> tuple[str, ...]:
        """One or more, each once."""
        found = tuple(dict.fromkeys(_identifier(name, one, letters) for one in self.texts(name)))
        if not found:
            raise Damaged(f"{name!r} is empty: there is nothing that this rests on")
        return found

    def objects(self, name: str) -> list[Fields]:
        """One or more objects."""
        values = self._get(name, list, "a list")
        if not values:
            raise Damaged(f"{name!r} is empty")
        return [Fields(one) for one in values]

    def counts(self, name: str, kind: type[Choice]) -> dict[Choice, int]:
        """How many there are of each of these kinds."""
        values = self._get(name, dict, "an object")
        known = {one.value: one for one in kind}
        if not all(one in known and type(number) is int for one, number in values.items()):
            raise Damaged(f"{name!r} should give a whole number for each kind of record")
        return {known[one]: number for one, number in values.items()}


def _types(wanted: type | tuple[type, ...]) -> tuple[type, ...]:
    return wanted if isinstance(wanted, tuple) else (wanted,)


def _identifier(name: str, value: str, letters: str) -> str:
    if not re.fullmatch(rf"[{letters}][1-9][0-9]{{0,17}}", value):
        raise Damaged(f"{name!r} should be an id such as {letters[0]}12, and is {value[:20]!r}")
    return value


def _clean(text: str) -> str:
    """Without what no export writes: NUL, which cuts a text short for SQLite's functions."""
    return text.replace("\0", "")
