# SPDX-License-Identifier: GPL-3.0-or-later
"""Files as nobody should write them: jobs, results and TOML, altered where it hurts. Strategies for hypothesis."""

import io
import json
import zipfile

import numpy as np
from hypothesis import strategies as st

NUMBERS = (0, -1, 1, 2, 2**31, 2**63, 10**400, 0.0, -0.5, 1e-300, 1e9, 1e300, "nan", "inf", "-inf")
TEXTS = ("", "a", "\0", "torso", "../../x", "é\u2028" * 3, "x" * 3000, "lookahead", "{", "$(ls)")
OTHERS = (None, True, False, [], {}, [[]], [None], {"is": "Scene"}, {"array": 0}, {"array": -1}, {"array": 10**9})
KINDS = ("<f8", "<f4", ">f8", "<i8", "<i4", "|b1", "|u1", "<c16", "|S3", "<U2", "|O", "<M8[s]", "|V8")


def refusal(read, path):
    """What is said of a file that is refused; None of one that is read. Nothing but ValueError may come."""
    try:
        read(path)
    except ValueError as error:
        return str(error)
    return None


def leaves(value, path=()):
    """The paths of everything in a tree of JSON."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from leaves(value[index], (*path, index))


def at(tree, path):
    for step in path:
        tree = tree[step]
    return tree


anything = st.one_of(
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.sampled_from(OTHERS),
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.text(max_size=20),
)


@st.composite
def altered_tree(draw, tree):
    """The tree with one thing replaced, scaled, taken out, doubled or added."""
    tree = json.loads(json.dumps(tree))
    paths = [path for path in leaves(tree) if path]
    how = draw(st.sampled_from(("number", "number", "number", "replace", "drop", "add")))
    if how == "number":  # the most likely to make sense
        paths = [path for path in paths if type(at(tree, path)) in {int, float} and path[-1] != "array"] or paths
    path = draw(st.sampled_from(paths))
    parent, last = at(tree, path[:-1]), path[-1]
    old = parent[last]
    if how == "drop":
        del parent[last]
    elif how == "add" and isinstance(parent, list):
        parent.insert(last, draw(st.one_of(st.just(old), anything)))
    elif how == "add":
        parent[draw(st.sampled_from((*TEXTS, *parent)))] = draw(st.one_of(st.just(old), anything))
    elif how == "number" and type(old) in {int, float} and abs(old) < 1e300:
        factors = st.sampled_from((-1.0, 0.0, 1e-6, 0.5, 1.01, 2.0, 1e3, 1e6))
        parent[last] = draw(st.one_of(factors.map(lambda factor: old * factor), st.sampled_from(NUMBERS)))
    else:
        parent[last] = draw(anything)
    return tree


@st.composite
def altered_array(draw, array):
    """Other numbers, another shape, another kind."""
    how = draw(st.sampled_from(("number", "cut", "reshape", "kind", "scale")))
    array = array.copy()
    if how == "number" and array.size and array.dtype.kind != "b":
        index = draw(st.integers(0, array.size - 1))
        choices = (np.nan, np.inf, 0.0, 1e300, -1.0) if array.dtype.kind == "f" else (-1, 2**62, -(2**63), 0)
        array.reshape(-1)[index] = draw(st.sampled_from(choices))
    elif how == "cut" and array.ndim:
        array = array[: draw(st.integers(0, len(array)))]
    elif how == "reshape":
        array = array.reshape(draw(st.sampled_from(((-1,), (1, *array.shape), (*array.shape, 1), array.shape[::-1]))))
    elif how == "scale" and array.dtype.kind == "f":
        array = array * draw(st.sampled_from((0.0, -1.0, 1e-9, 10.0, 1e9)))
    else:
        array = array.astype(draw(st.sampled_from((np.float32, np.int64, np.bool_, np.complex128, np.float64))))
    return array


def parts_of(content):
    """Header and arrays of a job's or result's file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(np.load(io.BytesIO(entries.pop("header.npy"))).tobytes())
    return header, {name: np.load(io.BytesIO(entry)) for name, entry in entries.items()}


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), allow_pickle=True)
    return stream.getvalue()


