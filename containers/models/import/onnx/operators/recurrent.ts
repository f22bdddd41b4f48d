import { ACTIVATIONS } from '../../denseLayer.js';
import { GATES, addRecurrent, type RecurrentKind } from '../../layers/recurrentLayers.js';
import { constantSource } from '../../layers/sources.js';
import { batchOfOperand, shapeOfOperand, type Operand } from '../graphValues.js';
import type { NodeReader } from '../nodeReader.js';
import { FLOAT, FLOAT16 } from '../tensorValues.js';
import type { OperatorTable, Translate } from '../translation.js';

const MOST_HIDDEN = 8192;

function recurrent(kind: RecurrentKind): Translate {
  return (reader) => {
    const [x, w, r] = [0, 1, 2].map((place) => reader.numeric(place));
    const type = reader.commonType([x, w, r]);
    if (type !== FLOAT && type !== FLOAT16) reader.refuse('only float is supported: cast to float');
    const isSequenceFirst = reader.integer('layout', 0) === 1;
    const [first, second, inputs] = shapeOfOperand(x);
    const [steps, sequences] = isSequenceFirst ? [second, first] : [first, second];
    const batch = batchOfOperand(x);
    if (batch !== undefined && batch.axis !== (isSequenceFirst ? 0 : 1))
      reader.refuseMixing('a batch along the steps');
    const direction = reader.text('direction', 'forward');
    const directions = direction === 'bidirectional' ? 2 : 1;
    const gates = GATES[kind];
    const [, rows, hidden] = shapeOfOperand(r);
    const fits = (operand: Operand, shape: readonly number[]): boolean =>
      shapeOfOperand(operand).join() === shape.join();
    if (
      rows !== gates * hidden ||
      !fits(w, [directions, rows, inputs]) ||
      !fits(r, [directions, rows, hidden])
    ) {
      reader.invalid(
        `W and R have the shapes [${shapeOfOperand(w).join(', ')}] and [${shapeOfOperand(r).join(', ')}]`,
      );
    }
    if (hidden > MOST_HIDDEN) reader.refuse(`${hidden} hidden units are more than ${MOST_HIDDEN}`);
    const bias = reader.optionalOperand(3);
    if (bias !== undefined && !fits(bias, [directions, 2 * rows]))
      reader.invalid(`B has the shape [${shapeOfOperand(bias).join(', ')}]`);
    checkLengths(reader, steps);
    const states = isSequenceFirst ? [sequences, directions, hidden] : [directions, sequences, hidden];
    const [h0, c0] = [5, 6].map((place) =>
      kind !== 'LSTM' && place === 6 ? undefined : reader.optionalOperand(place),
    );
    for (const state of [h0, c0]) {
      if (state !== undefined && !fits(state, states))
        reader.invalid(`a state has the shape [${shapeOfOperand(state).join(', ')}]`);
    }
    const peepholes = kind === 'LSTM' ? reader.optionalOperand(7) : undefined;
    for (const part of [w, r, bias, peepholes]) {
      if (part !== undefined && batchOfOperand(part) !== undefined)
        reader.refuseMixing('weights with a batch');
    }
    const activation = activationOf(reader, kind, directions);
    const all = isSequenceFirst
      ? [sequences, steps, directions, hidden]
      : [steps, directions, sequences, hidden];
    const placed = (axis: number) => batch && { axis, before: batch.before };
    const last = { shape: states, batch: placed(isSequenceFirst ? 0 : 1), dataType: type };
    const operands = [x, w, r, bias, h0, c0, peepholes].filter((operand) => operand !== undefined);
    return reader.results(
      [{ shape: all, batch: placed(isSequenceFirst ? 0 : 2), dataType: type }, last, last],
      operands,
      ({ draft, source }) => {
        const given = (operand: Operand | undefined, elements: number) =>
          operand === undefined
            ? constantSource(draft, 'zeros', new Float64Array(elements), 'f32')
            : source(operand, 'f32');
        const count = directions * sequences * hidden;
        return addRecurrent(
          draft,
          {
            x: source(x, 'f32'),
            weights: source(w, 'f32'),
            recurrence: source(r, 'f32'),
            bias: given(bias, directions * 2 * rows),
            h0: given(h0, count),
            c0: given(c0, count),
            peepholes: given(peepholes, directions * 3 * hidden),
          },
          {
            kind,
            steps,
            sequences,
            directions,
            inputs,
            hidden,
            isLinearBefore: reader.integer('linear_before_reset', 0) === 1,
            isReversed: direction === 'reverse',
            isSequenceFirst,
            activation,
          },
        );
      },
    );
  };
}

/** Sequences of a batch that end early are not told apart. */
function checkLengths(reader: NodeReader, steps: number): void {
  const lengths = reader.optional(4);
  if (lengths === undefined) return;
  const isWhole = 'constant' in lengths && lengths.constant.values.every((length) => length === steps);
  if (!isWhole) reader.refuse('sequence_lens other than all steps are not supported: leave them out');
}

function activationOf(reader: NodeReader, kind: RecurrentKind, directions: number): number {
  if (reader.node.attributes.get('clip') !== undefined) reader.refuse('clip is not supported');
  if (reader.integer('input_forget', 0) !== 0) reader.refuse('input_forget=1 is not supported');
  const usual = { RNN: ['Tanh'], LSTM: ['Sigmoid', 'Tanh', 'Tanh'], GRU: ['Sigmoid', 'Tanh'] }[kind];
  const given = reader.texts('activations');
  const names = given.length === 0 ? usual : given.slice(0, usual.length);
  const isAlike = given.length === 0 || given.length === usual.length * directions;
  const plain = { Tanh: ACTIVATIONS.tanh, Relu: ACTIVATIONS.relu, Sigmoid: ACTIVATIONS.logistic };
  const others = given.slice(usual.length).some((name, at) => name !== names[at % usual.length]);
  if (kind === 'RNN' && isAlike && !others && Object.hasOwn(plain, names[0])) {
    return plain[names[0] as keyof typeof plain];
  }
  if (others || names.join() !== usual.join())
    reader.refuse(`activations ${given.join(', ')} are not supported, only ${usual.join(', ')}`);
  return ACTIVATIONS.tanh;
}

export const RECURRENT: OperatorTable = {
  RNN: { translate: recurrent('RNN'), limits: 'Tanh, Relu or Sigmoid; whole sequences' },
  LSTM: { translate: recurrent('LSTM'), limits: 'the usual activations; whole sequences' },
  GRU: { translate: recurrent('GRU'), limits: 'the usual activations; whole sequences' },
};
