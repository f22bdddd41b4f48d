/** Okabe and Ito's colours, told apart by colour-blind readers too; lighter ones on a dark ground. */
export const STYLE = `
:root { color-scheme: light dark; --page: #f5f6f8; --card: #fff; --ink: #1c2128; --soft: #57606a; --rule: #d8dee4;
  --grid: #e9ecef; --alarm: #b3261e; --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b5638f; --c4: #3a9bd1; --c5: #c48600; }
@media (prefers-color-scheme: dark) { :root { --page: #0e1116; --card: #171b22; --ink: #e6e9ed; --soft: #9aa4af; --rule: #2f3640;
  --grid: #252b34; --alarm: #ff8a80; --c0: #58b0e8; --c1: #ff9650; --c2: #42cf9f; --c3: #e59bc7; --c4: #a5d8f7; --c5: #f2c14e; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.45 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1280px; margin: 0 auto; padding: 28px 20px 48px; }
h1 { font-size: 24px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 30px 0 10px; }
main .alarm { color: var(--alarm); font-weight: 600; }
.sub, .note, footer { color: var(--soft); } .sub { margin: 0 0 20px; overflow-wrap: anywhere; }
.tiles { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
.tile { padding: 11px 14px; } .tile b { display: block; font-size: 22px; font-weight: 600; line-height: 1.25; }
.tile span { color: var(--soft); font-size: 13px; }
.charts { display: grid; gap: 16px; margin-top: 16px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
.chart { margin: 0; padding: 14px 16px 8px; position: relative; }
.chart figcaption { font-weight: 600; } .chart .note { margin: 2px 0 0; font-size: 13px; }
.chart svg { display: block; width: 100%; height: auto; margin-top: 6px; font-size: 12px; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 0; margin: 6px 0 0; font-size: 13px; }
.legend i { display: inline-block; width: 18px; height: 0; margin-right: 6px; vertical-align: middle; border-top: 3px solid currentColor; }
.legend i.dashed { border-top-style: dashed; } .legend i.area { height: 11px; width: 11px; border: 0; background: currentColor; border-radius: 2px; }
.legend i.reference { border-top: 2px dotted var(--alarm); }
svg text { fill: var(--soft); font-variant-numeric: tabular-nums; } svg .label { fill: var(--ink); }
svg .grid { stroke: var(--grid); fill: none; } svg .frame { stroke: var(--soft); fill: none; opacity: .7; }
svg .line { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
svg .broad { stroke-width: 5; opacity: .45; } svg .dashed { stroke-dasharray: 6 5; } svg .area { fill: currentColor; opacity: .82; } svg .bar { fill: currentColor; }
svg .reference { stroke: var(--alarm); stroke-width: 1.5; stroke-dasharray: 2 4; fill: none; }
svg .cursor { stroke: var(--soft); stroke-dasharray: 3 3; fill: none; } svg .dot { fill: currentColor; stroke: var(--card); stroke-width: 1.5; }
.c0 { color: var(--c0); } .c1 { color: var(--c1); } .c2 { color: var(--c2); } .c3 { color: var(--c3); } .c4 { color: var(--c4); } .c5 { color: var(--c5); }
.tip { position: absolute; pointer-events: none; background: var(--card); border: 1px solid var(--rule); border-radius: 6px; padding: 6px 9px;
  font-size: 12.5px; box-shadow: 0 3px 12px rgb(0 0 0 / .22); white-space: nowrap; z-index: 1; color: var(--ink); }
.tip b { font-variant-numeric: tabular-nums; }
.empty { display: grid; place-items: center; min-height: 200px; color: var(--soft); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 12px; text-align: right; border-top: 1px solid var(--rule); white-space: nowrap; }
thead th { border-top: 0; color: var(--soft); font-weight: 500; } th:first-child, td:first-child { text-align: left; }
footer { margin-top: 28px; font-size: 13px; } code { font: 13px/1.4 ui-monospace, Menlo, Consolas, monospace; }
`;
