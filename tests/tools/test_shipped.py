# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels that come with a zip: into the user's folder whole, once, or not at all."""

import json
import zipfile

import pytest

from tools.build import shipped as load

shipped = load()


@pytest.fixture
def extension(tmp_path):
    """An installed extension with kernels, and the user's folder."""
    kernels, root = tmp_path / "compiled", tmp_path / "extension"
    for name in ("heft.core.a/a.nbi", "heft.core.a/a.1.nbc", "another/b.nbi"):
        (kernels / name).parent.mkdir(parents=True, exist_ok=True)
        (kernels / name).write_text(name)
    (root / "core").mkdir(parents=True)
    (root / "core" / "a.py").write_text("x = 1\n")
    files = ["heft.core.a/a.nbi", "heft.core.a/a.1.nbc"]
    shipped.pack(kernels, files, ["gait", "balance"], root / "kernels", shipped.fits())
    user = tmp_path / "user"
    user.mkdir()
    return root, user


def content(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_all_that_was_packed_and_nothing_else(extension):
    root, user = extension
    folder = shipped.install(root / "kernels", user)
    assert content(folder) == {"heft.core.a/a.nbi", "heft.core.a/a.1.nbc", shipped.READY}
    assert (folder / "heft.core.a" / "a.nbi").read_text() == "heft.core.a/a.nbi"
    assert shipped.ready(folder, shipped.digest_of_core(root)) == {"gait", "balance"}
    assert list(user.iterdir()) == [folder]


def test_once(extension):
    root, user = extension
    folder = shipped.install(root / "kernels", user)
    (folder / "heft.core.a" / "more.nbi").write_text("compiled since")
    assert shipped.install(root / "kernels", user) == folder
    assert "heft.core.a/more.nbi" in content(folder)


def test_the_same_kernels_are_the_same_archive(extension, tmp_path):
    root, _ = extension
    first = (root / "kernels" / shipped.ARCHIVE).read_bytes()
    files = ["heft.core.a/a.1.nbc", "heft.core.a/a.nbi"]
    shipped.pack(tmp_path / "compiled", files, ["balance", "gait"], root / "kernels", shipped.fits())
    assert (root / "kernels" / shipped.ARCHIVE).read_bytes() == first


@pytest.mark.parametrize("spoil", ["archive", "label", "nothing", "python", "machine", "both"])
def test_what_is_not_as_it_was_built_or_for_elsewhere_is_left_alone(extension, spoil):
    root, user = extension
    archive, label = root / "kernels" / shipped.ARCHIVE, root / "kernels" / shipped.LABEL
    if spoil == "archive":
        with zipfile.ZipFile(archive, "a") as whole:
            whole.writestr("heft.core.a/b.nbi", "of somebody else")
    elif spoil == "label":
        label.write_text("{")
    elif spoil == "nothing":
        archive.unlink()
    elif spoil == "both":
        archive.unlink()
        label.unlink()
    else:
        label.write_text(json.dumps(json.loads(label.read_text()) | {spoil: "another"}))
    assert shipped.install(root / "kernels", user) == user / shipped.OWN
    assert content(user) == set()


def test_others_go(extension):
    root, user = extension
    for name in ("0123456789abcdef", shipped.OWN):
        (user / name).mkdir()
        (user / name / "kernel.nbi").write_text("of an earlier version")
    folder = shipped.install(root / "kernels", user)
    assert list(user.iterdir()) == [folder]


def test_who_asks_for_kernels_of_this_processor_keeps_them_beside_those_for_all(extension, monkeypatch):
    root, user = extension
    with monkeypatch.context() as asked:
        asked.setenv("HEFT_PROCESSOR", "own")
        own = shipped.install(root / "kernels", user)
    assert content(user) == set()
    shipped.note_ready(own, "a core", "gait")
    folder = shipped.install(root / "kernels", user)
    assert folder != own
    assert shipped.ready(own, "a core") == {"gait"}


def test_a_copy_that_was_cut_short_is_never_taken_for_whole(extension, monkeypatch):
    root, user = extension

    def cut_short(self, path):
        path.mkdir()
        (path / "half.nbi").write_text("")
        raise OSError("No space left on device")

    with monkeypatch.context() as full:
        full.setattr(zipfile.ZipFile, "extractall", cut_short)
        assert shipped.install(root / "kernels", user) == user / shipped.OWN
    assert content(user) == set()
    assert len(content(shipped.install(root / "kernels", user))) == 3


def test_methods_are_noted_for_one_core(tmp_path):
    folder = tmp_path / "kernels"
    assert shipped.ready(folder, "a core") == set()
    shipped.note_ready(folder, "a core", "gait")
    shipped.note_ready(folder, "a core", "balance")
    assert shipped.ready(folder, "a core") == {"gait", "balance"}
    assert shipped.ready(folder, "another") == set()
    (folder / shipped.READY).write_text("[")
    assert shipped.ready(folder, "a core") == set()
