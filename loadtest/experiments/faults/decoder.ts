import { NetworkBuilder, rowGrid } from './networkBuilder.js';
import type { StudiedModel } from './studiedModel.js';

export interface DecoderSize {
  readonly layers: number;
  /** A multiple of 64: heads are 64 wide. */
  readonly width: number;
  readonly vocabulary: number;
  /** Tokens that a pass generates. */
  readonly tokens: number;
}

export const SMALL_DECODER: DecoderSize = { layers: 4, width: 256, vocabulary: 1024, tokens: 4 };

const THREADS = 64;

/**
 * A decoder in the manner of GPT-2 that generates tokens one by one: residual sums and activations in place, keys and values
 * appended to caches, the next token found by the greatest logit and looked up where it stands in memory.
 */
export function decoder({ layers, width, vocabulary, tokens }: DecoderSize): StudiedModel {
  const net = new NetworkBuilder(11);
  const [table, positions] = [net.weights(vocabulary * width, 1), net.weights(tokens * width, 1)];
  const token = net.floats(1);
  const [stream, normed, qkv, context, branch] = [1, 1, 3, 1, 1].map((many) => net.floats(many * width));
  const inner = net.floats(4 * width);
  const logits = net.floats(vocabulary);
  const block = [THREADS, 1, 1] as const;
  const norm = () => ({ scale: net.weights(width, 1), shift: net.weights(width, 1) });
  const linear = (inputs: number, outputs: number) => ({
    inputs,
    outputs,
    weights: net.weights(outputs * inputs, inputs),
    bias: net.weights(outputs, 1),
  });
  const of = (buffer: string) => ({ buffer });
  const normalise = ({ scale, shift }: ReturnType<typeof norm>): void => {
    net.launch('layerNorm', [1, 1, 1], [128, 1, 1], [of(normed), of(stream), of(scale), of(shift), width]);
  };
  const multiply = (to: string, from: string, by: ReturnType<typeof linear>): void => {
    net.launch('dense', [by.outputs, 1, 1], block, [
      of(to),
      of(from),
      of(by.weights),
      of(by.bias),
      by.inputs,
    ]);
  };
  const add = (): void => net.launch('addResidual', rowGrid(width), block, [of(stream), of(branch), width]);
  const stack = Array.from({ length: layers }, () => ({
    before: norm(),
    query: linear(width, width),
    key: linear(width, width),
    value: linear(width, width),
    keys: net.floats(tokens * width),
    values: net.floats(tokens * width),
    out: linear(width, width),
    between: norm(),
    up: linear(width, 4 * width),
    down: linear(4 * width, width),
  }));
  const [last, head] = [norm(), linear(width, vocabulary)];
  const fresh = net.floats(width);
  for (let position = 0; position < tokens; position++) {
    net.launch('fill', rowGrid(vocabulary), block, [of(logits), { float: 0 }, vocabulary]);
    net.launch('embed', rowGrid(width), block, [
      of(stream),
      of(table),
      of(positions),
      of(token),
      position,
      width,
    ]);
    for (const layer of stack) {
      normalise(layer.before);
      multiply(qkv, normed, layer.query);
      multiply(fresh, normed, layer.key);
      net.launch('appendCache', rowGrid(width), block, [of(layer.keys), of(fresh), position, width]);
      multiply(fresh, normed, layer.value);
      net.launch('appendCache', rowGrid(width), block, [of(layer.values), of(fresh), position, width]);
      net.launch('cachedAttention', [width / 64, 1, 1], block, [
        of(context),
        of(qkv),
        of(layer.keys),
        of(layer.values),
        position + 1,
        width,
      ]);
      multiply(branch, context, layer.out);
      add();
      normalise(layer.between);
      multiply(inner, normed, layer.up);
      net.launch('gelu', rowGrid(4 * width), block, [of(inner), of(inner), 4 * width]);
      multiply(branch, inner, layer.down);
      add();
    }
    normalise(last);
    multiply(logits, normed, head);
    net.launch('greedy', [1, 1, 1], block, [of(token), of(logits), vocabulary]);
  }
  return net.model('decoder', { buffer: token, contents: new Uint8Array(Int32Array.of(1).buffer) }, logits);
}
