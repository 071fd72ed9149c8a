"""Weights are found in the promised order, and a wrong file is named for what it is before llama.cpp sees it."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import pytest

from pgmem_local.errors import ModelFileError
from pgmem_local.runtime import model_files
from pgmem_local.runtime.model_files import find_embedder, find_model, pull_folder, search_folders
from pgmem_local.runtime.weights import registry
from pgmem_local.runtime.weights.checks import check_gguf, check_onnx, check_tokenizer
from pgmem_local.runtime.weights.checksums import Verdict, verify
from pgmem_local.runtime.weights.gguf import read_header
from pgmem_local.runtime.weights.registry import MODELS, HubSource, PackageSource, Standing, embedder, model_named
from tests.runtime.weight_files import CUT_HEADER, LFS_POINTER, Q8_0, WEB_PAGE, gguf, model

SMOLLM = "smollm2-135m-instruct-q4_1.gguf"


def complaint(path: Path) -> str:
    with pytest.raises(ModelFileError) as caught:
        check_gguf(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert "download it again" in message
    return message


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


class TestChecks:
    @pytest.mark.parametrize(
        ("content", "cause"),
        [
            (b"", "an empty file"),
            (WEB_PAGE, "a web page"),
            (b"\xef\xbb\xbf\r\n  <HTML>", "a web page"),
            (LFS_POINTER, "a git-lfs pointer"),
            (CUT_HEADER, "incomplete: 24 bytes"),
            (b"GG", "incomplete: 2 bytes"),
            (b"PK\x03\x04" + b"\0" * 60, "not a GGUF model file (no GGUF magic)"),
            (b'{"error": "not found"}', "not a GGUF model file"),
            (gguf(version=1), "not a GGUF model file (version 1"),
            (gguf(version=0x03000000), "not a GGUF model file (version 50331648"),
            (gguf(architecture="bert"), "architecture 'bert' is not a chat model"),
        ],
    )
    def test_wrong_content_is_named_in_one_line(self, tmp_path: Path, content: bytes, cause: str) -> None:
        assert cause in complaint(written(tmp_path / "m.gguf", content))

    def test_missing_file_is_named(self, tmp_path: Path) -> None:
        assert "no such file" in complaint(tmp_path / "m.gguf")

    def test_directory_is_named(self, tmp_path: Path) -> None:
        assert "a directory, not a model file" in complaint(tmp_path)

    def test_pipe_is_refused_without_waiting_for_a_writer(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "m.gguf")
        assert "not a regular file" in complaint(tmp_path / "m.gguf")

    @pytest.mark.parametrize("alignment", [None, 1024])
    @pytest.mark.parametrize("kind", [0, Q8_0])
    def test_whole_file_passes_and_one_byte_less_is_incomplete(self, tmp_path: Path, kind: int, alignment: int | None) -> None:
        content = gguf(kind=kind, alignment=alignment)
        assert check_gguf(written(tmp_path / "whole.gguf", content)).context_length == 2048
        cut = complaint(written(tmp_path / "cut.gguf", content[:-1]))
        assert f"incomplete: {len(content) - 1:,} of {len(content):,} bytes" in cut

    def test_cut_at_any_length_never_passes_and_never_crashes(self, tmp_path: Path) -> None:
        content = gguf(weights=32)
        for length in range(1, len(content)):
            complaint(written(tmp_path / "cut.gguf", content[:length]))

    def test_absurd_counts_end_at_once(self, tmp_path: Path) -> None:
        endless_values = b"GGUF" + struct.pack("<IQQ", 3, 2**62, 2**62) + b"\0" * 64
        endless_text = b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 2**63) + b"\0" * 64
        endless_list = b"GGUF" + struct.pack("<IQQQ", 3, 1, 1, 1) + b"k" + struct.pack("<IIQ", 9, 10, 2**63)
        for content in (endless_values, endless_text, endless_list):
            complaint(written(tmp_path / "m.gguf", content))

    def test_other_architecture_than_registered_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path / SMOLLM, gguf(architecture="qwen2").ljust(98_362_432, b"\0"))
        with pytest.raises(ModelFileError, match=r"architecture 'qwen2', but smollm2-135m is 'llama'.* pull smollm2-135m"):
            check_gguf(path, model_named("smollm2-135m"))

    def test_registered_model_is_measured_by_its_pinned_size(self, tmp_path: Path) -> None:
        path = written(tmp_path / SMOLLM, CUT_HEADER)
        with pytest.raises(ModelFileError, match=r"incomplete: 24 of 98,362,432 bytes; run `pgmem models pull smollm2-135m`"):
            check_gguf(path, model_named("smollm2-135m"))

    def test_header_tells_a_base_model_by_its_missing_chat_template(self, tmp_path: Path) -> None:
        header = read_header(written(tmp_path / "m.gguf", gguf("gemma3")))
        assert (header.architecture, header.has_chat_template) == ("gemma3", False)

    @pytest.mark.parametrize("content", [b"", WEB_PAGE, LFS_POINTER, b"PK", b"\x08short"])
    def test_wrong_onnx_file_is_refused(self, tmp_path: Path, content: bytes) -> None:
        path = written(tmp_path / "model.onnx", content)
        with pytest.raises(ModelFileError, match="pgmem models pull all-minilm-l6-v2"):
            check_onnx(path, embedder().files[0], embedder())

    @pytest.mark.parametrize("content", [b"", WEB_PAGE, LFS_POINTER, b'{"model": {', b"[]", b"{}", b"\xff\xfe"])
    def test_wrong_tokenizer_is_refused(self, tmp_path: Path, content: bytes) -> None:
        path = written(tmp_path / "tokenizer.json", content)
        with pytest.raises(ModelFileError, match="pgmem models pull all-minilm-l6-v2"):
            check_tokenizer(path, embedder())


class TestRegistry:
    def test_names_and_files_are_unique(self) -> None:
        names = [name for spec in MODELS for name in (spec.name, *spec.aliases)]
        files = [file.path for spec in MODELS for file in spec.files]
        assert len(set(names)) == len(names)
        assert len(set(files)) == len(files)

    def test_file_from_packages_always_has_a_pinned_hash(self) -> None:
        for spec in MODELS:
            for file in spec.files:
                assert file.sha256 or all(isinstance(source, HubSource) for source in file.sources)
                assert file.sha256 is None or len(file.sha256) == 64

    def test_packages_are_pinned_to_a_version(self) -> None:
        sources = [source for spec in MODELS for file in spec.files for source in file.sources]
        requirements = [text for source in sources if isinstance(source, PackageSource) for text in source.requirements]
        assert len(requirements) == 35
        assert all("==" in requirement for requirement in requirements)

    def test_recommended_chat_model_comes_first(self) -> None:
        assert MODELS[0].standing is Standing.RECOMMENDED


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """PGMEM_MODELS, a checkout's models/ and the user's folder, all under tmp_path."""
    chosen, checkout, user = tmp_path / "chosen", tmp_path / "checkout", tmp_path / "user"
    monkeypatch.setenv(model_files.ENVIRONMENT, str(chosen))
    monkeypatch.setattr(model_files, "_checkout_folder", lambda: checkout)
    monkeypatch.setattr(model_files, "_user_folder", lambda: user)
    return chosen, checkout, user


@pytest.fixture
def tiny_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry of two user models and, first in order, one for tests only."""
    specs = (
        model("probe.gguf", gguf(), standing=Standing.TEST_ONLY),
        model("big.gguf", gguf(weights=640), standing=Standing.RECOMMENDED),
        model("small.gguf", gguf(weights=64)),
    )
    monkeypatch.setattr(registry, "MODELS", specs)


