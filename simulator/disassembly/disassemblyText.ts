import type {
  DisassembledBlock,
  DisassembledFunction,
  DisassembledLoop,
  Disassembly,
  LaunchOccupancy,
  LaunchRefusal,
} from './disassembly.js';

const HEADING_WIDTH = 14;
const MARGIN = '  ';

/** A disassembly for people. */
export function disassemblyText(found: Disassembly): string {
  const { file, ptxVersion, targets, lowered } = found;
  const as = lowered ? 'as it is executed' : 'as it is written';
  const lines = [`${file}: PTX ${ptxVersion} for ${targets.join(', ')}, ${as}`];
  for (const { name, space, bytes, align } of found.variables) {
    lines.push(
      `.${space} ${name}: ${bytes === 0 ? 'sized by the launch' : count(bytes, 'byte')}, align ${align}`,
    );
  }
  for (const fn of found.functions) lines.push('', ...functionLines(fn, found.device));
  return lines.join('\n');
}

function functionLines(fn: DisassembledFunction, device: string): string[] {
  const lines = [`${fn.isEntry ? '.entry' : '.func'} ${fn.name} (line ${fn.line})`];
  const add = (heading: string, text: string): void => {
    lines.push(`${MARGIN}${heading.padEnd(HEADING_WIDTH)}${text}`);
  };
  if (fn.refusal !== undefined) {
    const { line, instruction, reason } = fn.refusal;
    add('cannot run', `line ${line}, '${instruction}': ${reason}`);
    return lines;
  }
  const parameters = fn.parameters.map(
    ({ name, type, offset, bytes }) => `${name} .${type} ${offset}+${bytes}`,
  );
  add('parameters', [count(fn.parameterBytes, 'byte'), ...parameters].join(', '));
  for (const [directive, values] of Object.entries(fn.directives)) add(`.${directive}`, values.join(', '));
  if (fn.registers !== undefined) {
    const { virtual, live, liveVarying, perThread } = fn.registers;
    add(
      'registers',
      `${perThread} a thread (estimated); at most ${live} values of 32 bits live at once, ${liveVarying} of them not the same ` +
        `in all threads; ${virtual} in the text`,
    );
  }
  if (fn.memory !== undefined) {
    const { staticSharedBytes, dynamicSharedBytes, localBytes, constBytes, globalBytes } = fn.memory;
    add(
      'memory',
      `shared ${staticSharedBytes} + ${dynamicSharedBytes} dynamic bytes a block, local ${count(localBytes, 'byte')} a thread, ` +
        `const ${count(constBytes, 'byte')}, global ${count(globalBytes, 'byte')}`,
    );
  }
  if (fn.occupancy !== undefined)
    for (const text of occupancyLines(fn.occupancy, device)) add('occupancy', text);
  const { blocks = [], loops = [] } = fn;
  const irreducible = fn.isReducible === false ? '; some cycle has several entries' : '';
  add('control flow', `${count(blocks.length, 'block')}, ${count(loops.length, 'loop')}${irreducible}`);
  for (const loop of loops) add('', loopText(loop));
  for (const block of blocks) lines.push('', ...blockLines(block));
  return lines;
}

function occupancyLines(occupancy: LaunchOccupancy | LaunchRefusal, device: string): string[] {
  if ('refused' in occupancy) return [`${device} refuses the launch: ${occupancy.refused}`];
  const { threads, warps, blocksPerSm, warpsPerSm, share, boundBy, limits } = occupancy;
  const each = Object.entries(limits).map(([limit, fits]) => `${limit} ${fits}`);
  return [
    `${device}: blocks of ${count(threads, 'thread')} (${count(warps, 'warp')}): ${count(blocksPerSm, 'block')} and ` +
      `${count(warpsPerSm, 'warp')} an SM, ${Math.round(share * 100)}%; bound by ${boundBy.join(', ')}`,
    `blocks an SM by limit: ${each.join(', ')}`,
  ];
}

function loopText({ header, blocks, depth, latches }: DisassembledLoop): string {
  return `loop at block ${header}, depth ${depth}: blocks ${ranges(blocks)}, back from ${latches.join(', ')}`;
}

function blockLines(block: DisassembledBlock): string[] {
  const { index, label, predecessors, successors, dominator, postDominator, loopDepth } = block;
  const facts = [
    predecessors.length === 0 ? 'from none' : `from ${predecessors.join(', ')}`,
    successors.length === 0 ? 'ends the thread' : `to ${successors.join(', ')}`,
    ...(dominator === undefined ? [] : [`dominated by ${dominator}`]),
    ...(postDominator === undefined ? [] : [`meets again at ${postDominator}`]),
    ...(loopDepth === 0 ? [] : [`loop depth ${loopDepth}`]),
    ...(block.isReachable ? [] : ['never reached']),
    `live ${block.liveIn} to ${block.liveOut}, at most ${block.mostLive}`,
  ];
  const name = label === undefined ? '' : ` ${label}:`;
  const lines = [`${MARGIN}block ${index}${name}  // ${facts.join('; ')}`];
  for (const { line, text, tables = [] } of block.instructions) {
    for (const table of tables) lines.push(`${MARGIN}${' '.repeat(7)} ${table}`);
    lines.push(`${MARGIN}${String(line).padStart(6)}   ${text}`);
  }
  return lines;
}

/** `1-4, 7`. */
function ranges(numbers: readonly number[]): string {
  const found: [number, number][] = [];
  for (const number of numbers) {
    const last = found.at(-1);
    if (last !== undefined && last[1] + 1 === number) last[1] = number;
    else found.push([number, number]);
  }
  return found.map(([low, high]) => (low === high ? String(low) : `${low}-${high}`)).join(', ');
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
