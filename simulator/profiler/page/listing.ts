import { LINE_FIGURES, SORTS, SORT_KEYS, type Figure } from '../figures.js';
import { figureText, shareText } from '../numbers.js';
import type { KernelProfile, ProfiledLine, ProfiledSourceLine } from '../profileReport.js';
import { escapeMarkup } from '../../text/index.js';
import { HEAT_STEPS } from './style.js';

type Measured = Pick<ProfiledLine, 'counts' | 'traced'>;

const FIGURES: readonly Figure[] = Object.values(LINE_FIGURES);
const HEATS = SORT_KEYS.filter((key) => key !== 'line');

/** The figures that say something for at least one of the lines. */
function figuresOf(lines: readonly Measured[]): Figure[] {
  return FIGURES.filter((figure) => lines.some((line) => figure.of(line.counts, line.traced) !== undefined));
}

/** Steps of heat of a line under each metric, as attributes. */
class Heat {
  private readonly most: readonly number[];

  constructor(lines: readonly Measured[]) {
    this.most = HEATS.map((key) => Math.max(0, ...lines.map(({ counts }) => SORTS[key](counts))));
  }

  attributes({ counts }: Measured): string {
    return HEATS.map((key, index) => {
      const step = Math.ceil((SORTS[key](counts) / Math.max(1e-9, this.most[index])) * HEAT_STEPS);
      return step > 0 ? ` data-${key}="${Math.min(HEAT_STEPS, step)}"` : '';
    }).join('');
  }
}

function headCell(figure: Figure, isSorting: boolean): string {
  const ncu = figure.ncu === undefined ? '' : ` (${figure.ncu})`;
  const title = escapeMarkup(`${figure.meaning}${ncu}`);
  return isSorting
    ? `<th scope="col" title="${title}"><button type="button">${escapeMarkup(figure.heading)}</button></th>`
    : `<th scope="col" title="${title}">${escapeMarkup(figure.heading)}</th>`;
}

function cells(
  line: Measured,
  figures: readonly Figure[],
  warpInstructions: number,
  heat: Heat,
  isSorting: boolean,
): string {
  const share = (line.counts.warpInstructions ?? 0) / Math.max(1, warpInstructions);
  const own = figures.map((figure) => {
    const value = figure.of(line.counts, line.traced);
    if (value === undefined) return '<td></td>';
    const text = figureText(figure, value);
    const exact = text === String(value) ? '' : ` title="${value}"`;
    return `<td${isSorting ? ` data-v="${value}"` : ''}${exact}>${text}</td>`;
  });
  const sorted = isSorting ? ` data-v="${share}"` : '';
  return `<td${sorted}${heat.attributes(line)}>${shareText(share)}</td>${own.join('')}`;
}

/** A table of more lines is of no use, and slow. */
const MOST_HOT_LINES = 2000;

/** The lines that ran, the hottest first; each leads to its place in the listing. */
export function hotTable(kernel: KernelProfile, id: string): string {
  const ran = kernel.lines
    .filter(({ counts }) => (counts.threadInstructions ?? 0) > 0)
    .sort((a, b) => (b.counts.warpInstructions ?? 0) - (a.counts.warpInstructions ?? 0));
  const shown = ran.slice(0, MOST_HOT_LINES);
  if (ran.length === 0) return '<p>No instruction was executed.</p>';
  const figures = figuresOf(ran);
  const heat = new Heat(ran);
  const rows = shown.map((line) => {
    const source =
      line.sourceFile === undefined
        ? '<td></td>'
        : `<td class="text">${escapeMarkup(`${baseName(line.sourceFile)}:${line.sourceLine ?? 0}`)}</td>`;
    const unseen = line.isUnseen === true ? ' <span class="soft">(in no traced block)</span>' : '';
    return (
      `<tr>${cells(line, figures, kernel.totals.warpInstructions, heat, true)}` +
      `<td data-v="${line.line}"><a href="#${id}-${line.line}">${line.line}</a></td>${source}` +
      `<td class="text"><a href="#${id}-${line.line}">${escapeMarkup(line.text)}</a>${unseen}</td></tr>`
    );
  });
  return (
    `<div class="scroll" tabindex="0" role="region" aria-label="Hot lines"><table class="sorts"><thead><tr>` +
    `<th scope="col" aria-sort="descending" title="share of the kernel's warp instructions"><button type="button">share</button></th>` +
    figures.map((figure) => headCell(figure, true)).join('') +
    `<th scope="col"><button type="button">line</button></th><th scope="col" class="text">source</th><th scope="col" class="text">instruction</th>` +
    `</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>` +
    (ran.length > shown.length
      ? `<p class="soft">The hottest ${shown.length} of ${ran.length} lines; the listing has all.</p>`
      : '')
  );
}

/** A text with what was counted of each of its lines beside it. */
export function listing(
  texts: readonly string[],
  measured: ReadonlyMap<number, Measured & Partial<Pick<ProfiledSourceLine, 'ptxLines'>>>,
  warpInstructions: number,
  lineId: (line: number) => string,
  ptxId: string,
): string {
  const lines = [...measured.values()];
  const figures = figuresOf(lines);
  const heat = new Heat(lines);
  const rows = texts.map((text, index) => {
    const line = index + 1;
    const found = measured.get(line);
    const code = `<td class="text">${escapeMarkup(text.replace(/\r$/, ''))}</td>`;
    const number = `<td>${line}</td>`;
    if (found === undefined || (found.counts.threadInstructions ?? 0) === 0) {
      const mark = found === undefined ? '' : ' class="none"';
      return `<tr id="${lineId(line)}"${mark}><td colspan="${figures.length + 1}"></td>${number}${code}</tr>`;
    }
    const [first] = found.ptxLines ?? [];
    const linked = first === undefined ? number : `<td><a href="#${ptxId}-${first}">${line}</a></td>`;
    return `<tr id="${lineId(line)}">${cells(found, figures, warpInstructions, heat, false)}${linked}${code}</tr>`;
  });
  return (
    `<div class="scroll" tabindex="0" role="region" aria-label="Listing"><table><thead><tr><th scope="col">share</th>` +
    figures.map((figure) => headCell(figure, false)).join('') +
    `<th scope="col">line</th><th scope="col" class="text">text</th></tr></thead><tbody>${rows.join('\n')}</tbody></table></div>`
  );
}

export function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}
