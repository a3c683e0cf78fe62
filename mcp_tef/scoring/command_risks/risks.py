"""Warnings about a command line and its environment, in plain sentences."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.trust.command_lines import SHELLS, LaunchCommand, commands, fetched, given_text
from mcp_tef.trust.names import shown

_CODE = """
    BASH_ENV CLASSPATH ENV GCONV_PATH IFS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS LD_AUDIT LD_LIBRARY_PATH LD_PRELOAD
    LUA_PATH NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE PATH PATHEXT PERL5LIB PERL5OPT PERLLIB PROMPT_COMMAND
    PYTHONEXECUTABLE PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONSTARTUP RUBYLIB RUBYOPT SHELL ZDOTDIR _JAVA_OPTIONS
    DOTNET_STARTUP_HOOKS GIT_SSH_COMMAND GIT_EXTERNAL_DIFF COMSPEC LUA_CPATH OPENSSL_CONF OPENSSL_ENGINES
    OPENSSL_MODULES PYTHONBREAKPOINT PYTHONPYCACHEPREFIX BUNDLE_GEMFILE DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE
"""
_REGISTRIES = """
    NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL PIP_INDEX_URL UV_CONFIG_FILE
    UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL YARN_REGISTRY DENO_REGISTRY DOCKER_HOST
"""
_FOLDERS_OF_SETTINGS = """
    APPDATA DOCKER_CONFIG DOCKER_CONTEXT DOTNET_ROOT GEM_HOME GEM_PATH HOME HOMEDRIVE HOMEPATH JAVA_HOME LOCALAPPDATA
    PYTHONUSERBASE USERPROFILE XDG_CONFIG_DIRS XDG_CONFIG_HOME
