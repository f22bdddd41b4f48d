import { MECHANISMS } from '../../simulator/gpu/testing/index.js';
import type { MeasuredSet } from '../../simulator/laboratory/calibration/index.js';
import type { SetErrors } from './ablation.js';
import { PALETTE, svgDocument } from '../../simulator/charts/index.js';
import { percent } from '../../simulator/text/index.js';

export interface AblatedSet {
  readonly set: MeasuredSet;
  readonly whole: SetErrors;
  /** In the order of `MECHANISMS`. */
  readonly without: readonly ({ readonly name: string } & SetErrors)[];
}

/** Points by which the mean error over kernels changes without a mechanism: above 0, it is good for something. */
function change({ whole, without }: AblatedSet, mechanism: number): number {
  return without[mechanism].mean - whole.mean;
}

export function ablationTable(sets: readonly AblatedSet[]): string {
  const head = sets.map(({ set, whole }) => `${set} (${whole.launches} launches, ${whole.kernels} kernels)`);
  const wholeRow = sets.map(
    ({ whole }) =>
      `${percent(whole.mean)}, median ${percent(whole.median)}, within 25 %: ${percent(whole.withinQuarter)}, worst ${percent(whole.worst)}`,
  );
  return [
    `| without | what it stands for | ${head.join(' | ')} |`,
    `| --- | --- |${sets.map(() => ' --- |').join('')}`,
    `| nothing: the whole model | | ${wholeRow.join(' | ')} |`,
    ...MECHANISMS.map(
      ({ name, what }, index) =>
        `| \`${name}\` | ${what} | ${sets.map((each) => points(change(each, index))).join(' | ')} |`,
    ),
    '',
  ].join('\n');
}

const BAR = 9;
const GAP = 8;
const LEFT = 150;
const WIDTH = 860;
const MOST = 30;

/** A bar a mechanism and set: points of mean error more without it, those above `MOST` cut off and written out. */
export function ablationFigure(sets: readonly AblatedSet[]): string {
  const row = BAR * sets.length + GAP;
  const height = 84 + row * MECHANISMS.length;
  const zero = LEFT + 60;
  const scale = (WIDTH - zero - 60) / MOST;
  const bars = MECHANISMS.flatMap(({ name }, index) => {
    const y = 70 + index * row;
    const label = `<text x="${LEFT - 8}" y="${y + (BAR * sets.length) / 2 + 4}" text-anchor="end">${name}</text>`;
    return [
      label,
      ...sets.map((each, place) => {
        const value = 100 * change(each, index);
        const shown = Math.max(-60 / scale, Math.min(MOST, value));
        const from = zero + Math.min(0, shown) * scale;
        const end = zero + Math.max(0, shown) * scale;
        const text =
          value > MOST ? `<text x="${end + 4}" y="${y + place * BAR + 8}">${value.toFixed(0)}</text>` : '';
        return `<rect x="${from.toFixed(1)}" y="${y + place * BAR}" width="${Math.max(0.5, end - from).toFixed(1)}" height="${BAR - 1}" fill="${PALETTE[place]}"/>${text}`;
      }),
    ];
  });
  const ticks = [0, 5, 10, 15, 20, 25, 30].map((value) => {
    const x = (zero + value * scale).toFixed(1);
    return `<path d="M${x} 64V${height - 8}" stroke="#ddd"/><text x="${x}" y="60" text-anchor="middle">${value}</text>`;
  });
  const legend = sets.map(
    ({ set }, place) =>
      `<rect x="${zero + place * 120}" y="38" width="10" height="10" fill="${PALETTE[place]}"/><text x="${zero + place * 120 + 14}" y="47">${set}</text>`,
  );
  const title = 'Points of mean error more without each mechanism';
  return svgDocument({ title, width: WIDTH, height, left: 20 }, [...legend, ...ticks, ...bars]);
}

function points(share: number): string {
  return `${share < 0 ? '-' : '+'}${Math.abs(100 * share).toFixed(2)}`;
}
