import { ModelError } from '../../modelError.js';
import { graphInputs, type GraphInputs } from './graphInputs.js';
import type { GraphOp, GraphValue, NodeInput } from './graphValues.js';
import { BatchMixing, NodeReader } from './nodeReader.js';
import type { OnnxBranch, OnnxGraph, OnnxNode } from './onnxModel.js';
import { operatorOf } from './operators/index.js';

/** Operator sets whose meaning is known. */
export const OPERATOR_SETS = { first: 7, last: 25 } as const;

/** Operators that meant something else, or were written otherwise, before the first of these sets. */
const CHANGED_BEFORE: ReadonlySet<string> = new Set([
  ...['Add', 'Sub', 'Mul', 'Div', 'Pow', 'And', 'Or', 'Xor', 'Equal', 'Greater', 'Less', 'Gemm', 'PRelu'],
  ...[
    'BatchNormalization',
    'Dropout',
    'Upsample',
    'RNN',
    'LSTM',
    'GRU',
    'AveragePool',
    'Cast',
    'Pad',
    'Split',
  ],
  ...['Tile', 'TopK', 'Concat', 'Sum', 'Mean', 'Max', 'Min', 'LpPool', 'GlobalLpPool'],
]);

export interface GraphOutput {
  readonly name: string;
  readonly value: GraphValue;
}

/** A graph as ops over the values of one item, in the order in which they run. */
export interface TranslatedGraph {
  readonly inputs: GraphInputs;
  readonly ops: readonly GraphOp[];
  readonly outputs: readonly GraphOutput[];
}

/**
 * Translates the graph of an ONNX file.
 * @param inputShape of one item, where the file leaves it open.
 * @param isWhole one query is all that the graph takes: no extent is the batch
 * @throws ModelError naming the node or the value, BatchMixing where queries of a batch would be mixed
 */
export function translateGraph(
  graph: OnnxGraph,
  file: string,
  inputShape: readonly number[] | undefined,
  isWhole: boolean,
): TranslatedGraph {
  const refuse = (field: string, problem: string): never => {
    throw new ModelError('importUnsupported', file, field, problem);
  };
  if (graph.outputs.length === 0) refuse('graph.output', 'the model has no output');
  if (graph.opset > OPERATOR_SETS.last) {
    refuse(
      'opset_import',
      `operator set ${graph.opset} is newer than ${OPERATOR_SETS.last}: export the model with an older one`,
    );
  }
  const inputs = graphInputs(graph, file, inputShape, isWhole);
  const known = new Map<string, NodeInput>(
    graph.initializers.map((tensor) => [tensor.name, { constant: tensor }]),
  );
  inputs.infos.forEach(({ name }, place) => {
    if (known.has(name) && inputs.infos.findIndex((info) => info.name === name) !== place) {
      refuse(`graph.input '${name}'`, 'two inputs have this name; write the file again');
    }
    known.set(name, { value: inputs.values[place] });
  });
  const uses = useCounts(graph);
  const count = (name: string): number => uses.get(name) ?? 0;
  const ops: GraphOp[] = [];
  const translateNode = (node: OnnxNode, place: number, known: Map<string, NodeInput>): void => {
    const reader = new NodeReader(
      node,
      place,
      file,
      inputsOf(node, (name) => known.get(name) ?? missing(name, place, file)),
      graph.opset,
      inputs.fixedBatch,
      (op) => void ops.push(op),
      inputs.encoded,
    );
    const branch = branchOf(node, known);
    const translated =
      branch === undefined ? operator(reader, node, graph)(reader) : resultsOf(branch, place, known);
    const results: readonly NodeInput[] = 'length' in translated ? translated : [translated];
    if (node.outputs.length === 0) reader.invalid('it has no output');
    node.outputs.forEach((name, output) => {
      if (name === '') return;
      if (known.has(name)) reader.invalid(`'${name}' is made twice; write the file again`);
      const result = results.at(output);
      if (result === undefined) {
        if (count(name) > 0)
          reader.refuse(`its output '${name}' is read, only the first ${results.length} is supported`);
        return;
      }
      const readOnce = count(name) === 1;
      known.set(
        name,
        'value' in result
          ? { value: { ...result.value, readOnce: result.value.readOnce && readOnce } }
          : result,
      );
    });
  };
  /** Of a branch that is always taken: its nodes run as if they stood in place of it. */
  const resultsOf = (
    { nodes, initializers, outputs: made }: OnnxBranch,
    place: number,
    outside: ReadonlyMap<string, NodeInput>,
  ): readonly NodeInput[] => {
    const inside = new Map(outside);
    for (const tensor of initializers) inside.set(tensor.name, { constant: tensor });
    for (const inner of nodes) translateNode(inner, place, inside);
    return made.map(({ name }) => inside.get(name) ?? missing(name, place, file));
  };
  graph.nodes.forEach((node, place) => translateNode(node, place, known));
  const outputs = graph.outputs.map(({ name }) => {
    const result = known.get(name) ?? missing(name, graph.nodes.length, file);
    if (!('value' in result)) return refuse(`graph.output '${name}'`, 'it is no result of the input');
    const { batch, columns } = result.value;
    if (columns !== undefined)
      return refuse(`graph.output '${name}'`, 'it is strings of the query: leave it out of the outputs');
    // Answers are put together query by query.
    if (batch !== undefined && (batch.axis !== 0 || batch.before !== 1)) {
      throw new BatchMixing(
        'importUnsupported',
        file,
        `graph.output '${name}'`,
        `the batch lies along axis ${batch.axis}: putting answers together would mix the queries of a batch`,
      );
    }
    return { name, value: result.value };
  });
  return { inputs, ops, outputs };
}

