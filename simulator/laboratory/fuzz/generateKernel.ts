import type { Dim3 } from '../../executor/index.js';
import type { FuzzCase } from './fuzzCase.js';
import {
  counterOperations,
  dumpOffset,
  inputWords,
  planesBytes,
  threadBytes,
  wideCounterOperations,
} from './fuzzCase.js';
import { SeededRandom } from '../../random/index.js';
import { KernelText, registerCounts } from './kernelText.js';
import { localBytes, ownSharedBytes } from './memoryStatements.js';
import { deviceFunction } from './functionText.js';
import { ringBytes, ringDeclarations, ringEpilogue, ringPrologue } from './ringStatements.js';
import { clusterDeclarations, clusterRounds, clusterShapes } from './clusterStatements.js';
import type { FuzzStyle } from './statementContext.js';
import { StatementWriter } from './statements.js';
import { walkDeclarations, walkPrologue } from './walkStatements.js';

export interface FuzzOptions {
  /** Statements of the body, about. */
  readonly statements?: number;
  /**
   * Leaves out what a card does in its own way, so that one must give the same bits: approximate functions, and f64, whose
   * NaN payloads are not carried here.
   */
  readonly forCard?: boolean;
  /** 2 adds later families of statements; seeds of generation 1, the default, keep their text. */
  readonly generation?: 1 | 2;
  /**
   * Blocks in whose warps lanes go together, most of them alone in their block's work, and walks through memory where
   * neighbours lie side by side.
   */
  readonly together?: boolean;
  /** Lanes of a warp meet in memory without waiting for one another, as they go in step. */
  readonly inStep?: boolean;
  /** Blocks of a cluster give one another values through their shared memory. */
  readonly clusters?: boolean;
  /** Arithmetic of every form that the table of instructions has, each as likely as another. */
  readonly everyForm?: boolean;
}

const blockShapes: readonly Dim3[] = [
  [1, 1, 1],
  [17, 1, 1],
  [32, 1, 1],
  [33, 1, 1],
  [64, 1, 1],
  [8, 8, 1],
  [7, 5, 1],
  [4, 4, 4],
  [3, 5, 3],
  [96, 1, 1],
  [16, 2, 2],
  [100, 1, 1],
];

/** With rows that hold chunks of each width, and what is left of them. */
const togetherShapes: readonly Dim3[] = [
  [32, 1, 1],
  [64, 1, 1],
  [128, 1, 1],
  [40, 1, 1],
  [70, 1, 1],
  [13, 1, 1],
  [32, 3, 1],
  [16, 5, 1],
  [8, 4, 3],
  [4, 9, 1],
  [12, 3, 2],
];

const gridShapes: readonly Dim3[] = [
  [1, 1, 1],
  [2, 1, 1],
  [3, 1, 1],
  [2, 2, 1],
  [1, 2, 2],
];

/** Bytes of static shared memory: the counters of a block. */
const sharedCounterBytes = 16;

/**
 * A random kernel from a seed. It is valid PTX, ends, stays in bounds and has no races: threads write only memory of
 * their own, update common counters in ways that commute, and meet at barriers in uniform flow only. So what it
 * leaves in memory does not depend on the order of threads or blocks.
 */
