"""A repository that somebody else made is read without running anything of it, whatever its configuration says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_tef import InputError
from mcp_tef.trust.git_objects import git_objects

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs of the configuration are shell scripts")
WHO = ("-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "commit.gpgsign=false")
PROGRAMS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "pager.diff"),
    *("diff.external", "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge", "filter.x.process"),
    *("credential.helper", "gpg.program", "uploadpack.packObjectsHook", "alias.ls-tree", "alias.cat-file"),
)  # fmt: skip


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *WHO, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(params=["sha1", "sha256"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A repository with two commits, a tag, a remote branch and an ignored file."""
    place = tmp_path / "clone"
    place.mkdir()
    git(place, "init", "-q", "-b", "main", f"--object-format={request.param}")
    (place / "src").mkdir()
    (place / ".gitignore").write_text("*.log\n", "utf-8")
    (place / "src" / "tools.py").write_text("one\n", "utf-8")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    git(place, "tag", "-a", "v1", "-m", "v1")
    git(place, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(place, "update-ref", "refs/heads/topic/a", "HEAD")
    (place / "src" / "tools.py").write_text("two\n", "utf-8")
    git(place, "commit", "-qam", "two")
    (place / "src" / "run.log").write_text("ignored", "utf-8")
    return place


NAMES = ("HEAD", "@", "main", "HEAD~1", "HEAD^", "main~1", "v1", "v1^0", "origin/main", "topic/a", "refs/heads/main")


def test_a_name_is_the_commit_that_git_says(repository: Path) -> None:
    hashes = [git(repository, "rev-parse", name) for name in ("HEAD", "HEAD~1")]
    for packed in (False, True):
        if packed:
            git(repository, "pack-refs", "--all")
            git(repository, "gc", "-q")
        with git_objects(repository / "src") as objects:
            for name in (*NAMES, *hashes, *(one[:8] for one in hashes), f"{hashes[0]}~1"):
                assert objects.commit(name) == git(repository, "rev-parse", f"{name}^{{commit}}"), name
            assert objects.content(objects.commit("HEAD~1"), "src/tools.py") == b"one\n"
            assert objects.content(objects.commit("HEAD"), "src/none.py") is None


@pytest.mark.parametrize(
    "name", ["nowhere", "--upload-pack=x", "main@{1}", "../x", "HEAD:src", "", "main..v1", "-n", "a\0b"]
)
def test_what_is_no_commit_is_refused(repository: Path, name: str) -> None:
    with git_objects(repository) as objects, pytest.raises(InputError):
        objects.commit(name)


def test_differences_are_those_of_the_work_tree(repository: Path) -> None:
    def differs(*paths: str, at: str = "HEAD") -> bool:
        with git_objects(repository) as objects:
            return objects.differs(objects.commit(at), paths or ("src",))

    assert not differs()
    assert not differs(".")
    assert differs(at="HEAD~1")
    assert differs("gone.json"), "a path that is nowhere is no proof that nothing has changed"
    (repository / "src" / "tools.py").write_bytes(b"two\r\n")
    assert not differs(), "line ends"
    (repository / "src" / "tools.py").write_text("three\n", "utf-8")
    assert differs()
    git(repository, "checkout", "-q", ".")
    (repository / "src" / "new.py").write_text("new", "utf-8")
    assert differs()
    (repository / "src" / "new.py").unlink()
    (repository / "src" / "tools.py").unlink()
    (repository / "src" / "tools.py").symlink_to("/etc/hostname")
    assert differs()


def new_folder(place: Path) -> Path:
    """Return an empty folder."""
    (place / "target").mkdir()
    return place / "target"


def test_the_files_of_a_commit_are_written_as_they_are_stored(repository: Path, tmp_path: Path) -> None:
    (repository / "src" / "run.sh").write_bytes(b"one\r\n\0" * 3)
    (repository / "src" / "run.sh").chmod(0o755)
    (repository / "empty").touch()
    (repository / "link").symlink_to("/etc/hostname")
    (repository / "src" / "tools.py").write_text("not committed", "utf-8")
    git(repository, "add", "src/run.sh", "empty", "link")
    git(repository, "commit", "-qm", "three")
    for number in range(250):
        (repository / f"{number}.txt").write_text(f"{number}\n" * number, "utf-8")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "four")
    target = new_folder(tmp_path)
    with git_objects(repository) as objects:
        objects.write_files(objects.commit("HEAD"), target)
    found = {str(one.relative_to(target)) for one in target.rglob("*") if not one.is_dir()}
    assert found == {*git(repository, "ls-files").split("\n")} - {"link"}
    assert all((target / one).read_bytes() == (repository / one).read_bytes() for one in found)
    assert os.access(target / "src" / "run.sh", os.X_OK)
    assert not os.access(target / "src" / "tools.py", os.X_OK)