/** Inputs at the end that are not given are none. */
function inputsOf(node: OnnxNode, known: (name: string) => NodeInput): (NodeInput | undefined)[] {
  const inputs = node.inputs.map((name) => (name === '' ? undefined : known(name)));
  while (inputs.length > 0 && inputs[inputs.length - 1] === undefined) inputs.pop();
  return inputs;
}

function operator(
  reader: NodeReader,
  node: OnnxNode,
  graph: OnnxGraph,
): (reader: NodeReader) => NodeInput | readonly NodeInput[] {
  const entry = operatorOf(node.domain, node.opType);
  const isOurs = node.domain === '' || node.domain === 'ai.onnx';
  if (entry === undefined) {
    const name = isOurs ? node.opType : `${node.domain}.${node.opType}`;
    if (graph.functionDomains.has(node.domain)) {
      return reader.refuse(
        `${name} is a function of the file: inline it (onnx.inliner.inline_local_functions)`,
      );
    }
    return reader.refuse(
      `${name} is not supported: write it with operators that are (docs/reference/onnx.md has them), or leave that part out of the model`,
    );
  }
  if (isOurs && (graph.opset < 1 || (graph.opset < OPERATOR_SETS.first && CHANGED_BEFORE.has(node.opType)))) {
    return reader.refuse(
      `operator set ${graph.opset} is older than ${OPERATOR_SETS.first}: convert the model (onnx.version_converter)`,
    );
  }
  return entry.translate;
}

function missing(name: string, place: number, file: string): never {
  throw new ModelError(
    'importInvalid',
    file,
    `node ${place}`,
    `it reads '${name}', which no node before it makes; write the file again`,
  );
}

/** The branch of an If whose condition is known; undefined: the node is another. */
function branchOf(node: OnnxNode, known: ReadonlyMap<string, NodeInput>): OnnxBranch | undefined {
  if (node.opType !== 'If' || (node.domain !== '' && node.domain !== 'ai.onnx')) return undefined;
  const condition = known.get(node.inputs[0] ?? '');
  if (condition === undefined || !('constant' in condition)) return undefined;
  const name = condition.constant.values[0] === 0 ? 'else_branch' : 'then_branch';
  return node.attributes.get(name)?.graph;
}

/** How often each value is read, in branches too; the graph's outputs are read once from outside. */
function useCounts(graph: OnnxBranch): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1);
  const count = ({ nodes, outputs }: OnnxBranch): void => {
    for (const node of nodes) {
      node.inputs.forEach(use);
      for (const { graph: branch } of node.attributes.values()) if (branch !== undefined) count(branch);
    }
    // Twice: what leaves the graph must not change any more.
    for (const { name } of outputs) [name, name].forEach(use);
  };
  count(graph);
  return uses;
}