Folders = tuple[Path, Path, Path]


class TestSearch:
    def test_order_is_chosen_folder_then_checkout_then_user_folder(self, folders: Folders) -> None:
        assert search_folders() == list(folders)

    def test_pull_writes_to_the_explicit_folder_or_the_first_of_the_order(self, folders: Folders, tmp_path: Path) -> None:
        assert pull_folder() == folders[0]
        assert pull_folder(tmp_path / "x") == tmp_path / "x"

    def test_checkout_folder_is_the_one_beside_the_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(model_files.ENVIRONMENT, raising=False)
        assert pull_folder() == Path(__file__).resolve().parents[2] / "models"

    @pytest.mark.usefixtures("tiny_models")
    def test_earlier_folder_wins(self, folders: Folders) -> None:
        for folder in folders[::-1]:
            path = written(folder / "big.gguf", gguf(weights=640))
            assert find_model("big").path == path

    @pytest.mark.usefixtures("tiny_models")
    def test_auto_is_the_best_installed_and_never_a_test_model(self, folders: Folders) -> None:
        written(folders[0] / "probe.gguf", gguf())
        with pytest.raises(ModelFileError):
            find_model()
        written(folders[0] / "small.gguf", gguf(weights=64))
        assert find_model().name == "small"
        written(folders[2] / "big.gguf", gguf(weights=640))
        assert find_model("auto").name == "big"
        assert find_model("probe").name == "probe"

    @pytest.mark.usefixtures("tiny_models")
    def test_nothing_installed_says_where_was_looked_and_what_to_run(self, folders: Folders) -> None:
        with pytest.raises(ModelFileError) as caught:
            find_model()
        for words in (*map(str, folders), "pgmem models pull auto"):
            assert words in str(caught.value)
        with pytest.raises(ModelFileError, match="pgmem models pull big"):
            find_model("big")

    @pytest.mark.usefixtures("tiny_models", "folders")
    def test_explicit_path_needs_no_registry(self, tmp_path: Path) -> None:
        path = written(tmp_path / "elsewhere" / "mine.gguf", gguf("qwen3"))
        found = find_model(path)
        assert (found.path, found.spec, found.name) == (path, None, "mine")

    @pytest.mark.usefixtures("tiny_models")
    def test_file_name_is_looked_up_in_the_folders(self, folders: Folders) -> None:
        path = written(folders[1] / "mine.gguf", gguf("qwen3"))
        assert find_model("mine.gguf").path == path

    @pytest.mark.usefixtures("tiny_models", "folders")
    def test_explicit_path_of_a_cut_registered_file_is_refused(self, tmp_path: Path) -> None:
        path = written(tmp_path / "big.gguf", gguf(weights=64))
        with pytest.raises(ModelFileError, match="incomplete"):
            find_model(str(path))

    @pytest.mark.usefixtures("folders")
    def test_mistyped_name_lists_the_known_ones(self) -> None:
        with pytest.raises(ModelFileError, match=r"no model is called 'qwen33'.*qwen3-1\.7b"):
            find_model("qwen33")

    @pytest.mark.usefixtures("folders")
    def test_embedder_is_no_chat_model(self, folders: Folders) -> None:
        install_embedder(folders[0])
        with pytest.raises(ModelFileError, match="not a chat model"):
            find_model("minilm")

    def test_embedder_is_found_as_two_files(self, folders: Folders) -> None:
        with pytest.raises(ModelFileError, match="pgmem models pull auto"):
            find_embedder()
        install_embedder(folders[1])
        found = find_embedder()
        assert found.network == folders[1] / "all-minilm-l6-v2" / "model.onnx"
        assert found.tokenizer == folders[1] / "all-minilm-l6-v2" / "tokenizer.json"

    def test_half_an_embedder_is_not_found(self, folders: Folders) -> None:
        install_embedder(folders[0])
        (folders[0] / "all-minilm-l6-v2" / "tokenizer.json").unlink()
        with pytest.raises(ModelFileError, match="pgmem models pull auto"):
            find_embedder()


