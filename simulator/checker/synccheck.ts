import { isa } from '../ptx/index.js';
import { shuffledFrom, type InterpreterObserver, type KernelFault, type Warp } from '../executor/index.js';
import type { Severity } from './findings.js';
import type { FindingLog, Observation } from './findingLog.js';
import type { LaunchCode } from './launchCode.js';

const LANES = 32;
const MOST_BARRIERS = 16;

/** Lanes of one warp at one instruction. */
interface Standing {
  readonly warp: Warp;
  readonly pc: number;
  readonly lanes: number;
  readonly state: 'waits' | 'isElsewhere' | 'hasExited';
}

/**
 * Misuse of barriers and warp-level operations: numbers and counts that none has, member masks that leave the caller out
 * or name lanes that are gone, and threads that wait for others who never come.
 */
export class Synccheck implements InterpreterObserver {
  private readonly warps = new Map<number, Set<Warp>>();
  private lastWarp: Warp | undefined;

  constructor(
    private readonly code: LaunchCode,
    private readonly log: FindingLog,
  ) {}

  onBlockEnd(block: number): void {
    this.warps.delete(block);
    this.lastWarp = undefined;
  }

  onStep(warp: Warp): void {
    if (warp === this.lastWarp) return;
    this.lastWarp = warp;
    const seen = this.warps.get(warp.block);
    if (seen === undefined) this.warps.set(warp.block, new Set([warp]));
    else seen.add(warp);
  }

  onBarrierArrive(warp: Warp, pc: number, lane: number, id: number, count: number | undefined): void {
    const [x, y, z] = this.code.launch.shape.block;
    const threads = Math.ceil((x * y * z) / LANES) * LANES;
    if (id >= MOST_BARRIERS) {
      this.add(warp, pc, lane, {
        kind: 'barrierNumber',
        title: `Barrier ${id} does not exist`,
        detail: `a block has barriers 0 to ${MOST_BARRIERS - 1}`,
      });
    }
    if (count === undefined) return;
    if (count <= 0 || count % LANES !== 0) {
      this.add(warp, pc, lane, {
        kind: 'barrierCount',
        title: `Barrier with a count of ${count} threads`,
        detail: `the count must be a multiple of ${LANES} above 0, since warps arrive whole`,
      });
    } else if (count > threads) {
      this.add(warp, pc, lane, {
        kind: 'barrierCount',
        title: `Barrier with a count of ${count} threads in a block of ${x * y * z}`,
        detail: 'so many never come',
      });
    }
  }

  /** A thread arrives once before each wait, and waits once after each arrival. */
  onClusterBarrier(warp: Warp, pc: number, lanes: number, what: 'arrive' | 'wait'): void {
    const arrived = warp.clusterArrived | warp.clusterPassed;
    const wrong = what === 'arrive' ? lanes & arrived : lanes & ~arrived;
    if (wrong === 0) return;
    const isAgain = what === 'arrive';
    this.add(warp, pc, lowest(wrong), {
      kind: 'clusterBarrier',
      title: isAgain
        ? 'Barrier of the cluster at which a thread arrives again before it waits'
        : 'Barrier of the cluster at which a thread waits that has not arrived',
      detail: `${lanesText(wrong)} of warp ${warp.index}; PTX leaves open what comes of it`,
    });
  }

  /** Lanes have met; the mask that they gave may name some that have exited. */
  onWarpSync(warp: Warp, pc: number, group: number): void {
    this.checkSources(warp, pc, group);
    const lane = lowest(group);
    const existing = warp.lanes >= LANES ? -1 : (1 << warp.lanes) - 1;
    const gone = (warp.members[lane] ?? 0) & existing & ~warp.live;
    if (gone === 0) return;
    const one = lowest(gone);
    this.add(warp, pc, lane, {
      kind: 'exitedLanes',
      title: 'Warp-level operation whose mask names lanes that have exited',
      detail: `the mask ${maskText(warp.members[lane] ?? 0)} names ${lanesText(gone)}, which ${countOf(gone) === 1 ? 'has' : 'have'} left the kernel`,
      otherPc: warp.pcs[one] ?? 0,
      otherRole: 'where they left',
      other: this.code.thread(warp, one),
    });
  }

