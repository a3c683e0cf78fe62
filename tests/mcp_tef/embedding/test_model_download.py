"""Fetching an embedding model from a hub: watched, cancelled, and never half there."""

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.embedding.embedder_registry import EmbedderRegistry
from mcp_tef.embedding.local_embedder import home_of
from mcp_tef.embedding.model_download import PINNED, HubModel, ModelDownload, known_model
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from tests.support.model_hub import Hub, pinned, serving

MODEL = "BAAI/bge-small-en-v1.5"
CHOICE = EmbedderChoice(EmbedderKind.FASTEMBED, MODEL)
WEIGHTS = bytes(range(256)) * 12_000
FILES = {"model_optimized.onnx": WEIGHTS, "config.json": b"{}", "tokenizer.json": b'{"a": 1}'}
PINS = {MODEL: pinned(FILES)}


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    async with serving(Hub(FILES)) as found:
        yield found


async def test_a_fetched_model_can_be_found_from_then_on(hub: Hub, tmp_path: Path) -> None:
    shelf = _shelf(hub, tmp_path)
    with pytest.raises(EmbeddingError):
        await shelf.find(CHOICE)
    await shelf.download(MODEL, _unheard)
    assert (await shelf.find(CHOICE)).name == f"fastembed:{MODEL}"
    assert _content(home_of(tmp_path / "models", MODEL)) == FILES
    await shelf.close()


async def test_progress_rises_to_the_whole(hub: Hub, tmp_path: Path) -> None:
    heard: list[float] = []
    await _shelf(hub, tmp_path).download(MODEL, heard.append)
    assert heard == sorted(heard)
    assert len(heard) >= 2
    assert heard[-1] == pytest.approx(1.0, abs=0.01)
    assert all(0 < share <= 1 for share in heard)


async def test_cancelling_leaves_nothing_behind(hub: Hub, tmp_path: Path) -> None:
    shelf = _shelf(hub, tmp_path)
    heard: list[float] = []

    def stop(share: float) -> None:
        heard.append(share)
        task.cancel()

    task = asyncio.ensure_future(shelf.download(MODEL, stop))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 0 < max(heard) < 1
    assert _content(tmp_path) == {}
    with pytest.raises(EmbeddingError):
        await shelf.find(CHOICE)


@pytest.mark.parametrize(
    ("hub_with", "reason"),
    [
        *(
            (Hub(FILES, damaged=frozenset({name})), f"{name} is not the file")
            for name in FILES
            if name != "config.json"
        ),
        (Hub(FILES | {"config.json": b"{ }"}), "config.json is not the file that mcp-tef knows by its hash"),
        (Hub({name: body for name, body in FILES.items() if name != "config.json"}), "answered with HTTP 404"),
    ],
)
async def test_what_is_not_whole_is_an_error_and_leaves_nothing(hub_with: Hub, reason: str, tmp_path: Path) -> None:
    async with serving(hub_with) as hub:
        error = await _fails(_shelf(hub, tmp_path))
    assert reason in error.message
    assert error.message.startswith(f"The embedding model {MODEL} could not be fetched: ")
    assert error.hint
    assert _content(tmp_path) == {}


async def test_a_fetch_that_fails_keeps_the_model_that_was_there(hub: Hub, tmp_path: Path) -> None:
    await _shelf(hub, tmp_path).download(MODEL, _unheard)
    async with serving(Hub(FILES, damaged=frozenset({"tokenizer.json", "model_optimized.onnx"}))) as broken:
        await _fails(_shelf(broken, tmp_path))
    assert (home_of(tmp_path / "models", MODEL) / "model_optimized.onnx").read_bytes() == WEIGHTS


async def test_a_hub_that_is_not_there_is_named(tmp_path: Path) -> None:
    async with serving(Hub(FILES)) as gone:
        pass
    error = await _fails(_shelf(gone, tmp_path))
    assert f"{gone.url.removeprefix('http://')} cannot be reached" in error.message


async def test_a_silent_hub_is_given_up(tmp_path: Path) -> None:
    async with serving(Hub(FILES, silent=True)) as hub:
        with pytest.raises(EmbeddingError, match=r"said nothing for 0\.2 seconds"):
            await ModelDownload(hub.url, known_model(MODEL), _unheard, patience=0.2, pins=PINS).into(tmp_path / "model")


async def test_a_model_that_fastembed_does_not_have_is_named_without_asking_anyone(hub: Hub, tmp_path: Path) -> None:
    error = await _fails(_shelf(hub, tmp_path), "someone/nothing")
    assert error.message == "fastembed has no model called someone/nothing."
    assert hub.asked == []


def test_models_are_known_however_they_are_cased() -> None:
    assert known_model(MODEL.upper()) == known_model(MODEL)
    assert home_of(Path("a"), MODEL.upper()) == home_of(Path("a"), MODEL)


def _shelf(hub: Hub, folder: Path) -> EmbedderRegistry:
    return EmbedderRegistry({"HF_ENDPOINT": hub.url}, folder, pins=PINS)


async def _fails(shelf: EmbedderRegistry, model: str = MODEL) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as raised:
        await shelf.download(model, _unheard)
    return raised.value


def _content(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def _unheard(share: float) -> None:
    """For whoever does not watch."""


async def test_plain_http_to_another_machine_is_not_asked(tmp_path: Path) -> None:
    download = ModelDownload("http://hub.example", HubModel(MODEL, "a/b"), lambda _: None, pins=PINS)
    with pytest.raises(EmbeddingError, match="not asked over https"):
        await download.into(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


async def test_a_model_without_hashes_of_ours_is_not_fetched(hub: Hub, tmp_path: Path) -> None:
    error = await _fails(EmbedderRegistry({"HF_ENDPOINT": hub.url}, tmp_path))
    assert (hub.asked, _content(tmp_path)) == ([], {})
    assert "no hashes to check its files by" in error.message
    assert "folder:DIR" in error.hint


def test_every_pin_names_a_commit_and_all_bytes_of_each_file() -> None:
    for model in (*PINNED.values(), *PINS.values()):
        hashes = [file.sha256 for file in model.files.values()]
        assert re.fullmatch("[0-9a-f]{40}", model.commit)
        assert all(re.fullmatch("[0-9a-f]{64}", one) for one in hashes)
        assert "tokenizer.json" in model.files
