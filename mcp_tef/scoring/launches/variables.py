"""Environment variables that change what a program runs, not only how."""

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
_RUNNERS = (
    *("BUN_", "COREPACK_", "DENO_", "GIT_CONFIG", "GIT_EXEC", "GIT_SSH"),
    *("NPM_CONFIG_", "PIP", "PNPM_", "UV_", "YARN_"),
)


def loads_code(name: str) -> bool:
    """Whether a variable can make a program load code that its command line does not name."""
    return name.upper() in _LOADING or name.upper().startswith(_LOADERS)


def chooses_source(name: str) -> bool:
    """Whether a variable decides where packages are fetched from."""
    return name.upper() in _SOURCES


def drops_checks(name: str, value: str) -> bool:
    """Whether a variable turns off the check of who is at the other end of a connection."""
    return _UNCHECKED.get(name.upper()) == value.strip()


def decides_what_runs(name: str) -> bool:
    """Whether a variable may change which code a command stands for: never to be taken from where nobody sees it."""
    return name.upper() in _DECIDING or name.upper().startswith(_LOADERS + _RUNNERS)
