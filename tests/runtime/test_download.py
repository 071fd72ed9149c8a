"""Pulls from a hub on 127.0.0.1 and from folders of tiny wheels: resumed, verified, renamed, and never half."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pgmem_local.errors import DownloadError, ModelFileError
from pgmem_local.runtime.weights import download, hub, packages, registry
from pgmem_local.runtime.weights.checksums import Verdict, verify
from pgmem_local.runtime.weights.download import Pulled, pull_all
from pgmem_local.runtime.weights.part_file import Done, PartFile
from pgmem_local.runtime.weights.progress import Progress
from pgmem_local.runtime.weights.registry import HubSource, ModelSpec, PackageSource, Standing
from tests.runtime.local_hub import LocalHub, local_hub
from tests.runtime.weight_files import WEB_PAGE, gguf, model, wheel

CONTENT = gguf(weights=40_000)
REPOSITORY = HubSource("maker/model-GGUF", "m.gguf")
Pull = Callable[[ModelSpec], Pulled]
ROOT = Path(__file__).resolve().parents[2]


class Heard:
    """A reporter that keeps what it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.steps: list[Progress] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def progress(self, progress: Progress) -> None:
        self.steps.append(progress)


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """A hub that holds m.gguf, and is the one asked."""
    with local_hub() as running:
        running.files["m.gguf"] = CONTENT
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        monkeypatch.setenv("no_proxy", "*")
        monkeypatch.setattr(hub, "PAUSE_SECONDS", 0.0)
        yield running


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is pip's only index."""
    links = tmp_path / "links"
    links.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return links