export function generateKernel(seed: number, options: FuzzOptions = {}): FuzzCase {
  const random = new SeededRandom(seed);
  const generation = options.generation ?? 1;
  const together = options.together === true;
  const inStep = options.inStep === true;
  const block = random.pick(together ? togetherShapes : blockShapes);
  const inClusters = options.clusters === true;
  const [cluster, clusters] = inClusters ? random.pick(clusterShapes) : [undefined, random.pick(gridShapes)];
  const times = cluster ?? [1, 1, 1];
  const grid: Dim3 = [clusters[0] * times[0], clusters[1] * times[1], clusters[2] * times[2]];
  const threads = block[0] * block[1] * block[2];
  const blocks = grid[0] * grid[1] * grid[2];
  // No block may end while others reach its memory.
  const isCooperative = random.chance(together ? 0.35 : 0.7) || inClusters;
  const activeThreads = isCooperative && random.chance(0.2) ? random.between(1, threads) : threads;
  const style: FuzzStyle = {
    isCooperative,
    activeThreads,
    hasFullWarps: activeThreads % 32 === 0,
    forCard: options.forCard ?? false,
    generation,
    mayLeave: generation === 2 && isCooperative && random.chance(0.2) && !inClusters,
    isFunction: false,
    functions: generation === 2 && random.chance(0.5) ? random.between(1, 3) : 0,
    hasWalks: together,
    hasRings: inStep,
    everyForm: options.everyForm ?? false,
    gridThreads: threads * blocks,
  };
  const functions = Array.from({ length: style.functions }, (_, number) =>
    deviceFunction(random, number, (text) => {
      const inner = new StatementWriter(
        text,
        { ...style, isFunction: true, isCooperative: false, functions: number },
        random.between(3, 12),
      );
      inner.write();
      return inner.counterCount;
    }),
  );
  const warps = Math.ceil(threads / 32);
  const outputBytes = threads * blocks * threadBytes + (together ? planesBytes(threads * blocks) : 0);
  const ringsAt = slotBytes(threads) + threads * ownSharedBytes;
  const body = new KernelText(random);
  const writer = new StatementWriter(body, style, options.statements ?? random.between(10, 60));
  writer.write();
  const lines = [
    ...header(random, style, functions.flat()),
    ...declarations(writer.counterCount, style),
    ...(style.hasWalks ? walkDeclarations(writer.walkCount) : []),
    ...(inStep ? ringDeclarations : []),
    ...(inClusters ? clusterDeclarations(threads) : []),
    ...prologue(threads, style),
    ...(inStep ? ringPrologue(ringsAt, outputBytes, warps, threads).map((line) => `\t${line}`) : []),
    ...body.lines,
    ...(inStep ? ringEpilogue.map((line) => `\t${line}`) : []),
    ...(inClusters ? clusterRounds(random) : []),
    ...epilogue(style),
    '\tret;',
    '}',
  ];
  return {
    seed,
    text: `${lines.join('\n')}\n`,
    grid,
    block,
    cluster,
    dynamicSharedBytes: ringsAt + (inStep ? warps * ringBytes : 0),
    input: inputData(random),
    outputBytes: outputBytes + (inStep ? blocks * warps * ringBytes : 0),
    counters: counterData(random, style),
    n: random.below(8),
    scale: Math.fround(random.word() / 2 ** 20),
  };
}

/** Shared bytes of the slots for exchange, before those of the threads' own. */
function slotBytes(threads: number): number {
  return Math.ceil((threads * 4) / 16) * 16;
}

/** Where the counters begin; those of floats at zero. */
function counterData(random: SeededRandom, style: FuzzStyle): Int32Array {
  const words = Array.from({ length: counterOperations.length * 2 }, () => random.word() >> random.below(32));
  if (style.generation === 1) return Int32Array.from(words);
  const wide = wideCounterOperations.flatMap((operation) =>
    /f(?:16|32|64)/.test(operation) ? [0, 0] : [random.word() >> random.below(32), random.word()],
  );
  return Int32Array.from([...words, ...wide]);
}

/** Words that make ordinary floats, small integers and edge cases. */
function inputData(random: SeededRandom): Int32Array {
  const edges = [
    0,
    1,
    -1,
    0x7fffffff,
    -0x80000000,
    0x3f800000,
    0x7f800000,
    0xff800000 | 0,
    0x7fc00001,
    0x00000001,
  ];
  const float = new DataView(new ArrayBuffer(4));
  return Int32Array.from({ length: inputWords }, () => {
    switch (random.below(5)) {
      case 0:
        return random.pick(edges);
      case 1:
        return random.word();
      case 2:
        return random.word() >> random.below(32);
      default:
        float.setFloat32(0, (random.word() / 2 ** 31) * 2 ** random.between(-4, 8));
        return float.getInt32(0);
    }
  });
}

function bytesOf(random: SeededRandom, count: number): string {
  return Array.from({ length: count }, () => random.below(256)).join(', ');
}

