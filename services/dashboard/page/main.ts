import type { FeedFrame } from '../feedFrame.js';
import { ChangeList } from './changes.js';
import { Charts } from './charts.js';
import { ClusterTables } from './clusterTables.js';
import { DigitPanel } from './digitPanel.js';
import { byId, setText } from './dom.js';
import { FeedbackPanel } from './feedbackPanel.js';
import { formatMs, formatNumber, formatShare } from './format.js';
import { GpuTimeline } from './gpuTimeline.js';
import { Inventory } from './inventory.js';
import { JobsPanel } from './jobsPanel.js';
import { LiveConnection } from './liveConnection.js';
import { Recording } from './recording.js';
import { SmGrids } from './smGrid.js';
import { TimeControls } from './timeControls.js';
import { TimeWindow } from './timeWindow.js';
import { Weights } from './weights.js';

/** With reduced motion figures move every so many frames: once in two seconds. */
const CALM_FRAMES = 4;

const status = byId('status', HTMLElement);
const pause = byId('pause', HTMLButtonElement);
const own = byId('own', HTMLElement);
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const recording = new Recording();
const shown = new TimeWindow(recording, () => drawSoon());
const controls = new TimeControls(shown);
const charts = new Charts(() => drawSoon());
const weights = new Weights(() => drawSoon());
const timeline = new GpuTimeline(shown, controls);
const changes = new ChangeList();
const grids = new SmGrids();
const inventory = new Inventory();
const jobs = new JobsPanel();
const feedback = new FeedbackPanel();
const cluster = new ClusterTables();
const digits = new DigitPanel((application) => weights.show(application));
let frames = 0;
let drawing: number | undefined;

const connection = new LiveConnection({
  onHistory: (history) => {
    recording.load(history);
    drawSoon();
  },
  onPoint: (point) => {
    recording.push(point);
    drawSoon();
  },
  onFrame: (frame) => onFrame(frame),
  onState: (state) => {
    status.dataset.state = state;
    setText(status, state);
  },
});

/** Once, with the next picture, however much has happened by then. */
function drawSoon(): void {
  drawing ??= requestAnimationFrame(() => {
    drawing = undefined;
    charts.draw(recording, shown);
    weights.draw(recording, shown);
    timeline.draw(recording);
    controls.draw();
    changes.show(recording.changes);
  });
}

function onFrame(frame: FeedFrame): void {
  weights.offer(frame);
  digits.show(frame);
  frames += 1;
  if (calm.matches && frames % CALM_FRAMES !== 1) return;
  showTiles(frame);
  grids.show(frame);
  inventory.show(frame);
  jobs.show(frame.jobs);
  feedback.show(frame.queue);
  cluster.show(frame.cluster);
  const name = frame.cluster?.frontends.find(({ self }) => self)?.name;
  own.hidden = name === undefined;
  setText(
    own,
    `Figures and charts are of this frontend, ${name ?? ''}; nodes, jobs and feedback are the cluster's.`,
  );
}

function showTiles({ seconds, queries, latency, cache, inFlightQueries }: FeedFrame): void {
  const rate = queries.predicted + queries.defaulted;
  // The first frame of a server that nobody watched has no rates yet.
  setText(byId('tile-rate', HTMLElement), seconds > 0 ? formatNumber(rate) : '–');
  setText(byId('tile-p50', HTMLElement), latency === null ? '–' : formatMs(latency.p50Ms));
  setText(byId('tile-p99', HTMLElement), latency === null ? '–' : formatMs(latency.p99Ms));
  setText(byId('tile-cache', HTMLElement), cache.hitShare === null ? '–' : formatShare(cache.hitShare));
  setText(byId('tile-flight', HTMLElement), formatNumber(inFlightQueries));
}

pause.addEventListener('click', () => {
  const isPaused = pause.getAttribute('aria-pressed') !== 'true';
  pause.setAttribute('aria-pressed', String(isPaused));
  connection.pause(isPaused);
});

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  charts.restyle();
  weights.restyle();
  digits.restyle();
  drawSoon();
});
addEventListener('resize', () => drawSoon());
