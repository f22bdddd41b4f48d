import { ACTIVATIONS, ACTIVATION_INSTRUCTIONS, addDense } from '../denseLayer.js';
import { addConvolution } from '../imageLayers.js';
import { addWindowedConvolution } from '../layers/windowLayers.js';
import { constantSource } from '../layers/sources.js';
import { countOf, pointerTo, type Tensor } from '../modelDraft.js';
import {
  elementsOfShape,
  type AffineOp,
  type ConvolutionOp,
  type Emission,
  type FusableOp,
  type GraphValue,
  type SumOp,
} from './graphValues.js';
import { elementOfType } from './tensorValues.js';

export function operandsOf(op: FusableOp): readonly { readonly value: GraphValue }[] {
  return op.kind === 'sum' && !(op.other instanceof Float64Array)
    ? [{ value: op.x }, { value: op.other }]
    : [{ value: op.x }];
}

export function emitFusable(emission: Emission, op: FusableOp): Tensor {
  switch (op.kind) {
    case 'dense':
      return addDense(emission.draft, emission.tensor(op.x), {
        weights: op.weights,
        biases: op.bias ?? new Float64Array(op.outputs),
        activation: op.activation,
        rows: elementsOfShape(op.x.shape) / op.inputs,
      });
    case 'convolution':
      return emitConvolution(emission, op);
    case 'sum':
      return emitSum(emission, op);
    case 'affine':
      return emitAffine(emission, op);
  }
}

function emitConvolution({ draft, tensor, source }: Emission, op: ConvolutionOp): Tensor {
  const { shape, weights, activation } = op;
  const biases = op.bias ?? new Float64Array(shape.outputs);
  const element = elementOfType(op.x.dataType);
  const isPlain =
    element === 'f32' &&
    shape.groups === 1 &&
    shape.image[0] === 1 &&
    shape.window[0] === 1 &&
    shape.out[0] === 1 &&
    shape.dilations.every((dilation) => dilation === 1) &&
    shape.pads.every((pad, axis) => pad < shape.window[axis]);
  if (isPlain) {
    return addConvolution(draft, tensor(op.x), {
      image: [shape.channels, shape.image[1], shape.image[2]],
      outputs: shape.outputs,
      weights,
      biases,
      activation,
      window: {
        kernel: [shape.window[1], shape.window[2]],
        strides: [shape.strides[1], shape.strides[2]],
        padTop: shape.pads[1],
        padLeft: shape.pads[2],
        out: [shape.out[1], shape.out[2]],
      },
    });
  }
  return addWindowedConvolution(
    draft,
    source({ value: op.x }),
    constantSource(draft, 'filter', weights, element),
    constantSource(draft, 'filterBias', biases, element),
    shape,
    activation,
  );
}

function emitSum({ draft, tensor }: Emission, op: SumOp): Tensor {
  const name = draft.layerName('sum');
  const y = draft.tensor(name, 'f32', elementsOfShape(op.x.shape));
  const activation = { i32: ACTIVATIONS[op.activation] };
  const x = pointerTo(tensor(op.x));
  const isRow = op.other instanceof Float64Array;
  draft.launchElements({
    module: 'elementwise',
    kernel: isRow ? 'add_row_f32' : 'add_f32',
    width: y.width,
    instructionsEach: 45 + ACTIVATION_INSTRUCTIONS[op.activation],
    arguments:
      op.other instanceof Float64Array
        ? [
            x,
            draft.weight(`${name}Row`, Float32Array.from(op.other)),
            pointerTo(y),
            countOf(y.width),
            { i32: y.width },
            activation,
          ]
        : [x, pointerTo(tensor(op.other)), pointerTo(y), countOf(y.width), activation],
  });
  return y;
}

function emitAffine({ draft, tensor }: Emission, op: AffineOp): Tensor {
  const name = draft.layerName('affine');
  const x = tensor(op.x);
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
