"""Every secret here is made up for these tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.ingest.secrets import MARK, Masked, mask_secrets


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("The wifi password is Otter-41-Lake, note to self.", "Otter-41-Lake"),
        ("Password: swordfish", "swordfish"),
        ("My new password is swordfish.", "swordfish"),
        ("password = 'five small green horses'", "five small green horses"),
        ("db_password=hunter2", "hunter2"),
        ("New portal, new password, so I write it here because I forget: Kettle?Fox19. There.", "Kettle?Fox19"),
        ("I changed my password to Sunny42x yesterday", "Sunny42x"),
        ("Passwort: Apfel77!", "Apfel77"),
        ("Das Kennwort lautet Blau1Wal", "Blau1Wal"),
        ("密码是abc12345", "abc12345"),
        ('{"password": "hunter2x", "a": 1}', "hunter2x"),
        ("Door code for the yard, so that I get in at night: 4821#. Cold.", "4821"),
        ("my pin is 0042, I think", "0042"),
        ("PIN 90210", "90210"),
        ("The safe combination is 12-34-56.", "12-34-56"),
        ("export TOKEN=ghp_" + "a1" * 18, "a1a1"),
        ("key sk-proj-" + "x9" * 20, "x9x9"),
        ("AKIA" + "Z" * 16 + " for the bucket", "ZZZZ"),
        ("api_key: 'abcd1234efgh5678'", "abcd1234"),
        ("git clone https://kim:pa55word@example.org/x", "pa55word"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----", "MIIabc"),
        ("New card 5500 0055 5555 5559, exp 12/29", "5500 0055"),
        ("paid with 378282246310005 today", "378282246310005"),
        ("The card they gave me, a plain blue one, is 4000-0000-0000-0000", "4000-0000"),
        ("cvc 737", "737"),
    ],
)
def test_secret_is_taken_out_once_and_its_sentence_stays(text: str, secret: str) -> None:
    masked = mask_secrets(text)
    assert secret not in masked.text
    assert MARK in masked.text
    assert masked.count == 1
    assert masked.text.split(MARK)[0] == text[: len(masked.text.split(MARK)[0])]


@pytest.mark.parametrize(
    "text",
    [
        "I should pick a password manager one day.",
        "The password is wrong again.",
        "My password is expired.",
        "My password manager: KeeperNest2",
        "My password is too long to type.",
        "I forgot my password: had to reset it.",
        "Sent the password to anna@example.com",
        "He gave me the password to the garden house.",
        "Changed all passwords today. 14 of them, 2 hours.",
        "My parcel number is 5500 0055 5555 5550, it arrives on Monday.",
        "Call +43 660 123 45 67 89 01",
        '{"ts": 1767225600000, "text": 1767225600000000}',
        "A token of love: the ring",
        "Knocked down every pin: 300 points",
        "The postcard has ISBN 9783161484100 on it.",
        "sk-8 trainers",
        "Meet at 10:30, room 4821.",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask_secrets(text) == Masked(text, 0)


def test_card_and_its_check_code_are_one_secret() -> None:
    masked = mask_secrets("Card 5500 0055 5555 5559, exp 12/29, cvc 737.")
    assert masked.text == f"Card {MARK}, exp 12/29, cvc {MARK}."
    assert masked.count == 1


def test_several_secrets_are_counted() -> None:
    assert mask_secrets("password: Otter41x\nPIN 4821\nghp_" + "b" * 36).count == 3


@given(
    st.lists(
        st.sampled_from(["password", " is ", ": ", "Otter41x", "PIN", " ", "4821", "5500005555555559", '"', "\n", "card", MARK])
    )
)
def test_masking_twice_changes_nothing(parts: list[str]) -> None:
    once = mask_secrets("".join(parts))
    assert mask_secrets(once.text) == Masked(once.text, 0)
