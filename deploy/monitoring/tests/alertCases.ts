import { value } from '../../../services/metrics/index.js';

/** Of one alert: what its series do, a value a minute, and when it fires. */
export interface AlertCase {
  readonly alert: string;
  /** Expressions of promtool: `0+60x30` is 31 values from 0 on, each 60 more. */
  readonly series: Readonly<Record<string, string>>;
  /** Minutes at which no alert fires, this one among them. */
  readonly quiet: readonly number[];
  /** Minutes at which this one does not fire yet, though its cause is there. */
  readonly notYet: readonly number[];
  readonly fires: number;
  /** Others that the same cause makes fire by then. */
  readonly also?: readonly string[];
}

const at = (instance: string) => ({ job: 'windjammer', instance });
const A = at('a:1337');
const queries = (outcome: string, reason: string): string =>
  value('windjammer_queries_total', { ...A, application: 'app', outcome, reason }).text;
const predicted = queries('predicted', '');
const defaults = queries('default', 'deadline');
const late = (le: string) =>
  value('windjammer_query_objective_ratio_bucket', { ...A, application: 'app', le }).text;
const ofModel = { ...A, model: 'm', version: '1' };
const ofReplica = { ...ofModel, replica: '0' };
const gib = (count: number) => String(count * 2 ** 30);

/** For 30 minutes all is well in each; then its cause comes. */
export const ALERT_CASES: readonly AlertCase[] = [
  {
    alert: 'WindjammerBudgetBurnsFast',
    series: { [predicted]: '0+600x30 18000+300x30', [defaults]: '0+0x30 0+300x30' },
    quiet: [10, 30],
    notYet: [35, 40],
    fires: 50,
    also: ['WindjammerBudgetBurnsSlowly', 'WindjammerDefaults'],
  },
  {
    // A tenth is too little for the fast one.
    alert: 'WindjammerBudgetBurnsSlowly',
    series: { [predicted]: '0+600x30 18000+540x240', [defaults]: '0+0x30 0+60x240' },
    quiet: [10, 30],
    notYet: [32, 60],
    fires: 150,
    also: ['WindjammerDefaults'],
  },
  {
    alert: 'WindjammerDefaults',
    series: { [predicted]: '0+600x30 18000+564x20', [defaults]: '0+0x30 0+36x20' },
    quiet: [10, 30, 34],
    notYet: [37],
    fires: 43,
  },
  {
    alert: 'WindjammerAnswersLate',
    series: {
      [late('1.25')]: '0+600x30 18000+580x20',
      [value('windjammer_query_objective_ratio_count', { ...A, application: 'app' }).text]: '0+600x50',
    },
    quiet: [10, 30, 34],
    notYet: [35],
    fires: 43,
  },
  {
    alert: 'WindjammerQueueGrows',
    series: {
      // Full now and then is no growth.
      [value('windjammer_queue_depth', ofReplica).text]: '0 100 0 100 0 100 0x24 100x20',
      [value('windjammer_batch_limit', ofReplica).text]: '32x50',
    },
    quiet: [6, 30, 34],
    notYet: [38],
    fires: 43,
  },
  {
    alert: 'WindjammerReplicaFlaps',
    // One start is none too many.
    series: { [value('windjammer_replica_restarts_total', ofReplica).text]: '0x9 1x20 1+1x20' },
    quiet: [12, 29],
    notYet: [31],
    fires: 35,
  },
  {
    alert: 'WindjammerReplicasMissing',
    series: {
      [value('windjammer_replicas_wanted', ofModel).text]: '2x50',
      [value('windjammer_replicas', { ...ofModel, state: 'up' }).text]: '2x9 1x3 2x17 1x20',
    },
    quiet: [5, 12, 30, 38],
    notYet: [41],
    fires: 43,
  },
  {
    alert: 'WindjammerGpuDilated',
    series: {
      [value('windjammer_gpu_node_dilation', { ...A, node: 'node0' }).text]: '1x9 3x3 1.1x17 1.3x20',
    },
    quiet: [5, 14, 30, 38],
    notYet: [41],
    fires: 43,
  },
  {
    alert: 'WindjammerNodeAway',
    series: { [value('windjammer_node_alive', { ...A, node: 'n' }).text]: '1x29 0x20' },
    quiet: [5, 29],
    notYet: [30],
    fires: 32,
  },
  {
    alert: 'WindjammerFeedbackLags',
    series: { [value('windjammer_feedback_queue_lag_seconds', A).text]: '0x9 100 0x19 61+60x20' },
    quiet: [10, 29, 34],
    notYet: [33],
    fires: 36,
  },
  {
    alert: 'WindjammerFeedbackFails',
    series: { [value('windjammer_feedback_queue_jobs', { ...A, state: 'failed' }).text]: '0x29 1x20' },
    quiet: [5, 29],
    notYet: [30],
    fires: 32,
  },
  {
    alert: 'WindjammerFeedbackSpools',
    series: {
      [value('windjammer_feedback_spooled_bytes', A).text]: '0x29 100+100x20',
      [value('windjammer_feedback_spool_limit_bytes', A).text]: '1000x50',
    },
    quiet: [5, 29],
    notYet: [32, 34],
    fires: 36,
  },
  {
    alert: 'WindjammerJobStands',
    series: { [value('windjammer_job_lag_seconds', A).text]: '0x29 60+60x20' },
    quiet: [5, 29],
    notYet: [35, 39],
    fires: 41,
  },
  {
    alert: 'WindjammerDown',
    series: { 'up{job="windjammer",instance="a:1337"}': '1x29 0x20' },
    quiet: [5, 29],
    notYet: [30],
    fires: 32,
  },
  {
    alert: 'WindjammerStoreAway',
    series: { [value('windjammer_store_failing', { ...A, cause: 'diskFull' }).text]: '0x29 1x20' },
    quiet: [5, 29],
    notYet: [30],
    fires: 32,
  },
  {
    alert: 'WindjammerStoreLags',
    series: { [value('windjammer_store_lag_seconds', A).text]: '0x29 29 31+60x20' },
    quiet: [5, 29],
    notYet: [31],
    fires: 33,
  },
  {
    alert: 'WindjammerDiskFills',
    series: {
      [value('windjammer_data_directory_free_bytes', A).text]: `${gib(50)}x29 ${gib(9)}x20`,
      [value('windjammer_data_directory_size_bytes', A).text]: `${gib(100)}x50`,
    },
    quiet: [5, 29, 33],
    notYet: [34],
    fires: 36,
  },
  {
    alert: 'WindjammerCertificateEnds',
    series: {
      // promtool's clock begins in 1970: in two weeks and half an hour.
      [value('windjammer_certificate_end_timestamp_seconds', { ...A, interface: 'query' }).text]: `${
        14 * 86_400 + 1800
      }x50`,
    },
    quiet: [5, 29],
    notYet: [30],
    fires: 31,
  },
];