  /** Lanes that shuffle may read one that takes no part: what that gives is open. */
  private checkSources(warp: Warp, pc: number, group: number): void {
    const instruction = this.code.instruction(pc);
    if (instruction === undefined || isa(instruction.opcode).watch !== 'shuffle') return;
    for (let rest = group; rest !== 0; rest &= rest - 1) {
      const lane = lowest(rest);
      const from = shuffledFrom(instruction, warp, lane);
      const mask = warp.members[lane] ?? 0;
      // Of lanes that the mask names and that are not there it is said elsewhere.
      if (from === undefined || ((mask >>> from) & 1) === 1) continue;
      this.add(
        warp,
        pc,
        lane,
        {
          kind: 'readsNobody',
          title: 'Shuffle from a lane that its mask does not name',
          detail: `lane ${lane} reads lane ${from}, which the mask ${maskText(mask)} does not name: PTX leaves the value open, and an H200 gives 0 unless that lane executes it too`,
        },
        'warning',
      );
    }
  }

  /**
   * Explains a fault that left threads waiting.
   * @returns whether it is of that sort
   */
  explain(fault: KernelFault, block: number): boolean {
    const at = this.placeOf(fault, block);
    if (at === undefined) return false;
    const { warp, lane, pc } = at;
    if (fault.code === 'illegalInstruction') return this.isBarrier(pc);
    if (fault.code !== 'divergentBarrier' && fault.code !== 'deadlock') return false;
    const standings = this.standings(block);
    const own = standings.find((each) => each.warp === warp && ((each.lanes >>> lane) & 1) === 1);
    if (own?.state !== 'waits' && this.isWarpLevel(pc)) {
      this.add(warp, pc, lane, {
        kind: 'maskWithoutCaller',
        title: 'Warp-level operation whose mask leaves out its caller',
        detail: `lane ${lane} executes it, but the mask that it gives does not name it`,
        faultCode: fault.code,
      });
      return true;
    }
    const waiting = own?.lanes ?? 1 << lane;
    const others = standings.filter((each) => each !== own);
    const other = this.mostTelling(others, warp);
    const isBlockBarrier = !this.isWarpLevel(pc);
    const inCluster = ((warp.atCluster >>> lane) & 1) === 1 ? `; ${fault.message}` : '';
    const isDivergent = fault.code === 'divergentBarrier';
    this.add(warp, pc, lane, {
      kind: isDivergent ? 'divergentBarrier' : 'unreachedBarrier',
      title: isBlockBarrier
        ? isDivergent
          ? 'Barrier in divergent code'
          : 'Barrier that not enough threads reach'
        : 'Warp-level operation that lanes of its mask do not reach',
      detail: `${lanesText(waiting)} of warp ${warp.index} wait${countOf(waiting) === 1 ? 's' : ''} here; ${this.whereOthersAre(others)}${inCluster}`,
      faultCode: fault.code,
      ...(other === undefined
        ? {}
        : {
            otherPc: other.pc,
            otherRole: {
              waits: 'where others wait',
              isElsewhere: 'where others are',
              hasExited: 'where others left',
            }[other.state],
            other: this.code.thread(other.warp, lowest(other.lanes)),
          }),
    });
    return true;
  }

  private add(
    warp: Warp,
    pc: number,
    lane: number,
    what: Omit<Observation, 'checker' | 'severity' | 'pc' | 'block' | 'thread'>,
    severity: Severity = 'error',
  ): void {
    this.log.add({ checker: 'synccheck', severity, pc, ...this.code.thread(warp, lane), ...what });
  }

