"""The .deb, the .rpm and the portable archive."""

import json
import platform
import subprocess
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from icons import DRAWING, ICONS, SIZES, size_file
from project import BUILD, DIST, HERE, LICENCE, MACHINE, NAME, PACKAGE, PAYLOAD, ROOT, SUMMARY, VERSION

sys.path.insert(0, str(ROOT))

from dev import LIBRARIES

HOME = f"/opt/{NAME}"
SHARE = "/usr/share"
LIBC = platform.libc_ver()[1]
DEB_ALSO = (f"libc6 (>= {LIBC})", "libstdc++6", "libgcc-s1", "fontconfig")
RPM_ALSO = (f"libc.so.6(GLIBC_{LIBC})", "libstdc++.so.6()", "libgcc_s.so.1()")
METAINFO = "io.github.mcp_tef.desktop.metainfo.xml"
FILES = {
    HERE / "linux" / f"{NAME}-desktop.desktop": f"{SHARE}/applications",
    BUILD / METAINFO: f"{SHARE}/metainfo",
    HERE / "linux" / f"{NAME}.mime.xml": f"{SHARE}/mime/packages",
}


def make_packages() -> None:
    """Make what is installed on Linux."""
    (BUILD / METAINFO).write_text(metainfo(), "utf-8")
    plan = BUILD / "nfpm.json"
    plan.write_text(json.dumps(package_plan(), indent=1), "utf-8")
    for kind in ("deb", "rpm"):
        target = DIST / f"{PACKAGE}_{VERSION}_{MACHINE}.{kind}"
        subprocess.run(["nfpm", "package", "-f", str(plan), "-p", kind, "-t", str(target)], check=True, cwd=ROOT)
    make_archive()


def package_plan() -> dict[str, Any]:
    """Return nfpm's configuration, for both kinds of package."""
    return {
        "name": PACKAGE,
        "arch": MACHINE,
        "version": VERSION,
        "section": "devel",
        "priority": "optional",
        "maintainer": "The mcp-tef authors <mcp-tef@localhost>",
        "description": SUMMARY,
        "license": LICENCE,
        "contents": [*_payload(), *_links(), *_desktop(), *_icons(), _copyright()],
        "scripts": {when: str(HERE / "linux" / "after.sh") for when in ("postinstall", "postremove")},
        "overrides": {
            "deb": {"depends": deb_needs(), "recommends": ["fonts-dejavu-core"]},
            "rpm": {"depends": rpm_needs(), "recommends": ["dejavu-sans-fonts"]},
        },
        "deb": {"compression": "zstd"},
        "rpm": {"compression": "zstd", "group": "Development/Tools", "summary": SUMMARY},
    }


def metainfo() -> str:
    """Return the metadata for software centres, with the project's version and the day of its last change."""
    told = (HERE / "linux" / METAINFO).read_text("utf-8")
    last = subprocess.run(["git", "log", "-1", "--format=%cs"], cwd=ROOT, capture_output=True, text=True, check=False)
    day = last.stdout.strip() or datetime.now(UTC).date().isoformat()
    return told.replace("@VERSION@", VERSION).replace("@DATE@", day)


def deb_needs() -> list[str]:
    """Debian's names of what the payload leaves to the system."""
    return sorted({*LIBRARIES.values(), *DEB_ALSO})


def rpm_needs() -> list[str]:
    """Return the system libraries that the payload needs, by sonames, which all distributions share."""
    return sorted(f"{one}(64bit)" for one in (*(f"{library}()" for library in LIBRARIES), *RPM_ALSO))


def _payload() -> list[dict[str, Any]]:
    return [{"src": str(PAYLOAD), "dst": HOME, "type": "tree"}]


def _links() -> list[dict[str, Any]]:
    names = (f"{NAME}-desktop", NAME)
    return [{"src": f"{HOME}/{name}", "dst": f"/usr/bin/{name}", "type": "symlink"} for name in names]


def _desktop() -> list[dict[str, Any]]:
    return [{"src": str(file), "dst": f"{folder}/{file.name}"} for file, folder in FILES.items()]


def _icons() -> list[dict[str, Any]]:
    folder = f"{SHARE}/icons/hicolor"
    sized = [(ICONS / size_file(size), f"{folder}/{size}x{size}/apps/{NAME}.png") for size in SIZES]
    return [
        {"src": str(file), "dst": place} for file, place in (*sized, (DRAWING, f"{folder}/scalable/apps/{NAME}.svg"))
    ]


def _copyright() -> dict[str, Any]:
    return {"src": str(ROOT / "LICENSE"), "dst": f"{SHARE}/doc/{PACKAGE}/copyright"}


def make_archive() -> Path:
    """Make the archive that is only unpacked."""
    archive = DIST / f"{PACKAGE}-{VERSION}-linux-{MACHINE}.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=6) as file:
        file.add(PAYLOAD, arcname=f"{NAME}-{VERSION}")
    return archive
