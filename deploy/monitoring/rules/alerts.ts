import {
  fewest,
  increase,
  least,
  most,
  rate,
  reachable,
  sum,
  until,
  value,
} from '../../../services/metrics/index.js';
import { BUDGET, FAST_BURN, missedShare, SLOW_BURN, type Burn } from './objectives.js';
import { alert, NUMBER, PERCENTAGE, TIME, type Alert, type Severity } from './rule.js';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** What Prometheus calls the servers that it scrapes. */
export const JOB = 'windjammer';

const VERSION = ['model', 'version'] as const;

/** @param speed so many times shorter is every time in them: for trying them out */
export function alerts(speed = 1): readonly Alert[] {
  return [...objectiveAlerts(speed), ...modelAlerts(speed), ...feedbackAlerts(speed), ...serverAlerts(speed)];
}

function burning(
  name: string,
  severity: Severity,
  { factor, longSeconds, shortSeconds }: Burn,
  speed: number,
) {
  const limit = Math.round(BUDGET * factor * 1e6) / 1e6;
  const over = (seconds: number) => missedShare(seconds).vector.above(limit);
  return alert(name, {
    severity,
    when: over(longSeconds).and(over(shortSeconds)),
    forSeconds: (2 * MINUTE) / speed,
    summary: ({ application }) =>
      `${PERCENTAGE} of the queries of ${application} get no prediction in time, ${factor} times more than its error budget has`,
  });
}

function objectiveAlerts(speed: number): readonly Alert[] {
  const window = (5 * MINUTE) / speed;
  const queries = (labels: { readonly outcome?: string }) => rate('windjammer_queries_total', window, labels);
  return [
    burning('WindjammerBudgetBurnsFast', 'page', FAST_BURN, speed),
    burning('WindjammerBudgetBurnsSlowly', 'ticket', SLOW_BURN, speed),
    alert('WindjammerDefaults', {
      severity: 'ticket',
      when: sum(['application', 'reason'], queries({ outcome: 'default' }))
        .overEach(['application'], sum(['application'], queries({})))
        .above(0.05),
      forSeconds: (5 * MINUTE) / speed,
      summary: ({ application, reason }) =>
        `${PERCENTAGE} of the queries of ${application} get the default output: ${reason}`,
    }),
    alert('WindjammerAnswersLate', {
      severity: 'page',
      // The engine answers at the deadline at the latest: what is later by a quarter of the objective waited for this process.
      when: sum(['application'], rate('windjammer_query_objective_ratio_bucket', window, { le: '1.25' }))
        .over(sum(['application'], rate('windjammer_query_objective_ratio_count', window)))
        .from(1)
        .above(0.01),
      forSeconds: (5 * MINUTE) / speed,
      summary: ({ application }) => `${PERCENTAGE} of the answers of ${application} come after its objective`,
    }),
  ];
}

function modelAlerts(speed: number): readonly Alert[] {
  return [
    alert('WindjammerQueueGrows', {
      severity: 'ticket',
      when: sum(VERSION, least('windjammer_queue_depth', (5 * MINUTE) / speed)).above(
        sum(VERSION, value('windjammer_batch_limit')).times(2),
      ),
      forSeconds: (5 * MINUTE) / speed,
      summary: ({ model, version }) =>
        `${NUMBER} inputs and more have waited for ${model} ${version} for minutes, over two batches a replica`,
    }),
    alert('WindjammerReplicaFlaps', {
      severity: 'ticket',
      when: sum(VERSION, increase('windjammer_replica_restarts_total', (15 * MINUTE) / speed)).above(2.5),
      forSeconds: 0,
      summary: ({ model, version }) =>
        `Replicas of ${model} ${version} were started again ${NUMBER} times in 15 minutes`,
    }),
    alert('WindjammerReplicasMissing', {
      severity: 'page',
      when: sum(['instance', ...VERSION], value('windjammer_replicas_wanted'))
        .minus(sum(['instance', ...VERSION], value('windjammer_replicas', { state: 'up' })))
        .above(0),
      forSeconds: (10 * MINUTE) / speed,
      summary: ({ instance, model, version }) =>
        `${model} ${version} lacks ${NUMBER} replicas at ${instance}`,
    }),
    alert('WindjammerGpuDilated', {
      severity: 'ticket',
      when: most(['node'], value('windjammer_gpu_node_dilation')).above(1.2),
      forSeconds: (10 * MINUTE) / speed,
      summary: ({ node }) =>
        `The host of GPU node ${node} takes ${NUMBER} times the simulated time: its latencies mean nothing`,
    }),
    alert('WindjammerNodeAway', {
      severity: 'page',
      when: fewest(['node'], value('windjammer_node_alive')).equals(0),
      forSeconds: MINUTE / speed,
      summary: ({ node }) => `The cluster does not hear of node ${node}`,
    }),
  ];
}

