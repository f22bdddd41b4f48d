import type { ExtentList, NodeInput } from './graphValues.js';
import type { NodeReader } from './nodeReader.js';
import { INT64 } from './tensorValues.js';

/** A list of numbers as what it is: a constant where the batch is not in it. */
export function listResult(list: ExtentList, dataType = INT64): NodeInput {
  const numbers = list.extents.filter((extent) => typeof extent === 'number');
  if (numbers.length < list.extents.length) return { list };
  const dims = list.isScalar ? [] : [numbers.length];
  return { constant: { name: '', dims, dataType, values: Float64Array.from(numbers) } };
}

/** An input as a list of numbers, which values of the query are not. */
export function listOf(reader: NodeReader, place: number): ExtentList {
  if ('value' in reader.input(place)) {
    reader.refuse(`input ${place} is a value of the query, only shapes and constants are supported`);
  }
  return reader.list(place);
}
