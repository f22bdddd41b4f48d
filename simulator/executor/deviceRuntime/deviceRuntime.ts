import type { AddressSpace, Dim3, FaultCode } from '../types.js';
import {
  argumentBytes,
  formatFloat,
  formatInteger,
  formatPointer,
  formatText,
  parseFormat,
  type Conversion,
} from './printfFormat.js';
import type { PrintBuffer } from './printBuffer.js';

/** Thrown where a call of the device runtime cannot go on. */
export class RuntimeFault extends Error {
  override readonly name = 'RuntimeFault';

  constructor(
    readonly code: FaultCode,
    message: string,
    readonly address: number,
  ) {
    super(message);
  }
}

/** Memory as a thread sees it by generic addresses. @throws RuntimeFault for what is not mapped. */
export interface ThreadMemory {
  /** Little-endian bits of 1, 4 or 8 bytes. */
  read(address: number, bytes: 1 | 4 | 8): bigint;
}

/** Where in the grid a call stands. */
export interface CallPlace {
  readonly block: Dim3;
  readonly thread: Dim3;
}

/** CUDA ignores what comes behind so many arguments. */
const MOST_ARGUMENTS = 32;
/** A string without an end would otherwise be read to the end of its segment. */
const LONGEST_STRING = 2 ** 20;

/** The functions of CUDA's device runtime that PTX calls by name: `vprintf`, `malloc`, `free`, `__assertfail`. */
export class DeviceRuntime {
  constructor(
    private readonly space: AddressSpace,
    private readonly printed: PrintBuffer,
  ) {}

  /** Writes as C's printf does. @returns the number of arguments, -1 for a null format. */
  vprintf(memory: ThreadMemory, format: number, args: number): number {
    if (format === 0) return -1;
    const reader = new ArgumentReader(memory, args);
    let text = '';
    for (const part of parseFormat(readString(memory, format))) {
      text += typeof part === 'string' ? part : convert(part, reader, memory);
    }
    this.printed.write(text);
    return reader.count;
  }

  /** Tells of a failed assertion as CUDA does. @param texts addresses of the condition, the file and the function */
  assertfail(
    memory: ThreadMemory,
    texts: readonly [number, number, number],
    line: number,
    place: CallPlace,
  ): void {
    const [condition, path, name] = texts.map((address) => readString(memory, address));
    this.printed.write(
      `${path}:${line}: ${name}: block: [${place.block.join(',')}], thread: [${place.thread.join(',')}] ` +
        `Assertion \`${condition}\` failed.\n`,
    );
  }

  /** @returns an address of the device heap, or 0 when it has no room. */
  malloc(bytes: number): number {
    return this.space.openHeap().malloc(bytes);
  }

  /** Bytes of the live allocation that starts at an address, or 0. */
  chunkBytes(address: number): number {
    return this.space.openHeap().chunkAt(address)?.bytes ?? 0;
  }

  /** @throws RuntimeFault for what is no live allocation; a null pointer does nothing. */
  free(address: number): void {
    if (address === 0 || this.space.openHeap().release(address)) return;
    throw new RuntimeFault(
      'illegalAddress',
      `free of 0x${address.toString(16)}, which malloc did not give or which is freed already`,
      address,
    );
  }
}

/** Arguments of a call lie one after another, each at its own alignment. */
class ArgumentReader {
  count = 0;
  private offset = 0;

  constructor(
    private readonly memory: ThreadMemory,
    private readonly base: number,
  ) {}

  next(bytes: 4 | 8): bigint {
    this.offset = Math.ceil(this.offset / bytes) * bytes;
    const value = this.memory.read(this.base + this.offset, bytes);
    this.offset += bytes;
    this.count += 1;
    return value;
  }

  /** Whether so many more arguments are within the limit. */
  has(count: number): boolean {
    return this.count + count <= MOST_ARGUMENTS;
  }
}

const doubles = new DataView(new ArrayBuffer(8));

function convert(conversion: Conversion, reader: ArgumentReader, memory: ThreadMemory): string {
  const { letter } = conversion;
  const isStarred = conversion.width === 'argument';
  if (!reader.has(isStarred ? 2 : 1)) return conversion.text;
  const width =
    conversion.width === 'argument' ? Number(BigInt.asIntN(32, reader.next(4))) : conversion.width;
  const layout = {
    flags: width < 0 ? `${conversion.flags}-` : conversion.flags,
    width: Math.abs(width),
    precision: conversion.precision,
  };
  const value = reader.next(argumentBytes(conversion));
  switch (letter) {
    case 'c':
      return formatText(layout, String.fromCharCode(Number(value & 0xffn)));
    case 's':
      return formatText(
        layout,
        value === 0n ? '(null)' : readString(memory, Number(value), layout.precision),
      );
    case 'p':
      return formatPointer(layout, value);
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return formatInteger(conversion, layout, value);
    default:
      doubles.setBigUint64(0, value);
      return formatFloat(letter, layout, doubles.getFloat64(0), value >> 63n !== 0n);
  }
}

/** One character a byte, up to the null byte or the limit. */
function readString(memory: ThreadMemory, address: number, limit = LONGEST_STRING): string {
  let text = '';
  for (let at = 0; at < limit; at++) {
    const byte = Number(memory.read(address + at, 1));
    if (byte === 0) break;
    text += String.fromCharCode(byte);
  }
  return text;
}
