import type { ApplicationView, FeedFrame, ModelView, ReplicaView } from '../feedFrame.js';
import { byId, setText } from './dom.js';
import { formatMs, formatNumber, formatShare } from './format.js';
import { fill, type Cell } from './table.js';

/** The tables of applications, models and replicas. */
export class Inventory {
  private readonly applications = byId('applications', HTMLElement);
  private readonly models = byId('models', HTMLElement);
  private readonly omitted = byId('omitted', HTMLElement);

  show({ applications, models, omitted }: FeedFrame): void {
    fill(this.applications, applications.map(applicationRow), 'No application is registered.');
    fill(this.models, models.flatMap(modelRows), 'No model is registered.');
    this.omitted.hidden = omitted.applications + omitted.models === 0;
    const left = `${omitted.applications} more applications and ${omitted.models} more models`;
    setText(this.omitted, `${left} are not shown; the management interface lists them all.`);
  }
}

function applicationRow(of: ApplicationView): readonly Cell[] {
  const length = of.inputLength === null ? '' : ` × ${of.inputLength}`;
  const linked = of.shares.map(({ model, version, share }) => `${model} v${version} ${formatShare(share)}`);
  return [
    { text: of.name, class: 'name' },
    { text: `${of.inputType}${length}` },
    { text: of.policy },
    { text: formatMs(of.objectiveMs), class: 'number' },
    { text: formatNumber(of.answersPerSecond), class: 'number' },
    { text: linked.length === 0 ? 'none' : linked.join(', '), class: 'name long' },
  ];
}

function modelRows(model: ModelView): readonly (readonly Cell[])[] {
  const { name, version, current, container, replicas } = model;
  const first: readonly Cell[] = [
    { text: name, class: 'name' },
    { text: current ? version : `${version} (not current)` },
    { text: container, class: 'name' },
  ];
  if (replicas.length === 0) return [[...first, { text: '–' }, { text: 'not run here' }, ...nothing(3)]];
  return replicas.map((replica) => [...first, ...replicaCells(replica)]);
}

function replicaCells(of: ReplicaView): readonly Cell[] {
  const restarts = of.restarts === 0 ? '' : `, ${of.restarts} restarts`;
  return [
    { text: of.replica },
    {
      text: `${of.state}${restarts}`,
      class: 'state',
      state: of.state,
      ...(of.lastFailure === null ? {} : { title: of.lastFailure }),
    },
    { text: formatNumber(of.queued), class: 'number' },
    { text: formatNumber(of.inFlightInputs), class: 'number' },
    { text: of.batchLimit === null ? '–' : formatNumber(of.batchLimit), class: 'number' },
  ];
}

function nothing(cells: number): readonly Cell[] {
  return Array.from({ length: cells }, () => ({ text: '–', class: 'number' }));
}
