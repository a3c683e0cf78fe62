"""Analyses of tools as files: similarity, overlap, quality, and recommendations as patches and overrides."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.json import Json
from mcp_tef.model.quality import QualityReport, ToolQuality
from mcp_tef.model.similarity import FlagRule, PairAdvice
from mcp_tef.reports.markdown import pair_markdown, quality_markdown, similarity_markdown, write_markdown
from mcp_tef.reports.quality import quality_csv, quality_html, quality_text
from mcp_tef.reports.sarif import quality_sarif
from mcp_tef.reports.similarity_html import SimilarityResults, overlap_html, similarity_html
from mcp_tef.reports.similarity_tables import (
    matrix_file,
    overlap_csv,
    overlap_json,
    save_matrices,
    similarity_csv,
    similarity_json,
)
from mcp_tef.scoring.differentiation.patches import joint_changes
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap

_UNSAFE = re.compile(r"[^a-z0-9]+")
_NAME_LENGTH = 40


def advice_files(pairs: Sequence[PairAdvice]) -> dict[str, str]:
    """Return the text of every file by its name: a patch and an override for each recommendation, and for each server.

    Those of a server, `all-…`, hold all its changes together. Names hold only a–z, 0–9 and hyphens, whatever the tools
    are called.
    """
    every = {one.tool_id: one for advice in reversed(pairs) for one in reversed(advice.recommendations)}
    files: dict[str, str] = {}
    for number, one in enumerate(reversed(every.values()), 1):
        files |= _files(f"{number:03}-{_slug(one.tool_id)}-{_slug(one.issue.value)}", one.patch, one.override)
    for number, (server, both) in enumerate(joint_changes(pairs).items(), 1):
        stem = f"all-{_slug(server)}"
        files |= _files(f"{stem}-{number}" if f"{stem}.patch.json" in files else stem, *both)
    return files


def _files(stem: str, patch: Sequence[Mapping[str, Json]], override: Mapping[str, Json]) -> dict[str, str]:
    held = {"patch": [dict(operation) for operation in patch], "override": dict(override)}
    return {f"{stem}.{kind}.json": _text(value) for kind, value in held.items()}


def write_advice_files(pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
    """Write the files of `advice_files` into a folder, made if need be. OSError for it, InputError for a file."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in advice_files(pairs).items():
        paths.append(folder / name)
        write_text(paths[-1], text)
    return tuple(paths)


def _slug(text: str) -> str:
    return _UNSAFE.sub("-", text.lower()).strip("-")[:_NAME_LENGTH] or "tool"


def _text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


class AnalysisReports:
    """Files for readers (.html), for spreadsheets (.csv), and for programs (.json, or without an ending).

    InputError where a file cannot be written; what was there under the name is kept then.
    """

    async def write_similarity(self, results: SimilarityResults, path: Path, *, full: bool = True) -> None:
        """Write a similarity report; above 2,000 tools the matrices go to an .npz file beside the JSON."""
        similarity, rule = results.similarity, results.rule
        forms = {".csv": lambda: similarity_csv(similarity, rule), ".html": lambda: similarity_html(results)}
        await _write(path, forms, lambda: _similarity_json(similarity, rule, path, full))

    async def similarity_page(self, results: SimilarityResults) -> str:
        """Return the similarity report as an HTML page."""
        return await asyncio.to_thread(similarity_html, results)

    async def similarity_markdown(self, results: SimilarityResults) -> str:
        """Return the pairs to work on as Markdown."""
        return await asyncio.to_thread(similarity_markdown, results)

    async def pair_markdown(self, similarity: Similarity, a: int, b: int) -> str:
        """Two tools that look alike, to be pasted."""
        return await asyncio.to_thread(pair_markdown, similarity, a, b)

    async def quality_markdown(self, tools: Sequence[ToolQuality]) -> str:
        """Return the findings of tools as Markdown."""
        return await asyncio.to_thread(quality_markdown, tools)

    async def quality_page(self, report: QualityReport) -> str:
        """Return the quality report as an HTML page."""
        return await asyncio.to_thread(quality_html, report)

    async def write_overlap(self, similarity: Similarity, overlap: Overlap, path: Path, *, limit: int) -> None:
        """Write an overlap report by dimension; the `limit` pairs that overlap most are explained."""
        forms = {
            ".csv": lambda: overlap_csv(similarity, overlap, limit),
            ".html": lambda: overlap_html(similarity, overlap, limit),
        }
        await _write(path, forms, lambda: overlap_json(similarity, overlap, limit))

    async def overlap_page(self, similarity: Similarity, overlap: Overlap, *, limit: int) -> str:
        """Return the overlap report as an HTML page."""
        return await asyncio.to_thread(overlap_html, similarity, overlap, limit)

    async def write_quality_summary(self, report: QualityReport, path: Path) -> None:
        """Write the findings as Markdown; the summary of a GitHub job is appended to."""
        await asyncio.to_thread(lambda: write_markdown(path, quality_markdown(report.tools)))

    async def write_quality_sarif(self, report: QualityReport, path: Path, tools_files: Sequence[Path] = ()) -> None:
        """Write the findings as SARIF; those of tools in one of the files are shown there."""
        await asyncio.to_thread(lambda: write_text(path, quality_sarif(report, tools_files)))

    async def write_quality(self, report: QualityReport, path: Path) -> None:
        """Write a quality report."""
        forms = {".csv": lambda: quality_csv(report), ".html": lambda: quality_html(report)}
        await _write(path, forms, lambda: quality_text(report))

    async def write_advice(self, pairs: Sequence[PairAdvice], folder: Path) -> tuple[Path, ...]:
        """Write the patches and overrides of recommendations into a folder; return the files."""
        try:
            return await asyncio.to_thread(write_advice_files, pairs, folder)
        except OSError as error:
            raise _unwritable(folder, error) from error


def _similarity_json(similarity: Similarity, rule: FlagRule, path: Path, full: bool) -> str:
    matrices = matrix_file(similarity, path)
    if matrices:
        try:
            save_matrices(similarity, matrices, full=full)
        except OSError as error:
            raise _unwritable(matrices, error) from error
    return similarity_json(similarity, rule, full=full, matrices_in=matrices)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} could not be written: {error.strerror}.", hint="Use another place.")


async def _write(path: Path, forms: Mapping[str, Callable[[], str]], as_json: Callable[[], str]) -> None:
    """Write the form that the ending of a file names, by default JSON; InputError for an ending that names none."""
    require_ending(path)
    text = forms.get(path.suffix.lower(), as_json)
    await asyncio.to_thread(lambda: write_text(path, text()))


def require_ending(path: Path) -> None:
    """Raise InputError for a file whose ending does not name the form of an analysis."""
    if path.suffix.lower() not in ("", ".json", ".csv", ".html"):
        hint = "Name it .json, .csv or .html."
        raise InputError(f"{path} cannot be written: its ending names no known form.", hint=hint, code="bad_usage")
