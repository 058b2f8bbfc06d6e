# SPDX-License-Identifier: GPL-3.0-or-later
"""Methods as others see them: found by their folders, asked for their needs, never for their names."""

import ast
from dataclasses import fields

import pytest
from heft.core.control.gait import reduced, style
from heft.core.control.method import DEFAULT
from heft.core.control.methods import METHODS, method_named
from heft.core.settings import settings_of

from tools.environment import ROOT

ROOMS = ("core", "blender_addon", "operators", "panels", "examples")
CHOOSE = {"method", "controller", "DEFAULT"}  # what is said to be a method


@pytest.fixture(scope="module")
def modules():
    """The product's syntax trees by path."""
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")] + [ROOT / "registration.py"]
    return {path.relative_to(ROOT): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def constants(node):
    return {one.value.lower() for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def names(node):
    """What an assignment's or keyword's targets are called at the end."""
    return {getattr(one, key, None) for one in ast.walk(node) for key in ("id", "attr")}


def is_named(node, name):
    """Whether a statement chooses a method by its name, reaches for its settings or imports from its room."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return name in constants(node.value) and any(names(target) & CHOOSE for target in targets)
    if isinstance(node, ast.keyword):
        return node.arg in CHOOSE and name in constants(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == name and bool(
            {"heft", "settings"} & {getattr(node.value, key, "") for key in ("id", "attr")}
        )
    return isinstance(node, ast.ImportFrom) and f"control.{name}" in (node.module or "")


def test_nobody_compares_the_name_of_a_method(modules):
    compared = [
        (path, node.lineno)
        for path, tree in modules.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and names(node) & CHOOSE and constants(node) & set(METHODS)
    ]
    assert compared == []


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_named_outside_its_folder_at_two_places_at_most(modules, name):
    own = ("core", "control", name)
    named = {
        path
        for path, tree in modules.items()
        if path.parts[:3] != own and any(is_named(node, name) for node in ast.walk(tree))
    }
    assert len(named) <= 2, sorted(map(str, named))


def test_methods_stand_in_the_order_of_their_numbers():
    assert list(METHODS) == ["lookahead", "replanning", "momentum", "balance", "gait", "combination", "steering"]
    assert DEFAULT in METHODS
    with pytest.raises(ValueError, match="no method 'telepathy'; choose from lookahead, replanning"):
        method_named("telepathy")


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_every_setting_says_what_it_is(method):
    entries = settings_of(method.settings)
    assert set(entries) == {entry.name for entry in fields(method.settings)}
    defaults = method.choose({})
    for name, entry in entries.items():
        value = getattr(defaults, name)
        assert entry.label[0].isupper()
        assert not entry.tip.endswith(".")
        if isinstance(value, str):
            assert entry.choices
        elif not isinstance(value, bool):
            assert entry.bounds is not None
            low, high = entry.usual or entry.bounds
            assert entry.bounds[0] <= low < high <= entry.bounds[1]
    assert method.needs.switches == (method.transitions is not None)


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_what_lies_beyond_the_bounds_is_refused(method):
    for name, entry in settings_of(method.settings).items():
        if entry.bounds is not None:
            for value in (entry.bounds[0] - 1, entry.bounds[1] + 1):
                with pytest.raises(ValueError, match=f"'{name}' of {method.in_words} must be at"):
                    method.choose({name: value})
        if entry.choices:
            with pytest.raises(ValueError, match=f"The setting '{name}' of {method.in_words}"):
                method.choose({name: "nonsense"})


def test_the_gaits_choices_are_those_that_there_are():
    entries = settings_of(METHODS["gait"].settings)
    assert tuple(one.value for one in entries["style"].choices) == style.STYLES
    assert tuple(one.value for one in entries["prediction"].choices) == reduced.MODELS
