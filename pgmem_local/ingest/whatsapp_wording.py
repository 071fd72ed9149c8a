"""What WhatsApp itself writes into a chat, told from what people write: system lines, placeholders for media, marks of edits.

The wording follows the phone's language. Most of it is known by its form (an invisible mark before it on iOS, angle brackets on
Android); the rest by its words in the languages below. What is left out is counted, never dropped without a word.
"""

from __future__ import annotations

import re

from pgmem_local.ingest.whatsapp_dates import MARKS

SYSTEM = "a line of WhatsApp's own (who joined, calls, encryption)"
MEDIA = "a picture, recording or file without words"
DELETED = "a deleted message"

_LONGEST_NAME = 100
_QUOTE = re.compile('["“”„«»「」]')
_OWN_MARK = "\u200e"
_INVISIBLE = re.compile(f"[{MARKS}]")

_OWN_END = re.compile(
    rf"(?<=\S)\s*{_OWN_MARK}<[^<>\n]{{3,200}}>\s*$"  # iOS, in any language: edits, and a picture after the words under it
    r"|(?<=\S)\s*<(?:this message was edited|diese nachricht wurde bearbeitet|se editó este mensaje|este mensaje fue editado"
    r"|mensagem editada"
    r"|ce message a été modifié|questo messaggio è stato modificato|dit bericht is bewerkt|meddelandet redigerades"
    r"|это сообщение изменено|сообщение изменено|bu mesaj düzenlendi)[.]?>\s*$",
    re.IGNORECASE,
)
_OMITTED = re.compile(
    r"<[^<>\n]{2,99}[ \u00a0:][^<>\n]{2,99}>"  # <Media omitted>, <attached: FILE>
    r"|(?:image|video|audio|gif|sticker|document|video note|voice message|contact card) omitted"
    r"|(?:bild|video|audio|gif|sticker|dokument|kontaktkarte|videonachricht) (?:weggelassen|utelämnad|utelämnat|utelatt|udeladt)"
    r"|(?:imagen|vídeo|video|audio|gif|sticker|documento|tarjeta de contacto) omitid[ao]"
    r"|(?:image|vidéo|audio|gif|sticker|document|fiche contact) (?:absente?|omise?)"
    r"|(?:imagem|vídeo|áudio|gif|figurinha|documento|cartão do contato) (?:ocultad[ao]|omitid[ao]|ocult[ao]|não revelad[ao])"
    r"|(?:immagine|video|audio|gif|sticker|documento|scheda contatto) omess[ao]"
    r"|(?:afbeelding|video|audio|gif|sticker|document|contactkaart) weggelaten"
    r"|null",
    re.IGNORECASE,
)
_ATTACHED = re.compile(r"[^\n]{0,200}[.]\w{2,5} \([^()\n]{3,40}\)")  # IMG-20250330-WA0001.jpg (Datei angehängt)
_FILE_NAME = re.compile(r"[^\n]{1,200}[.](?=\w*[a-z])\w{2,5}")
_CALL = re.compile(
    r"(?:missed )?(?:group )?(?:voice|video) call\b.{0,60}|verpasste[rs]? (?:sprach|video)anruf.{0,40}|llamada perdida.{0,40}"
    r"|videollamada perdida.{0,40}|appel (?:vocal|vidéo) manqué.{0,40}|live location shared|waiting for this message.{0,80}",
    re.IGNORECASE,
)
_DELETED = re.compile(
    r"(?:this message was deleted|you deleted this message|message deleted|"
    r"diese nachricht wurde gelöscht|du hast diese nachricht gelöscht|se eliminó este mensaje|eliminaste este mensaje|"
    r"este mensaje fue eliminado|ce message a été supprimé|vous avez supprimé ce message|(?:esta )?mensagem (?:foi )?apagada|"
    r"você apagou esta mensagem|questo messaggio è stato eliminato|hai eliminato questo messaggio|dit bericht is verwijderd|"
    r"je hebt dit bericht verwijderd|(?:det här )?meddelandet (?:har tagits bort|raderades)|"
    r"du (?:tog bort|raderade) (?:det här )?meddelandet|"
    r"(?:это |данное )?сообщение удалено|вы удалили (?:это )?сообщение|bu mesaj silindi|bu mesajı sildiniz|"
    r"ta wiadomość została usunięta|usunięto tę wiadomość)[.。]?",
    re.IGNORECASE,
)
_POLL = re.compile(r"[^\W\d_]{3,15}:\n")
_VOTES = re.compile(r"^([^\W\d_]{2,15}: .*) \(\d+ [^()\d]{2,20}\)$", re.MULTILINE)


def sender_and_text(line: str, known: frozenset[str] = frozenset()) -> tuple[str, str] | None:
    """The name and the words after a stamp; None for a system line, which has no "Name: "."""
    first, end, rest = line.partition("\n")
    name, colon, text = first.partition(": ")
    if not colon:
        name, colon, text = first.partition(":")
        if not colon or (text and visible(name) not in known):
            return None
    name = visible(name)
    if not name or len(name) > _LONGEST_NAME or _QUOTE.search(name):  # Nora changed the subject to “Trip: Oslo”
        return None
    return name, text + end + rest


def visible(name: str) -> str:
    """A name without invisible marks. "~" stays before one that a stranger gave themselves: it may be the owner's."""
    return re.sub(r"^~\s*", "~", " ".join(_INVISIBLE.sub("", name).split()))


def words_of(text: str, bracketed: bool) -> tuple[str, str | None]:
    """What the sender wrote, without marks of WhatsApp's; where that is nothing, why."""
    text = _OWN_END.sub("", text)
    if bracketed and text.startswith(_OWN_MARK):
        return _marked(text)
    first, _, rest = text.partition("\n")
    first = _INVISIBLE.sub("", first).strip()
    if _OMITTED.fullmatch(first) or _ATTACHED.fullmatch(first):
        return _caption(rest)
    if _CALL.fullmatch(first) and not rest:
        return "", SYSTEM
    if _DELETED.fullmatch(first) and not rest:
        return "", DELETED
    return (_without_votes(text) if _POLL.match(text) else _before_attachment(text, bracketed)), None


def _marked(text: str) -> tuple[str, str | None]:
    """iOS sets an invisible mark before all that is WhatsApp's own."""
    plain = _INVISIBLE.sub("", text).strip()
    first, _, rest = plain.partition("\n")
    if _DELETED.fullmatch(first):
        return "", DELETED
    if _POLL.match(plain):
        return _without_votes(plain), None
    if _OMITTED.fullmatch(first):
        return _caption(rest)
    return "", MEDIA if _OMITTED.search(plain) else SYSTEM


def _caption(rest: str) -> tuple[str, str | None]:
    """Words under a picture are the sender's; the name of a file is not."""
    rest = rest.strip()
    return ("", MEDIA) if not rest or _FILE_NAME.fullmatch(rest) else (rest, None)


def _before_attachment(text: str, bracketed: bool) -> str:
    """iOS writes words under a picture before it, and an invisible mark between."""
    words, mark, own = text.rpartition(_OWN_MARK)
    return words if bracketed and mark and _OMITTED.fullmatch(own.strip()) else text


def _without_votes(poll: str) -> str:
    """A poll as it was asked: votes change from export to export."""
    return _VOTES.sub(r"\1", poll)
