/**
 * Answers the runner in a card's place: `runTensor.py PLAN OUT --fake "node dist/simulator/laboratory/tensor/card/fakeCard.js MODELS"`.
 * MODELS is a JSON list of `{ pattern, model }`: the model of the first pattern that a form's name matches, else the one that is published.
 * Requests and answers are a length, a JSON text of it, a length, and bytes of it.
 */
import { readFileSync, readSync, writeSync } from 'node:fs';
import {
  type ElementType,
  type Model,
  type TileForm,
  computeTile,
  fittedModel,
  floatFormats,
} from '../../../tensor/index.js';
import { type MoveForm, moveForms, tileForms } from '../forms/index.js';
import { moveByMap, moveMatrices } from '../moves/index.js';
import { fillTile, moveWords, tileWords, type InputArea } from '../probes/index.js';
import { areaKinds } from '../probes/inputArea.js';
import type { Mode } from '../probes/modes.js';

interface Request {
  readonly op: 'allocate' | 'free' | 'upload' | 'download' | 'clear' | 'launch';
  readonly address?: number;
  readonly size?: number;
  readonly module?: string;
  readonly kernel?: string;
  readonly grid?: readonly number[];
  readonly block?: readonly number[];
  /** Bytes of each argument, one after the other in what comes with the request. */
  readonly sizes?: readonly number[];
}

const forms: readonly (TileForm | MoveForm)[] = [...tileForms, ...moveForms];
const [, , modelsPath] = process.argv;
const chosen: readonly { readonly pattern: string; readonly model: Model }[] =
  modelsPath === undefined
    ? []
    : (JSON.parse(readFileSync(modelsPath, 'utf8')) as { pattern: string; model: Model }[]);
const kinds = Object.entries(areaKinds) as [InputArea['kind'], number][];
const memory = new Map<number, Uint8Array>();
let next = 4096;

for (;;) {
  const header = readFrame();
  if (header === undefined) break;
  const payload = readFrame() ?? new Uint8Array(0);
  const request = JSON.parse(Buffer.from(header).toString('utf8')) as Request;
  const answer = perform(request, payload);
  const bytes = answer instanceof Uint8Array ? answer : new Uint8Array(0);
  writeFrame(Buffer.from(JSON.stringify(typeof answer === 'number' ? { address: answer } : {})));
  writeFrame(bytes);
}

function perform(request: Request, payload: Uint8Array): number | Uint8Array | undefined {
  const { address = 0, size = 0 } = request;
  switch (request.op) {
    case 'allocate': {
      const at = next;
      next += Math.ceil(size / 4096) * 4096 + 4096;
      memory.set(at, new Uint8Array(size));
      return at;
    }
    case 'free':
      memory.delete(address);
      return undefined;
    case 'upload':
      bytesAt(address, payload.length).set(payload);
      return undefined;
    case 'download':
      return bytesAt(address, size);
    case 'clear':
      bytesAt(address, size).fill(0);
      return undefined;
    case 'launch':
      launch(request, payload);
      return undefined;
  }
}

function bytesAt(address: number, size: number): Uint8Array {
  const block = memory.get(address);
  if (block === undefined || size > block.length)
    throw new RangeError(`${size} bytes at ${address}, where there are ${block?.length ?? 0}`);
  return block.subarray(0, size);
}

function wordsAt(address: number, count: number): Uint32Array {
  const { buffer, byteOffset } = bytesAt(address, count * 4);
  return new Uint32Array(buffer, byteOffset, count);
}

function launch(
  { module = '', kernel = '', grid = [], block = [], sizes = [] }: Request,
  payload: Uint8Array,
): void {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const offsets = sizes.map((_, index) => sizes.slice(0, index).reduce((sum, size) => sum + size, 0));
  const [first = 0, second = 0, third = 0, fourth = 0] = offsets;
  const pointer = (at: number): number => Number(view.getBigUint64(at, true));
  if (module === 'generator') fill(pointer(first), pointer(second), pointer(third), view, fourth);
  else if (module === 'timing') {
    const warps = ((grid[0] ?? 1) * (block[0] ?? 32)) / 32;
    wordsAt(pointer(first), warps).fill(1000);
  } else
    compute(
      forms[Number(kernel.replace('form', ''))],
      pointer(first),
      pointer(second),
      view.getUint32(third, true),
    );
}