def zipped(entries, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return stream.getvalue()


@st.composite
def npy_header(draw, content):
    """An entry of an archive whose own header says something else, its data as they were."""
    kind, shape = draw(st.sampled_from(KINDS)), draw(st.sampled_from(("()", "(1,)", "(10**15,)", "(-1,)", "(0, 9)")))
    text = f"{{'descr': '{kind}', 'fortran_order': {draw(st.booleans())}, 'shape': {shape}, }}"
    text = draw(st.one_of(st.just(text), st.sampled_from(("", "(", "{'descr'", "[" * 300, "9" * 9000, "\t a\n b"))))
    raw = text.encode("latin-1") + b"\n"
    start = len(content) // 2
    return b"\x93NUMPY" + bytes((draw(st.integers(0, 4)), 0)) + len(raw).to_bytes(2, "little") + raw + content[start:]


@st.composite
def altered_bytes(draw, content):
    """Bytes changed, cut out, or put in."""
    content = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        how = draw(st.sampled_from(("set", "cut", "insert", "end")))
        if how == "set" and content:
            content[place] = draw(st.integers(0, 255))
        elif how == "cut":
            del content[place : place + draw(st.integers(1, 64))]
        elif how == "insert":
            content[place:place] = draw(st.binary(min_size=1, max_size=16))
        else:
            del content[place:]
    return bytes(content)


def altered_archives(content):
    """A strategy: the file of a job or result with something wrong in it."""
    header, arrays = parts_of(content)

    @st.composite
    def altered(draw):
        how = draw(st.sampled_from(("tree",) * 6 + ("array", "array", "entry", "npy", "bytes", "compressed")))
        if how == "bytes":
            return draw(altered_bytes(content))
        said, held = header, dict(arrays)
        if how == "tree":
            for _ in range(draw(st.integers(1, 3))):
                said = draw(altered_tree(said))
        if how == "array":
            name = draw(st.sampled_from(sorted(held)))
            held[name] = draw(altered_array(held[name]))
        text = json.dumps(said)
        entries = {"header.npy": npy(np.frombuffer(text.encode(), np.uint8))}
        entries |= {name: npy(array) for name, array in held.items()}
        if how == "entry":
            name = draw(st.sampled_from(sorted(entries)))
            entries[draw(st.sampled_from(("a", "../a", "header.npy", "array99.npy")))] = entries.pop(name)
        if how == "npy":
            name = draw(st.sampled_from(sorted(entries)))
            entries[name] = draw(npy_header(entries[name]))
        packing = draw(st.sampled_from((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)))
        return zipped(entries, packing if how == "compressed" else zipfile.ZIP_STORED)

    return altered()


SCRAPS = ("[[bake]]", "[rigs]", "push = [1, 2]", "seed = -1", "clip = 3", "=", "[", "]", '"', "{", "}", "#", "\n", "\0")


@st.composite
def altered_lines(draw, text):
    """A text file with lines taken out, doubled, exchanged, or with something else in them."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(("drop", "double", "exchange", "scrap", "value", "value", "bytes")))
        if how == "drop" and len(lines) > 1:
            del lines[place]
        elif how == "double":
            lines.insert(draw(st.integers(0, len(lines))), lines[place])
        elif how == "exchange":
            other = draw(st.integers(0, len(lines) - 1))
            lines[place], lines[other] = lines[other], lines[place]
        elif how == "value" and "=" in lines[place]:
            values = st.one_of(anything.map(repr), st.sampled_from(("[]", "[[1]]", "1e999", "nan", "''", "{a = 1}")))
            lines[place] = f"{lines[place].partition('=')[0]}= {draw(values)}"
        elif how == "bytes":
            at = draw(st.integers(0, len(lines[place])))
            lines[place] = lines[place][:at] + draw(st.text(max_size=3)) + lines[place][at + draw(st.integers(0, 3)) :]
        else:
            lines[place] += draw(st.sampled_from(SCRAPS))
    return "\n".join(lines).encode("utf-8", errors="replace")
