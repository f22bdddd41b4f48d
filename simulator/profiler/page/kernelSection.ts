import { coverageText, plural } from '../coverageText.js';
import { SORT_KEYS, TOTAL_FIGURES } from '../figures.js';
import { countText, figureText, ratioText, shareText, timeText } from '../numbers.js';
import type { KernelListing, KernelProfile, LaunchProfile } from '../profileReport.js';
import { escapeMarkup } from '../../text/index.js';
import { baseName, hotTable, listing } from './listing.js';

const HEAT_NAMES: Readonly<Record<(typeof SORT_KEYS)[number], string>> = {
  warp: 'warp instructions',
  thread: 'thread instructions',
  idle: 'idle lanes',
  split: 'splitting branches',
  sectors: 'sectors',
  excess: 'sectors above the ideal',
  conflicts: 'bank conflicts',
  atomics: 'atomic operations',
  line: 'line',
};

export function kernelSection(kernel: KernelProfile, listed: KernelListing, id: string): string {
  const { launches, notes, totals } = kernel;
  const heats = SORT_KEYS.filter((key) => key !== 'line').map(
    (key) => `<option value="${key}">${HEAT_NAMES[key]}</option>`,
  );
  return `<section id="${id}" data-heat="warp">
<h2>${escapeMarkup(kernel.kernel)} <span class="soft">${escapeMarkup(kernel.ptxFile)}</span></h2>
${launches.map(launchPart).join('\n')}
<h3>Totals</h3>
${totalsTable(kernel)}
<h3>Instruction mix</h3>
${mixTable(kernel)}
<h3>Hot lines</h3>
<p><label>Heat by <select class="heat">${heats.join('')}</select></label></p>
${hotTable(kernel, id)}
<h3>Listing</h3>
${views(kernel, listed, id, totals.warpInstructions)}
${notes.map((note) => `<p class="soft">note: ${escapeMarkup(note)}</p>`).join('')}
</section>`;
}

function launchPart(launch: LaunchProfile, index: number): string {
  const { occupancy, coverage, fault } = launch;
  const facts: [string, string][] = [
    ['spec', launch.spec],
    [
      'shape',
      `grid ${launch.grid.join('x')}, block ${launch.block.join('x')}, ${plural(launch.dynamicSharedBytes, 'byte')} dynamic shared, on ${launch.device}`,
    ],
  ];
  if (launch.gpuTimeUs !== undefined)
    facts.push(['GPU time', `${timeText(launch.gpuTimeUs)} simulated (gpu__time_duration.sum)`]);
  if (launch.dramBytes !== undefined) facts.push(['DRAM traffic', plural(launch.dramBytes, 'byte')]);
  const limits = Object.entries(occupancy.limits).map(([limit, fits]) => `${limit} ${fits}`);
  facts.push(
    ['coverage', coverageText(coverage)],
    [
      'occupancy',
      `${plural(occupancy.blocksPerSm, 'block')} and ${plural(occupancy.warpsPerSm, 'warp')} an SM, ${shareText(occupancy.share)} of its warps; bound by ${occupancy.boundBy.join(', ')} (blocks an SM by limit: ${limits.join(', ')}); ${ratioText(occupancy.waves)} waves on ${occupancy.sms} SMs`,
    ],
    [
      'resources',
      `${occupancy.registersPerThread} registers a thread (estimated), ${plural(occupancy.staticSharedBytes, 'byte')} static shared a block`,
    ],
  );
  if (launch.barriersOpened > 0)
    facts.push(['barriers', `${countText(launch.barriersOpened)} opened in traced blocks`]);
  const list = facts.map(([name, text]) => `<dt>${name}</dt><dd>${escapeMarkup(text)}</dd>`).join('');
  const failed =
    fault === undefined
      ? ''
      : `<p class="fault" role="alert">Fault ${escapeMarkup(`${fault.code}: ${fault.message}`)}</p>`;
  return `<h3>Launch ${index + 1}</h3><dl>${list}</dl>${failed}`;
}

function totalsTable({ totals }: KernelProfile): string {
  const rows = TOTAL_FIGURES.flatMap((figure) => {
    const value = figure.of(totals);
    if (value === undefined) return [];
    const ncu = figure.ncu === undefined ? '' : `<code>${figure.ncu}</code>`;
    return [
      `<tr title="${escapeMarkup(figure.meaning)}"><th scope="row" class="text">${escapeMarkup(figure.heading)}</th>` +
        `<td title="${value}">${figureText(figure, value)}</td><td class="text">${ncu}</td></tr>`,
    ];
  });
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

function mixTable({ mix, totals }: KernelProfile): string {
  const rows = Object.entries(mix)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => {
      const share = count / Math.max(1, totals.warpInstructions);
      return (
        `<tr><th scope="row" class="text">${name}</th><td>${countText(count)}</td><td>${shareText(share)}</td>` +
        `<td class="text"><svg width="200" height="10" aria-hidden="true"><rect width="${Math.round(share * 200)}" height="10"/></svg></td></tr>`
      );
    });
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

function views(kernel: KernelProfile, listed: KernelListing, id: string, warpInstructions: number): string {
  const ptx = listing(
    listed.ptx,
    new Map(kernel.lines.map((line) => [line.line, line])),
    warpInstructions,
    (line) => `${id}-${line}`,
    id,
  );
  const parts = [{ name: baseName(kernel.ptxFile), html: ptx }];
  listed.sources.forEach(({ file, lines }, index) => {
    const measured = kernel.sourceLines.filter((line) => line.file === file);
    const html = listing(
      lines,
      new Map(measured.map((line) => [line.line, line])),
      warpInstructions,
      (line) => `${id}-s${index}-${line}`,
      id,
    );
    parts.push({ name: baseName(file), html });
  });
  if (parts.length === 1) return `<div class="view">${ptx}</div>`;
  const buttons = parts.map(
    ({ name }) => `<button type="button" aria-pressed="false">${escapeMarkup(name)}</button>`,
  );
  return `<p class="views">${buttons.join(' ')}</p>${parts.map(({ html }) => `<div class="view">${html}</div>`).join('\n')}`;
}
