import { INPUT_DATATYPES, type Datatype } from './datatypes.js';
import type { Servable } from './servables.js';

/** A tensor as metadata has it; -1: any number, the first one of rows. */
interface TensorDescription {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
}

export function inputTensors({ input }: Servable): readonly TensorDescription[] {
  if (input.tensors !== undefined) {
    return input.tensors.map(({ name, datatype, shape }) => ({ name, datatype, shape: [-1, ...shape] }));
  }
  const { type, length } = input.form;
  const [datatype] = INPUT_DATATYPES[type];
  return [{ name: input.name, datatype, shape: datatype === 'BYTES' ? [-1] : [-1, length ?? -1] }];
}

export function outputTensors({ outputs }: Servable): readonly TensorDescription[] {
  return outputs.map(({ name, datatype, elements, shape }) => ({
    name,
    datatype,
    shape: [-1, ...(shape ?? (elements === undefined ? [] : [elements]))],
  }));
}

export function platformOf(servable: Servable): string {
  return servable.kind === 'model'
    ? `windjammer_${servable.record.container.kind}`
    : 'windjammer_application';
}

/**
 * The model configuration extension, in Triton's form.
 * @param maxRows that one request may have
 */
export function modelConfiguration(servable: Servable, maxRows: number): unknown {
  return {
    name: servable.name,
    platform: platformOf(servable),
    backend: 'windjammer',
    max_batch_size: maxRows,
    input: inputTensors(servable).map(configured),
    output: outputTensors(servable).map(configured),
  };
}

/** Without the rows; one element alone is a dimension of 1 that is none. */
function configured({ name, datatype, shape }: TensorDescription): unknown {
  const dims = shape.slice(1);
  const type = `TYPE_${datatype === 'BYTES' ? 'STRING' : datatype}`;
  return dims.length === 0
    ? { name, data_type: type, dims: [1], reshape: { shape: [] } }
    : { name, data_type: type, dims };
}