function header(random: SeededRandom, style: FuzzStyle, functions: readonly string[]): string[] {
  const names = Array.from({ length: style.functions }, (_, number) => `fuzzFunction${number}`);
  return [
    style.generation === 1 ? '.version 8.0' : '.version 8.6',
    '.target sm_90',
    '.address_size 64',
    '',
    `.global .align 16 .b8 fuzzTable[64] = {${bytesOf(random, 64)}};`,
    `.const .align 16 .b8 fuzzConstants[64] = {${bytesOf(random, 64)}};`,
    '.extern .shared .align 16 .b8 fuzzDynamic[];',
    '',
    ...functions,
    ...(names.length > 0
      ? [`.global .align 8 .u64 fuzzFunctions[${names.length}] = {${names.join(', ')}};`]
      : []),
    '.visible .entry fuzz(',
    '\t.param .u64 fuzz_in,',
    '\t.param .u64 fuzz_out,',
    '\t.param .u64 fuzz_counters,',
    '\t.param .u32 fuzz_n,',
    '\t.param .f32 fuzz_scale',
    ')',
    '{',
  ];
}

const wideDeclarations = [
  '\t.reg .b32 %mask, %lane;',
  '\t.reg .b16 %half, %deadHalf;',
  '\t.reg .f32 %single, %deadSingle;',
  '\t.reg .f64 %double, %deadDouble;',
  '\t.reg .b128 %wide0, %wide1, %wide2;',
];

function declarations(counters: number, style: FuzzStyle): string[] {
  return [
    ...(style.generation === 1 ? [] : wideDeclarations),
    `\t.reg .b16 %h<${registerCounts.h}>;`,
    `\t.reg .b32 %r<${registerCounts.r}>;`,
    `\t.reg .b64 %q<${registerCounts.q}>;`,
    `\t.reg .f32 %f<${registerCounts.f}>;`,
    `\t.reg .f64 %d<${registerCounts.d}>;`,
    `\t.reg .pred %p<${registerCounts.p}>, %flow;`,
    `\t.reg .b32 %c<${Math.max(counters, 1)}>, %index, %field, %dead, %thread, %global, %slot, %slots, %own, %size;`,
    '\t.reg .b64 %in, %out, %outGeneric, %counters, %address, %seedWord, %dead64, %ownGeneric, %local, %localGeneric;',
    `\t.shared .align 8 .b8 fuzzShared[${sharedCounterBytes}];`,
    `\t.local .align 16 .b8 fuzzLocal[${localBytes}];`,
  ];
}

