import { SORT_KEYS } from '../figures.js';

/** Steps of the heat column, none of them left to colour alone: the share stands beside it. */
export const HEAT_STEPS = 10;

const HEAT_RULES = SORT_KEYS.filter((key) => key !== 'line')
  .flatMap((key) =>
    Array.from({ length: HEAT_STEPS }, (_, step) => {
      const share = (step + 1) / HEAT_STEPS;
      return `[data-heat=${key}] [data-${key}="${step + 1}"]{background:color-mix(in srgb,var(--heat) ${Math.round(share * 80)}%,transparent)}`;
    }),
  )
  .join('\n');

const DARK = `--back:#14171a;--text:#e6e8ea;--soft:#9aa3ab;--line:#30363c;--card:#1d2125;--link:#7cb7ff;--heat:#d9480f;--mark:#4a4012`;
const LIGHT = `--back:#ffffff;--text:#16191c;--soft:#59626a;--line:#d5dadf;--card:#f5f7f8;--link:#0b57d0;--heat:#ff8a3d;--mark:#fff3b0`;

export const STYLE = `
:root{${LIGHT};color-scheme:light}
@media (prefers-color-scheme:dark){:root{${DARK};color-scheme:dark}}
:root[data-theme=light]{${LIGHT};color-scheme:light}
:root[data-theme=dark]{${DARK};color-scheme:dark}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:14px/1.45 system-ui,sans-serif}
[aria-pressed=true]{border-color:var(--link);color:var(--link)}
header{display:flex;gap:1rem;align-items:center;padding:.8rem 1.2rem;border-bottom:1px solid var(--line)}
h1{font-size:1.15rem;margin:0;flex:1}
h2{font-size:1.1rem;margin:1.6rem 0 .4rem}
h3{font-size:.95rem;margin:1.2rem 0 .4rem}
main{padding:0 1.2rem 4rem}
a{color:var(--link)}
button,select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.2rem .6rem;cursor:pointer}
:focus-visible{outline:2px solid var(--link);outline-offset:1px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.3rem 0}
dt{color:var(--soft)}
dd{margin:0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.1rem .5rem;text-align:right;white-space:nowrap}
th{font-weight:600}
thead th{position:sticky;top:0;background:var(--card);border-bottom:1px solid var(--line);z-index:1}
th button{background:none;border:0;padding:0;font-weight:600}
th[aria-sort=descending] button::after{content:" \\25bc"}
th[aria-sort=ascending] button::after{content:" \\25b2"}
tbody tr:hover{background:var(--card)}
tr:target{background:var(--mark)}
.text{text-align:left}
td.text,code{font-family:ui-monospace,monospace;font-size:12.5px;white-space:pre;unicode-bidi:isolate}
.scroll{overflow:auto;max-height:75vh;border:1px solid var(--line);border-radius:4px}
.soft,.none td{color:var(--soft)}
.fault{color:#c92a2a;font-weight:600}
:root[data-theme=dark] .fault{color:#ff8787}
svg rect{fill:var(--heat)}
[hidden]{display:none}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:.5rem;background:var(--back)}
${HEAT_RULES}
`;
