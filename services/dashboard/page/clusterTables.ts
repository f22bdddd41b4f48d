import type { ClusterView, FrontendView, MemberNodeView } from '../feedFrame.js';
import { byId, element } from './dom.js';
import { formatMs, formatNumber } from './format.js';
import { fill, type Cell } from './table.js';

/** A column, and whether its cells are figures. */
type Column = Readonly<{ title: string; isNumber?: true }>;

const FRONTEND_COLUMNS: readonly Column[] = [
  { title: 'Frontend' },
  { title: 'State' },
  { title: 'Address' },
  { title: 'Last word', isNumber: true },
];

const NODE_COLUMNS: readonly Column[] = [
  { title: 'Node' },
  { title: 'State' },
  { title: 'Address' },
  { title: 'GPUs' },
  { title: 'Replicas', isNumber: true },
  { title: 'Ping', isNumber: true },
  { title: 'Last word', isNumber: true },
];

/** Frontends and nodes of a cluster: hidden where there is none. The page has an empty panel for them. */
export class ClusterTables {
  private readonly panel = byId('cluster', HTMLElement);
  private readonly frontends = element('tbody');
  private readonly nodes = element('tbody');

  constructor() {
    this.frontends.id = 'frontends';
    this.nodes.id = 'nodes';
    this.panel.append(
      labelledTable('Frontends', FRONTEND_COLUMNS, this.frontends),
      labelledTable('Nodes', NODE_COLUMNS, this.nodes),
    );
  }

  show(cluster: ClusterView | null): void {
    this.panel.hidden = cluster === null;
    if (cluster === null) return;
    fill(this.frontends, cluster.frontends.map(frontendRow), 'No frontend has said a word yet.');
    fill(this.nodes, cluster.nodes.map(nodeRow), 'No node has joined: windjammer node --join.');
  }
}

/** It scrolls by itself where it is wider than the page. */
function labelledTable(label: string, columns: readonly Column[], body: HTMLElement): HTMLElement {
  const heads = columns.map(({ title, isNumber }) => {
    const head = element('th', { text: title, ...(isNumber ? { class: 'number' } : {}) });
    head.scope = 'col';
    head.role = 'columnheader';
    return head;
  });
  const row = element('tr', {}, ...heads);
  const head = element('thead', {}, row);
  const table = element('table', {}, element('caption', { class: 'hidden', text: label }), head, body);
  table.role = 'table';
  row.role = 'row';
  head.role = body.role = 'rowgroup';
  const region = element('div', { class: 'scroll' }, table);
  region.role = 'region';
  region.ariaLabel = label;
  region.tabIndex = 0;
  return region;
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