"""
_LOADING, _SOURCES = frozenset(_CODE.split()), frozenset(_REGISTRIES.split())
_UNCHECKED = {"NODE_TLS_REJECT_UNAUTHORIZED": "0", "PYTHONHTTPSVERIFY": "0", "GIT_SSL_NO_VERIFY": "1"}
_DECIDING = _LOADING | _SOURCES | _UNCHECKED.keys() | frozenset(_FOLDERS_OF_SETTINGS.split())
_LOADERS = ("CORECLR_", "DYLD_", "LD_")
_PACKAGE_RUNNERS = (
    *("BUN_", "COREPACK_", "DENO_", "GIT_CONFIG", "GIT_EXEC", "GIT_SSH"),
    *("NPM_CONFIG_", "PIP", "PNPM_", "UV_", "YARN_"),
)


def loads_code(name: str) -> bool:
    """Return True if a variable can make a program load code that its command line does not name."""
    return name.upper() in _LOADING or name.upper().startswith(_LOADERS)


def chooses_source(name: str) -> bool:
    """Return True if a variable decides where packages are fetched from."""
    return name.upper() in _SOURCES


def drops_checks(name: str, value: str) -> bool:
    """Return True if a variable turns off the check of who is at the other end of a connection."""
    return _UNCHECKED.get(name.upper()) == value.strip()


def decides_what_runs(name: str) -> bool:
    """Return True if a variable may change which code a command runs, so that it must never be taken over unseen."""
    return name.upper() in _DECIDING or name.upper().startswith(_LOADERS + _PACKAGE_RUNNERS)


MOST_RISKS = 12
LONGEST = 5_000
MOST_READ = 10_000
_SHOWN = 60
_ROOT = {"sudo", "doas", "pkexec", "su", "runas", "gsudo"}
_FETCHERS = {"curl", "wget", "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "fetch"}
_RUNNERS = SHELLS | {"python", "node", "perl", "ruby", "php", "iex", "invoke-expression"}
_FETCHED_AND_RUN = re.compile(r"(?:\$\(|<\(|`)\s{0,9}(?:curl|wget)\b")
_TEMPORARY = re.compile(
    r"(?:^|[=:\s\"'])((?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)(?:/|$)|\$\{?(?:env:)?(?:TMPDIR|TEMP|TMP)\b|%(?:TEMP|TMP)%"
    r"|[A-Za-z]:\\(?:Windows\\)?Temp\\|[^\s\"']{0,200}\\AppData\\Local\\Temp\\)",
    re.IGNORECASE,
)
_WHOLE = {"/": "disk", "c:\\": "disk", "c:/": "disk"} | dict.fromkeys(
    ("~", "~/", "$home", "${home}", "${env:home}", "${userhome}", "/root", "/home", "/users"), "home folder"
)
_SOURCE = re.compile(r"[A-Za-z]:[\\/][^:]*|(?:\$\{[^}]{0,200}\}|[^:])*")
_HOST_RIGHTS = re.compile(
    r"--privileged(?:=true)?|--(?:pid|userns|ipc)=host|--cap-add=(?:ALL|SYS_ADMIN)|--security-opt=\S*unconfined", re.I
)


def launch_risks(spec: ServerSpec) -> tuple[str, ...]:
    """Return a sentence for each thing in a command, its folder and its variables that is worth a second look.

    An empty answer does not say that a program is harmless: any program can do what its user may do.
    """
    if spec.transport is not Transport.STDIO:
        return ()
    argv = _beginning(spec.argv)
    found = dict.fromkeys(
        [*_of_length(spec.argv), *_of_commands(argv), *_of_places(argv, spec), *_of_variables(spec.env)]
    )
    return tuple(found)[:MOST_RISKS]


def _beginning(argv: Sequence[str]) -> tuple[str, ...]:
    """As much of a command as is read: what comes behind is pointed out by its length."""
    room, words = MOST_READ, list[str]()
    for word in argv:
        if room <= 0:
            break
        words.append(word[:room])
        room -= len(word) + 1
    return tuple(words)


def _of_length(argv: Sequence[str]) -> Iterator[str]:
    length = sum(map(len, argv))
    if length > LONGEST:
        yield f"The command is {length:,} characters long. Nobody has read all of that."


def _of_commands(argv: Sequence[str]) -> Iterator[str]:
    for command in commands(argv):
        yield from _of_text(command)
        yield from _of_program(command)
        if command.name in ("docker", "podman", "nerdctl"):
            yield from _of_container(_paired(command.words[1:]))
        for package in fetched(command):
            yield (
                f"{_quoted(command.name)} fetches the newest {_quoted(package)} when it starts, whatever that is by "
                "then. Name an exact version to keep to what you have looked at."
            )


def _of_text(command: LaunchCommand) -> Iterator[str]:
    if given := given_text(command):
        if command.name != "cmd" or re.search(r"[&|<>]", given.text):
            yield f"{_quoted(command.name)} runs the text after {_quoted(given.flag)} as a program. Read all of it."
        if _FETCHED_AND_RUN.search(given.text):
            yield _UNSEEN
    if command.fed_by and command.name in _RUNNERS:
        yield _UNSEEN if command.fed_by in _FETCHERS else _quoted(command.name) + _FED


_UNSEEN = "It fetches a program from the network and runs it at once, before anybody can read it."
_FED = " runs whatever another program hands to it."


def _of_program(command: LaunchCommand) -> Iterator[str]:
    name, words = command.name, command.words
    if name in _ROOT:
        yield f"{_quoted(name)} gives it the rights of the administrator: it could change anything on this computer."
    if _deletes_folders(command):
        yield f"{_quoted(' '.join(words))} deletes folders with all that is in them, without asking."
    if name.startswith("mkfs") or (name == "dd" and any(word.startswith("of=/dev/") for word in words)):
        yield f"{_quoted(' '.join(words))} overwrites a disk."


def _deletes_folders(command: LaunchCommand) -> bool:
    if command.name == "rm":
        flags = "".join(word[1:] for word in command.words[1:] if re.fullmatch(r"-[A-Za-z]+", word)).lower()
        return "r" in flags or "--recursive" in command.words
    return command.name in ("rmdir", "rd", "del") and "/s" in map(str.lower, command.words)


def _of_container(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if _HOST_RIGHTS.fullmatch(word):
            yield f"{_quoted(word)} lifts the container's walls: it gets rights over this computer itself."
        flag, _, value = word.partition("=")
        if flag in ("-v", "--volume", "--mount"):
            yield from _of_mount(word, _mounted(value))


def _of_mount(word: str, source: str) -> Iterator[str]:
    if source.endswith("docker.sock"):
        yield f"{_quoted(word)} lets the container command Docker, and so everything on this computer."
    elif whole := _WHOLE.get(source.lower()):
        yield f"{_quoted(word)} lets the container see your whole {whole}."


def _mounted(value: str) -> str:
    """Return the place on this computer that a mount shows."""
    found = re.search(r"(?:^|,)(?:source|src)=([^,]*)", value)
    return found[1] if found else _SOURCE.match(value)[0]  # type: ignore[index]  # it matches anything


def _paired(words: Sequence[str]) -> Iterator[str]:
    """Yield flags with their values, each as one word: `-v /:/host`, `-v/:/host` and `-v=/:/host` are the same."""
    values = {"-v", "--volume", "--mount", "--cap-add", "--security-opt", "--pid", "--userns", "--ipc"}
    for word, following in zip(words, (*words[1:], ""), strict=True):
        if word in values:
            yield f"{word}={following}"
        else:
            yield re.sub(r"^-v=?(?=[^=])", "-v=", word)


def _of_places(argv: Sequence[str], spec: ServerSpec) -> Iterator[str]:
    for place in (*argv, spec.cwd or "", spec.env_file or ""):
        if _TEMPORARY.search(place[:4000]):
            yield f"{_quoted(place)} is in a folder for temporary files, where other programs can change it."


def _of_variables(env: Mapping[str, str]) -> Iterator[str]:
    for name, value in env.items():
        if loads_code(name):
            yield f"The variable {_quoted(name)} can make it run code that this command does not show."
        elif chooses_source(name):
            yield f"The variable {_quoted(name)} decides where its packages come from."
        elif drops_checks(name, value):
            yield f"The variable {_quoted(name)} turns off the check of who is at the other end of a connection."


def _quoted(text: str) -> str:
    flat = " ".join(text.split())
    return f"“{shown(flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1])}{'…' if len(flat) > _SHOWN else ''}”"
