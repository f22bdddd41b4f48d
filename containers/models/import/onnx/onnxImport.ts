import type { NamedTensor } from '../../manifest.js';
import { ModelError } from '../../modelError.js';
import { addConversion, addCopyInto } from '../layers/stridedLayers.js';
import { ModelDraft, pointerTo, type ImportInputType, type Tensor } from '../modelDraft.js';
import { finishModel, type ImportedModel, type ImportedOutput } from '../modelFolder.js';
import { GraphEmission } from './emission.js';
import { takesMissing, withExtents } from './graphInputs.js';
import { translateGraph, type GraphOutput, type TranslatedGraph } from './graphTranslation.js';
import { elementsOfShape, type GraphValue } from './graphValues.js';
import { BatchMixing } from './nodeReader.js';
import { readOnnx, type OnnxGraph } from './onnxModel.js';
import {
  BOOL,
  DOUBLE,
  FLOAT,
  FLOAT16,
  BFLOAT16,
  INT32,
  INT64,
  STRING,
  UINT8,
  isWholeType,
} from './tensorValues.js';

export interface OnnxImportOptions {
  readonly name: string;
  readonly maxBatchSize: number;
  /** Of one item, without the batch, where the file leaves it open. */
  readonly inputShape?: readonly number[];
  /** How long extents are that the file leaves open, by their names in it. */
  readonly extents?: Readonly<Record<string, number>>;
  /** Of the output's values, in order: 0, 1, 2, … unless given. */
  readonly labels?: readonly string[];
  /** Answer the output's values instead of the label of the largest. A single value is answered so in any case. */
  readonly answersValues?: boolean;
  /** One query is all that the graph takes, the first extent included; unless given, where nothing else can be. */
  readonly isWhole?: boolean;
  /** Where tensors may have their data in files of their own: the file's own folder. */
  readonly folder?: string;
}

/** Beyond it, an output is hardly one of classes. */
const MAX_NUMBERED_LABELS = 65_536;
/** Kernels count a batch's elements in 32 bits. */
const MOST_ELEMENTS = 2 ** 31 - 1;

/**
 * Makes a kernel model of an ONNX file.
 * @throws ModelError `importInvalid` or `importUnsupported` naming the node or the tensor.
 */
export function importOnnx(bytes: Uint8Array, file: string, options: OnnxImportOptions): ImportedModel {
  // Parts of a Buffer are not where parts of its bytes are.
  const plain = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const source = withExtents(readOnnx(plain, file, options.folder), file, options.extents ?? {});
  const graph = translated(source, file, options);
  const { inputs } = graph;
  const inputType = inputTypeOf(graph);
  const shapes = inputs.values.map(({ shape }) => rowShape(shape, inputs.isBatched));
  const shape =
    shapes.length === 1 ? shapes[0] : [shapes.reduce((sum, one) => sum + elementsOfShape(one), 0)];
  const draft = draftOf(graph, source, inputType, shape);
  const emission = new GraphEmission(draft, graph);
  const outputs = outputTensors(draft, graph, emission);
  checkElements(draft, file, options.maxBatchSize);
  const from = source.producer === '' ? 'ONNX' : `ONNX from ${source.producer}`;
  return finishModel(draft, {
    name: options.name,
    description: `'${source.name}', ${from}${inputs.isBatched ? '' : '; a query is all that the graph takes'}`,
    maxBatchSize: options.maxBatchSize,
    inputs: inputs.infos.map(({ name, elementType }, place) => ({
      name,
      datatype: datatypeOf(elementType),
      shape: [...shapes[place]],
    })),
    answer: answerOf(outputs, file, options),
  });
}

/** What a query is on the device: its values, or what the host makes of its strings and numbers. */
function draftOf(
  { inputs: { columns, encoded } }: TranslatedGraph,
  source: OnnxGraph,
  inputType: ImportInputType,
  shape: readonly number[],
): ModelDraft {
  if (columns === undefined) {
    const draft = new ModelDraft(inputType, shape.length === 0 ? [1] : shape);
    draft.takesMissing = takesMissing(source) && inputType !== 'integers' && inputType !== 'bytes';
    return draft;
  }
  const draft = new ModelDraft('doubles', [encoded.total]);
  draft.encoding = { columns, encoding: { encodingVersion: 1, parts: encoded.parts } };
  return draft;
}

/** With the first extents as the batch; where that would mix queries and the file says all extents, without one. */
function translated(source: OnnxGraph, file: string, options: OnnxImportOptions): TranslatedGraph {
  const { inputShape, isWhole } = options;
  if (isWhole === true) return translateGraph(source, file, inputShape, true);
  try {
    return translateGraph(source, file, inputShape, false);
  } catch (error) {
    if (!(error instanceof BatchMixing)) throw error;
    const isFixed = source.inputs.every(({ shape }) =>
      (shape ?? ['']).every((extent) => typeof extent === 'number' && extent > 0),
    );
    if (isWhole === undefined && isFixed) return translateGraph(source, file, undefined, true);
    throw new ModelError(
      'importUnsupported',
      file,
      error.field,
      `${error.problem}: export the model with the batch as the first extent, or make all that it takes one query (--whole, with fixed shapes)`,
    );
  }
}

