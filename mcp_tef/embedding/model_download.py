"""Download of a fastembed model, file by file, into a folder that appears only when it is complete.

`huggingface_hub.snapshot_download` would not do: it checks no content against its hash (huggingface_hub#3643, #2364),
an interrupted download can pass for a whole one (#3371), and it runs in threads that cannot be cancelled.
"""

import hashlib
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from mcp_tef.embedding.local_embedder import load_fastembed
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.addresses import is_loopback
from mcp_tef.model.json import loads_bounded
from mcp_tef.ports import Progress
from mcp_tef.trust.files import make_private_folder, remove_folder, rename, replaced_file

USUAL_HUB = "https://huggingface.co"
HUB_VARIABLE = "HF_ENDPOINT"
SILENT_SECONDS = 30.0
CHUNK_BYTES = 1024 * 1024
MOST_LISTING_BYTES = 16 * 1024 * 1024
_UNCOMPRESSED = {"Accept-Encoding": "identity"}

_UNFINISHED = ".unfinished-"
_COMPANIONS = (
    "config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "preprocessor_config.json",
)  # fmt: skip
_PLAIN = re.compile(r"[\w.\-]+(?:/[\w.\-]+)*")
_HINT = "Try again later, or give the folder of a model that you have (folder:DIR)."


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model that fastembed knows: its name, the repository that holds it, and the files of its weights."""

    name: str
    repository: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    size: int
    sha256: str | None


def known_model(name: str) -> HubModel:
    """Return the model of that name, however its letters are cased; EmbeddingError where fastembed has none."""
    for found in load_fastembed().list_supported_models():
        if found["model"].lower() == name.lower() and found["sources"]["hf"]:
            files = (found["model_file"], *(found.get("additional_files") or ()))
            return HubModel(found["model"], found["sources"]["hf"], files)
    raise EmbeddingError(
        f"fastembed has no model called {name}.",
        hint="Select one that it has, such as BAAI/bge-small-en-v1.5, or give a folder (folder:DIR).",
        context={"model": name},
    )


class ModelDownload:
    """One fetch from a hub. Cancelling or failing leaves nothing behind; a model that was there before stays."""

    def __init__(self, hub: str, model: HubModel, progress: Progress, *, patience: float = SILENT_SECONDS) -> None:
        self._hub = hub.rstrip("/")
        self._patience = patience
        self._model = model
        self._progress = progress
        self._done = 0.0

    async def into(self, home: Path) -> None:
        """Put the model's files into `home`; EmbeddingError where the hub does not give them all, whole."""
        if urlsplit(self._hub).scheme != "https" and not is_loopback(self._hub):
            raise self._failed(f"{self._host} is not asked over https, so anybody on the way could change the model")
        work = home.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
        try:
            await self._fetch(work)
            _replace(work, home)
        except OSError as error:
            raise self._failed(f"the disk refuses it ({error.strerror or type(error).__name__})") from error
        finally:
            remove_folder(work)

    async def _fetch(self, work: Path) -> None:
        outcome = await self._exchange(work)
        if outcome:
            raise self._failed(outcome)

    async def _exchange(self, work: Path) -> str:
        """Fetch everything; why not, where that fails."""
        try:
            async with httpx.AsyncClient(
                timeout=self._patience, follow_redirects=True, max_redirects=5, headers=_UNCOMPRESSED
            ) as client:
                files = await self._listing(client)
                for file in files:
                    await self._save(client, file, work / file.path, max(1, sum(one.size for one in files)))
        except httpx.TimeoutException:
            return f"{self._host} said nothing for {self._patience:g} seconds"
        except httpx.HTTPStatusError as error:
            return f"{self._host} answered with HTTP {error.response.status_code}"
        except (httpx.HTTPError, httpx.InvalidURL):
            return f"{self._host} cannot be reached"
        return ""

    async def _listing(self, client: httpx.AsyncClient) -> list[_File]:
        """Return the files that fastembed needs, with their sizes in bytes, as the hub has them now."""
        address = f"{self._hub}/api/models/{self._model.repository}/revision/main?blobs=true"
        files = _listed(await self._listing_text(client, address))
        wanted = [file for file in files if file.path in (*self._model.files, *_COMPANIONS)]
        if not set(self._model.files) <= {file.path for file in wanted}:
            raise self._failed(f"{self._host} does not list its files")
        return wanted

    async def _listing_text(self, client: httpx.AsyncClient, address: str) -> bytes:
        text = bytearray()
        async with client.stream("GET", address) as answer:
            answer.raise_for_status()
            async for chunk in answer.aiter_raw():
                text += chunk
                if len(text) > MOST_LISTING_BYTES:
                    raise self._failed(f"{self._host} lists too much")
        return bytes(text)

    async def _save(self, client: httpx.AsyncClient, file: _File, target: Path, total: int) -> None:
        address = f"{self._hub}/{self._model.repository}/resolve/main/{quote(file.path)}"
        digest, size = hashlib.sha256(), 0
        async with client.stream("GET", address) as answer:
            answer.raise_for_status()
            make_private_folder(target.parent)
            with replaced_file(target) as out:
                async for chunk in answer.aiter_raw(CHUNK_BYTES):
                    size += len(chunk)
                    if size > file.size:
                        break
                    digest.update(chunk)
                    out.write(chunk)
                    self._tell(len(chunk) / total)
        if size != file.size or file.sha256 not in (None, digest.hexdigest()):
            raise self._failed(f"{file.path} arrived damaged")

    def _tell(self, share: float) -> None:
        """Say how much is done, by whole hundredths."""
        before, self._done = self._done, self._done + share
        if int(before * 100) != int(self._done * 100):
            self._progress(min(1.0, self._done))

    @property
    def _host(self) -> str:
        return urlsplit(self._hub).netloc.rpartition("@")[2] or self._hub

    def _failed(self, reason: str) -> EmbeddingError:
        name = self._model.name
        message = f"The embedding model {name} could not be fetched: {reason}."
        return EmbeddingError(message, hint=_HINT, context={"model": name})


def _listed(content: bytes) -> list[_File]:
    """Return the files in a hub's answer; none where it is not one. Paths that lead elsewhere are left out."""
    try:
        found = loads_bounded(content)["siblings"]
        return [file for file in map(_file, found) if _PLAIN.fullmatch(file.path) and ".." not in file.path]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def _file(row: Mapping[str, Any]) -> _File:
    lfs = row.get("lfs") or {}
    return _File(str(row["rfilename"]), int(lfs.get("size") or row["size"]), lfs.get("sha256"))


def _replace(work: Path, home: Path) -> None:
    """Put the finished folder where the old one was, if there was one."""
    old = work.with_name(f"{work.name}-old")
    if home.exists():
        rename(home, old)
    rename(work, home)
    remove_folder(old)
