import { ModelError } from '../../modelError.js';
import { elementsOfShape, type GraphOp, type GraphValue } from './graphOps.js';
import { NodeReader, type NodeInput } from './nodeReader.js';
import { TRANSLATIONS } from './nodeTranslations.js';
import type { OnnxGraph, OnnxValueInfo } from './onnxModel.js';
import { DATA_TYPES, FLOAT } from './tensorValues.js';

/** Values of one query: more is a mistake in the file, and would not fit a device with a batch. */
const MAX_INPUT_VALUES = 2 ** 26;

/** A graph as ops over the values of one item, in the order in which they run. */
export interface TranslatedGraph {
  readonly inputShape: readonly number[];
  readonly ops: readonly GraphOp[];
  readonly output: GraphValue;
}

/**
 * Translates the graph of an ONNX file.
 * @param inputShape of one item, where the file leaves it open.
 * @throws ModelError naming the node or the value.
 */
export function translateGraph(
  graph: OnnxGraph,
  file: string,
  inputShape?: readonly number[],
): TranslatedGraph {
  const refuse = (field: string, problem: string): never => {
    throw new ModelError('importUnsupported', file, field, problem);
  };
  const known = new Map<string, NodeInput>(
    graph.initializers.map((tensor) => [tensor.name, { constant: tensor }]),
  );
  const inputs = graph.inputs.filter(({ name }) => !known.has(name));
  const named = inputs.map(({ name }) => `'${name}'`).join(', ');
  if (inputs.length !== 1)
    refuse('graph.input', `the model takes ${inputs.length} inputs (${named}), only one is supported`);
  if (graph.outputs.length !== 1) {
    const outputs = graph.outputs.map(({ name }) => `'${name}'`).join(', ');
    refuse(
      'graph.output',
      `the model has ${graph.outputs.length} outputs (${outputs}), only one is supported: export it with one`,
    );
  }
  const shape = shapeOf(inputs[0], file, inputShape);
  const uses = useCounts(graph);
  const count = (name: string): number => uses.get(name) ?? 0;
  known.set(inputs[0].name, { value: { op: undefined, shape, readOnce: false } });
  const ops: GraphOp[] = [];
  graph.nodes.forEach((node, place) => {
    const reader = new NodeReader(
      node,
      place,
      file,
      node.inputs.map((name) => (name === '' ? undefined : (known.get(name) ?? missing(name, place, file)))),
      graph.opset,
    );
    const isOurs = node.domain === '' || node.domain === 'ai.onnx';
    const translate =
      isOurs && Object.hasOwn(TRANSLATIONS, node.opType) ? TRANSLATIONS[node.opType] : undefined;
    if (translate === undefined) {
      const operator = node.domain === '' ? node.opType : `${node.domain}.${node.opType}`;
      return reader.refuse(`${operator} is not supported, only ${Object.keys(TRANSLATIONS).join(', ')}`);
    }
    const translation = translate(reader);
    const [output] = node.outputs;
    if (output === undefined) reader.invalid('it has no output');
    if (known.has(output)) reader.invalid(`'${output}' is made twice; write the file again`);
    if ('op' in translation && elementsOfShape(translation.op.shape) < 1) {
      reader.invalid(
        `its result has the shape [${translation.op.shape.join(', ')}] and no value; check the weights' shapes`,
      );
    }
    const second = node.outputs.slice(1).find((name) => name !== '' && count(name) > 0);
    if (second !== undefined) reader.refuse(`its output '${second}' is read, only the first is supported`);
    const readOnce = count(output) === 1;
    if ('constant' in translation || 'list' in translation) known.set(output, translation);
    else if ('alias' in translation) {
      const { alias } = translation;
      known.set(output, { value: { ...alias, readOnce: alias.readOnce && readOnce } });
    } else {
      ops.push(translation.op);
      known.set(output, { value: { op: translation.op, shape: translation.op.shape, readOnce } });
    }
  });
  const result = known.get(graph.outputs[0].name);
  if (result === undefined) return missing(graph.outputs[0].name, graph.nodes.length, file);
  if (!('value' in result) || result.value.op === undefined) {
    return refuse('graph.output', 'it is no result of the input');
  }
  return { inputShape: shape, ops, output: result.value };
}

function missing(name: string, place: number, file: string): never {
  throw new ModelError(
    'importInvalid',
    file,
    `node ${place}`,
    `it reads '${name}', which no node before it makes; write the file again`,
  );
}

/** How often each value is read; the graph's outputs are read once from outside. */
function useCounts({ nodes, outputs }: OnnxGraph): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1);
  for (const node of nodes) node.inputs.forEach(use);
  // Twice: what leaves the graph must not change any more.
  for (const { name } of outputs) [name, name].forEach(use);
  return uses;
}

function shapeOf(
  input: OnnxValueInfo,
  file: string,
  given: readonly number[] | undefined,
): readonly number[] {
  const field = `graph.input '${input.name}'`;
  const refuse = (problem: string): never => {
    throw new ModelError('importUnsupported', file, field, problem);
  };
  if (input.elementType !== FLOAT) {
    const type = DATA_TYPES[input.elementType] ?? `data type ${input.elementType}`;
    refuse(`it takes ${type}, only float is supported: export the model with float inputs`);
  }
  const extents = input.shape?.slice(1);
  if (given !== undefined) {
    const contradicts =
      extents !== undefined &&
      (extents.length !== given.length ||
        extents.some((extent, axis) => typeof extent === 'number' && extent > 0 && extent !== given[axis]));
    if (contradicts)
      refuse(`--input-shape ${given.join(',')} contradicts the file's [${extents.join(', ')}] of one query`);
    return bounded(given, refuse);
  }
  if (extents === undefined || extents.length === 0) {
    refuse(
      'its shape is open: say the shape of one query with --input-shape, without the batch, such as 1,28,28',
    );
  }
  const fixed = (extents ?? []).map((extent) =>
    typeof extent === 'number' && extent > 0 ? extent : undefined,
  );
  const shape = fixed.filter((extent) => extent !== undefined);
  if (shape.length !== fixed.length) {
    const text = (extents ?? []).map((extent) => (extent === '' ? '?' : extent)).join(', ');
    refuse(
      `the shape of one query, [${text}], is open: say it with --input-shape, without the batch, such as 1,28,28`,
    );
  }
  return bounded(shape, refuse);
}

function bounded(shape: readonly number[], refuse: (problem: string) => never): readonly number[] {
  const values = elementsOfShape(shape);
  return values <= MAX_INPUT_VALUES
    ? shape
    : refuse(
        `${values} values of one query are more than ${MAX_INPUT_VALUES}; check the file or --input-shape`,
      );
}
