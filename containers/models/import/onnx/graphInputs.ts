import { ModelError } from '../../modelError.js';
import { EncodedParts } from './encodedParts.js';
import type { GraphValue } from './graphValues.js';
import { elementsOfShape } from './graphValues.js';
import type { OnnxExtent, OnnxGraph, OnnxValueInfo } from './onnxModel.js';
import { BFLOAT16, DATA_TYPES, STRING, typeName } from './tensorValues.js';

/** Values of one query: more is a mistake in the file, and would not fit a device with a batch. */
const MAX_INPUT_VALUES = 2 ** 26;

/** What the graph takes: each input as a value of one query. */
export interface GraphInputs {
  readonly infos: readonly OnnxValueInfo[];
  readonly values: readonly GraphValue[];
  /** The batch's extent where the file says it. */
  readonly fixedBatch: number | undefined;
  /** The first extents are the batch; otherwise a query has all of every input. */
  readonly isBatched: boolean;
  /** Names of a query's columns, an input's elements each, where there are strings among them. */
  readonly columns: readonly string[] | undefined;
  /** What the host makes of such columns; of numbers alone there is nothing. */
  readonly encoded: EncodedParts;
  /** Of each input of numbers among strings its first part. */
  readonly firstParts: readonly number[];
}

/**
 * @param given shape of one query of the only input, where the file leaves it open
 * @param isWhole one query is all that the graph takes, first extents included
 * @throws ModelError naming the input
 */
export function graphInputs(
  graph: OnnxGraph,
  file: string,
  given: readonly number[] | undefined,
  isWhole: boolean,
): GraphInputs {
  const constants = new Set(graph.initializers.map(({ name }) => name));
  const infos = graph.inputs.filter(({ name }) => !constants.has(name));
  const refuse = (field: string, problem: string): never => {
    throw new ModelError('importUnsupported', file, field, problem);
  };
  if (infos.length === 0) refuse('graph.input', 'the model takes no input: there is nothing to ask it');
  if (infos.length > 64)
    refuse('graph.input', `the model takes ${infos.length} inputs, at most 64 are supported`);
  if (given !== undefined && infos.length > 1) {
    const names = infos.map(({ name }) => `'${name}'`).join(', ');
    refuse(
      'graph.input',
      `--input-shape is the shape of one input, the model takes ${names}: say how long open extents are by their names (--extents), or export it with fixed shapes`,
    );
  }
  for (const { name, elementType } of infos) {
    const isTaken = ![0, 14, 15, BFLOAT16].includes(elementType);
    if (isTaken && Object.hasOwn(DATA_TYPES, elementType)) continue;
    const what = elementType === 0 ? 'no tensor' : typeName(elementType);
    refuse(
      `graph.input '${name}'`,
      `it takes ${what}, only numbers and strings are supported, and no bfloat16: export the model with float inputs`,
    );
  }
  const shapes = infos.map((info) => openShape(info, given, isWhole));
  const isBatched = !isWhole && infos.every((_, place) => isBatchFirst(shapes, place));
  const values = infos.map(({ name, elementType }, place): GraphValue => {
    const field = `graph.input '${name}'`;
    const shape = closed(shapes[place], isBatched, field, refuse);
    if (elementsOfShape(shape) > MAX_INPUT_VALUES) {
      refuse(
        field,
        `${elementsOfShape(shape)} values of one query are more than ${MAX_INPUT_VALUES}; check the file or --input-shape`,
      );
    }
    if (elementsOfShape(shape) < 1)
      refuse(field, `one query has the shape [${shape.join(', ')}] and no value`);
    return {
      source: { kind: 'input', place },
      output: 0,
      shape,
      batch: isBatched ? { axis: 0, before: 1 } : undefined,
      dataType: elementType,
      readOnce: false,
    };
  });
  const [first] = shapes[0] ?? [];
  const fixedBatch = isBatched && typeof first === 'number' && first > 0 ? first : undefined;
  return { infos, fixedBatch, isBatched, ...withColumns(infos, values, isBatched, takesMissing(graph)) };

  function openShape(
    info: OnnxValueInfo,
    query: readonly number[] | undefined,
    all: boolean,
  ): readonly OnnxExtent[] | undefined {
    if (query === undefined) return info.shape;
    const own = all ? info.shape : info.shape?.slice(1);
    const contradicts =
      own !== undefined &&
      (own.length !== query.length ||
        own.some((extent, axis) => typeof extent === 'number' && extent > 0 && extent !== query[axis]));
    if (contradicts)
      refuse(
        `graph.input '${info.name}'`,
        `--input-shape ${query.join(',')} contradicts the file's [${own.join(', ')}] of one query`,
      );
    return all ? query : [info.shape?.[0] ?? '', ...query];
  }
}

