from __future__ import annotations

import pytest

from pgmem_local.doctor.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tea is in the blue cup, and it was not cold.", "en"),
        ("Ich war nicht zu Hause, und der Tee ist kalt.", "de"),
        ("Je ne bois pas de thé avec ma soeur.", "fr"),
        ("No me gusta el café, y la leche es para ti.", "es"),
        ("Non mi piace il caffè, ma la torta è per te.", "it"),
        ("Eu não gosto de café com a minha irmã.", "pt"),
        ("Ik ben niet thuis en het is een mooie dag.", "nl"),
        ("我不喜欢咖啡", "cjk"),
        ("コーヒーは好きじゃない", "cjk"),
        ("Я не люблю кофе", "cyrillic"),
        ("אני לא אוהב קפה", "hebrew"),
    ],
)
def test_language_shows_in_script_or_small_words(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "12:30", "Graz, Linz", "Imani", "jasmine tea", "🍵🍵"])
def test_what_is_not_clear_is_no_guess(text: str) -> None:
    assert language_of(text) is None
