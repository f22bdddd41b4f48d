import type { FeedFrame, GpuView } from '../feedFrame.js';
import { byId, element, setText } from './dom.js';
import { formatNumber, formatShare } from './format.js';
import { COOLEST_SHARE, heatOf } from './heat.js';

/** One GPU's SMs as a grid of cells, coloured by the time that they had blocks. */
class GpuGrid {
  readonly root = element('div', { class: 'gpu' });
  private readonly cells: readonly HTMLElement[];
  private readonly grid = element('div', { class: 'sms' });
  private readonly summary = element('p', { class: 'note' });

  constructor(
    private readonly name: string,
    sms: number,
  ) {
    this.cells = Array.from({ length: sms }, () => element('div', { class: 'sm' }));
    this.grid.setAttribute('role', 'img');
    this.grid.append(...this.cells);
    this.root.append(this.summary, this.grid, scale());
  }

  fits(name: string, sms: number): boolean {
    return this.name === name && this.cells.length === sms;
  }

  show({ busy, blocks }: GpuView, dilation: number | null): void {
    let active = 0;
    let sum = 0;
    this.cells.forEach((cell, sm) => {
      const share = busy[sm];
      if (share > 0) active += 1;
      sum += share;
      cell.style.setProperty('--heat', heatOf(share).toFixed(3));
      cell.title = `SM ${sm}: busy ${formatShare(share)}, ${formatNumber(blocks[sm])} blocks while busy`;
    });
    const pace = dilation === null ? '' : ` · dilation ${formatNumber(dilation)}`;
    const mean = formatShare(sum / this.cells.length);
    setText(
      this.summary,
      `${this.name}: ${active} of ${this.cells.length} SMs active, busy ${mean} on average${pace}`,
    );
    this.grid.setAttribute('aria-label', `${active} of ${this.cells.length} SMs active`);
    this.grid.dataset.active = String(active);
  }
}

/** What the colours mean: a swatch for idle, and one a decade. */
function scale(): HTMLElement {
  const steps = [0];
  for (let share = COOLEST_SHARE; share < 1.5; share *= 10) steps.push(share);
  return element(
    'ul',
    { class: 'scale note' },
    ...steps.map((share) => {
      const swatch = element('span', { class: 'sm' });
      swatch.style.setProperty('--heat', heatOf(share).toFixed(3));
      const text = share === 0 ? 'idle' : `${Number((share * 100).toPrecision(1))}\u00a0%`;
      return element('li', {}, swatch, element('span', { text }));
    }),
  );
}

/** Every GPU that reports. */
export class SmGrids {
  private readonly place = byId('gpus', HTMLElement);
  private grids: GpuGrid[] = [];

  show({ nodes }: FeedFrame): void {
    const gpus = nodes.flatMap(({ node, dilation, gpus: ofNode }) =>
      ofNode.map((gpu) => ({ gpu, dilation, name: `${node}, GPU ${gpu.gpu} (${gpu.profile})` })),
    );
    if (gpus.length === 0) {
      // Those of nodes that are gone do nothing any more.
      if (this.grids.length > 0)
        this.place.replaceChildren(element('p', { class: 'note', text: 'No GPU reports.' }));
      this.grids = [];
      return;
    }
    const fit =
      gpus.length === this.grids.length &&
      gpus.every(({ gpu, name }, at) => this.grids[at].fits(name, gpu.busy.length));
    if (!fit) {
      this.grids = gpus.map(({ gpu, name }) => new GpuGrid(name, gpu.busy.length));
      this.place.replaceChildren(...this.grids.map(({ root }) => root));
    }
    gpus.forEach(({ gpu, dilation }, at) => this.grids[at].show(gpu, dilation));
  }
}
