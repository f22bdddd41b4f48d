import { ELEMENT_BYTES } from '../../containers/protocol/index.js';
import type { SelectionPolicy } from '../../selection/index.js';
import type { SelectionStates } from '../feedback/index.js';
import type { ApplicationRecord } from '../registry/index.js';
import type { ServedModel } from './servedModel.js';
import type { QueryRefusal } from './types.js';

/** An application with its policy, learned states and linked models, each at its current version. */
export class ServedApplication {
  readonly policy: SelectionPolicy;
  readonly objectiveNs: number;
  /** By name, which is what policies call an arm. */
  models: ReadonlyMap<string, ServedModel> = new Map();
  private readonly elementBytes: number;

  constructor(
    readonly record: ApplicationRecord,
    readonly states: SelectionStates,
  ) {
    this.policy = states.policy;
    this.objectiveNs = record.latencyObjectiveUs * 1000;
    this.elementBytes = ELEMENT_BYTES[record.inputType];
  }

  /** What is wrong with an input, or undefined. An empty one is refused: no model has an answer to nothing. */
  inputRefusal(
    input: Uint8Array,
    models: Iterable<ServedModel> = this.models.values(),
  ): QueryRefusal | undefined {
    const { length } = input;
    if (length === 0) return invalid('the input is empty: at least one element is needed');
    if (length % this.elementBytes !== 0) {
      return invalid(
        `the input has ${length} bytes, which is no whole number of ${this.record.inputType} (${this.elementBytes} bytes each)`,
      );
    }
    const elements = length / this.elementBytes;
    for (const { record } of models) {
      if (record.inputLength !== undefined && record.inputLength !== elements) {
        return invalid(
          `model '${record.name}' takes ${record.inputLength} ${record.inputType}, and the input has ${elements}`,
        );
      }
    }
    return undefined;
  }
}

function invalid(message: string): QueryRefusal {
  return { code: 'invalid_input', field: 'input', message };
}