function fill(out: number, map: number, modes: number, view: DataView, at: number): void {
  const field = (index: number): number => view.getUint32(at + 4 * index, true);
  const [
    tiles,
    firstTile,
    tileSize,
    offset,
    units,
    slots,
    elementBits,
    kind,
    operand,
    seed,
    pairStride,
    pairExtent,
  ] = Array.from({ length: 12 }, (_, index) => field(index)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const isDrawn = kind < 2;
  const elements = isDrawn
    ? new Uint16Array(bytesAt(map, 2 * units * slots).slice().buffer)
    : new Uint16Array(0);
  const [exponentBits, fractionBits, paddingBits] = [field(14), field(15), field(16)];
  const type = (Object.entries(floatFormats) as [ElementType, (typeof floatFormats)['f16']][]).find(
    ([, format]) =>
      format.exponentBits === exponentBits &&
      format.fractionBits === fractionBits &&
      format.paddingBits === paddingBits,
  )?.[0];
  const table = isDrawn ? new Int32Array(bytesAt(modes, 16 * field(13)).slice().buffer) : new Int32Array(0);
  const area: InputArea = {
    kind: kinds.find(([, number]) => number === kind)?.[0] ?? 'words',
    offset,
    units,
    slots,
    elementBits,
    map: Int32Array.from(elements, (element) => (element === 0xffff ? -1 : element)),
    operand,
    pairStride,
    pairExtent,
    ...(type === undefined ? {} : { type }),
    modes: Array.from({ length: table.length / 4 }, (_, index): Mode => {
      const [low = 0, high = 0, flags = 0, rarity = 1] = table.subarray(4 * index);
      return { low, high, flags, rarity };
    }),
  };
  const words = wordsAt(out, tiles * tileSize);
  const span = units * Math.max(1, elementBits / 32);
  for (let tile = 0; tile < tiles; tile++) {
    const made = fillTile([area], seed, firstTile + tile, tileSize);
    words.set(made.subarray(offset, offset + span), tile * tileSize + offset);
  }
}

function compute(form: TileForm | MoveForm | undefined, input: number, output: number, tiles: number): void {
  if (form === undefined) throw new RangeError('a kernel of no form');
  const words = 'shape' in form ? tileWords(form) : moveWords(form);
  const from = wordsAt(input, tiles * words.input);
  const to = wordsAt(output, tiles * words.output);
  for (let tile = 0; tile < tiles; tile++) {
    const own = from.subarray(tile * words.input, (tile + 1) * words.input);
    to.set(answerOf(form, own), tile * words.output);
  }
}

function answerOf(form: TileForm | MoveForm, words: Uint32Array): Uint32Array {
  if ('shape' in form) return computeTile({ form, model: modelOf(form) }, words);
  if (form.matrix === undefined) return moveMatrices(form, words);
  return moveByMap(form, scrambled(form), words);
}

function modelOf(form: TileForm): Model {
  const rule = chosen.find(({ pattern }) => new RegExp(pattern).test(form.name));
  return rule?.model ?? fittedModel(form);
}

/** A fragment's layout that no card has: elements by turns. */
function scrambled(form: MoveForm): Int32Array {
  const { input, output } = moveWords(form);
  const bits =
    { f16: 16, bf16: 16, s8: 8, u8: 8, s4: 4, u4: 4, b1: 1, f64: 64 }[form.matrix?.type as 'f16'] ?? 32;
  const per = 32 / bits;
  const skipped = form.kind === 'wmma.store' ? output : 0;
  const count = (input - skipped) * per;
  return Int32Array.from({ length: output * per }, (_, at) => skipped * per + ((at * 7 + 3) % count));
}

function readFrame(): Uint8Array | undefined {
  const length = readBytes(4);
  return length === undefined ? undefined : readBytes(Buffer.from(length).readUInt32LE());
}

function readBytes(count: number): Uint8Array | undefined {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count;) {
    const read = readSync(0, bytes, at, count - at, null);
    if (read === 0) return undefined;
    at += read;
  }
  return bytes;
}

function writeFrame(bytes: Uint8Array): void {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  for (const part of [length, bytes]) {
    for (let at = 0; at < part.length;) at += writeSync(1, part, at);
  }
}
