# SPDX-License-Identifier: GPL-3.0-or-later
"""`run.py study`: what it lists can be run, and what it runs is not part of the product."""

import ast
import importlib
import tomllib

import numpy as np
import pytest
from heft import studies
from heft.studies.lib import journal, witnesses

from tools import bare, holding, measured, study
from tools.environment import ROOT

OUTSIDE = ("research", "studies", "tests", "tools")
# what the product consists of, whether zipped or installed with pip
PRODUCT = (
    "__init__.py",
    "registration.py",
    "blender_module.py",
    "core",
    "blender_addon",
    "operators",
    "panels",
    "examples",
)


def functions(name):
    source = ast.parse((study.STUDIES / f"{name}.py").read_text(encoding="utf-8"))
    return {one.name for one in source.body if isinstance(one, ast.FunctionDef)}


@pytest.mark.parametrize("name", study.names())
def test_what_is_listed_can_be_run_and_says_what_it_is_about(name):
    assert "study" in functions(name)
    assert study.about(name).endswith((".", "?"))


def test_list_has_a_line_for_each_study_and_none_for_what_they_share(capsys):
    study.main([])
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert listed == {name: study.about(name) for name in study.names()}
    assert "rag_doll" in listed
    assert "chart" not in listed


def test_name_runs_that_study_and_its_page_is_whole(tmp_path, monkeypatch, capsys):
    (tmp_path / "addition.py").write_text('"""Whether one and one are two."""\ndef study(_): return f"is {1 + 1}"\n')
    monkeypatch.setattr(study, "STUDIES", tmp_path)
    monkeypatch.setattr(study, "PAGES", tmp_path / "pages")
    monkeypatch.setattr(studies, "__path__", [str(tmp_path)])
    study.main(["addition"])
    assert [page.name for page in (tmp_path / "pages").iterdir()] == ["addition.md"]
    assert (tmp_path / "pages" / "addition.md").read_text() == "is 2\n"
    assert "is 2" in capsys.readouterr().out


def test_unknown_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        study.main(["chart"])
    assert "chart" in capsys.readouterr().err


def imported(path):
    """Whole names of what a module imports; what is relative, from the package's root."""
    package = ("heft", *path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            home = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*home, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def test_nothing_of_the_product_imports_what_stands_outside():
    files = [
        file for name in PRODUCT for file in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"))
    ]
    assert len(files) > 300
    wrong = [
        f"{file.relative_to(ROOT)} imports {name}"
        for file in files
        for name in imported(file)
        if name.removeprefix("heft.").split(".")[0] in OUTSIDE
    ]
    assert not wrong


def test_neither_zip_nor_package_carries_what_stands_outside():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packaged = {name.split(".")[1] for name in project["tool"]["setuptools"]["packages"] if "." in name}
    assert packaged == {name for name in PRODUCT if not name.endswith(".py")}
    assert set(bare.CONTENTS) - {"LICENSE", "presets"} == set(PRODUCT) - {"blender_module.py"}


def test_a_study_measures_what_it_imports_and_what_its_helpers_do(tmp_path):
    (tmp_path / "studies" / "lib").mkdir(parents=True)
    (tmp_path / "core" / "motion").mkdir(parents=True)
    for file in ("core/__init__.py", "core/motion/__init__.py", "core/motion/fit.py", "core/motion/clip.py"):
        (tmp_path / file).touch()
    (tmp_path / "studies" / "lib" / "__init__.py").touch()
    helper = tmp_path / "studies" / "lib" / "walks.py"
    helper.write_text("from heft.core.motion.fit import Trajectory\nimport numpy\n")
    one = tmp_path / "studies" / "one.py"
    one.write_text("from heft.studies.lib import walks\nfrom heft.core.motion import clip\n")
    motion = tmp_path / "core" / "motion"
    assert measured.measured(one, tmp_path) == [motion / "clip.py", motion / "fit.py", helper, one]
    one.write_text("from heft.core.motion import Trajectory\nfrom heft.core.motion import fit\n")
    assert measured.measured(one, tmp_path) == [motion, one]


def test_rows_are_found_by_their_names_and_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "FOLDER", tmp_path)
    asked = []

    def row(name):
        return lambda: asked.append(name) or f"| {name} |"

    monkeypatch.setattr(journal.Journal, "only", "down")
    rows = {name: row(name) for name in ("up", "down", "far down")}
    assert journal.Journal("one", []).rows(rows) == ["| down |", "| far down |"]
    monkeypatch.setattr(journal.Journal, "only", "")
    assert journal.Journal("one", []).rows(rows) == ["| up |", "| down |", "| far down |"]
    assert asked == ["down", "far down", "up"]


def test_a_page_holds_if_what_is_found_anew_stands_in_it():
    page = "# A\n\n| walk | 5/5 | 0.02 | 44 |\n"
    assert holding.unlike(page, ["| walk | 5/5 | 0.02"]) == []
    assert holding.unlike(page, ["| walk | 5/5 | 0.02", "| run | 5/5", "| walk | 5/5 | 0.03"]) == [
        "| run | 5/5",
        "| walk | 5/5 | 0.03",
    ]
    with pytest.raises(ValueError, match="no lines"):
        holding.unlike(page, [])
    once = holding.marked(page, 1, "abc")
    assert once.startswith(page)
    assert "abc: 1 of its lines" in once
    assert holding.marked(once, 2, "def") == holding.marked(page, 2, "def")


def test_a_study_that_does_something_else_is_another():
    one = '"""A."""\nfrom heft import core\n\ndef study(_): return "is 2"  # as ever\n'
    moved = '"""A."""\nfrom heft.core import job\n\ndef study(_):\n    return "is 2"\n'
    assert holding.acts(one) == holding.acts(moved)
    assert holding.acts(one) != holding.acts(one.replace("2", "3"))


def test_witnesses_are_of_studies_that_have_pages():
    pages = {page.stem for page in study.PAGES.glob("*.md")}
    assert pages & set(study.names()) >= {*witnesses.WITNESSES, *witnesses.BITS}


def test_bits_tell_numbers_apart_and_heed_no_words():
    told = witnesses.bits([0.1, "fell", np.ones(2)])
    assert told == witnesses.bits([np.float64(0.1), "stood", np.ones(2)])
    assert told != witnesses.bits([0.1 + 1e-17 + 2e-17, "fell", np.ones(2) + 2.0**-52])


def test_a_page_that_only_counts_has_a_line_of_bits(tmp_path, monkeypatch):
    (tmp_path / "addition.py").write_text('"""Whether one and one are two."""\ndef study(_): return f"is {1 + 1}"\n')
    monkeypatch.setattr(study, "STUDIES", tmp_path)
    monkeypatch.setattr(studies, "__path__", [str(tmp_path)])
    monkeypatch.setattr(witnesses, "BITS", {"addition": lambda module: [module.study(None), 2.0]})
    study.run("addition", tmp_path / "pages")
    page = (tmp_path / "pages" / "addition.md").read_text()
    assert page == f"is 2\n\n{witnesses.bits([2.0])}\n"
    module = importlib.import_module("heft.studies.addition")
    assert holding.unlike(page, witnesses.witness("addition", module)) == []
    monkeypatch.setattr(witnesses, "BITS", {"addition": lambda _: [2.5]})
    assert holding.unlike(page, witnesses.witness("addition", module)) == [witnesses.bits([2.5])]