/** Where there are strings among the inputs a query is a row, a column for each element of each input. */
function withColumns(
  infos: readonly OnnxValueInfo[],
  values: readonly GraphValue[],
  isBatched: boolean,
  isMissingTaken: boolean,
): Pick<GraphInputs, 'values' | 'firstParts' | 'columns' | 'encoded'> {
  const encoded = new EncodedParts(isBatched);
  if (!infos.some(({ elementType }) => elementType === STRING))
    return { values, encoded, columns: undefined, firstParts: [] };
  const columns: string[] = [];
  const firstParts: number[] = [];
  const named = values.map((value, place) => {
    const width = elementsOfShape(value.shape);
    const first = columns.length;
    const { name } = infos[place];
    for (let k = 0; k < width; k++) columns.push(width === 1 ? name : `${name}[${k}]`);
    const isText = value.dataType === STRING;
    firstParts.push(isText ? -1 : encoded.numbers(first, width, isMissingTaken));
    return isText ? { ...value, columns: Array.from({ length: width }, (_, k) => first + k) } : value;
  });
  return { values: named, encoded, columns, firstParts };
}

/**
 * A graph whose inputs' open extents are as long as `extents` says by their names.
 * @throws ModelError naming one that no input has
 */
export function withExtents(
  graph: OnnxGraph,
  file: string,
  extents: Readonly<Record<string, number>>,
): OnnxGraph {
  const named = new Set(
    graph.inputs.flatMap(({ shape }) =>
      (shape ?? []).filter((extent) => typeof extent === 'string' && extent !== ''),
    ),
  );
  const unknown = Object.keys(extents).find((name) => !named.has(name));
  if (unknown !== undefined) {
    const others = [...named].join(', ');
    const problem = named.size === 0 ? 'all are numbers' : `only ${others}`;
    throw new ModelError(
      'importInvalid',
      file,
      'graph.input',
      `no extent is called '${unknown}', ${problem}`,
    );
  }
  const inputs = graph.inputs.map((info) => ({
    ...info,
    shape: info.shape?.map((extent) =>
      typeof extent === 'string' && Object.hasOwn(extents, extent) ? extents[extent] : extent,
    ),
  }));
  return { ...graph, inputs };
}

/** Whether a graph asks for values that are missing, so that it takes them. */
export function takesMissing({ nodes }: OnnxGraph): boolean {
  return nodes.some(({ opType }) => opType === 'IsNaN' || opType === 'Imputer');
}

/** Inputs are batches if their first extents are the same, and something is left of each query. */
function isBatchFirst(shapes: readonly (readonly OnnxExtent[] | undefined)[], place: number): boolean {
  const shape = shapes[place];
  const [first] = shape ?? [];
  const [other] = shapes[0] ?? [];
  if (shape === undefined) return true;
  if (shape.length === 0) return false;
  const isOpen = (extent: OnnxExtent): boolean => typeof extent === 'string' || extent <= 0;
  // A list of a fixed length is one query, and no batch of numbers.
  if (shape.length === 1 && !isOpen(first)) return false;
  return first === other || (isOpen(first) && isOpen(other));
}

function closed(
  shape: readonly OnnxExtent[] | undefined,
  isBatched: boolean,
  field: string,
  refuse: (field: string, problem: string) => never,
): readonly number[] {
  const named = (shape ?? [])
    .slice(isBatched ? 1 : 0)
    .find((extent) => typeof extent === 'string' && extent !== '');
  const byName = named === undefined ? '' : `, or how long it is with --extents ${named}=128`;
  const example = `say the shape of one query with --input-shape, without the batch, such as 1,28,28${byName}`;
  if (shape === undefined) return refuse(field, `its shape is open: ${example}`);
  const own = isBatched ? shape.slice(1) : shape;
  const numbers = own.filter((extent) => typeof extent === 'number' && extent > 0) as number[];
  if (numbers.length < own.length) {
    const text = own.map((extent) => (extent === '' || extent === 0 ? '?' : extent)).join(', ');
    refuse(field, `the shape of one query, [${text}], is open: ${example}`);
  }
  return isBatched ? [1, ...numbers] : numbers;
}