/** A shape of one row, where the batch is not in it. */
function rowShape(shape: readonly number[], isBatched: boolean): readonly number[] {
  return isBatched ? shape.slice(1) : shape;
}

/** The one type that holds all inputs. */
function inputTypeOf({ inputs }: TranslatedGraph): ImportInputType {
  const types = inputs.values.map(({ dataType }) => dataType);
  if (types.every((type) => type === UINT8)) return 'bytes';
  if (types.every((type) => isWholeType(type) || type === BOOL)) return 'integers';
  const isReal = (type: number): boolean => [FLOAT, FLOAT16, BFLOAT16, BOOL].includes(type);
  return types.every(isReal) ? 'floats' : 'doubles';
}

/** A result of the graph on the device, as answers take it. */
interface Result extends ImportedOutput {
  readonly value: GraphValue;
}

function outputTensors(
  draft: ModelDraft,
  graph: TranslatedGraph,
  emission: GraphEmission,
): readonly Result[] {
  const taken = new Set<Tensor>([draft.input]);
  return graph.outputs.map(({ name, value }: GraphOutput) => {
    const made = emission.tensor(value);
    const width = elementsOfShape(value.shape);
    const isWhole = isWholeType(value.dataType) || value.dataType === BOOL || value.texts !== undefined;
    let tensor = made;
    if (isWhole) {
      tensor = addConversion(
        draft,
        { pointer: pointerTo(made), stride: width, element: made.element },
        width,
        'i32',
      );
    } else if (taken.has(made)) {
      tensor = draft.tensor(draft.layerName('result'), made.element, width);
      const row = { start: 0, strides: [1] };
      addCopyInto(
        draft,
        { pointer: pointerTo(made), stride: width, element: made.element },
        tensor,
        [width],
        row,
        row,
      );
    }
    taken.add(tensor);
    const { batch, shape } = value;
    const isRow = batch?.axis === 0 && shape[0] === 1;
    return {
      value,
      tensor,
      named: {
        name,
        datatype: value.texts === undefined ? datatypeOf(value.dataType) : 'BYTES',
        shape: isRow ? shape.slice(1) : [...shape],
      },
    };
  });
}

function answerOf(
  outputs: readonly Result[],
  file: string,
  { labels, answersValues }: OnnxImportOptions,
): Parameters<typeof finishModel>[1]['answer'] {
  const [first, second] = outputs;
  const isLabel =
    first.tensor.element === 'i32' &&
    first.tensor.width === 1 &&
    (outputs.length === 1 || (outputs.length === 2 && second.tensor.element !== 'i32'));
  if (isLabel && (answersValues !== true || first.value.texts !== undefined)) {
    const texts = first.value.texts ?? labels;
    return {
      kind: 'label',
      output: first,
      ...(texts === undefined ? {} : { labels: texts }),
      ...(outputs.length === 1 ? {} : { scores: second }),
    };
  }
  if (outputs.length > 1) return { kind: 'tensors', outputs };
  const { width } = first.tensor;
  if (width === 1 || answersValues === true || first.tensor.element === 'i32')
    return { kind: 'values', output: first };
  if (labels === undefined && width > MAX_NUMBERED_LABELS) {
    throw new ModelError(
      'importUnsupported',
      file,
      'graph.output',
      `${width} values are too many for labels 0, 1, 2, …: give --labels, or answer the values with --values`,
    );
  }
  const names = labels ?? Array.from({ length: width }, (_, index) => String(index));
  if (names.length !== width) {
    throw new ModelError(
      'importInvalid',
      file,
      'labels',
      `${names.length} labels for the ${width} values of the output`,
    );
  }
  return { kind: 'argmax', output: first, labels: names, scores: first };
}

function checkElements(draft: ModelDraft, file: string, maxBatchSize: number): void {
  const widest = [draft.input, ...draft.tensors].reduce((one, other) =>
    other.width > one.width ? other : one,
  );
  if (widest.width * maxBatchSize <= MOST_ELEMENTS) return;
  const most = Math.floor(MOST_ELEMENTS / widest.width);
  throw new ModelError(
    'importUnsupported',
    file,
    'graph',
    `${widest.width} values of a query in batches of ${maxBatchSize} are more than 2^31: ${most < 1 ? 'the model is too large' : `choose --max-batch ${most} or less`}`,
  );
}

/** As the Open Inference Protocol calls it. */
function datatypeOf(dataType: number): NamedTensor['datatype'] {
  switch (dataType) {
    case DOUBLE:
      return 'FP64';
    case STRING:
      return 'BYTES';
    case INT32:
      return 'INT32';
    case INT64:
      return 'INT64';
    case UINT8:
      return 'UINT8';
    case BOOL:
      return 'BOOL';
    case FLOAT16:
      return 'FP16';
    case 3:
      return 'INT8';
    case 4:
      return 'UINT16';
    case 5:
      return 'INT16';
    case 12:
      return 'UINT32';
    case 13:
      return 'UINT64';
    default:
      return 'FP32';
  }
}
