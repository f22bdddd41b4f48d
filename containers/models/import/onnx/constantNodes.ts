import type { NodeReader } from './nodeReader.js';
import { FLOAT, INT64 } from './tensorValues.js';
import type { Translation } from './translation.js';

export function passed(reader: NodeReader): Translation {
  const input = reader.input(0);
  if (reader.node.opType === 'Dropout') {
    const mode = reader.optional(2);
    if (mode !== undefined && (!('constant' in mode) || mode.constant.values[0] !== 0)) {
      reader.refuse('it is in training mode: export the model for inference');
    }
  }
  return 'value' in input ? { alias: input.value } : input;
}

export function constantNode(reader: NodeReader): Translation {
  const { attributes } = reader.node;
  const tensor = attributes.get('value')?.tensor;
  if (tensor !== undefined) return { constant: tensor };
  const floats = attributes.get('value_floats') ?? attributes.get('value_ints');
  const scalar = attributes.get('value_float') ?? attributes.get('value_int');
  if (floats !== undefined) {
    const values = Float64Array.from(floats.floats.length > 0 ? floats.floats : floats.integers);
    return {
      constant: {
        name: '',
        dims: [values.length],
        dataType: floats.floats.length > 0 ? FLOAT : INT64,
        values,
      },
    };
  }
  if (scalar === undefined) return reader.refuse('only value, value_float(s) and value_int(s) are supported');
  const value = scalar.name === 'value_float' ? scalar.float : scalar.integer;
  return {
    constant: {
      name: '',
      dims: [],
      dataType: scalar.name === 'value_float' ? FLOAT : INT64,
      values: Float64Array.of(value),
    },
  };
}
