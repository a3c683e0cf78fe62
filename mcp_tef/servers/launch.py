"""Launch parameters of a server: `${…}` filled in, request headers, the program's path and its environment."""

import base64
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import AuthType, Reference, ReferenceKind, ServerSpec, references, undecided_host
from mcp_tef.scoring.command_risks.risks import decides_what_runs
from mcp_tef.trust.files import open_regular_file
from mcp_tef.trust.plans import StartPlan, server_plan

MAX_ENV_FILE_BYTES = 1024 * 1024
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*\Z")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*+)"|'([^']*+)')\s*(?:#.*)?\Z""")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> Mapping[str, str]:
    """The variables of a file; OSError where it cannot be read, ValueError where it is too large or no text."""
    text = read_small_file(path)
    found = (_LINE.match(line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {line[1]: _value(line[2]) for line in found if line and "\0" not in line[2]}


def read_small_file(path: Path) -> str:
    """Return the text of a file; OSError where it cannot be read, ValueError where it is too large or no text."""
    try:
        with open_regular_file(path) as file:
            data = file.read(MAX_ENV_FILE_BYTES + 1)
    except IsADirectoryError as error:
        raise ValueError("it is not a file") from error
    if len(data) > MAX_ENV_FILE_BYTES:
        raise ValueError("it is larger than 1 MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError("it is not UTF-8 text") from error


def _value(text: str) -> str:
    quoted = _QUOTED.match(text)
    if quoted is None:
        return re.split(r"(?<!\s)\s++#", text, maxsplit=1)[0]
    if quoted[1] is None:
        return quoted[2]
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), quoted[1])


_SECRET_NAME = re.compile(r"auth|key|token|secret|password|cookie", re.IGNORECASE)
_INHERITED = (
    "APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA"
    " PROGRAMFILES SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE"
    if sys.platform == "win32"
    else "HOME LANG LANGUAGE LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER"
)
_SHORTEST_SECRET = 6
_PRIVATE_KEY = re.compile(r"\s*-----BEGIN [A-Z ]*PRIVATE KEY-----")
_KEY_HINT = "Name a file that holds a private key in PEM format."


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A program that is ready to be started."""

    plan: StartPlan
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]


class ResolvedSpec:
    """Fills in `${…}` for one server from the environment and entries of the keychain, and knows what it has put in."""

    def __init__(
        self, spec: ServerSpec, environment: Mapping[str, str], entries: Mapping[str, Secret] | None = None
    ) -> None:
        self.spec = spec
        self._environment = environment
        self._entries = entries or {}
        self._used: set[str] = set()

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Every value that was put in; longest first, and without those too short to hide."""
        return tuple(
            Secret(text) for text in sorted(self._used, key=len, reverse=True) if len(text) >= _SHORTEST_SECRET
        )

    def fill(self, text: str) -> str:
        """`text` with every reference that we know replaced; ServerError names the variable that is not set."""
        parts, end = [], 0
        for reference in references(text):
            parts += [text[end : reference.start], self._value(reference, text)]
            end = reference.end
        return "".join([*parts, text[end:]])

    def _value(self, reference: Reference, text: str) -> str:
        match reference.kind:
            case ReferenceKind.PLACE:
                return self._place(reference.name)
            case ReferenceKind.UNKNOWN:
                return text[reference.start : reference.end]
            case ReferenceKind.KEYCHAIN:
                return self._entry(reference.name)
            case ReferenceKind.INPUT:
                return self._variable(reference.variable, self._input_default(reference.name))
            case ReferenceKind.VARIABLE:
                return self._variable(reference.name, reference.default)

    def _variable(self, name: str, default: str | None) -> str:
        value = self._environment.get(name, "").strip()
        if not value and default is None:
            raise self.fault(f"needs the environment variable {name}, which is not set", f"Set {name} and try again.")
        if value and name not in _INHERITED.split():
            self._used.add(value)
        return value or default or ""

    def _entry(self, name: str) -> str:
        secret = self._entries.get(name)
        if secret is None:
            raise self.fault(
                f"needs the keychain entry {name}, which is not there", f"Make it with: mcp-tef keys set server:{name}"
            )
        self._used.add(secret.reveal())
        return secret.reveal()

    def _input_default(self, name: str) -> str | None:
        """Return the default that the original config gives for an input that nobody enters."""
        asked = (item for item in self.spec.inputs if item.get("id") == name)
        default = next((item.get("default") for item in asked), None)
        return default if isinstance(default, str) else None

    def _place(self, name: str) -> str:
        if name in ("pathSeparator", "/"):
            return os.sep
        if name == "userHome":
            return os.path.expanduser("~")
        if not self.spec.project:
            raise self.fault(
                "is said to be in ${workspaceFolder}, and no folder is known for that", "Write the folder itself."
            )
        return Path(self.spec.project).name if name == "workspaceFolderBasename" else self.spec.project

    def fault(self, what: str, hint: str) -> ServerError:
        """An error about what is said of the server."""
        return ServerError(ServerFault.SETTINGS, f"{self.spec.name} {what}.", hint=hint)

    def url(self) -> str:
        """The address to connect to; ServerError where anything but a variable would decide its host."""
        if odd := undecided_host(self.spec.url or ""):
            raise self.fault(f"has an address whose host {odd} would decide", "Write the host, or a variable.")
        return self.fill(self.spec.url or "").strip()

    def headers(self) -> dict[str, str]:
        """The user's headers, and the one that authenticates."""
        return self._filled(self.spec.headers) | self._authentication()

    def _filled(self, fields: Mapping[str, str]) -> dict[str, str]:
        """Values with their references replaced; those that are written out are secrets as well, by their names."""
        self._used.update(value for name, value in fields.items() if _SECRET_NAME.search(name))
        return {name: self.fill(value) for name, value in fields.items()}

    def _authentication(self) -> dict[str, str]:
        match self.spec.auth_type:
            case AuthType.NONE | AuthType.OAUTH2 | AuthType.CLIENT_CREDENTIALS:
                return {}
            case AuthType.API_KEY:
                return {"X-API-Key": self._secret()}
            case AuthType.BEARER:
                return {"Authorization": f"Bearer {self._secret()}"}
            case AuthType.BASIC:
                return {"Authorization": f"Basic {self._basic()}"}

    def _basic(self) -> str:
        encoded = base64.b64encode(self._secret().encode()).decode()
        self._used.add(encoded)
        return encoded

    def client_secret(self) -> str | None:
        """The secret of the OAuth client that a service gave us, if it gave one."""
        return self._secret() if self.spec.secret else None

    def private_key(self) -> str | None:
        """The OAuth client's private key (PEM), from its file or as its secret; None where it has a plain secret."""
        named = self.spec.oauth.private_key_file
        key = self._key_file(named) if named else (self.client_secret() or "").replace("\\n", "\n")
        self._used.add(key)
        return key if _PRIVATE_KEY.match(key) else None

    def _key_file(self, named: str) -> str:
        """The text of a private key's file; ServerError where it cannot be read or holds no key."""
        file = Path(os.path.expanduser(self.fill(named)))
        try:
            text = read_small_file(file)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise self.fault(f"signs in with the key in {file}, which cannot be read: {why}", _KEY_HINT) from error
        if not _PRIVATE_KEY.match(text):
            raise self.fault(f"signs in with the key in {file}, which holds no private key", _KEY_HINT)
        return text

    def hide(self, text: str) -> None:
        """Keep a text that was made from a secret out of everything that is said of the server."""
        self._used.add(text)

    def _secret(self) -> str:
        if not any(references(self.spec.secret or "")):
            raise self.fault(
                f"has authentication “{self.spec.auth_type}” but names no environment variable for its secret",
                "Write the secret as ${NAME} and set that variable, or as ${keychain:NAME}.",
            )
        return self.fill(self.spec.secret or "")

    def launch(self, require: Callable[[StartPlan], object] = lambda _: None) -> Launch:
        """Return the program to start, by its plan; ServerError where it or its folder cannot be found.

        `require` raises where the plan is not allowed, before anything that it names is read.
        """
        for text in (self.spec.command, self.spec.cwd, self.spec.env_file):
            self.fill(text or "")  # names the variable that is not set
        plan = server_plan(self.spec, self._environment)
        require(plan)
        env = {name: self._environment[name] for name in _INHERITED.split() if name in self._environment}
        if not os.path.isdir(plan.folder):
            raise self.fault(f"should start in {plan.folder}, which is no folder", "Correct the working folder.")
        env |= {**self._from_file(plan.env_file), **self._filled(self.spec.env)}
        self._require_program(plan.program)
        if not os.path.dirname(self.spec.command or ""):
            env = _reaching(plan.program, env)
        return Launch(plan=plan, argv=(plan.program, *map(self.fill, plan.arguments)), cwd=plan.folder, env=env)

    def _require_program(self, program: str) -> None:
        if shutil.which(program) is None or not os.path.isabs(program):
            raise program_not_found(self.spec, exists=os.path.isabs(program) and Path(program).is_file())

    def _from_file(self, file: str) -> Mapping[str, str]:
        """The variables of the server's env file, all of which may be secrets."""
        if not file:
            return {}
        try:
            found = read_env_file(Path(file))
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise self.fault(
                f"takes variables from {file}, which cannot be read: {why}", "Correct the file or its path."
            ) from error
        self._used.update(found.values())
        if deciding := next(filter(decides_what_runs, found), None):
            raise self.fault(
                f"takes {deciding} from {file}, which can make it run code that you have not approved",
                "Write it among the server's own variables, where it is seen before the start.",
            )
        return found


def _reaching(program: str, env: dict[str, str]) -> dict[str, str]:
    """The environment with the folder of a program that PATH does not lead to, where its interpreter may be as well."""
    folder, path = os.path.dirname(program), env.get("PATH", os.defpath)
    if not folder or shutil.which(os.path.basename(program), path=path):
        return env
    return {**env, "PATH": folder + os.pathsep + path}


def program_not_found(spec: ServerSpec, *, exists: bool = False) -> ServerError:
    """The error for a program that is not there, or that is there and cannot be run."""
    if exists:
        what, hint = f"cannot be started: {spec.command} is not a program", "Make the file executable, or name another."
    else:
        what = f"cannot be started: there is no program “{spec.command or ''}”"
        hint = "Install it, or write the full path of the command."
    return ServerError(ServerFault.PROGRAM_NOT_FOUND, f"{spec.name} {what}.", hint=hint)
