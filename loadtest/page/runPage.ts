import { basename } from 'node:path';
import type { ApplicationResult, LoadFacts, ModelResult, RunResult } from '../result/index.js';
import { msText, numberText, percentText } from './markup.js';
import { runCharts } from './runCharts.js';
import { document, table } from './document.js';
import { escapeMarkup } from '../../simulator/text/index.js';

/**
 * A report as one HTML document: its style, pictures and script are in it, and nothing is fetched.
 * @param hostSeconds that a replay took; undefined: nobody knows
 */
export function runPage(result: RunResult, hostSeconds?: number): string {
  const title = `${result.kind === 'replay' ? 'Replay' : 'Load test'} of ${basename(result.trace)}`;
  return document(
    title,
    `<p class="sub">${escapeMarkup(subtitle(result))}</p>
${result.endedEarly === null ? '' : `<p class="alarm">Ended early: ${escapeMarkup(result.endedEarly)}</p>`}
<section class="tiles">${tiles(result, hostSeconds).map(tile).join('')}</section>
<section class="charts">${runCharts(result).join('\n')}</section>
<h2>Latency</h2>
${table(['', 'mean', 'p50', 'p90', 'p95', 'p99', 'p99.9', 'longest'], latencyRows(result))}
<h2>Applications</h2>
${table(['application', 'policy', 'objective', 'queries', 'predicted', 'in time', 'cached', 'defaults', 'refused', 'right'], result.applications.map(applicationRow))}
${defaultsTable(result)}
<h2>Models</h2>
${table(['model', 'replicas', 'answers', 'cached', 'late', 'batches', 'mean batch', 'largest', 'failed', 'service p50', 'service p99', 'queue p99'], result.models.map(modelRow))}
${cacheTable(result)}${gpuTable(result)}
<footer>${escapeMarkup(TIMES[result.times])} Windjammer ${escapeMarkup(result.windjammer)}, Node ${escapeMarkup(result.node)}, seed ${result.seed}.</footer>`,
  );
}

/** Whose times the figures are. */
const TIMES: Readonly<Record<RunResult['times'], string>> = {
  simulated: "Every time but the host's is simulated: the card's, without what the host needs to compute it.",
  host: 'Times are simulated, with what this host takes for a query and a batch as it was measured.',
  wall: "Latencies are the wall's, from when a query was to leave until its answer was there. Service times are those of the server's metrics.",
};

function subtitle({
  kind,
  load,
  applications,
  durationSeconds,
  seed,
  scale,
  loadingSeconds,
}: RunResult): string {
  const asked = applications
    .map(({ name, policy, inputs }) => (policy === null ? name : `${name} (${policy.name}; ${inputs})`))
    .join(', ');
  const faster = scale === 1 ? '' : `, ${numberText(scale)} times as fast`;
  if (kind === 'loadtest') {
    return `${numberText(durationSeconds)} s${faster}, seed ${seed}; ${asked}${load === null ? '' : `; ${loadText(load)}`}`;
  }
  return `${numberText(durationSeconds)} s of simulated time${faster}, seed ${seed}; ${asked}; models loaded in ${msText(loadingSeconds * 1000)}`;
}

function loadText({ url, mode, loop, connections, processes, lateness }: LoadFacts): string {
  const late = lateness === null ? '' : `; left late by ${msText(lateness.p99Ms)} at p99`;
  const from = processes === 1 ? '' : ` of ${processes} processes`;
  return `${loop} loop, ${mode}, ${connections} connections${from} to ${url}${late}`;
}

type Tile = readonly [value: string, name: string];

function tiles(result: RunResult, hostSeconds: number | undefined): Tile[] {
  const { arrivals, answers, defaults, cachedAnswers, latency, accuracy, offeredPerSecond, feedback } =
    result;
  const simulated = result.durationSeconds + result.drainSeconds;
  return [
    [numberText(arrivals), `queries, ${numberText(offeredPerSecond)} a second`],
    [numberText(result.goodputPerSecond), 'predictions in time a second'],
    [msText(latency?.p50Ms), 'median latency'],
    [msText(latency?.p99Ms), 'p99 latency'],
    [answers === 0 ? '–' : percentText(defaults / answers), 'answered by default'],
    [answers === 0 ? '–' : percentText(cachedAnswers / answers), 'answered from the cache'],
    ...(accuracy === null
      ? []
      : [
          [
            percentText(accuracy.share),
            `right, of ${numberText(accuracy.labelled)} with a known label`,
          ] as const,
        ]),
    ...(feedback.given === 0 ? [] : [[numberText(feedback.given), 'answers judged'] as const]),
    ...(hostSeconds === undefined
      ? []
      : [
          [
            `${numberText(hostSeconds)}\u202fs`,
            `of host time, dilation ${numberText(hostSeconds / simulated)}`,
          ] as const,
        ]),
  ];
}

