import { svgDocument } from '../../../simulator/charts/index.js';
import type { AblationRow } from './ablation.js';

const LEFT = 190;
const TOP = 104;
const CELL_WIDTH = 92;
const CELL_HEIGHT = 30;

/** Markdown: a row a kernel, a column an optimisation. */
export function ablationTable(rows: readonly AblationRow[]): string {
  const names = rows[0]?.cells.map(({ without }) => without) ?? [];
  const lines = rows.map(({ kernel, fullMs, cells }) => [
    kernel,
    fullMs.toFixed(1),
    ...cells.map(({ factor, isSame }) => `${factor.toFixed(2)}${isSame ? '' : ' (DIFFERS)'}`),
  ]);
  const head = ['kernel', 'ms', ...names];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** The same as a picture: the darker, the more an optimisation brings. */
export function ablationFigure(rows: readonly AblationRow[], subtitle: string): string {
  const names = rows[0]?.cells.map(({ without }) => without) ?? [];
  const width = LEFT + names.length * CELL_WIDTH + 24;
  const height = TOP + rows.length * CELL_HEIGHT + 24;
  const parts = names.map(
    (name, column) =>
      `<text x="${LEFT + (column + 0.5) * CELL_WIDTH}" y="${TOP - 12}" text-anchor="middle" font-size="11">${label(name)}</text>`,
  );
  rows.forEach(({ kernel, cells }, row) => {
    const y = TOP + row * CELL_HEIGHT;
    parts.push(`<text x="${LEFT - 10}" y="${y + 20}" text-anchor="end">${kernel}</text>`);
    cells.forEach(({ factor }, column) => {
      const shade = shadeOf(factor);
      parts.push(
        `<rect x="${LEFT + column * CELL_WIDTH}" y="${y}" width="${CELL_WIDTH - 3}" height="${CELL_HEIGHT - 3}" fill="rgb(${shade.rgb.join(',')})"/>`,
        `<text x="${LEFT + (column + 0.5) * CELL_WIDTH - 1.5}" y="${y + 18}" text-anchor="middle" fill="${shade.text}">${factor.toFixed(2)}</text>`,
      );
    });
  });
  const title = 'What each optimisation brings: time without it over time with everything';
  return svgDocument({ title, subtitle, width, height, left: 20 }, parts);
}

function label(name: string): string {
  return name
    .replace('fusedMultiplyAdd', 'fused madd')
    .replace(/([a-z])([A-Z])/, '$1 $2')
    .toLowerCase();
}

/** White for 1 and below, dark blue for 16 and above, even steps for doublings. */
function shadeOf(factor: number): { readonly rgb: readonly number[]; readonly text: string } {
  const share = Math.min(1, Math.max(0, Math.log2(factor) / 4));
  const rgb = [0, 1, 2].map((part) => {
    const [light, dark] = [[246, 248, 250][part] ?? 0, [0, 80, 140][part] ?? 0];
    return Math.round(light + (dark - light) * share);
  });
  return { rgb, text: share > 0.5 ? '#fff' : '#222' };
}
