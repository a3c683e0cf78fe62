"""How the HTML report looks: light or dark as the reader's system is, and plain black on white in print."""

STYLE = """
:root { color-scheme: light dark; --surface: #ffffff; --sunken: #f6f7f9; --line: #e4e6ea; --track: #dcdfe6;
  --text: #1b1d23; --dim: #5c626e; --accent: #4650c8; --good: #00714f; --bad: #b54200; --warn: #875800;
  --good-fill: #007f59; --bad-fill: #ad4000; --warn-fill: #b97a00; --info-fill: #3389c2; --high: #2f3796; }
@media (prefers-color-scheme: dark) { :root { --surface: #17191d; --sunken: #111316; --line: #2a2d34;
  --track: #353941; --text: #e7e8eb; --dim: #9ca3af; --accent: #a3aaff; --good: #3cc79f; --bad: #ff8f57;
  --warn: #edb445; --good-fill: #0f9f78; --bad-fill: #d4581c; --warn-fill: #e6ac3c; --info-fill: #6db8e8;
  --high: #a3aaff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--surface); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p, .dim { color: var(--dim); } p { margin: .25rem 0 .75rem; max-width: 46rem; }
.lead { color: var(--text); max-width: none; } .lead strong { font-size: 2rem; line-height: 1.2; margin-right: .5rem; }
code { font: .92em ui-monospace, monospace; color: var(--text); }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; color: var(--dim); padding: .25rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line);
  unicode-bidi: isolate; }
td { overflow-wrap: anywhere; } th { font-weight: 600; color: var(--dim); white-space: nowrap; }
.narrow { width: auto; } .narrow td, .narrow th { padding-right: 2rem; } .runs td:first-child { white-space: nowrap; }
.runs td:nth-child(2) { min-width: 22rem; } .runs td:nth-child(n+3) { min-width: 8rem; }
.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.wide { overflow-x: auto; } svg { max-width: 100%; height: auto; } svg text { fill: var(--text); font-size: 12px; }
svg .dim { fill: var(--dim); } .axis { stroke: var(--line); } .interval { stroke: var(--accent); stroke-width: 2; }
.dot { fill: var(--accent); } .f-good { fill: var(--good-fill); } .f-bad { fill: var(--bad-fill); }
.f-warn { fill: var(--warn-fill); } .f-info { fill: var(--info-fill); } .f-none { fill: var(--track); }
.cell { fill: var(--high); } svg .on-dark { fill: var(--surface); }
.diagonal { stroke: var(--dim); stroke-dasharray: 3 3; }
@media print { :root { --surface: #fff; --sunken: #fff; --line: #bbb; --text: #000; --dim: #444; --accent: #000;
  --high: #555; --good: #000; --bad: #000; --warn: #000; } body { max-width: none; padding: 0; font-size: 11px; }
  h2 { break-after: avoid; } tr, svg { break-inside: avoid; } thead { display: table-header-group; } }
"""
