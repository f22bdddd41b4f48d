import {
  ELEMENT_BYTES,
  elementCount,
  type InputType,
  type LaunchClass,
} from '../../containers/protocol/index.js';
import { lossNamed, type Features, type Loss, type SelectionPolicy } from '../../selection/index.js';
import { DEFAULT_CLASS, isAbove } from '../batching/index.js';
import type { SelectionStates } from '../feedback/index.js';
import type { HostedPolicy } from '../policyFiles/index.js';
import type { ApplicationRecord } from '../registry/index.js';
import type { ApplicationLoad } from './applicationLoad.js';
import { NoticedQueries } from './noticedQueries.js';
import type { ServedModel } from './servedModel.js';
import type { QueryRefusal } from './types.js';

/** An application with its policy, learned states and linked models, each at its current version. */
export class ServedApplication {
  readonly policy: SelectionPolicy;
  readonly objectiveNs: number;
  /** Queries that may be without an answer; Infinity: any number. */
  readonly maxInFlight: number;
  /** undefined: right or wrong, which policies tell by themselves. */
  readonly loss: Loss | undefined;
  /** What it costs an arm to be late; undefined: nothing. */
  readonly lossOfLate: number | undefined;
  /** undefined: its policy does not want to know. */
  readonly noticed: NoticedQueries | undefined;
  /** By name, which is what policies call an arm. */
  models: ReadonlyMap<string, ServedModel> = new Map();

  constructor(
    readonly record: ApplicationRecord,
    readonly states: SelectionStates,
    readonly load: ApplicationLoad,
    /** Of its policy file; its policy only where that is from the file. */
    readonly hosted?: HostedPolicy,
  ) {
    this.policy = states.policy;
    this.objectiveNs = record.latencyObjectiveUs * 1000;
    this.maxInFlight = record.maxInFlight ?? Infinity;
    this.noticed = this.policy.notice === undefined ? undefined : new NoticedQueries(states.own);
    this.lossOfLate = record.lossOfLate;
    this.loss =
      record.loss === undefined || record.loss.name === 'zeroOne' ? undefined : lossNamed(record.loss);
  }

  /** Whom its policy is asked of; undefined: it is asked here. */
  get hostedPolicy(): HostedPolicy | undefined {
    return this.policy === this.hosted?.policy ? this.hosted : undefined;
  }

  /** That a query may ask for: its own, else what is the lowest of its models'. */
  get highestClass(): LaunchClass {
    if (this.record.launchClass !== undefined) return this.record.launchClass;
    let lowest: LaunchClass | undefined;
    for (const { replicas } of this.models.values()) {
      if (lowest === undefined || isAbove(lowest, replicas.launchClass)) lowest = replicas.launchClass;
    }
    return lowest ?? DEFAULT_CLASS;
  }

  /** What its policy does not take of a query's features, or undefined. */
  featureRefusal(features: Features | undefined): QueryRefusal | undefined {
    if (features === undefined) return undefined;
    const fault = this.policy.featureFault?.(this.states.own.state, features);
    if (fault === undefined) return undefined;
    return { code: 'invalid_input', field: `features.${fault.name}`, message: fault.message };
  }

  /**
   * Those that are kept with a query: none where nobody will look at them.
   * @param isWritten feedback is written down, with features
   */
  keptFeatures(features: Features | undefined, isWritten: boolean): Features | undefined {
    return this.policy.featureFault === undefined && !isWritten ? undefined : features;
  }

  /** What is wrong with an input, or undefined. */
  inputRefusal(
    input: Uint8Array,
    models: Iterable<ServedModel> = this.models.values(),
  ): QueryRefusal | undefined {
    return inputRefusal(this.record.inputType, input, models);
  }
}

/** What is wrong with an input, or undefined. An empty one is refused: no model has an answer to nothing. */
export function inputRefusal(
  inputType: InputType,
  input: Uint8Array,
  models: Iterable<ServedModel>,
): QueryRefusal | undefined {
  const { length } = input;
  const elementBytes = ELEMENT_BYTES[inputType];
  if (length === 0) return invalid('the input is empty: at least one element is needed');
  if (length % elementBytes !== 0) {
    return invalid(
      `the input has ${length} bytes, which is no whole number of ${inputType} (${elementBytes} bytes each)`,
    );
  }
  let elements: number | undefined;
  for (const { record, form } of models) {
    if (form.length === undefined) continue;
    elements ??= elementCount(inputType, input);
    if (form.length !== elements) {
      return invalid(
        `model '${record.name}' takes ${form.length} ${inputType}, and the input has ${elements}`,
      );
    }
  }
  return undefined;
}

function invalid(message: string): QueryRefusal {
  return { code: 'invalid_input', field: 'input', message };
}
