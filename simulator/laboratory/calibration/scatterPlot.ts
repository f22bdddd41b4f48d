import type { CalibratedLaunch, CalibrationReport } from './calibrationReport.js';
import { logarithmicAxis, pixel as at, svgDocument } from '../../charts/index.js';
import { escapeMarkup, percent } from '../../text/index.js';

const SIZE = 720;
const MARGIN = { left: 64, right: 28, top: 44, bottom: 52 };
/** Lightness changes with the round, so that neighbours in the list stay apart. */
const HUES = 12;

/**
 * Simulated over measured time, both logarithmic, as an SVG document that needs no other file: a dot a launch, a colour a
 * kernel, the line of equal times and those a quarter off. Each dot's title has its figures.
 */
export function scatterSvg(report: CalibrationReport, title: string): string {
  const { launches, kernels } = report;
  const times = launches.flatMap(({ measuredUs, simulatedUs }) => [measuredUs, simulatedUs]);
  const least = Math.min(...times);
  const most = Math.max(...times);
  const across = logarithmicAxis(least, most, MARGIN.left, SIZE - MARGIN.right);
  const upward = logarithmicAxis(least, most, SIZE - MARGIN.bottom, MARGIN.top);
  const { low, high, ticks } = across;
  const x = (us: number): number => across.place(us);
  const y = (us: number): number => upward.place(us);
  const colours = new Map(kernels.map(({ kernel }, index) => [kernel, colour(index)]));
  const grid = ticks.map(
    (us) =>
      `<path fill="none" stroke="#e4e4e4" d="M${at(x(us))} ${at(y(low))}V${at(y(high))}M${at(x(low))} ${at(y(us))}H${at(x(high))}"/>` +
      `<text x="${at(x(us))}" y="${at(y(low) + 18)}" text-anchor="middle">${us}</text>` +
      `<text x="${at(x(low) - 8)}" y="${at(y(us) + 4)}" text-anchor="end">${us}</text>`,
  );
  const lines = [1, 1.25, 0.75].map((factor) => {
    const from = factor < 1 ? low / factor : low;
    const to = factor > 1 ? high / factor : high;
    return `<path fill="none" ${factor === 1 ? 'stroke="#222"' : 'stroke="#888" stroke-dasharray="4 4"'} d="M${at(x(from))} ${at(y(from * factor))}L${at(x(to))} ${at(y(to * factor))}"/>`;
  });
  const dots = launches.map(
    (launch) =>
      `<circle cx="${at(x(launch.measuredUs))}" cy="${at(y(launch.simulatedUs))}" r="4" fill-opacity="0.75" stroke="#fff" stroke-width="0.5" fill="${colours.get(launch.kernel) ?? ''}">` +
      `<title>${escapeMarkup(dotText(launch))}</title></circle>`,
  );
  return svgDocument({ title, width: SIZE, height: SIZE, left: MARGIN.left }, [
    ...grid,
    ...lines,
    ...dots,
    `<text x="${(MARGIN.left + SIZE - MARGIN.right) / 2}" y="${SIZE - 12}" text-anchor="middle">measured, µs</text>`,
    `<text transform="translate(16 ${(MARGIN.top + SIZE - MARGIN.bottom) / 2}) rotate(-90)" text-anchor="middle">simulated, µs</text>`,
  ]);
}

/** The plot with the tables under it, as a page that needs no other file and no network. */
export function scatterPage(report: CalibrationReport, title: string): string {
  const kernels = report.kernels.map(
    ({ kernel, launches, meanError, worstError, slope }) =>
      `<tr><td>${escapeMarkup(kernel)}</td><td>${launches}</td><td>${percent(meanError)}</td><td>${percent(worstError)}</td><td>${slope === undefined ? '' : slope.toFixed(2)}</td></tr>`,
  );
  const launches = report.launches.map(
    ({ name, measuredUs, simulatedUs, error }) =>
      `<tr><td>${escapeMarkup(name)}</td><td>${measuredUs.toFixed(2)}</td><td>${simulatedUs.toFixed(2)}</td><td>${percent(error)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escapeMarkup(title)}</title>
<style>body{font:14px system-ui,sans-serif;margin:2rem auto;max-width:60rem;color:#222}svg{max-width:45rem}table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem;border-bottom:1px solid #ddd;text-align:right}td:first-child,th:first-child{text-align:left}</style>
<h1>${escapeMarkup(title)}</h1>
<p>Mean of the kernels' mean errors ${percent(report.meanOfKernels)}, median launch ${percent(report.medianError)}, worst ${percent(report.worst.error)} (${escapeMarkup(report.worst.name)}); ${percent(report.withinQuarter)} of ${report.launches.length} launches within a quarter of the card's time.</p>
${scatterSvg(report, title)}
<table><tr><th>kernel</th><th>launches</th><th>mean |error|</th><th>worst</th><th>slope</th></tr>
${kernels.join('\n')}
</table>
<table><tr><th>launch</th><th>measured, µs</th><th>simulated, µs</th><th>error</th></tr>
${launches.join('\n')}
</table>
</html>
`;
}

function colour(index: number): string {
  const hue = Math.round(((index % HUES) * 360) / HUES);
  return `hsl(${hue} 65% ${40 + (Math.floor(index / HUES) % 3) * 13}%)`;
}

function dotText({ name, measuredUs, simulatedUs, error }: CalibratedLaunch): string {
  return `${name}: ${measuredUs.toFixed(2)} µs measured, ${simulatedUs.toFixed(2)} simulated, ${percent(error)}`;
}
