"""The licences of all that is shipped, from what is installed: one file of notices and one folder of texts."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from email import message_from_string
from email.message import Message
from functools import cache
from importlib import metadata
from pathlib import Path

from project import HERE, LICENCE, NOTICES, PROJECT, REQUIREMENTS, ROOT

TEXT_NAME = re.compile(r"(licen[cs]e|copying|notice|copyright|authors)[^/]*$", re.IGNORECASE)
WORD = re.compile(r"[\w.-]+")
APACHE, LGPL, MIT = "Apache-2.0", "LGPL-3.0-only", "MIT"
LEFT_OUT = frozenset({"hf-xet"})
STATED = {
    "flatbuffers": (APACHE, ""),
    "tokenizers": (APACHE, ""),
    "py-rust-stemmers": (MIT, ""),
    "loguru": (MIT, "Copyright (c) 2017 Delgan"),
    "pyside6-essentials": (
        LGPL,
        "Copyright (C) The Qt Company Ltd. and other contributors. Used unchanged, as libraries.",
    ),
    "shiboken6": (LGPL, "Copyright (C) The Qt Company Ltd. and other contributors. Used unchanged, as libraries."),
}


@dataclass(frozen=True)
class Part:
    """Something that is shipped, with the texts of its licence by file name."""

    name: str
    version: str
    licence: str
    texts: dict[str, str]
    kind: str = "pypi"


@cache
def parts() -> tuple[Part, ...]:
    """All that is shipped, by name."""
    return (*map(_part, shipped()), *_others(), *_system_libraries())


@cache
def _said(name: str) -> Message:
    """Return a distribution's metadata without its long description, which is slow to parse."""
    found = metadata.distribution(name)
    return message_from_string((found.read_text("METADATA") or "").partition("\n\n")[0])


def shipped() -> list[str]:
    """Return the names of all distributions that the project needs here, directly and indirectly."""
    waiting = [(requirement, "") for requirement in REQUIREMENTS]
    seen = set()
    while waiting:
        for name, extra in _wanted(*waiting.pop()):
            if (name, extra) not in seen and name not in LEFT_OUT:
                seen.add((name, extra))
                waiting += [(requirement, extra) for requirement in _said(name).get_all("Requires-Dist") or ()]
    return sorted({name for name, _ in seen})


def _wanted(requirement: str, extra: str) -> list[tuple[str, str]]:
    """Yield the plain name of a requirement with each of its extras; nothing if its marker excludes this system."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    read = Requirement(requirement)
    here = read.marker is None or read.marker.evaluate({"extra": extra})
    return [(canonicalize_name(read.name), one) for one in ("", *read.extras)] if here else []


def _part(name: str) -> Part:
    texts = {Path(file).name: file.read_text("utf-8") for file in _files(name)}
    licence, notice = STATED.get(name, (_licence(name), ""))
    return Part(name, _said(name)["Version"], licence, texts or _stated_texts(licence, notice))


def _files(name: str) -> Iterator[metadata.PackagePath]:
    for file in metadata.distribution(name).files or ():
        inner = ".dist-info" in file.parts[0] or file.parts[0].lower().startswith(name)
        if inner and TEXT_NAME.search(file.as_posix()) and file.suffix not in (".py", ".pyc") and len(file.parts) <= 4:
            yield file


def _licence(name: str) -> str:
    """Return the licence that a distribution declares, in one line."""
    said = _said(name)
    stated = (*(said.get_all("License-Expression") or ()), *(said.get_all("License") or ()))
    short = [line for line in (text.strip().split("\n")[0] for text in stated) if 0 < len(line) <= 60]
    classified = [line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or () if line.startswith("License")]
    return short[0] if short else " and ".join(classified)


def _stated_texts(licence: str, notice: str) -> dict[str, str]:
    """Return the texts of a licence that a distribution names without shipping it."""
    files = {
        APACHE: [ROOT / "LICENSE"],
        LGPL: [HERE / "licences" / "LGPL-3.0.txt", HERE / "licences" / "GPL-3.0.txt"],
        MIT: [HERE / "licences" / "MIT.txt"],
    }.get(licence, [])
    texts = {file.name: file.read_text("utf-8") for file in files}
    return {name: f"{notice}\n\n{text}" if notice else text for name, text in texts.items()}


def _others() -> Iterator[Part]:
    """List the shipped parts that are not distributions of their own."""
    python = (
        Path(sys.base_prefix, "lib", f"python{sys.version_info.major}.{sys.version_info.minor}"),
        Path(sys.base_prefix),
    )
    texts = [folder / "LICENSE.txt" for folder in python if (folder / "LICENSE.txt").is_file()]
    yield Part("python", sys.version.split()[0], "PSF-2.0", {"LICENSE.txt": texts[0].read_text("utf-8")}, "generic")
    yield Part("all-MiniLM-L6-v2-int8", "1.0.0", APACHE, _stated_texts(APACHE, ""), "generic")
    phosphor = _stated_texts(MIT, "Copyright (c) 2020 Phosphor Icons")
    yield Part("phosphor-icons", "1.3.0", MIT, phosphor, "generic")
    icu = (HERE / "licences" / "ICU.txt").read_text("utf-8")
    for library in Path(str(metadata.distribution("pyside6-essentials").locate_file("PySide6/Qt/lib"))).glob(
        "libicuuc.*"
    ):
        yield Part("icu", library.suffix[1:], "Unicode-DFS-2016", {"ICU.txt": icu}, "generic")
    yield Part("mcp-tef-desktop", PROJECT["version"], LICENCE, _stated_texts(APACHE, ""), "generic")
    if list(metadata.distributions(name="pyinstaller")):
        starter = _part("pyinstaller")
        yield replace(starter, name="pyinstaller-bootloader", licence="GPL-2.0-or-later WITH Bootloader-exception")


def _system_libraries() -> Iterator[Part]:
    """On Debian and its kin: the libraries of the system that Python's own modules stand on."""
    wanted = ("libssl3", "libsqlite3-0", "libffi8", "libbz2-1.0", "liblzma5", "zlib1g", "libuuid1", "libexpat1")
    for name in wanted:
        text = Path("/usr/share/doc", name, "copyright")
        if text.is_file():
            version = subprocess.run(
                ["dpkg-query", "-Wf", "${Version}", name], capture_output=True, text=True, check=False
            )
            yield Part(name, version.stdout, "see its text", {"copyright": text.read_text("utf-8")}, "deb")


def write_licences() -> None:
    """Write the folder of notices; fails where something shipped has no text."""
    found = parts()
    silent = [part.name for part in found if not part.texts or not part.licence]
    if silent:
        raise SystemExit(f"There is no licence text for {', '.join(silent)}; state it in packaging/licences.py.")
    shutil.rmtree(NOTICES, ignore_errors=True)
    for part in found:
        folder = NOTICES / part.name
        folder.mkdir(parents=True)
        for name, text in part.texts.items():
            (folder / name).write_text(text, "utf-8")
    lines = [f"{part.name} {part.version}: {part.licence}" for part in found]
    (NOTICES / "THIRD-PARTY.txt").write_text("\n".join([_HEAD, *lines, ""]), "utf-8")


_HEAD = """What this installation is made of, each under its own licence. The texts lie in the folder of the same name.
Qt and PySide6 are used under the LGPL 3, as separate libraries that may be replaced. What Qt itself is made of is named
at https://doc.qt.io/qt-6/licenses-used-in-qt.html.
"""
