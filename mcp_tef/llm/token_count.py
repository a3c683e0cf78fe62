"""Token counts with a bundled vocabulary; nothing is downloaded."""

import hashlib
from binascii import a2b_base64
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

VOCABULARY = "cl100k_base"
CHARACTERS_PER_TOKEN = 4
LONGEST_PART = 50_000
ESTIMATE = f"estimate, {CHARACTERS_PER_TOKEN} characters a token"

_READING = Lock()
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_PIECES = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def bundled_folder() -> Path | None:
    """Return the vocabularies that come with litellm, which is not imported for that; None where it has none."""
    found = find_spec("litellm")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"


class BundledTokenCounter:
    """Counts by the vocabulary of GPT-4, which other models' counts are near to; by characters where it is missing.

    Each process reads the vocabulary once, at the first count, in whichever thread counts.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or bundled_folder()

    @property
    def name(self) -> str:
        """`cl100k_base`, or an estimate that says so."""
        return VOCABULARY if self._ready() else ESTIMATE

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return tokens of each text, special tokens read as plain text."""
        encoding = self._ready()
        if encoding is None:
            return tuple(-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts)
        return tuple(sum(len(encoding.encode_ordinary(part)) for part in _parts(text)) for text in texts)

    def _ready(self) -> "Encoding | None":
        with _READING:
            return _encoding(self._folder) if self._folder else None


@cache
def _encoding(folder: Path) -> "Encoding | None":
    ranks = _ranks(folder)
    if ranks is None:
        return None
    from tiktoken import Encoding

    return Encoding(VOCABULARY, pat_str=_PIECES, mergeable_ranks=ranks, special_tokens={})


def _parts(text: str) -> Iterator[str]:
    """Return a text in parts of at most `LONGEST_PART`: the library breaks down over a million spaces in a row."""
    return (text[start : start + LONGEST_PART] for start in range(0, len(text), LONGEST_PART))


def _ranks(folder: Path) -> dict[bytes, int] | None:
    """Return the vocabulary's tokens with their ranks, told by the file's content; None where no file holds them."""
    for text in _contents(folder):
        if hashlib.sha256(text).hexdigest() == _SHA256:
            pairs = (line.split() for line in text.splitlines())
            return {a2b_base64(token): int(rank) for token, rank in pairs}
    return None


def _contents(folder: Path) -> Iterator[bytes]:
    try:
        yield from (file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())
    except OSError:
        return