/** Sets every register, so that no statement reads one that holds nothing. */
function prologue(threads: number, style: FuzzStyle): string[] {
  const lines = [
    'mov.u32 %thread, %tid.z;',
    'mov.u32 %size, %ntid.y;',
    'mov.u32 %index, %tid.y;',
    'mad.lo.u32 %thread, %thread, %size, %index;',
    'mov.u32 %size, %ntid.x;',
    'mov.u32 %index, %tid.x;',
    'mad.lo.u32 %thread, %thread, %size, %index;',
    'mov.u32 %global, %ctaid.z;',
    'mov.u32 %size, %nctaid.y;',
    'mov.u32 %index, %ctaid.y;',
    'mad.lo.u32 %global, %global, %size, %index;',
    'mov.u32 %size, %nctaid.x;',
    'mov.u32 %index, %ctaid.x;',
    'mad.lo.u32 %global, %global, %size, %index;',
    `mad.lo.u32 %global, %global, ${threads}, %thread;`,
    'ld.param.u64 %in, [fuzz_in];',
    'cvta.to.global.u64 %in, %in;',
    'ld.param.u64 %counters, [fuzz_counters];',
    'cvta.to.global.u64 %counters, %counters;',
    'ld.param.u64 %outGeneric, [fuzz_out];',
    `mad.wide.u32 %outGeneric, %global, ${threadBytes}, %outGeneric;`,
    'cvta.to.global.u64 %out, %outGeneric;',
    'mov.u32 %slots, fuzzDynamic;',
    'mad.lo.u32 %slot, %thread, 4, %slots;',
    `mad.lo.u32 %own, %thread, ${ownSharedBytes}, %slots;`,
    `add.u32 %own, %own, ${slotBytes(threads)};`,
    'cvt.u64.u32 %ownGeneric, %own;',
    'cvta.shared.u64 %ownGeneric, %ownGeneric;',
    'mad.wide.u32 %seedWord, %global, 0x9E3779B1, 77;',
    'mov.u64 %local, fuzzLocal;',
    'cvta.local.u64 %localGeneric, %local;',
  ];
  for (let offset = 0; offset < localBytes; offset += 16)
    lines.push(`st.local.v4.u32 [%local+${offset}], {0, 0, 0, 0};`);
  for (let offset = 0; offset < ownSharedBytes; offset += 8)
    lines.push(`st.shared.u64 [%own+${offset}], %seedWord;`);
  // Every thread writes the same zeros, and all see them before any goes on.
  lines.push(
    'mov.u32 %index, 0;',
    'st.shared.u32 [fuzzShared], %index;',
    'st.shared.u32 [fuzzShared+4], %index;',
  );
  if (style.generation === 2) {
    lines.push('st.shared.u32 [fuzzShared+8], %index;', 'st.shared.u32 [fuzzShared+12], %index;');
    lines.push('st.shared.u32 [%slot], %thread;', 'mov.u32 %mask, 0;', 'mov.u32 %lane, 0;');
  }
  lines.push('bar.sync 0;');
  if (style.activeThreads < threads) {
    lines.push(`setp.ge.u32 %flow, %thread, ${style.activeThreads};`, '@%flow ret;');
  }
  for (let index = 0; index < registerCounts.r; index++) {
    lines.push(
      `mad.lo.u32 %index, %global, 37, ${index * 101};`,
      `and.b32 %index, %index, ${inputWords - 1};`,
    );
    lines.push('mad.wide.u32 %address, %index, 4, %in;', `ld.global.u32 %r${index}, [%address];`);
  }
  for (let index = 0; index < registerCounts.h; index++) lines.push(`cvt.u16.u32 %h${index}, %r${index};`);
  for (let index = 0; index < registerCounts.q; index++)
    lines.push(`mov.b64 %q${index}, {%r${index}, %r${index + 1}};`);
  for (let index = 0; index < registerCounts.f; index++) {
    lines.push(
      index % 2 === 0 ? `mov.b32 %f${index}, %r${index};` : `cvt.rn.f32.s32 %f${index}, %r${index};`,
    );
  }
  for (let index = 0; index < registerCounts.d; index++) {
    lines.push(
      index % 2 === 0 ? `cvt.f64.f32 %d${index}, %f${index};` : `cvt.rn.f64.s64 %d${index}, %q${index};`,
    );
  }
  for (let index = 0; index < registerCounts.p; index++) {
    lines.push(`setp.lt.s32 %p${index}, %r${index}, %r${index + 1};`);
  }
  lines.push('mov.u32 %field, 0;');
  if (style.hasWalks) lines.push(...walkPrologue(threads, style.gridThreads));
  return lines.map((line) => `\t${line}`);
}

/** Writes every register to the thread's own piece of the output. */
function epilogue(style: FuzzStyle): string[] {
  const lines: string[] = [];
  if (style.isCooperative) {
    lines.push('bar.sync 0;', 'ld.shared.u32 %index, [fuzzShared];', 'xor.b32 %r0, %r0, %index;');
    lines.push('ld.shared.u32 %index, [fuzzShared+4];', 'add.u32 %r1, %r1, %index;');
    if (style.generation === 2) {
      lines.push('ld.shared.u32 %index, [fuzzShared+8];', 'xor.b32 %r2, %r2, %index;');
      lines.push('ld.shared.u32 %index, [fuzzShared+12];', 'add.u32 %r3, %r3, %index;');
    }
  }
  let offset = dumpOffset;
  const dump = (type: string, letter: string, count: number, bytes: number): void => {
    for (let index = 0; index < count; index++, offset += bytes) {
      lines.push(`st.global.${type} [%out+${offset}], %${letter}${index};`);
    }
  };
  dump('u64', 'q', registerCounts.q, 8);
  dump('f64', 'd', registerCounts.d, 8);
  dump('u32', 'r', registerCounts.r, 4);
  dump('f32', 'f', registerCounts.f, 4);
  dump('u16', 'h', registerCounts.h, 2);
  for (let index = 0; index < registerCounts.p; index++, offset += 4) {
    lines.push(`selp.b32 %index, 1, 0, %p${index};`, `st.global.u32 [%out+${offset}], %index;`);
  }
  return lines.map((line) => `\t${line}`);
}
