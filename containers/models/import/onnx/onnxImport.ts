import { ModelError } from '../../modelError.js';
import { ACTIVATIONS, ACTIVATION_INSTRUCTIONS, addActivation, addDense } from '../denseLayer.js';
import { addConvolution, addMaxPool } from '../imageLayers.js';
import { ModelDraft, countOf, pointerTo, type Tensor } from '../modelDraft.js';
import { finishModel, type ImportedModel } from '../modelFolder.js';
import { addSoftmax } from '../rowLayers.js';
import { elementsOfShape, type AddOp, type AffineOp, type GraphOp, type GraphValue } from './graphOps.js';
import { translateGraph } from './graphTranslation.js';
import { readOnnx } from './onnxModel.js';

export interface OnnxImportOptions {
  readonly name: string;
  readonly maxBatchSize: number;
  /** Of one item, without the batch, where the file leaves it open. */
  readonly inputShape?: readonly number[];
  /** Of the output's values, in order: 0, 1, 2, … unless given. */
  readonly labels?: readonly string[];
  /** Answer the output's values instead of the label of the largest. A single value is answered so in any case. */
  readonly answersValues?: boolean;
  /** Where tensors may have their data in files of their own: the file's own folder. */
  readonly folder?: string;
}

/** Beyond it, an output is hardly one of classes. */
const MAX_NUMBERED_LABELS = 65_536;

/**
 * Makes a kernel model of an ONNX file, in single precision.
 * @throws ModelError `importInvalid` or `importUnsupported` naming the node or the tensor.
 */
export function importOnnx(bytes: Uint8Array, file: string, options: OnnxImportOptions): ImportedModel {
  const source = readOnnx(bytes, file, options.folder);
  const graph = translateGraph(source, file, options.inputShape);
  const draft = new ModelDraft('floats', graph.inputShape);
  const made = new Map<GraphOp, Tensor>();
  const tensorOf = ({ op }: GraphValue): Tensor =>
    (op === undefined ? undefined : made.get(op)) ?? draft.input;
  for (const op of graph.ops) made.set(op, addOp(draft, op, tensorOf));
  const output = tensorOf(graph.output);
  const { width } = output;
  const from = source.producer === '' ? 'ONNX' : `ONNX from ${source.producer}`;
  const common = {
    name: options.name,
    description: `'${source.name}', ${from}`,
    maxBatchSize: options.maxBatchSize,
  };
  if (width === 1 || options.answersValues === true) {
    return finishModel(draft, { ...common, answer: { kind: 'values', output } });
  }
  if (options.labels === undefined && width > MAX_NUMBERED_LABELS) {
    throw new ModelError(
      'importUnsupported',
      file,
      'graph.output',
      `${width} values are too many for labels 0, 1, 2, …: give --labels, or answer the values with --values`,
    );
  }
  const labels = options.labels ?? Array.from({ length: width }, (_, index) => String(index));
  if (labels.length !== width) {
    throw new ModelError(
      'importInvalid',
      file,
      'labels',
      `${labels.length} labels for the ${width} values of the output`,
    );
  }
  return finishModel(draft, { ...common, answer: { kind: 'argmax', output, labels, scores: output } });
}

function addOp(draft: ModelDraft, op: GraphOp, tensorOf: (value: GraphValue) => Tensor): Tensor {
  const x = tensorOf(op.x);
  switch (op.kind) {
    case 'dense': {
      const { weights, activation } = op;
      return addDense(draft, x, { weights, biases: op.bias ?? new Float64Array(op.shape[0]), activation });
    }
    case 'convolution': {
      const { weights, activation, window, shape } = op;
      const biases = op.bias ?? new Float64Array(shape[0]);
      return addConvolution(draft, x, {
        image: op.x.shape,
        outputs: shape[0],
        weights,
        biases,
        activation,
        window,
      });
    }
    case 'pool':
      return addMaxPool(draft, x, op.x.shape, op.window);
    case 'add':
      return addAddition(draft, x, op, tensorOf);
    case 'affine':
      return addAffine(draft, x, op);
    case 'activation':
      return addActivation(draft, x, op.activation);
    case 'softmax':
      return addSoftmax(draft, x, op.width);
  }
}

function addAddition(
  draft: ModelDraft,
  x: Tensor,
  op: AddOp,
  tensorOf: (value: GraphValue) => Tensor,
): Tensor {
  const name = draft.layerName('sum');
  const y = draft.tensor(name, 'f32', elementsOfShape(op.shape));
  const activation = { i32: ACTIVATIONS[op.activation] };
  const isRow = op.other instanceof Float64Array;
  draft.launchElements({
    module: 'elementwise',
    kernel: isRow ? 'add_row_f32' : 'add_f32',
    width: y.width,
    instructionsEach: 45 + ACTIVATION_INSTRUCTIONS[op.activation],
    arguments:
      op.other instanceof Float64Array
        ? [
            pointerTo(x),
            draft.weight(`${name}Row`, Float32Array.from(op.other)),
            pointerTo(y),
            countOf(y.width),
            { i32: y.width },
            activation,
          ]
        : [pointerTo(x), pointerTo(tensorOf(op.other)), pointerTo(y), countOf(y.width), activation],
  });
  return y;
}

function addAffine(draft: ModelDraft, x: Tensor, op: AffineOp): Tensor {
  const name = draft.layerName('affine');
  const y = draft.tensor(name, 'f32', x.width);
  draft.launchElements({
    module: 'elementwise',
    kernel: 'affine_f32',
    width: y.width,
    instructionsEach: 55 + ACTIVATION_INSTRUCTIONS[op.activation],
    arguments: [
      pointerTo(x),
      draft.weight(`${name}Factor`, Float32Array.from(op.factor)),
      draft.weight(`${name}Offset`, Float32Array.from(op.offset)),
      pointerTo(y),
      countOf(y.width),
      { i32: y.width },
      { i32: ACTIVATIONS[op.activation] },
    ],
  });
  return y;
}
