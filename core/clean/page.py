# SPDX-License-Identifier: GPL-3.0-or-later
"""One page about all clips: a table that sorts by its heads, film strips of the worst. One file that needs no other."""

from collections.abc import Mapping, Sequence
from html import escape

from ..report.page import STYLE
from .rows import COLUMNS, FAILED, Column, Row, is_fine, is_worse

PAGE = "index.html"
WORST = 20
HINT = (
    "Click a head to sort by it, hover over it for what it means. In colour: worse than it should be, or than before."
)

OWN_STYLE = """
body { max-width: none; } .wide { overflow-x: auto; } th { cursor: pointer; text-align: right; vertical-align: bottom;
  padding: .1rem .6rem; font-weight: 600; position: sticky; top: 0; background: var(--ground); }
th:first-child, td:first-child { text-align: left; } th small { color: var(--soft); font-weight: 400; display: block; }
th[aria-sort=ascending]::after { content: " ▲"; } th[aria-sort=descending]::after { content: " ▼"; }
td { padding: .1rem .6rem; text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { text-align: left; white-space: normal; min-width: 20rem; color: var(--soft); }
tr.failed td { color: var(--line-5); } .bad { color: var(--line-1); } h2 { font-size: 1.1rem; margin: 2rem 0 0; }
p { margin: .2rem 0; }
"""

SORT = """
document.querySelectorAll("th").forEach(function (head, column) {
  head.addEventListener("click", function () {
    var body = document.querySelector("tbody"), down = head.getAttribute("aria-sort") !== "descending";
    document.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    Array.from(body.rows).map(function (row) { return [row.cells[column].dataset.value, row]; }).sort(function (a, b) {
      var x = parseFloat(a[0]), y = parseFloat(b[0]);
      var order = isNaN(x) || isNaN(y) ? String(a[0]).localeCompare(String(b[0])) : x - y;
      return down ? -order : order;
    }).forEach(function (pair) { body.appendChild(pair[1]); });
  });
});
"""


def page(title: str, rows: Sequence[Row], strips: Mapping[tuple[str, str], str]) -> str:
    """The HTML; `strips` has SVG text by file and take, in the order in which they are to be shown."""
    failed = sum(row["outcome"] == FAILED for row in rows)
    fine = sum(is_fine(row) for row in rows)
    told = f"{len(rows) - failed} of {len(rows)} clips cleaned, {fine} of which need no second look"
    told += f"; {failed} failed." if failed else "."
    by_name = {(row["file"], row["take"]): row for row in rows}
    parts = [f"<h1>{escape(title)}</h1>", f'<p class="why">{escape(told)}</p>']
    parts.append(f"<p>{HINT}</p>")
    parts.append(f'<div class="wide"><table><thead><tr>{_heads()}</tr></thead><tbody>')
    parts += [_line(row) for row in rows]
    parts.append("</tbody></table></div>")
    if strips:
        parts.append(
            f"<h2>The {len(strips)} to look at first</h2><p>In colour and thin: the source. Dark: what was written.</p>"
        )
    for name, svg in strips.items():
        parts.append(f"<h2>{escape(_label(by_name[name]))}</h2><p>{escape(str(by_name[name]['why']))}</p>{svg}")
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}{OWN_STYLE}</style>'
    body = f"{''.join(parts)}<script>{SORT}</script>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _heads() -> str:
    def head(title: str, unit: str, tip: str) -> str:
        return f'<th scope="col" title="{escape(tip, quote=True)}">{escape(title)}<small>{escape(unit)}</small></th>'

    columns = [head(column.title, column.unit, column.tip) for column in COLUMNS]
    ends = head("What was found", "", "in a sentence; why, where it failed")
    return head("Clip", "", "its file, and which of its motions") + "".join(columns) + ends


def _line(row: Row) -> str:
    label = escape(_label(row), quote=True)
    cells = "".join(_cell(column, row) for column in COLUMNS)
    why = escape(str(row["why"]), quote=True)
    kind = ' class="failed"' if row["outcome"] == FAILED else ""
    return f'<tr{kind}><td data-value="{label}">{label}</td>{cells}<td class="why" data-value="{why}">{why}</td></tr>'


def _cell(column: Column, row: Row) -> str:
    value = row[column.name]
    if value is None:
        return '<td data-value="-1"></td>'
    doubtful = 0.0 < column.worst < float(value) or is_worse(row, column.name)
    bad = ' class="bad"' if doubtful else ""
    return f'<td{bad} data-value="{value:g}">{value:.{column.digits}f}</td>'


def _label(row: Row) -> str:
    return f"{row['file']} ▸ {row['take']}" if row["take"] else str(row["file"])
