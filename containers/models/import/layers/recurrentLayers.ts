import { pointerTo, type ModelDraft, type Tensor } from '../modelDraft.js';
import { tableOf, type Source } from './sources.js';

export const RECURRENT_KINDS = { RNN: 0, LSTM: 1, GRU: 2 } as const;
export type RecurrentKind = keyof typeof RECURRENT_KINDS;
export const GATES: Readonly<Record<RecurrentKind, number>> = { RNN: 1, LSTM: 4, GRU: 3 };

export interface RecurrentLayer {
  readonly kind: RecurrentKind;
  readonly steps: number;
  readonly sequences: number;
  readonly directions: number;
  readonly inputs: number;
  readonly hidden: number;
  /** Of a GRU: linear_before_reset. */
  readonly isLinearBefore: boolean;
  readonly isReversed: boolean;
  /** Sequences are the first extent, and steps the second. */
  readonly isSequenceFirst: boolean;
  /** Of an RNN, as kernels number them. */
  readonly activation: number;
}

export interface RecurrentSources {
  readonly x: Source;
  readonly weights: Source;
  readonly recurrence: Source;
  readonly bias: Source;
  readonly h0: Source;
  readonly c0: Source;
  readonly peepholes: Source;
}

/** @returns all states, the last ones, and of an LSTM the last cells */
export function addRecurrent(
  draft: ModelDraft,
  sources: RecurrentSources,
  layer: RecurrentLayer,
): [Tensor, Tensor, Tensor] {
  const { kind, steps, sequences, directions, inputs, hidden, isSequenceFirst } = layer;
  const gates = GATES[kind];
  const last = directions * sequences * hidden;
  const y = draft.tensor(draft.layerName('states'), 'f32', steps * last);
  const yh = draft.tensor(draft.layerName('lastStates'), 'f32', last);
  const yc = draft.tensor(draft.layerName('lastCells'), 'f32', last);
  const { x, weights, recurrence, bias, h0, c0, peepholes } = sources;
  const [xStep, xSequence] = isSequenceFirst ? [inputs, steps * inputs] : [sequences * inputs, inputs];
  const [yStep, yDirection, ySequence] = isSequenceFirst
    ? [directions * hidden, hidden, steps * directions * hidden]
    : [last, sequences * hidden, hidden];
  const [hDirection, hSequence] = isSequenceFirst
    ? [hidden, directions * hidden]
    : [sequences * hidden, hidden];
  const table = Int32Array.from([
    RECURRENT_KINDS[kind],
    steps,
    inputs,
    hidden,
    gates,
    directions,
    layer.isLinearBefore ? 1 : 0,
    layer.isReversed ? 1 : 0,
    xStep,
    xSequence,
    x.stride,
    yStep,
    yDirection,
    ySequence,
    y.width,
    hDirection,
    hSequence,
    last,
    weights.stride,
    recurrence.stride,
    bias.stride,
    h0.stride,
    c0.stride,
    peepholes.stride,
    layer.activation,
  ]);
  const threads = Math.min(128, Math.ceil(hidden / 32) * 32);
  const rows = gates * hidden;
  draft.launch({
    module: 'recurrent',
    kernel: 'recurrent_f32',
    grid: ['batch', sequences, directions],
    block: [threads, 1, 1],
    dynamicSharedBytes: 6 * hidden * 4,
    arguments: [
      ...[x, weights, recurrence, bias, h0, c0, peepholes].map(({ pointer }) => pointer),
      ...[y, yh, yc].map(pointerTo),
      tableOf(draft, 'recurrence', table),
    ],
    instructions:
      sequences *
      directions *
      (threads * 300 +
        steps * (threads * 120 + rows * (60 + 12 * (inputs + hidden)) + hidden * (500 + 12 * hidden))),
  });
  return [y, yh, yc];
}
