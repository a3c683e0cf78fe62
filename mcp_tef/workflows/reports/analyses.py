"""Writes analyses of tools as files: likeness, overlap, quality and advice, each in the form that its name says."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.model.quality import QualityReport
from mcp_tef.model.recommendations import PairAdvice
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.workflows.case_forms.texts import write_text
from mcp_tef.workflows.reports.quality_html import quality_html
from mcp_tef.workflows.reports.quality_tables import quality_csv, quality_text
from mcp_tef.workflows.reports.similarity_advice import write_advice_files
from mcp_tef.workflows.reports.similarity_html import SimilarityResults, similarity_html
from mcp_tef.workflows.reports.similarity_overlap import overlap_csv, overlap_json
from mcp_tef.workflows.reports.similarity_tables import (
    matrix_file,
    save_matrices,
    similarity_csv,
    similarity_json,
)


class Exports:
    """Files for readers (.html), for spreadsheets (.csv), and for programs (JSON, under any other name).

    InputError where a file cannot be written; what was there under the name is kept then.
    """

    async def write_similarity(self, results: SimilarityResults, path: Path, *, full: bool = True) -> None:
        """How alike tools look; above 2,000 tools the matrices go to an .npz file beside the JSON."""
        similarity, threshold = results.similarity, results.threshold
        forms = {".csv": lambda: similarity_csv(similarity, threshold), ".html": lambda: similarity_html(results)}
        await _write(path, forms, lambda: _similarity_json(similarity, threshold, path, full))

    async def write_overlap(self, similarity: Similarity, overlap: Overlap, path: Path, *, limit: int) -> None:
        """What tools share, by dimension; the `limit` pairs that overlap most are explained. There is no page of it."""
        forms = {".csv": lambda: overlap_csv(similarity, overlap, limit)}
        await _write(path, forms, lambda: overlap_json(similarity, overlap, limit))

    async def write_quality(self, report: QualityReport, path: Path) -> None:
        """How well tools are described."""
        forms = {".csv": lambda: quality_csv(report), ".html": lambda: quality_html(report)}
        await _write(path, forms, lambda: quality_text(report))

    async def write_advice(self, pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
        """A patch and an override for each recommendation, in a folder that is made if need be; the files."""
        try:
            return await asyncio.to_thread(write_advice_files, pairs, folder)
        except OSError as error:
            raise _unwritable(folder, error) from error


def _similarity_json(similarity: Similarity, threshold: float, path: Path, full: bool) -> str:
    matrices = matrix_file(similarity, path)
    if matrices:
        try:
            save_matrices(similarity, matrices, full=full)
        except OSError as error:
            raise _unwritable(matrices, error) from error
    return similarity_json(similarity, threshold, full=full, matrices_in=matrices)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} could not be written: {error.strerror}.", hint="Choose another place.")


async def _write(path: Path, forms: Mapping[str, Callable[[], str]], otherwise: Callable[[], str]) -> None:
    text = forms.get(path.suffix.lower(), otherwise)
    await asyncio.to_thread(lambda: write_text(path, text()))
