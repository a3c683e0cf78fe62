"""Programs by name, found as a login shell would: an application started from a menu sees a shorter PATH."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import chain

_ROOTS = {
    "ASDF_DATA_DIR": "{HOME}/.asdf",
    "BUN_INSTALL": "{HOME}/.bun",
    "CARGO_HOME": "{HOME}/.cargo",
    "NVM_DIR": "{HOME}/.nvm",
    "PYENV_ROOT": "{HOME}/.pyenv",
    "VOLTA_HOME": "{HOME}/.volta",
}
_POSIX = (
    "{HOME}/.local/bin",
    "{HOME}/bin",
    "{VOLTA_HOME}/bin",
    "{NVM_DIR}/versions/node/*/bin",
    "{FNM_DIR}/aliases/default/bin",
    "{FNM_DIR}/node-versions/*/installation/bin",
    "{HOME}/.local/share/mise/shims",
    "{ASDF_DATA_DIR}/shims",
    "{PYENV_ROOT}/shims",
    "{CARGO_HOME}/bin",
    "{BUN_INSTALL}/bin",
    "{HOME}/.deno/bin",
    "{PNPM_HOME}",
    "{HOME}/.npm-global/bin",
    "{HOME}/go/bin",
)
_MAC = ("/opt/homebrew/bin", "/opt/local/bin", "/Applications/Docker.app/Contents/Resources/bin")
_LINUX = ("/home/linuxbrew/.linuxbrew/bin", "/snap/bin", "/var/lib/flatpak/exports/bin")
_UNIX = ("/usr/local/bin", "/usr/bin", "/bin")
_WINDOWS = (
    r"{USERPROFILE}\.local\bin",
    r"{APPDATA}\npm",
    r"{NVM_SYMLINK}",
    r"{APPDATA}\nvm\*",
    r"{LOCALAPPDATA}\Volta\bin",
    r"{APPDATA}\fnm\aliases\default",
    r"{PROGRAMFILES}\nodejs",
    r"{USERPROFILE}\.cargo\bin",
    r"{USERPROFILE}\.bun\bin",
    r"{USERPROFILE}\.deno\bin",
    r"{USERPROFILE}\.pyenv\pyenv-win\shims",
    r"{USERPROFILE}\scoop\shims",
    r"{LOCALAPPDATA}\Programs\Python\Launcher",
    r"{LOCALAPPDATA}\Microsoft\WinGet\Links",
    r"{LOCALAPPDATA}\pnpm",
    r"{PROGRAMFILES}\Docker\Docker\resources\bin",
)


def find_program(name: str, environment: Mapping[str, str], platform: str) -> str | None:
    """Return the full path of a program: on PATH, else where package managers put programs on this system; or None.

    Folders of PATH that are relative are passed over, and Windows is kept from looking in the current folder.
    """
    on_path = filter(os.path.isabs, environment.get("PATH", os.defpath).split(os.pathsep))
    folders = chain(on_path, _present(program_folders(environment, platform)))
    found = (shutil.which(os.path.join(folder, name)) for folder in folders)
    return next((program for program in found if program), None)


def program_folders(environment: Mapping[str, str], platform: str) -> tuple[str, ...]:
    """Return the usual folders of programs on a platform, the likeliest first; `*` stands for a version."""
    known = {name: value for name, value in environment.items() if value}
    if platform == "win32":
        return _filled(_WINDOWS, known)
    mac = platform == "darwin"
    fnm = "{HOME}/Library/Application Support/fnm" if mac else "{HOME}/.local/share/fnm"
    pnpm = "{HOME}/Library/pnpm" if mac else "{HOME}/.local/share/pnpm"
    if "HOME" in known:
        roots = _ROOTS | {"FNM_DIR": fnm, "PNPM_HOME": pnpm}
        known = {root: usual.format_map(known) for root, usual in roots.items()} | known
    return _filled((*_POSIX, *(_MAC if mac else _LINUX), *_UNIX), known)


def _filled(templates: tuple[str, ...], known: Mapping[str, str]) -> tuple[str, ...]:
    """Return the templates whose variables are known."""
    named = ((template, re.findall(r"\{(\w+)\}", template)) for template in templates)
    return tuple(template.format_map(known) for template, names in named if all(name in known for name in names))


def _present(patterns: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders that are there; of several versions the newest comes first."""
    for pattern in patterns:
        before, star, after = pattern.partition("*")
        if not star:
            yield pattern
            continue
        for version in sorted(_entries(before), key=_version, reverse=True):
            yield before + version + after


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _version(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,9}", name)]


def script_interpreter(environment: Mapping[str, str]) -> str:
    """Return the Python that runs users' scripts: this one, for a built app, which has none of its own, one on PATH."""
    if not hasattr(sys, "frozen"):
        return sys.executable
    return find_program("python3", environment, sys.platform) or "python3"
