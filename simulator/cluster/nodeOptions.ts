import { GUARDS, type CodeMaker, type Executor, type Guard, type NodeMemory } from '../executor/index.js';
import type { FaultOptions } from '../faults/index.js';
import type { ContextSharing, CostDocument, DeviceProfile } from '../gpu/index.js';
import type { VerdictCosts } from '../idempotency/index.js';
import { schedulingPolicy, type PolicyMaker, type SchedulingPolicy } from '../scheduling/index.js';
import { ClusterError } from './clusterError.js';
import type { KernelAnalyst } from './nodeVerdicts.js';
import { DEFAULT_TOPOLOGY, type NodeTopology } from './topology.js';

/** Whether kernels are run, or only their time is kept. */
export type Fidelity = 'functional' | 'timing';

export interface GpuNodeOptions {
  /** Its port on the clock; nodes of one clock need different names. Default 'node0'. */
  readonly name?: string;
  /** Card of each GPU: its name, a file's path from where the process runs, or its profile. */
  readonly gpus: readonly (string | DeviceProfile)[];
  /** Functional backing of all GPUs together, in bytes; at most and by default 4 GiB. */
  readonly backingBytes?: number;
  /** Whether accesses just outside an allocation fault, as they need not on a card. Default 'exact': they do. */
  readonly guard?: Guard;
  /**
   * 'timing': nothing is executed and nothing is behind device memory; launches take their work from `costs`, copies move
   * numbers of bytes. Default 'functional'.
   */
  readonly fidelity?: Fidelity;
  /** In timing fidelity: what launches cost. One that none tells of is refused. */
  readonly costs?: readonly CostDocument[];
  readonly topology?: NodeTopology;
  /** Who runs next on each device: a policy's name, or what makes one of somebody's own. Default 'fifo'. */
  readonly scheduling?: string | PolicyMaker;
  /**
   * False: what later commands do to the memory of a killed launch is not held back until it has completed. Its results are then
   * wrong where they do; only to see what that is for. Default true.
   */
  readonly holdsKilled?: boolean;
  /** Transient faults that strike launches of kernels. Default: none do. */
  readonly faults?: FaultOptions | undefined;
  /** What is done so that a launch that was struck can run again; see `RecoveryScheme`. Default 'none'. */
  readonly recovery?: string;
  /** Where it saves memory: 'device', the default, or 'host'. */
  readonly saveTo?: string;
  /**
   * How contexts have a GPU. 'shared', the default: side by side, as streams of one process or processes under MPS do.
   * 'timeSliced': one at a time, as processes without MPS.
   */
  readonly contexts?: ContextSharing;
  /** PTX thread-instructions that one block may spend before it counts as endless. */
  readonly fuelPerBlock?: number;
  /**
   * Threads of the host that run the blocks of large launches, the node's own included. Default 1. What launches leave and
   * report does not depend on it.
   */
  readonly threads?: number;
  /** Another thread that makes kernels' code, so that launches need not wait for it; without one it is made where it is needed. */
  readonly maker?: CodeMaker;
  /** Seconds of host time, for `executorSeconds` in reports; without it they are 0. */
  readonly stopwatch?: () => number;
  /**
   * Who analyses kernels in the background, where launches are judged: until then they count as not idempotent. Without one a kernel
   * is analysed as if that had been done before, in no simulated time.
   */
  readonly analyst?: KernelAnalyst;
  /** Simulated time that verdicts take of the submitting thread. Default: `VERDICT_COSTS`. */
  readonly verdictCosts?: VerdictCosts;
  /** Another executor over the node's memory, for tests. */
  readonly executor?: (memory: NodeMemory) => Executor;
}

/** Transient faults of a node, and what is done about them. */
export type FaultSettings = Pick<GpuNodeOptions, 'faults' | 'recovery' | 'saveTo'>;

const FIDELITIES: readonly string[] = ['functional', 'timing'] satisfies Fidelity[];
const CONTEXT_SHARING: readonly string[] = ['shared', 'timeSliced'] satisfies ContextSharing[];

/** @throws ClusterError `invalidOption`, naming the option */
export function checkOptions(options: GpuNodeOptions): void {
  checkFidelity(options);
  const { gpus, guard, contexts, topology = DEFAULT_TOPOLOGY } = options;
  if (guard !== undefined && !GUARDS.includes(guard)) {
    throw new ClusterError('invalidOption', `guard: '${String(guard)}'; give one of: ${GUARDS.join(', ')}`);
  }
  if (gpus.length === 0) throw new ClusterError('invalidOption', 'gpus: name at least one profile');
  if (contexts !== undefined && !CONTEXT_SHARING.includes(contexts)) {
    throw new ClusterError(
      'invalidOption',
      `contexts: '${String(contexts)}'; give one of: ${CONTEXT_SHARING.join(', ')}`,
    );
  }
  if (!(topology.hostCores > 0)) {
    throw new ClusterError('invalidOption', `topology.hostCores: ${topology.hostCores} is not above 0`);
  }
}

/** @throws ClusterError, SchedulingError */
export function policyOf({ scheduling = 'fifo', contexts }: GpuNodeOptions): SchedulingPolicy {
  const policy = typeof scheduling === 'string' ? schedulingPolicy(scheduling) : scheduling();
  if (policy.preempts === true && contexts === 'timeSliced') {
    throw new ClusterError(
      'invalidOption',
      `scheduling: '${policy.name}' takes launches off the SMs itself; it goes with contexts 'shared', not with 'timeSliced'`,
    );
  }
  return policy;
}

function checkFidelity({ fidelity = 'functional', costs, executor, backingBytes }: GpuNodeOptions): void {
  if (!FIDELITIES.includes(fidelity)) {
    throw new ClusterError(
      'invalidOption',
      `fidelity: '${String(fidelity)}'; there are: ${FIDELITIES.join(', ')}`,
    );
  }
  if (fidelity === 'functional' && costs !== undefined) {
    throw new ClusterError(
      'invalidOption',
      "costs: only a node with fidelity 'timing' takes launches' work from them",
    );
  }
  if (fidelity === 'timing' && executor !== undefined) {
    throw new ClusterError('invalidOption', "executor: a node with fidelity 'timing' executes nothing");
  }
  if (fidelity === 'timing' && backingBytes !== undefined) {
    throw new ClusterError(
      'invalidOption',
      "backingBytes: with fidelity 'timing' nothing is behind device memory",
    );
  }
}