@pytest.fixture
def pip_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every requirement pip is asked for."""
    asked: list[str] = []
    real = subprocess.run

    def counted(command: list[str], **options: object) -> object:
        asked.append(command[-1])
        return real(command, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(packages.subprocess, "run", counted)
    return asked


@pytest.fixture
def pull(folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch) -> Pull:
    """Pulls one model, as the only one registered."""

    def pull_only(spec: ModelSpec) -> Pulled:
        monkeypatch.setattr(registry, "MODELS", (spec,))
        (pulled,) = pull_all([spec.name], folder, heard)
        return pulled

    return pull_only


def leftovers(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".pull.lock", "checksums.json"}


class TestHub:
    spec = model("m.gguf", CONTENT, REPOSITORY, pinned=False)

    def test_published_hash_is_checked_and_recorded(self, maker: LocalHub, folder: Path, pull: Pull) -> None:
        pulled = pull(self.spec)
        assert pulled.fetched
        assert pulled.paths[0].read_bytes() == CONTENT
        assert leftovers(folder) == {"m.gguf"}
        assert json.loads((folder / "checksums.json").read_text())["m.gguf"]["sha256"] == hashlib.sha256(CONTENT).hexdigest()
        assert [result.verdict for result in verify(self.spec, folder)] == [Verdict.GOOD]
        assert maker.requests[0] == ("HEAD", "/maker/model-GGUF/resolve/main/m.gguf", "")

    def test_second_pull_asks_nobody(self, maker: LocalHub, pull: Pull) -> None:
        pull(self.spec)
        maker.requests.clear()
        assert not pull(self.spec).fetched
        assert maker.requests == []

    def test_progress_ends_at_the_whole_file(self, maker: LocalHub, heard: Heard, pull: Pull) -> None:
        pull(self.spec)
        last = [step for step in heard.steps if step.file == "m.gguf"][-1]
        assert (last.done, last.total, last.fetched) == (len(CONTENT), len(CONTENT), len(CONTENT))
        assert last.rate > 0
        assert last.seconds_left == 0

    def test_other_bytes_than_published_are_deleted(self, maker: LocalHub, folder: Path, pull: Pull) -> None:
        maker.sends = CONTENT[:-1] + b"\2"
        with pytest.raises(DownloadError, match="other contents than expected"):
            pull(self.spec)
        assert leftovers(folder) == set()

    def test_hub_that_publishes_another_file_than_pinned_is_not_fetched(self, maker: LocalHub, pull: Pull) -> None:
        maker.published_hash = "0" * 64
        with pytest.raises(DownloadError, match=r"publishes another .* than the one known here"):
            pull(model("m.gguf", CONTENT, REPOSITORY))
        assert {method for method, _, _ in maker.requests} == {"HEAD"}

    def test_file_without_pinned_or_published_hash_is_refused(self, maker: LocalHub, pull: Pull) -> None:
        maker.publishes_hash = False
        with pytest.raises(DownloadError, match="publishes no SHA-256"):
            pull(self.spec)
        assert pull(model("m.gguf", CONTENT, REPOSITORY)).fetched

    def test_web_page_in_place_of_an_answer_is_named(self, maker: LocalHub, pull: Pull) -> None:
        maker.web_page = True
        with pytest.raises(DownloadError, match="answers with a web page"):
            pull(self.spec)

    def test_web_page_in_place_of_weights_is_named(self, maker: LocalHub, folder: Path, pull: Pull) -> None:
        maker.sends = WEB_PAGE
        with pytest.raises(DownloadError, match="sent a web page, not model weights"):
            pull(self.spec)
        assert "m.gguf" not in leftovers(folder)

    def test_published_file_that_is_no_model_is_deleted_again(self, maker: LocalHub, folder: Path, pull: Pull) -> None:
        maker.files["m.gguf"] = gguf("bert")
        with pytest.raises(DownloadError, match=r"deleted again: .*architecture 'bert', but m is 'llama'"):
            pull(self.spec)
        assert leftovers(folder) == set()

    def test_missing_file_on_the_hub_is_said_in_one_line(self, maker: LocalHub, pull: Pull) -> None:
        maker.files.clear()
        with pytest.raises(DownloadError, match="answers 404") as caught:
            pull(self.spec)
        assert "\n" not in str(caught.value)

    def test_hub_out_of_reach_is_said_in_one_line(self, monkeypatch: pytest.MonkeyPatch, pull: Pull) -> None:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
        monkeypatch.setenv("no_proxy", "*")
        with pytest.raises(DownloadError, match="cannot be reached") as caught:
            pull(self.spec)
        assert "\n" not in str(caught.value)

    def test_broken_connection_is_resumed_within_one_pull(self, maker: LocalHub, pull: Pull) -> None:
        maker.breaks_off_after = len(CONTENT) // 3 + 1
        assert pull(self.spec).paths[0].read_bytes() == CONTENT
        starts = [asked for method, path, asked in maker.requests if method == "GET" and path.startswith("/cdn/")]
        assert starts == [f"bytes={start}-" for start in (0, len(CONTENT) // 3 + 1, 2 * (len(CONTENT) // 3 + 1))]

    def test_broken_off_pull_is_resumed_by_the_next(
        self, maker: LocalHub, folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch, pull: Pull
    ) -> None:
        monkeypatch.setattr(hub, "ATTEMPTS", 1)
        maker.breaks_off_after = 50_000
        with pytest.raises(DownloadError, match="broke off"):
            pull(self.spec)
        assert leftovers(folder) == {"m.gguf.part", "m.gguf.part.json"}
        maker.breaks_off_after = None
        maker.requests.clear()
        assert pull(self.spec).paths[0].read_bytes() == CONTENT
        assert maker.requests[-1][2] == "bytes=50000-"
        assert leftovers(folder) == {"m.gguf"}
        resumed = [step for step in heard.steps if step.file == "m.gguf"][-1]
        assert resumed.fetched == len(CONTENT) - 50_000

    def test_part_of_an_older_publication_is_not_built_upon(self, maker: LocalHub, folder: Path, pull: Pull) -> None:
        part = PartFile(folder / "m.gguf")
        part.path.write_bytes(b"old")
        part.mark(Done("hub maker/model-GGUF m.gguf 0123"))
        assert pull(self.spec).paths[0].read_bytes() == CONTENT
        assert maker.requests[-1][2] == "bytes=0-"

    def test_server_without_range_starts_over(self, maker: LocalHub, monkeypatch: pytest.MonkeyPatch, pull: Pull) -> None:
        monkeypatch.setattr(hub, "ATTEMPTS", 1)
        maker.breaks_off_after = 50_000
        with pytest.raises(DownloadError):
            pull(self.spec)
        maker.breaks_off_after, maker.knows_range = None, False
        assert pull(self.spec).paths[0].read_bytes() == CONTENT


class TestPackages:
    source = PackageSource(("m-part1==1.0", "m-part2==1.0", "m-part3==1.0"), "*/data/*.bin")
    spec = model("m.gguf", CONTENT, source)

    def stock(self, wheels: Path, content: bytes = CONTENT, parts: tuple[int, ...] = (1, 2, 3)) -> None:
        for number in parts:
            piece = content[(number - 1) * 60_000 : number * 60_000]
            wheel(wheels, f"m_part{number}", f"data/part{number:02}.bin", piece)

    def test_parts_are_joined_in_order_and_wheels_removed(self, wheels: Path, folder: Path, pull: Pull) -> None:
        self.stock(wheels)
        assert pull(self.spec).paths[0].read_bytes() == CONTENT
        assert leftovers(folder) == {"m.gguf"}

    def test_missing_part_is_named_and_the_next_pull_goes_on_there(
        self, wheels: Path, folder: Path, pip_runs: list[str], pull: Pull
    ) -> None:
        self.stock(wheels, parts=(1, 2))
        with pytest.raises(DownloadError, match=r"pip could not fetch m-part3==1\.0: No matching distribution") as caught:
            pull(self.spec)
        assert "\n" not in str(caught.value)
        assert leftovers(folder) == {"m.gguf.part", "m.gguf.part.json"}
        with (folder / "m.gguf.part").open("ab") as part:
            part.write(b"half of a third part")
        self.stock(wheels, parts=(3,))
        pip_runs.clear()
        assert pull(self.spec).paths[0].read_bytes() == CONTENT
        assert pip_runs == ["m-part3==1.0"]

    def test_cut_part_file_is_started_over(self, wheels: Path, folder: Path, pip_runs: list[str], pull: Pull) -> None:
        self.stock(wheels, parts=(1, 2))
        with pytest.raises(DownloadError):
            pull(self.spec)
        (folder / "m.gguf.part").write_bytes(CONTENT[:70_000])
        self.stock(wheels, parts=(3,))
        pip_runs.clear()
        assert pull(self.spec).paths[0].read_bytes() == CONTENT
        assert len(pip_runs) == 3

    def test_other_contents_are_deleted(self, wheels: Path, folder: Path, pull: Pull) -> None:
        self.stock(wheels, CONTENT[:-1] + b"\2")
        with pytest.raises(DownloadError, match="other contents than expected"):
            pull(self.spec)
        assert leftovers(folder) == set()

    def test_more_contents_than_registered_are_not_written(self, wheels: Path, folder: Path, pull: Pull) -> None:
        wheel(wheels, "m_part1", "data/part01.bin", b"\0" * (len(CONTENT) + 1))
        with pytest.raises(DownloadError, match="holds more than"):
            pull(self.spec)
        assert PartFile(folder / "m.gguf").size == 0

    def test_package_with_other_files_is_said_so(self, wheels: Path, pull: Pull) -> None:
        wheel(wheels, "m_part1", "weights.bin", CONTENT)
        with pytest.raises(DownloadError, match=r"has 0 files like \*/data/\*\.bin"):
            pull(self.spec)

    def test_file_inside_a_zip_inside_a_wheel_is_reached(self, wheels: Path, tmp_path: Path, pull: Pull) -> None:
        wheel(tmp_path / "inner", "inside", "m.gguf", CONTENT)
        wheel(wheels, "outer", "model.zip", next((tmp_path / "inner").iterdir()).read_bytes())
        spec = model("m.gguf", CONTENT, PackageSource(("outer==1.0",), "*/model.zip", "inside/m.gguf"))
        assert pull(spec).paths[0].read_bytes() == CONTENT

    def test_next_source_is_tried_and_the_reason_said(self, maker: LocalHub, wheels: Path, heard: Heard, pull: Pull) -> None:
        spec = model("m.gguf", CONTENT, self.source, REPOSITORY)
        assert pull(spec).fetched
        assert "pip could not fetch m-part1==1.0" in heard.lines[-1]
        assert "maker/model-GGUF" in heard.lines[-1]


class TestAutomatic:
    @pytest.fixture(autouse=True)
    def three_models(self, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The recommended one on the hub; the fallback and the embedder in packages."""
        for name in ("fallback", "embedder"):
            wheel(wheels, name, f"data/{name}.gguf", gguf(weights=len(name)))
        best = model("m.gguf", CONTENT, REPOSITORY, pinned=False, standing=Standing.RECOMMENDED)
        embedder = self.packaged("embedder", Standing.OPTIONAL)
        monkeypatch.setattr(registry, "MODELS", (best, self.packaged("fallback", Standing.FALLBACK), embedder))
        monkeypatch.setattr(download, "embedder", lambda: embedder)

    def packaged(self, name: str, standing: Standing) -> ModelSpec:
        source = PackageSource((f"{name}==1.0",), "*/data/*.gguf")
        return model(f"{name}.gguf", gguf(weights=len(name)), source, standing=standing)

    def test_auto_takes_the_recommended_model_and_the_embedder(self, maker: LocalHub, folder: Path, heard: Heard) -> None:
        assert [pulled.spec.name for pulled in pull_all(["auto"], folder, heard)] == ["m", "embedder"]

    def test_auto_falls_back_where_the_hub_is_out_of_reach_and_says_so(
        self, folder: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{closed_port()}")
        monkeypatch.setenv("no_proxy", "*")
        assert [pulled.spec.name for pulled in pull_all(["auto"], folder, heard)] == ["fallback", "embedder"]
        assert any("m (recommended) is out of reach" in line for line in heard.lines)
        assert any("taking fallback instead" in line for line in heard.lines)

    def test_second_auto_keeps_what_the_first_chose_and_asks_nobody(
        self, maker: LocalHub, folder: Path, heard: Heard, pip_runs: list[str]
    ) -> None:
        maker.web_page = True
        pull_all(["auto"], folder, heard)
        maker.requests.clear()
        pip_runs.clear()
        assert not any(pulled.fetched for pulled in pull_all(["auto"], folder, heard))
        assert (maker.requests, pip_runs) == ([], [])
        assert any("`pgmem models pull m` gets the recommended one" in line for line in heard.lines)

    def test_auto_without_any_source_gives_every_reason(self, maker: LocalHub, wheels: Path, folder: Path, heard: Heard) -> None:
        maker.web_page = True
        for path in wheels.iterdir():
            path.unlink()
        with pytest.raises(DownloadError, match=r"no chat model can be reached.*web page.*pip could not fetch fallback"):
            pull_all(["auto"], folder, heard)

    def test_unknown_name_is_refused_before_anything_is_pulled(self, maker: LocalHub, folder: Path, heard: Heard) -> None:
        with pytest.raises(ModelFileError, match="no model is called 'nonsense'"):
            pull_all(["auto", "nonsense"], folder, heard)
        assert maker.requests == []


class TestFolder:
    def test_right_file_put_there_by_hand_is_checked_once_and_kept(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, pull: Pull
    ) -> None:
        folder.mkdir()
        (folder / "m.gguf").write_bytes(CONTENT)
        assert not pull(model("m.gguf", CONTENT)).fetched
        monkeypatch.setattr(download, "sha256_of", None)
        assert not pull(model("m.gguf", CONTENT)).fetched

    @pytest.mark.parametrize("bad", [b"", WEB_PAGE, CONTENT[:-1], CONTENT[:-1] + b"\2"])
    def test_bad_file_is_replaced(self, maker: LocalHub, folder: Path, heard: Heard, bad: bytes, pull: Pull) -> None:
        folder.mkdir()
        (folder / "m.gguf").write_bytes(bad)
        assert pull(model("m.gguf", CONTENT, REPOSITORY)).paths[0].read_bytes() == CONTENT
        assert any("replacing a bad file" in line for line in heard.lines)

    def test_pulled_file_swapped_for_another_is_noticed(self, maker: LocalHub, folder: Path, pull: Pull) -> None:
        spec = model("m.gguf", CONTENT, REPOSITORY, pinned=False)
        pull(spec)
        (folder / "m.gguf").write_bytes(gguf(weights=50_000))
        assert pull(spec).paths[0].read_bytes() == CONTENT

    def test_folder_in_place_of_the_file_is_left_alone(self, folder: Path, pull: Pull) -> None:
        (folder / "m.gguf").mkdir(parents=True)
        with pytest.raises(ModelFileError, match="a directory, not a model file"):
            pull(model("m.gguf", CONTENT, REPOSITORY))

    def test_folder_that_is_a_file_is_said_so(self, folder: Path, pull: Pull) -> None:
        folder.write_text("no folder")
        with pytest.raises(ModelFileError, match="choose another folder with --dir"):
            pull(model("m.gguf", CONTENT, REPOSITORY))

    def test_full_disk_is_seen_before_the_download(self, maker: LocalHub, monkeypatch: pytest.MonkeyPatch, pull: Pull) -> None:
        monkeypatch.setattr(download, "SPARE_BYTES", 10**18)
        with pytest.raises(ModelFileError, match="GB free; make room"):
            pull(model("m.gguf", CONTENT, REPOSITORY))
        assert maker.requests == []


def test_script_runs_from_a_bare_checkout_with_the_standard_library_alone(tmp_path: Path) -> None:
    """-S hides site-packages; the model is already there, so no source is asked."""
    command = [sys.executable, "-S", str(ROOT / "scripts" / "download_models.py"), "--dir", str(tmp_path), "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no model is called 'nonsense'")
    assert "Traceback" not in done.stderr


def test_finding_models_loads_nothing_that_could_open_a_socket() -> None:
    code = (
        "import sys, pgmem_local.runtime.model_files, pgmem_local.runtime.weights.download;"
        "assert not {'urllib.request', 'http.client', 'socket', 'subprocess'} & set(sys.modules), sorted(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
