import type { ReplicaStatus as DeployedReplica } from '../deployment/index.js';
import type { NodeReport } from '../../containers/runtime/index.js';
import { DEPLOYMENT_METRICS } from '../metrics/index.js';
import type { TrialStatus } from '../prediction/index.js';
import type { CanaryRecord } from '../registry/index.js';
import {
  familiesOf,
  labelText,
  withLabels,
  type LabelText,
  type MetricFamily,
  type ValueWriter,
} from './metricFamily.js';

/** What deployer and GPU nodes know, read when somebody scrapes. */
export interface DeploymentSources {
  replicas(): readonly DeployedReplica[];
  /** Replicas that a version is to have: by its owner, or by the autoscaler. */
  wanted(): Iterable<readonly [model: string, version: string, replicas: number]>;
  /** The last version of each model that was tried beside another. */
  canaries(): readonly CanaryRecord[];
  /** Those that are tried. */
  trials(): readonly TrialStatus[];
  nodes(): readonly NodeReport[];
}

const STATES: readonly DeployedReplica['state'][] = ['starting', 'warming', 'up', 'draining', 'down'];

const CANARY_STATES = ['ramping', 'promoted', 'withdrawn', 'aborted'] as const;

export function deploymentFamilies(sources: DeploymentSources): readonly MetricFamily[] {
  const eachNode = (read: (report: NodeReport) => number | undefined) => (to: ValueWriter<'node'>) => {
    for (const report of sources.nodes()) {
      const value = read(report);
      if (value !== undefined) to.value(labelText({ node: report.node }), value);
    }
  };
  return familiesOf(DEPLOYMENT_METRICS, {
    windjammer_replicas_wanted: (to) => {
      for (const [model, version, count] of sources.wanted()) to.value(labelText({ model, version }), count);
    },
    windjammer_canary_share: (to) => {
      for (const { record, share } of sources.trials()) {
        to.value(labelText({ model: record.model, version: record.candidate }), share);
      }
    },
    windjammer_canary_state: (to) => {
      for (const { model, candidate: version, end } of sources.canaries()) {
        for (const state of CANARY_STATES) {
          to.value(labelText({ model, version, state }), (end?.kind ?? 'ramping') === state ? 1 : 0);
        }
      }
    },
    windjammer_replicas: (to) => writeStates(to, sources.replicas()),
    windjammer_replica_restarts_total: (to) => {
      for (const { model, version, replica, restarts } of sources.replicas()) {
        to.value(labelText({ model, version, replica: String(replica) }), restarts);
      }
    },
    windjammer_gpu_node_dilation: eachNode(({ dilation }) => dilation),
    windjammer_gpu_node_replicas: eachNode(({ replicas }) => replicas),
    windjammer_gpu_node_busy_seconds_total: eachNode(({ busyHostSeconds }) => busyHostSeconds),
    windjammer_gpu_node_busy_simulated_seconds_total: eachNode(
      ({ busySimulatedSeconds }) => busySimulatedSeconds,
    ),
    windjammer_gpu_node_clock_lag_seconds: eachNode(({ clockLagSeconds }) => clockLagSeconds),
  });
}

function writeStates(
  to: ValueWriter<'model' | 'version' | 'state'>,
  replicas: readonly DeployedReplica[],
): void {
  const versions = new Map<LabelText<'model' | 'version'>, Map<string, number>>();
  for (const { model, version, state } of replicas) {
    const key = labelText({ model, version });
    let states = versions.get(key);
    if (states === undefined) versions.set(key, (states = new Map(STATES.map((each) => [each, 0]))));
    states.set(state, (states.get(state) ?? 0) + 1);
  }
  for (const [labels, states] of versions) {
    for (const [state, count] of states) to.value(withLabels(labels, { state }), count);
  }
}
