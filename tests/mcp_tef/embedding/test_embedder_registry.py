"""Embedders on this machine: found at once, without a network, or refused with a reason."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.embedding.embedder_registry import EmbedderRegistry
from mcp_tef.embedding.local_embedder import FOLDER_VARIABLE, FastembedEmbedder, best_local_embedder, home_of
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind, parse_embedder

DEFAULT = EmbedderChoice(EmbedderKind.FASTEMBED)


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[EmbedderRegistry]:
    found = EmbedderRegistry({}, tmp_path)
    yield found
    await found.close()


async def test_on_a_bare_machine_words_are_compared(shelf: EmbedderRegistry, tmp_path: Path) -> None:
    embedder = await shelf.best()
    assert embedder.name == "tfidf"
    assert (await embedder.embed(["get user", "delete user"])).shape[0] == 2
    assert _content(tmp_path) == []


async def test_a_model_that_is_not_here_is_an_error_that_says_how_to_get_it(shelf: EmbedderRegistry) -> None:
    with pytest.raises(EmbeddingError) as raised:
        await shelf.find(DEFAULT)
    assert raised.value.message == "The embedding model BAAI/bge-small-en-v1.5 is not on this machine."
    assert raised.value.hint.startswith("Put model.onnx, tokenizer.json and the other files of a model that you trust")
    assert not shelf.can_download("")


async def test_a_folder_without_a_model_is_an_error_at_once(shelf: EmbedderRegistry, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="folder:nothing-here cannot be used"):
        await shelf.find(parse_embedder(f"folder:{tmp_path / 'nothing-here'}"))


@pytest.mark.parametrize("folder", ["", "  ", "/nowhere/at/all"])
async def test_a_folder_that_was_named_in_vain_leaves_the_best_of_the_rest(folder: str, tmp_path: Path) -> None:
    shelf = EmbedderRegistry({FOLDER_VARIABLE: folder}, tmp_path)
    assert (await shelf.best()).name == "tfidf"
    _put_model(home_of(tmp_path / "models", "BAAI/bge-small-en-v1.5"), "model_optimized.onnx")
    assert (await shelf.best()).name == "fastembed:BAAI/bge-small-en-v1.5"


async def test_the_folder_that_was_named_comes_first(tmp_path: Path) -> None:
    _put_model(tmp_path / "mine", "model.onnx")
    _put_model(home_of(tmp_path / "models", "BAAI/bge-small-en-v1.5"), "model_optimized.onnx")
    shelf = EmbedderRegistry({FOLDER_VARIABLE: str(tmp_path / "mine")}, tmp_path)
    assert (await shelf.best()).name == "folder:mine"


async def test_the_bundled_model_is_found_where_no_other_is_and_by_its_name(tmp_path: Path) -> None:
    _put_model(tmp_path / "bundled", "model.onnx")
    shelf = EmbedderRegistry({}, tmp_path, tmp_path / "bundled")
    bundled = await shelf.best()
    assert bundled.name == "fastembed:sentence-transformers/all-MiniLM-L6-v2"
    assert await shelf.find(parse_embedder(bundled.name)) is bundled
    _put_model(home_of(tmp_path / "models", "BAAI/bge-small-en-v1.5"), "model_optimized.onnx")
    assert (await shelf.best()).name == "fastembed:BAAI/bge-small-en-v1.5"


async def test_a_model_is_handed_out_once_and_shared(shelf: EmbedderRegistry, tmp_path: Path) -> None:
    _put_model(home_of(tmp_path / "models", "BAAI/bge-small-en-v1.5"), "model_optimized.onnx")
    assert await shelf.find(DEFAULT) is await shelf.find(DEFAULT)
    assert await shelf.find(DEFAULT) is await shelf.best()


async def test_a_broken_model_is_an_error_in_words_when_it_is_used(shelf: EmbedderRegistry, tmp_path: Path) -> None:
    _put_model(tmp_path / "broken", "model.onnx")
    embedder = await shelf.find(EmbedderChoice(EmbedderKind.FOLDER, str(tmp_path / "broken")))
    with pytest.raises(EmbeddingError, match="folder:broken cannot be used"):
        await embedder.embed(["text"])


def _put_model(folder: Path, file: str) -> None:
    folder.mkdir(parents=True)
    (folder / file).write_bytes(b"weights")


def _content(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


ROOT = Path(__file__).parents[3]


async def test_a_model_that_is_not_on_the_machine_is_an_error(tmp_path: Path) -> None:
    embedder = FastembedEmbedder(cache=tmp_path)
    error = await _fails(embedder)
    assert error.message.startswith("The embedding model fastembed:BAAI/bge-small-en-v1.5 cannot be used")
    assert "tfidf" in error.hint


async def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    error = await _fails(FastembedEmbedder(folder=folder))
    assert "folder:my-model" in error.message


async def test_a_broken_model_is_an_error_and_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (tmp_path / name).write_text("{}", "utf-8")
    await _fails(FastembedEmbedder(folder=tmp_path))


async def test_without_any_model_there_is_none_to_choose(tmp_path: Path) -> None:
    assert await best_local_embedder({}, tmp_path / "never-made") is None
    assert await best_local_embedder({FOLDER_VARIABLE: " "}, tmp_path / "never-made") is None
    (tmp_path / "models--someone--something").mkdir()
    assert await best_local_embedder({}, tmp_path) is None


async def test_a_folder_that_was_named_and_is_unusable_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError):
        await best_local_embedder({FOLDER_VARIABLE: str(tmp_path)}, tmp_path)


def test_loading_what_runs_models_marks_no_machine_and_reports_to_nobody(tmp_path: Path) -> None:
    load = "from mcp_tef.embedding.local_embedder import load_fastembed; load_fastembed()"
    surroundings = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-B", "-c", load], env=surroundings, check=True)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


async def test_a_bundled_model_that_is_broken_is_none_to_choose(tmp_path: Path) -> None:
    bundled = tmp_path / "bundled"
    bundled.mkdir()
    assert await best_local_embedder({}, tmp_path / "never-made", bundled) is None


async def _fails(embedder: FastembedEmbedder) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as raised:
        await embedder.embed(["text"])
    return raised.value