function feedbackAlerts(speed: number): readonly Alert[] {
  return [
    alert('WindjammerFeedbackLags', {
      severity: 'ticket',
      when: most(['job'], value('windjammer_feedback_queue_lag_seconds')).above(MINUTE / speed),
      forSeconds: (5 * MINUTE) / speed,
      summary: () => `The oldest feedback has waited ${TIME} to be learned`,
    }),
    alert('WindjammerFeedbackFails', {
      severity: 'ticket',
      when: most(['job'], value('windjammer_feedback_queue_jobs', { state: 'failed' })).above(0),
      forSeconds: MINUTE / speed,
      summary: () => `${NUMBER} pieces of feedback could not be learned and are kept as failed`,
    }),
    alert('WindjammerFeedbackSpools', {
      severity: 'page',
      when: sum(['instance'], value('windjammer_feedback_spooled_bytes'))
        .over(sum(['instance'], value('windjammer_feedback_spool_limit_bytes')))
        .above(0.5),
      forSeconds: 0,
      summary: ({ instance }) =>
        `The spool of ${instance} is full to ${PERCENTAGE}: further feedback will be refused`,
    }),
    alert('WindjammerJobStands', {
      severity: 'ticket',
      when: most(['job'], value('windjammer_job_lag_seconds')).above((10 * MINUTE) / speed),
      forSeconds: 0,
      summary: () => `A batch job has got no results for ${TIME}`,
    }),
  ];
}

function serverAlerts(speed: number): readonly Alert[] {
  const free = sum(['instance'], value('windjammer_data_directory_free_bytes'));
  return [
    alert('WindjammerDown', {
      severity: 'page',
      when: reachable(JOB).equals(0),
      forSeconds: MINUTE / speed,
      summary: ({ instance }) => `Prometheus does not reach ${instance}`,
    }),
    alert('WindjammerStoreAway', {
      severity: 'page',
      when: sum(['instance', 'cause'], value('windjammer_store_failing')).above(0),
      forSeconds: MINUTE / speed,
      summary: ({ instance, cause }) => `${instance} keeps neither changes nor feedback: ${cause}`,
    }),
    alert('WindjammerStoreLags', {
      severity: 'ticket',
      when: sum(['instance'], value('windjammer_store_lag_seconds')).above(30 / speed),
      forSeconds: MINUTE / speed,
      summary: ({ instance }) => `${instance} has missed the changes of the shared store for ${TIME}`,
    }),
    alert('WindjammerDiskFills', {
      severity: 'ticket',
      when: free.over(sum(['instance'], value('windjammer_data_directory_size_bytes'))).below(0.1),
      forSeconds: (5 * MINUTE) / speed,
      summary: ({ instance }) => `The disk of the data directory of ${instance} has ${PERCENTAGE} left`,
    }),
    alert('WindjammerCertificateEnds', {
      severity: 'ticket',
      when: until(
        fewest(['instance', 'interface'], value('windjammer_certificate_end_timestamp_seconds')),
      ).below(14 * DAY),
      forSeconds: 0,
      summary: (labels) =>
        `The certificate of the ${labels.interface} interface of ${labels.instance} ends in ${TIME}`,
    }),
  ];
}