def test_a_work_tree_beside_the_first_is_read(repository: Path) -> None:
    git(repository, "worktree", "add", "-q", "../beside", "topic/a")
    with git_objects(repository.parent / "beside") as objects:
        assert objects.commit("HEAD") == git(repository, "rev-parse", "topic/a")
        assert objects.commit("main") == git(repository, "rev-parse", "main")


def test_a_pointer_to_another_repository_is_refused(repository: Path, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / ".git").write_text(f"gitdir: {repository / '.git'}\n", "utf-8")
    with pytest.raises(InputError, match="does not know it"), git_objects(stranger):
        pass


def test_nothing_of_the_configuration_runs(repository: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    script = tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$0 $@" >> {marker}\ncat\n', "utf-8")
    script.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        (hooks / name).symlink_to(script)
    attributes = "* filter=x diff=x merge=x\n"
    (repository / ".gitattributes").write_text(attributes, "utf-8")
    config = repository / ".git" / "config"
    for key in PROGRAMS:
        value = f"!{script}" if key.startswith(("alias", "credential")) else str(script)
        git(repository, "config", key, value)
    git(repository, "config", "core.hooksPath", str(hooks))
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "remote.origin.url", f"ext::{script} %S")
    git(repository, "config", "remote.origin.promisor", "true")
    config.write_text(f"{config.read_text('utf-8')}[core]\n\tworktree = /\n", "utf-8")
    (repository / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (repository / ".git" / "objects" / "info" / "alternates").write_text("/nowhere\n", "utf-8")
    (repository / ".git" / "commondir").write_text("/nowhere\n", "utf-8")
    marker.unlink(missing_ok=True)
    with git_objects(repository) as objects:
        commit = objects.commit("HEAD~1")
        assert objects.content(commit, "src/tools.py") == b"one\n"
        assert objects.differs(commit, ["src"])
        assert objects.differs(objects.commit("main"), ["."])
        with pytest.raises(InputError):
            objects.commit("0" * len(commit))
        objects.write_files(commit, new_folder(tmp_path))
    assert not marker.exists()


def test_objects_of_another_repository_are_not_borrowed(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "private"
    git(
        tmp_path,
        "init",
        "-q",
        f"--object-format={'sha256' if len(git(repository, 'rev-parse', 'HEAD')) > 40 else 'sha1'}",
        str(other),
    )
    (other / "secret").write_text("secret", "utf-8")
    git(other, "add", ".")
    git(other, "commit", "-qm", "secret")
    secret = git(other, "rev-parse", "HEAD")
    info = repository / ".git" / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text(f"{other / '.git' / 'objects'}\n", "utf-8")
    assert git(repository, "cat-file", "-t", secret) == "commit", "Git itself follows it"
    with git_objects(repository) as objects, pytest.raises(InputError):
        objects.commit(secret)


def test_git_is_not_looked_for_in_the_current_folder(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "git").write_text("#!/bin/sh\ntouch marker\n", "utf-8")
    (repository / "git").chmod(0o755)
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", os.pathsep.join((".", "", os.environ["PATH"])))
    with git_objects(repository) as objects:
        assert objects.commit("HEAD")
    assert not (repository / "marker").exists()


@pytest.mark.parametrize("pointer", [b"gitdir: a\0b", b"gitdir: loop", None], ids=["null", "loop", "empty folder"])
def test_a_damaged_repository_is_refused_in_one_sentence(tmp_path: Path, pointer: bytes | None) -> None:
    if os.name != "nt":
        (tmp_path / "loop").symlink_to("loop")
    place = tmp_path / ".git"
    place.write_bytes(pointer) if pointer else place.mkdir()
    with pytest.raises(InputError), git_objects(tmp_path):
        pass
