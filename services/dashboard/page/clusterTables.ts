import type { ClusterView, FrontendView, MemberNodeView, QueueView } from '../feedFrame.js';
import { byId, setText } from './dom.js';
import { formatMs, formatNumber } from './format.js';
import { fill, type Cell } from './table.js';

/** Frontends and nodes of a cluster, and the queue of feedback: hidden where there is none. */
export class ClusterTables {
  private readonly panel = byId('cluster', HTMLElement);
  private readonly members = byId('members', HTMLElement);
  private readonly frontends = byId('frontends', HTMLElement);
  private readonly nodes = byId('nodes', HTMLElement);
  private readonly queue = byId('queue', HTMLElement);

  show(cluster: ClusterView | null, queue: QueueView | null): void {
    this.panel.hidden = cluster === null && queue === null;
    this.members.hidden = cluster === null;
    if (cluster !== null) {
      fill(this.frontends, cluster.frontends.map(frontendRow), 'No frontend has said a word yet.');
      fill(this.nodes, cluster.nodes.map(nodeRow), 'No node has joined: windjammer node --join.');
    }
    this.queue.hidden = queue === null;
    if (queue !== null) setText(this.queue, queueText(queue));
  }
}

function frontendRow(of: FrontendView): readonly Cell[] {
  const says = of.places ? 'places replicas' : 'alive';
  return [
    { text: of.self ? `${of.name} (this one)` : of.name, class: 'name' },
    { text: of.alive ? says : 'away', class: 'state', state: of.alive ? 'up' : 'down' },
    { text: of.address, class: 'name' },
    { text: formatMs(of.lastWordSeconds * 1000), class: 'number' },
  ];
}

function nodeRow(of: MemberNodeView): readonly Cell[] {
  const words = [
    of.alive ? 'alive' : 'away',
    ...(of.connected ? [] : ['not connected']),
    ...(of.cordoned ? ['drained'] : []),
  ];
  const state = !of.alive || !of.connected ? 'down' : of.cordoned ? 'draining' : 'up';
  return [
    { text: of.name, class: 'name' },
    {
      text: words.join(', '),
      class: 'state',
      state,
      ...(of.problem === null ? {} : { title: of.problem }),
    },
    { text: of.address, class: 'name' },
    { text: of.gpus.length === 0 ? 'none' : of.gpus.join(', ') },
    { text: formatNumber(of.replicas), class: 'number' },
    { text: of.roundTripSeconds === null ? '–' : formatMs(of.roundTripSeconds * 1000), class: 'number' },
    { text: formatMs(of.lastWordSeconds * 1000), class: 'number' },
  ];
}

export function queueText(of: QueueView): string {
  const { waiting, active, delayed, failed, lagSeconds, spooled } = of;
  const lag = lagSeconds > 0 ? `, the oldest for ${formatMs(lagSeconds * 1000)}` : '';
  const away = spooled > 0 ? `; ${formatNumber(spooled)} kept here until Redis is back` : '';
  return (
    `Feedback: ${formatNumber(waiting)} waiting${lag}, ${formatNumber(active)} being learned, ` +
    `${formatNumber(delayed)} tried again later, ${formatNumber(failed)} failed${away}.`
  );
}
