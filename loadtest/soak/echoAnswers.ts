import type { Model, ModelInputs, ModelOutput } from '../../containers/runtime/process/modelModule.js';

/** What a version of the echo model says of an input: which version it is of two kinds, and the input's first element. */
export type EchoTag = 'odd' | 'even';

export function echoTag(version: number): EchoTag {
  return version % 2 === 1 ? 'odd' : 'even';
}

/** Its answer is a function of the input, so that an answer that belongs to another query shows. */
export function echoModel(tag: EchoTag): new () => Model<'doubles'> {
  return class implements Model<'doubles'> {
    readonly inputType = 'doubles';

    predict(inputs: readonly ModelInputs['doubles'][]): ModelOutput[] {
      return inputs.map((input) => [tag, input[0]]);
    }
  };
}
