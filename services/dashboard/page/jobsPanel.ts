import type { JobsView, JobView } from '../feedFrame.js';
import { byId, setText } from './dom.js';
import { formatMs, formatNumber, formatShare } from './format.js';
import { fill, type Cell } from './table.js';

/** Batch jobs, where there are any: how far each of them is. */
export class JobsPanel {
  private readonly panel = byId('jobs', HTMLElement);
  private readonly words = byId('jobs-words', HTMLElement);
  private readonly body = byId('jobs-body', HTMLElement);

  show(jobs: JobsView | null): void {
    this.panel.hidden = jobs === null;
    if (jobs === null) return;
    setText(this.words, wordsOf(jobs));
    fill(this.body, jobs.shown.map(row), 'No job can be read.');
  }
}

function wordsOf(of: JobsView): string {
  const lag = of.lagSeconds >= 1 ? `, none answered for ${formatMs(of.lagSeconds * 1000)}` : '';
  const lines = of.running > 0 ? ` with ${formatNumber(of.linesPending)} lines to answer${lag}` : '';
  const further = [
    ...(of.spooled > 0 ? [`${of.spooled} kept here until Redis is back`] : []),
    ...(of.unreadable > 0 ? [`${of.unreadable} cannot be read`] : []),
  ];
  const left = of.running + of.done + of.cancelled + of.spooled - of.shown.length;
  return [
    `${of.running} running${lines}`,
    `${of.done} done`,
    `${of.cancelled} cancelled`,
    ...further,
    ...(left > 0 ? [`${left} not listed`] : []),
  ].join(' · ');
}

const STATES: Readonly<Record<JobView['state'], string>> = {
  running: 'starting',
  done: 'up',
  cancelled: 'none',
};

function row(of: JobView): readonly Cell[] {
  const share = of.lines === 0 ? 1 : of.answered / of.lines;
  return [
    { text: of.id, class: 'name' },
    { text: of.application, class: 'name' },
    { text: of.state, class: 'state', state: STATES[of.state] },
    {
      text: `${formatNumber(of.answered)} of ${formatNumber(of.lines)} (${formatShare(share)})`,
      class: 'progress',
      share,
    },
    { text: formatNumber(of.failed), class: 'number' },
    { text: new Date(of.createdMs).toLocaleString([], { hourCycle: 'h23' }) },
  ];
}
