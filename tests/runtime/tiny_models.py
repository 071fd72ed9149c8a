"""Chat models of a few hundred kilobytes with random weights in full precision, made on the spot: the same code paths in llama.cpp
as the real ones, and results so exact that a wrong cell or position shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

TEMPLATES = Path(__file__).parent / "templates"
WIDTH, HEADS, KEY_HEADS, HEAD_WIDTH, INNER = 64, 4, 2, 16, 96
CONTEXT = 2048
SLIDING_WINDOW = 32

NORMAL, CONTROL, USER_DEFINED, BYTE = (
    gguf.TokenType.NORMAL,
    gguf.TokenType.CONTROL,
    gguf.TokenType.USER_DEFINED,
    gguf.TokenType.BYTE,
)


@dataclass(frozen=True)
class Vocabulary:
    model: str
    tokens: Sequence[str]
    types: Sequence[int]
    merges: Sequence[str] = ()
    begin: int | None = None
    end: int = 0


def byte_level() -> Vocabulary:
    """One token a byte, two words for yes and no, ChatML and think tags: the shape of Qwen's."""
    normal = [*_byte_letters(), "ĠY", "ĠN"]
    special = [("<|endoftext|>", CONTROL), ("<|im_start|>", CONTROL), ("<|im_end|>", CONTROL)]
    special += [("<think>", USER_DEFINED), ("</think>", USER_DEFINED)]
    tokens = normal + [text for text, _ in special]
    types = [NORMAL] * len(normal) + [kind for _, kind in special]
    return Vocabulary("gpt2", tokens, types, merges=("Ġ Y", "Ġ N"), end=tokens.index("<|im_end|>"))


def sentence_pieces() -> Vocabulary:
    """Single letters with byte fallback and a begin token: the shape of Gemma's."""
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>", "<unused0>"]
    pieces = ["▁", "▁Y", "▁N", "\n", *map(chr, range(33, 127))]
    tokens = special + [f"<0x{byte:02X}>" for byte in range(256)] + pieces
    types = [CONTROL] * len(special) + [BYTE] * 256 + [NORMAL] * len(pieces)
    return Vocabulary("llama", tokens, types, begin=2, end=special.index("<end_of_turn>"))


def write_qwen3(path: Path, template: str | None = "qwen3.jinja") -> Path:
    return _write(path, "qwen3", byte_level(), layers=2, template=template)


def write_gemma3(path: Path, template: str | None = "gemma3.jinja") -> Path:
    """Seven layers: five with a sliding window, one without, one more with."""
    return _write(path, "gemma3", sentence_pieces(), layers=7, template=template)


def _write(path: Path, architecture: str, words: Vocabulary, layers: int, template: str | None) -> Path:
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_key_length(HEAD_WIDTH)
    writer.add_value_length(HEAD_WIDTH)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    if architecture == "gemma3":
        writer.add_sliding_window(SLIDING_WINDOW)
    _add_vocabulary(writer, words)
    if template:
        writer.add_chat_template((TEMPLATES / template).read_text("utf-8"))
    _add_tensors(writer, architecture, layers, len(words.tokens))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: gguf.GGUFWriter, words: Vocabulary) -> None:
    writer.add_tokenizer_model(words.model)
    writer.add_token_list(list(words.tokens))
    writer.add_token_types(list(words.types))
    writer.add_eos_token_id(words.end)
    writer.add_add_bos_token(words.begin is not None)
    writer.add_add_space_prefix(False)
    if words.begin is not None:
        writer.add_bos_token_id(words.begin)
    if words.model == "gpt2":
        writer.add_tokenizer_pre("qwen2")
        writer.add_token_merges(list(words.merges))
    else:
        writer.add_token_scores([0.0 if len(token) == 1 else 1.0 for token in words.tokens])


def _add_tensors(writer: gguf.GGUFWriter, architecture: str, layers: int, vocabulary: int) -> None:
    random = np.random.default_rng(7)

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(f"{name}.weight", random.normal(0, 1.5 / columns**0.5, (rows, columns)).astype(np.float32))

    def norm(name: str, width: int) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(width, dtype=np.float32))

    matrix("token_embd", vocabulary, WIDTH)
    norm("output_norm", WIDTH)
    for layer in (f"blk.{i}" for i in range(layers)):
        for name in ("attn_norm", "ffn_norm", *(("post_attention_norm", "post_ffw_norm") if architecture == "gemma3" else ())):
            norm(f"{layer}.{name}", WIDTH)
        norm(f"{layer}.attn_q_norm", HEAD_WIDTH)
        norm(f"{layer}.attn_k_norm", HEAD_WIDTH)
        matrix(f"{layer}.attn_q", HEADS * HEAD_WIDTH, WIDTH)
        matrix(f"{layer}.attn_k", KEY_HEADS * HEAD_WIDTH, WIDTH)
        matrix(f"{layer}.attn_v", KEY_HEADS * HEAD_WIDTH, WIDTH)
        matrix(f"{layer}.attn_output", WIDTH, HEADS * HEAD_WIDTH)
        matrix(f"{layer}.ffn_gate", INNER, WIDTH)
        matrix(f"{layer}.ffn_up", INNER, WIDTH)
        matrix(f"{layer}.ffn_down", WIDTH, INNER)


def _byte_letters() -> list[str]:
    """The letter byte-level tokenizers write for each byte, in the order of the bytes."""
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]