  private placeOf(
    { thread, ptxLine }: KernelFault,
    block: number,
  ): { warp: Warp; lane: number; pc: number } | undefined {
    const [x, y] = this.code.launch.shape.block;
    const linear = thread[0] + x * (thread[1] + y * thread[2]);
    const warp = [...(this.warps.get(block) ?? [])].find(({ index }) => index === linear >>> 5);
    if (warp === undefined) return undefined;
    const lane = linear & 31;
    const { instructions } = this.code.launch.kernel;
    const own = warp.pcs[lane] ?? 0;
    const pc =
      instructions[own]?.line === ptxLine ? own : instructions.findIndex(({ line }) => line === ptxLine);
    return { warp, lane, pc: pc < 0 ? own : pc };
  }

  private standings(block: number): Standing[] {
    const found: Standing[] = [];
    const warps = [...(this.warps.get(block) ?? [])].sort((a, b) => a.index - b.index);
    for (const warp of warps) {
      const waiting = warp.atBarrier | warp.atCluster | warp.atWarpSync;
      const groups = new Map<string, Standing>();
      for (let lane = 0; lane < warp.lanes; lane++) {
        const bit = 1 << lane;
        const pc = warp.pcs[lane] ?? 0;
        const state = (warp.live & bit) === 0 ? 'hasExited' : (waiting & bit) !== 0 ? 'waits' : 'isElsewhere';
        const key = `${pc} ${state}`;
        groups.set(key, { warp, pc, state, lanes: (groups.get(key)?.lanes ?? 0) | bit });
      }
      found.push(...groups.values());
    }
    return found;
  }

  /** Of the others, one of the same warp if there is, and rather one that could still come than one that has left. */
  private mostTelling(others: readonly Standing[], warp: Warp): Standing | undefined {
    const rank = (each: Standing): number =>
      (each.warp === warp ? 0 : 4) + { isElsewhere: 0, waits: 1, hasExited: 2 }[each.state];
    return [...others].sort((a, b) => rank(a) - rank(b))[0];
  }

  private whereOthersAre(others: readonly Standing[]): string {
    const counts = new Map<string, number>();
    for (const { pc, state, lanes } of others) {
      const line = this.code.instruction(pc)?.line ?? 0;
      const verb = { waits: 'wait at', isElsewhere: 'are at', hasExited: 'left at' }[state];
      const where = `${verb} line ${line}`;
      counts.set(where, (counts.get(where) ?? 0) + countOf(lanes));
    }
    if (counts.size === 0) return 'no other thread is left';
    return [...counts]
      .map(([where, threads]) => `${threads} other${threads === 1 ? '' : 's'} ${where}`)
      .join(', ');
  }

  private isWarpLevel(pc: number): boolean {
    const instruction = this.code.instruction(pc);
    if (instruction === undefined) return false;
    const { opcode, modifiers } = instruction;
    const { watch } = isa(opcode);
    const exchanges = watch === 'exchange' || watch === 'shuffle';
    return exchanges || (watch === 'barrier' && modifiers.includes('warp'));
  }

  private isBarrier(pc: number): boolean {
    return isa(this.code.instruction(pc)?.opcode ?? '').watch === 'barrier';
  }
}

function lowest(mask: number): number {
  return 31 - Math.clz32(mask & -mask);
}

function countOf(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

function maskText(mask: number): string {
  return `0x${(mask >>> 0).toString(16).padStart(8, '0')}`;
}

/** "lane 3", "lanes 0 to 9", "lanes 0, 2, 4 …". */
function lanesText(mask: number): string {
  const lanes: number[] = [];
  for (let lane = 0; lane < LANES; lane++) if ((mask >>> lane) & 1) lanes.push(lane);
  const [first = 0] = lanes;
  const last = lanes[lanes.length - 1] ?? 0;
  if (lanes.length === 1) return `lane ${first}`;
  if (last - first + 1 === lanes.length) return `lanes ${first} to ${last}`;
  return `lanes ${lanes.slice(0, 6).join(', ')}${lanes.length > 6 ? ', …' : ''}`;
}
