from __future__ import annotations

import pytest

from pgmem_local.sentences import sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I swim. Every day! Why?", ["I swim.", "Every day!", "Why?"]),
        ('He said "I am king." Then we ate.', ['He said "I am king."', "Then we ate."]),
        ('(She said: "No.") I left.', ['(She said: "No.")', "I left."]),
        ("Mr. Berg and Dr. Roy came. I hid.", ["Mr. Berg and Dr. Roy came.", "I hid."]),
        ("one\n\ntwo\u2028 three", ["one", "two three"]),
        ("我喝咖啡。我坐火车！", ["我喝咖啡。", "我坐火车！"]),
        ("It cost 3.50 at no. 7 …  Fine.", ["It cost 3.50 at no.", "7 …", "Fine."]),
        ("… !! ", []),
        ("", []),
    ],
)
def test_text_is_parted_where_a_sentence_ends(text: str, found: list[str]) -> None:
    assert sentences(text) == found