def install_embedder(folder: Path) -> None:
    """Files that pass the checks of every start, which do not hash."""
    network = written(folder / "all-minilm-l6-v2" / "model.onnx", b"\x08\x07")
    os.truncate(network, embedder().files[0].size)
    written(folder / "all-minilm-l6-v2" / "tokenizer.json", json.dumps({"model": {}}).encode())


class TestVerify:
    def test_one_changed_byte_is_found(self, tmp_path: Path) -> None:
        content = gguf()
        spec = model("m.gguf", content)
        assert [result.verdict for result in verify(spec, tmp_path)] == [Verdict.MISSING]
        written(tmp_path / "m.gguf", content)
        assert [result.verdict for result in verify(spec, tmp_path)] == [Verdict.GOOD]
        written(tmp_path / "m.gguf", content[:-1] + b"\2")
        assert [result.verdict for result in verify(spec, tmp_path)] == [Verdict.WRONG]

    def test_file_without_any_known_hash_is_not_called_good(self, tmp_path: Path) -> None:
        written(tmp_path / "m.gguf", gguf())
        assert [result.verdict for result in verify(model("m.gguf", gguf(), pinned=False), tmp_path)] == [Verdict.UNKNOWN]

    def test_damaged_record_is_said_so(self, tmp_path: Path) -> None:
        written(tmp_path / "m.gguf", gguf())
        written(tmp_path / "checksums.json", b"[1]")
        with pytest.raises(ModelFileError, match=r"checksums\.json: damaged"):
            list(verify(model("m.gguf", gguf(), pinned=False), tmp_path))


@pytest.mark.models
def test_real_weights_are_found_and_hash_to_what_is_pinned() -> None:
    found = find_model("smollm2-135m")
    assert found.spec
    assert check_gguf(found.path, found.spec).context_length == found.spec.context
    assert {result.verdict for result in verify(found.spec, found.path.parent)} == {Verdict.GOOD}


@pytest.mark.models
def test_real_embedder_hashes_to_what_is_pinned() -> None:
    found = find_embedder()
    assert {result.verdict for result in verify(found.spec, found.network.parents[1])} == {Verdict.GOOD}
