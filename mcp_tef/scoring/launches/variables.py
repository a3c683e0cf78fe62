"""Environment variables that change what a program runs, not only how."""

_LOADING = """
    BASH_ENV CLASSPATH ENV GCONV_PATH IFS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS LD_AUDIT LD_LIBRARY_PATH LD_PRELOAD
    LUA_PATH NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE PATH PATHEXT PERL5LIB PERL5OPT PERLLIB PROMPT_COMMAND
    PYTHONEXECUTABLE PYTHONHOME PYTHONINSPECT PYTHONPATH PYTHONSTARTUP RUBYLIB RUBYOPT SHELL ZDOTDIR _JAVA_OPTIONS
    DOTNET_STARTUP_HOOKS GIT_SSH_COMMAND GIT_EXTERNAL_DIFF COMSPEC
"""
_SOURCES = """
    NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL PIP_INDEX_URL UV_CONFIG_FILE
    UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL YARN_REGISTRY DENO_REGISTRY DOCKER_HOST
"""


def loads_code(name: str) -> bool:
    """Whether a variable can make a program load code that its command line does not name."""
    return name.upper() in _LOADING.split() or name.upper().startswith(("DYLD_", "LD_"))


def chooses_source(name: str) -> bool:
    """Whether a variable decides where packages are fetched from."""
    return name.upper() in _SOURCES.split()


def drops_checks(name: str, value: str) -> bool:
    """Whether a variable turns off the check of who is at the other end of a connection."""
    unchecked = {"NODE_TLS_REJECT_UNAUTHORIZED": "0", "PYTHONHTTPSVERIFY": "0", "GIT_SSL_NO_VERIFY": "1"}
    return unchecked.get(name.upper()) == value.strip()
