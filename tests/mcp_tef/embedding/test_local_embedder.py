"""Embedding models that are on the machine, or are not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tef.embedding.embedder_registry import FOLDER_VARIABLE, best_local_embedder
from mcp_tef.embedding.local_embedder import FastembedEmbedder
from mcp_tef.errors import EmbeddingError

ROOT = Path(__file__).parents[3]


async def test_a_model_that_is_not_on_the_machine_is_an_error(tmp_path: Path) -> None:
    embedder = FastembedEmbedder(cache=tmp_path)
    error = await _fails(embedder)
    assert error.message.startswith("The embedding model fastembed:BAAI/bge-small-en-v1.5 cannot be used")
    assert "TF-IDF" in error.hint


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
