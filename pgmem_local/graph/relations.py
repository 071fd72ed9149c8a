"""What people are to the user: "my sister", "flatmate". Pure. Which words are relations, which mean the same, and which one
person may bear together: a colleague may be a friend, but not the user's sister."""

from __future__ import annotations

_SAME = {
    "mom": "mother", "mum": "mother", "mummy": "mother", "mam": "mother", "mama": "mother", "dad": "father", "daddy": "father",
    "papa": "father", "roommate": "flatmate", "housemate": "flatmate", "bf": "boyfriend", "gf": "girlfriend", "hubby": "husband",
    "fiancee": "fiance", "fiancée": "fiance", "fiancé": "fiance", "coworker": "colleague", "co-worker": "colleague",
    "workmate": "colleague", "grandmother": "grandma", "granny": "grandma", "nan": "grandma", "gran": "grandma",
    "grandfather": "grandpa", "grandad": "grandpa", "granddad": "grandpa", "auntie": "aunt", "neighbor": "neighbour",
    "bestie": "friend", "mate": "friend", "pal": "friend", "buddy": "friend", "physiotherapist": "physio", "kid": "child",
    "pup": "dog", "puppy": "dog", "kitten": "cat", "bro": "brother", "sis": "sister",
}  # fmt: skip
_FAMILY = frozenset(
    """
    mother father sister brother daughter son child grandma grandpa aunt uncle cousin niece nephew stepmother stepfather stepsister
    stepbrother half-sister half-brother godmother godfather godson goddaughter mother-in-law father-in-law sister-in-law
    brother-in-law grandson granddaughter twin
    """.split()  # noqa: SIM905
)
_LOVE = frozenset("wife husband partner girlfriend boyfriend fiance spouse ex ex-wife ex-husband ex-girlfriend ex-boyfriend".split())  # noqa: SIM905
_WORK = frozenset(
    "boss manager supervisor colleague assistant apprentice mentor intern client customer employee teammate".split()  # noqa: SIM905
)
_OTHERS = frozenset(
    """
    friend neighbour flatmate landlord landlady tenant teacher tutor student coach trainer doctor dentist physio therapist hairdresser
    accountant lawyer babysitter nanny vet lodger classmate professor guide
    """.split()  # noqa: SIM905
)
PETS = frozenset("dog cat rabbit parrot hamster horse tortoise budgie goldfish guinea-pig bird snake pony ferret gecko".split())  # noqa: SIM905
_SEVERAL = frozenset(
    "friend neighbour colleague cousin aunt uncle niece nephew client customer student child classmate teammate employee".split()  # noqa: SIM905
)

RELATIONS = _FAMILY | _LOVE | _WORK | _OTHERS | PETS
WORDS = RELATIONS | _SAME.keys()


def relation_word(word: str) -> str | None:
    """The one word for a relation, or None where the word is none: mum -> mother."""
    folded = word.casefold()
    known = _SAME.get(folded, folded)
    return known if known in RELATIONS else None


def is_pet(relation: str | None) -> bool:
    return relation in PETS


def is_said_with_the(relation: str | None) -> bool:
    """Whether "the boss" means the user's own, as "my boss" does."""
    return relation in ("boss", "landlord", "landlady")


def is_the_only(relation: str) -> bool:
    """Whether "my …" mostly means one: my boss, but not my friend."""
    return relation in RELATIONS and relation not in _SEVERAL


def compatible(one: str | None, other: str | None) -> bool:
    """Whether one and the same person may be both."""
    if one is None or other is None or one == other or "friend" in (one, other):
        return True
    return any(one in group and other in group for group in (_LOVE, _WORK))
