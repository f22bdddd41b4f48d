import type { FeedFrame } from '../feedFrame.js';
import { Charts } from './charts.js';
import { ClusterTables } from './clusterTables.js';
import { DigitPanel } from './digitPanel.js';
import { byId, setText } from './dom.js';
import { formatMs, formatNumber, formatShare } from './format.js';
import { Inventory } from './inventory.js';
import { LiveConnection, type ConnectionState } from './liveConnection.js';
import { SmGrids } from './smGrid.js';
import { Weights } from './weights.js';

/** With reduced motion the charts move every so many frames: once in two seconds. */
const CALM_FRAMES = 4;

const STATES: Readonly<Record<ConnectionState, string>> = {
  connecting: 'connecting',
  live: 'live',
  paused: 'paused',
};

const status = byId('status', HTMLElement);
const pause = byId('pause', HTMLButtonElement);
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const charts = new Charts();
const weights = new Weights();
const grids = new SmGrids();
const inventory = new Inventory();
const cluster = new ClusterTables();
const digits = new DigitPanel((application) => weights.show(application));
let frames = 0;

const connection = new LiveConnection(
  (frame) => onFrame(frame),
  (state) => {
    status.dataset.state = state;
    setText(status, STATES[state]);
  },
);

function onFrame(frame: FeedFrame): void {
  // The first frame of a server that nobody watched has no rates yet.
  if (frame.seconds > 0) charts.push(frame);
  weights.push(frame);
  digits.show(frame);
  inventory.show(frame);
  cluster.show(frame.cluster, frame.queue);
  frames += 1;
  if (document.hidden || (calm.matches && frames % CALM_FRAMES !== 1)) return;
  draw(frame);
}

function draw(frame: FeedFrame): void {
  showTiles(frame);
  grids.show(frame);
  charts.draw();
  weights.draw();
}

function showTiles({ seconds, queries, latency, cache, inFlightQueries }: FeedFrame): void {
  const rate = queries.predicted + queries.defaulted;
  setText(byId('tile-rate', HTMLElement), seconds > 0 ? formatNumber(rate) : '–');
  setText(byId('tile-p50', HTMLElement), latency === null ? '–' : formatMs(latency.p50Ms));
  setText(byId('tile-p99', HTMLElement), latency === null ? '–' : formatMs(latency.p99Ms));
  setText(byId('tile-cache', HTMLElement), cache.hitShare === null ? '–' : formatShare(cache.hitShare));
  setText(byId('tile-flight', HTMLElement), formatNumber(inFlightQueries));
}

pause.addEventListener('click', () => {
  const paused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', String(paused));
  if (paused) connection.pause();
  else connection.open();
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  charts.restyle();
  weights.restyle();
  digits.restyle();
});

connection.open();
