"""Decompression of HTTP bodies in small pieces, so that a bomb never inflates at once."""

import zlib
from collections.abc import Iterator

ACCEPTED = "gzip, deflate"
PIECE_BYTES = 64 * 1024

_GZIP = 16 + zlib.MAX_WBITS


class BodyDecoder:
    """Decoder of one body; ValueError for an encoding that was not asked for, or a body that does not match it."""

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise ValueError(f"the answer is encoded as {name[:40]}, which was not asked for")
        self._plain = name in ("", "identity")
        self._may_be_raw = name == "deflate"
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS if self._may_be_raw else _GZIP)

    def decode(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the decoded bytes of a chunk, at most 64 KB at a time."""
        if self._plain:
            yield chunk
            return
        while chunk and not self._inflate.eof:
            piece = self._decoded(chunk)
            chunk = self._inflate.unconsumed_tail
            if piece:
                yield piece

    def _decoded(self, chunk: bytes) -> bytes:
        try:
            return self._inflate.decompress(chunk, PIECE_BYTES)
        except zlib.error as error:
            if not self._may_be_raw:
                raise ValueError("the answer is not compressed as it says") from error
        finally:
            # Servers send "deflate" with and without a zlib header; the first bytes decide.
            may_be_raw, self._may_be_raw = self._may_be_raw, False
        assert may_be_raw
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._decoded(chunk)