function tile([value, name]: Tile): string {
  return `<div class="card tile"><b>${escapeMarkup(value)}</b><span>${escapeMarkup(name)}</span></div>`;
}

function latencyRows({ applications, latency, models, serverParts }: RunResult): string[][] {
  const row = (name: string, summary: RunResult['latency']): string[] => [
    name,
    ...(['meanMs', 'p50Ms', 'p90Ms', 'p95Ms', 'p99Ms', 'p999Ms', 'maxMs'] as const).map((field) =>
      msText(summary?.[field]),
    ),
  ];
  return [
    row('answers', latency),
    ...(applications.length > 1 ? applications.map((one) => row(`answers of ${one.name}`, one.latency)) : []),
    ...models.map((one) => row(`service of a batch, ${one.name}`, one.service)),
    ...models.map((one) => row(`longest wait of a batch, ${one.name}`, one.queueing)),
    ...serverParts.map(({ name, times }) => row(`in the server, ${name}`, times)),
  ];
}

function applicationRow(application: ApplicationResult): string[] {
  const {
    name,
    policy,
    objectiveMs,
    arrivals,
    predictions,
    inTime,
    cachedAnswers,
    defaults,
    refusals,
    accuracy,
  } = application;
  return [
    name,
    policy?.name ?? '–',
    msText(objectiveMs),
    numberText(arrivals),
    numberText(predictions),
    numberText(inTime),
    numberText(cachedAnswers),
    numberText(defaults),
    numberText(Object.values(refusals).reduce((all, count) => all + count, 0)),
    accuracy === null ? '–' : percentText(accuracy.share),
  ];
}

function defaultsTable({ defaultReasons, refusals, answers, arrivals }: RunResult): string {
  const rows = [
    ...Object.entries(defaultReasons).map(([reason, count]) => [
      reason.replaceAll('_', ' '),
      'default answer',
      numberText(count),
      percentText(count / answers),
    ]),
    ...Object.entries(refusals).map(([code, count]) => [
      code.replaceAll('_', ' '),
      'refused',
      numberText(count),
      percentText(count / arrivals),
    ]),
  ];
  if (rows.length === 0) return '';
  return `<h2>Not predicted</h2>\n${table(['reason', 'outcome', 'queries', 'share'], rows)}`;
}

function modelRow(model: ModelResult): string[] {
  return [
    `${model.name} v${model.version}`,
    model.lostReplicas.length === 0
      ? `${model.replicas}`
      : `${model.replicas}, ${model.lostReplicas.length} lost`,
    ...[model.answers, model.cachedAnswers, model.latePredictions, model.batches].map(numberText),
    model.meanBatchSize === null ? '–' : numberText(model.meanBatchSize),
    numberText(model.largestBatch),
    numberText(model.failedItems),
    msText(model.service?.p50Ms),
    msText(model.service?.p99Ms),
    msText(model.queueing?.p99Ms),
  ];
}

function cacheTable({ cache }: RunResult): string {
  if (cache === null) return '';
  const { hits, joins, misses, evictions, entries, bytes, limitBytes } = cache;
  const lookups = hits + joins + misses;
  const share = (count: number): string =>
    lookups === 0 ? numberText(count) : `${numberText(count)} (${percentText(count / lookups)})`;
  return `<h2>Cache</h2>
${table(['lookups', 'hits', 'joined', 'misses', 'evicted', 'entries', 'memory'], [[numberText(lookups), share(hits), share(joins), share(misses), numberText(evictions), numberText(entries), limitBytes === 0 ? '–' : percentText(bytes / limitBytes)]])}
`;
}

function gpuTable({ gpuNodes, durationSeconds, drainSeconds }: RunResult): string {
  if (gpuNodes.length === 0) return '';
  const rows = gpuNodes.map(({ name, gpus, replicas, busySeconds }) => [
    name,
    gpus.map((gpu, at) => `${gpu} (${replicas[at]})`).join(', '),
    percentText(busySeconds / (durationSeconds + drainSeconds)),
  ]);
  return `<h2>GPU nodes</h2>
${table(['node', 'cards, with their replicas', 'a batch in flight, in the card’s time'], rows)}
`;
}
