"""Build the installers: `python3 dev.py package [STEP…]`; without a step, all of them in their order."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable

import icons
import licences
import model
import sbom
from project import BILL, BUILD, DIST, HERE, PAYLOAD, ROOT, SBOM


def check() -> None:
    """Check the workflows and the scripts of the installers."""
    import windows

    workflows = sorted(str(file) for file in (ROOT / ".github" / "workflows").glob("*.yml"))
    tool = [sys.executable, "-I", "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    subprocess.run([*tool, *workflows], check=True)
    icons.write_icons()
    windows.try_script()


def parts() -> None:
    """Collect everything that ships beside the code: icons, the model, licences, the bill of materials."""
    icons.write_icons()
    model.fetch_model()
    licences.write_licences()
    sbom.write_sbom()


def payload() -> None:
    """Build the folder with the two executables."""
    surroundings = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-P", "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR"]
    folders = ["--distpath", str(DIST), "--workpath", str(BUILD / "pyinstaller")]
    subprocess.run([*command, *folders, str(HERE / "mcp-tef.spec")], check=True, env=surroundings, cwd=ROOT)
    if sys.platform == "linux":
        _strip()


def _strip() -> None:
    """Strip debug symbols: they make up two thirds of Python's own libraries."""
    inner = PAYLOAD / "_internal"
    for library in (*inner.glob("libpython*.so*"), *inner.glob("python3.*/lib-dynload/*.so")):
        subprocess.run(["strip", "--strip-unneeded", str(library)], check=True)


def smoke() -> None:
    """Check that the built app does what the source does."""
    from smoke import smoke as use

    use()


def journey() -> None:
    """Walk the journeys of `smoke` with the source instead of the built app."""
    from journey import main as walk

    walk([])


def installers() -> None:
    """Build the files that people download, for this system."""
    if sys.platform == "linux":
        from linux import make_packages as make
    elif sys.platform == "darwin":
        from macos import make_disk_image as make
    else:
        from windows import make_installer as make
    make()
    shutil.copy(SBOM, DIST / BILL)
    for file in sorted(file for file in DIST.iterdir() if file.is_file()):
        print(f"  {file.stat().st_size / 1e6:6.1f} MB  {file.name}")


def bare_root() -> None:
    """Check that the .deb and the .rpm install and uninstall on a bare Debian without a trace."""
    from bare_root import try_packages

    try_packages()


STEPS: tuple[Callable[[], None], ...] = (check, parts, payload, smoke, installers)


def main(names: list[str]) -> int:
    """Do the steps that are named, or all but those that stand for themselves."""
    known = {step.__name__: step for step in (*STEPS, journey, bare_root)}
    if not set(names) <= set(known):
        print(f"The steps are: {', '.join(known)}.", file=sys.stderr)
        return 2
    for name in names or [step.__name__ for step in STEPS]:
        began = time.monotonic()
        print(f"→ {name}", flush=True)
        try:
            known[name]()
        except FileNotFoundError as error:
            print(f"The step {name} needs {error.filename}, which is not here.", file=sys.stderr)
            return 1
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
