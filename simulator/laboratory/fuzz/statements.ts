import { carryChain, tableSwitch, tangle } from './flowStatements.js';
import { formTemplates } from './formTemplates.js';
import { functionCall } from './functionText.js';
import { approximateTemplates, exactTemplates } from './instructionTemplates.js';
import type { KernelText } from './kernelText.js';
import { commonAtomic, ownAccess, ownAtomic, sharedRead } from './memoryStatements.js';
import { ringAccess } from './ringStatements.js';
import type { Flow, FuzzStyle, StatementContext, WalkRegisters } from './statementContext.js';
import { activeWarps } from './statementContext.js';
import {
  asyncCopy,
  memoryQuestion,
  orderedAccess,
  wideCommonAtomic,
  wideExchange,
  wideOwnAtomic,
} from './wideMemoryStatements.js';
import { wideApproximateTemplates, wideTemplates } from './wideTemplates.js';
import { walk, walkRegisters } from './walkStatements.js';
import { barrierReduction, maskedWarp, pairsOfWarps, producersAndConsumers } from './warpStatements.js';

const cardTemplates = exactTemplates.filter((template) => !/ d/.test(template));
/** The assembler contracts products and sums whose rounding is not written. */
const roundedTemplates = exactTemplates.filter((template) => !/^(?:add|sub|mul)\.f(?:32|64)/.test(template));

/** Writes random statements; `remaining` bounds how many. */
export class StatementWriter implements StatementContext {
  private counters = 0;
  private walks = 0;

  constructor(
    readonly text: KernelText,
    readonly style: FuzzStyle,
    private remaining: number,
  ) {}

  /** Loop counters that were used, to be declared. */
  get counterCount(): number {
    return this.counters;
  }

  get walkCount(): number {
    return this.walks;
  }

  write(): void {
    const isUniform = !this.style.isFunction;
    while (this.remaining > 0) this.statement({ isUniform, depth: 0, loopEnds: [] });
  }

  counter(): string {
    return `%c${this.counters++}`;
  }

  walk(): WalkRegisters {
    return walkRegisters(this.walks++);
  }

  block(flow: Flow): void {
    for (let left = this.text.random.between(1, 6); left > 0 && this.remaining > 0; left--)
      this.statement(flow);
  }

  private statement(flow: Flow): void {
    this.remaining--;
    const { random } = this.text;
    if (this.style.isFunction) {
      this.functionStatement(flow);
      return;
    }
    if (this.style.hasWalks && flow.depth < 3 && random.chance(0.16)) {
      walk(this, flow);
      return;
    }
    if (this.style.hasRings && random.chance(0.4)) {
      ringAccess(this);
      return;
    }
    if (this.style.generation === 2 && random.chance(0.55)) {
      this.wideStatement(flow);
      return;
    }
    const choice = random.below(100);
    if (choice < 55) this.compute();
    else if (choice < 63) ownAccess(this.text, this.guard(), this.style.forCard);
    else if (choice < 68) sharedRead(this.text, this.guard(), this.style.forCard);
    else if (choice < 71) commonAtomic(this.text, this.guard());
    else if (choice < 73) ownAtomic(this.text, this.guard(), this.style.forCard);
    else if (choice < 75) this.pack();
    else if (flow.isUniform && this.style.isCooperative && choice < 84) this.cooperate();
    else if (flow.depth < 3) this.control(flow);
    else this.compute();
  }

  /** A statement of the later families. */
  private wideStatement(flow: Flow): void {
    const { random } = this.text;
    const choice = random.below(100);
    const { isCooperative } = this.style;
    if (choice < 36) this.wideCompute();
    else if (choice < 43) carryChain(this);
    else if (choice < 50) wideOwnAtomic(this);
    else if (choice < 55) wideCommonAtomic(this);
    else if (choice < 60) orderedAccess(this);
    else if (choice < 63) asyncCopy(this);
    else if (choice < 67) memoryQuestion(this);
    else if (choice < 69) wideExchange(this);
    else if (choice < 75 && this.style.functions > 0) functionCall(this);
    else if (choice < 84 && flow.isUniform && isCooperative) this.cooperateWidely();
    else if (choice < 91 && flow.depth < 3) tableSwitch(this, flow);
    else if (choice < 96 && flow.depth < 2) tangle(this, flow);
    else if (choice < 98 && this.style.mayLeave && flow.depth > 0) this.leave({ ...flow, loopEnds: [] });
    else this.wideCompute();
  }

  private functionStatement(flow: Flow): void {
    const choice = this.text.random.below(100);
    if (choice < 30) this.compute();
    else if (choice < 65) this.wideCompute();
    else if (choice < 73) carryChain(this);
    else if (choice < 78 && this.style.functions > 0) functionCall(this);
    else if (choice < 84 && flow.depth < 2) this.branch(flow);
    else if (choice < 89 && flow.depth < 2) this.dataLoop(flow);
    else if (choice < 93 && flow.depth < 2) tableSwitch(this, flow);
    else if (choice < 96 && flow.depth < 1) tangle(this, flow);
    else this.leave(flow);
  }

  private wideCompute(): void {
    const { random } = this.text;
    const isApproximate = !this.style.forCard && random.chance(0.04);
    const guard = random.chance(0.3) ? `@${random.chance(0.4) ? '!' : ''}${this.text.register('p')} ` : '';
    this.text.instruction(random.pick(isApproximate ? wideApproximateTemplates : wideTemplates), guard);
  }

  private cooperateWidely(): void {
    const { text, style } = this;
    const choice = text.random.below(6);
    if (choice < 3) maskedWarp(this);
    else if (choice === 3 || style.mayLeave || activeWarps(style) < 2) barrierReduction(this);
    else if (choice === 4) producersAndConsumers(this);
    else pairsOfWarps(this);
  }

  guard(): string {
    const { random } = this.text;
    if (!random.chance(0.15)) return '';
    return `@${random.chance(0.4) ? '!' : ''}${this.text.register('p')} `;
  }

  compute(): void {
    const { random } = this.text;
    const template = random.pick(this.templates());
    // ptxas writes the result of a guarded `testp` though the guard is false.
    const isOpen = this.style.generation === 2 && template.startsWith('testp');
    this.text.instruction(template, isOpen ? '' : this.guard());
  }

  private templates(): readonly string[] {
    const { forCard, generation, everyForm } = this.style;
    if (everyForm) return formTemplates;
    if (forCard) return generation === 1 ? cardTemplates : roundedTemplates;
    return this.text.random.chance(0.06) ? approximateTemplates : exactTemplates;
  }

  private pack(): void {
    const { text } = this;
    const [a, b] = [text.register('r'), text.register('r')];
    const doubles = [
      `mov.b64 {%r2, _}, ${text.register('d')};`,
      `mov.b64 ${text.register('d')}, ${text.register('q')};`,
      `mov.b64 ${text.register('q')}, ${text.register('d')};`,
    ];
    text.emit(
      text.random.pick([
        ...(this.style.forCard ? [] : doubles),
        `mov.b64 ${text.register('q')}, {${a}, ${b}};`,
        `mov.b64 {%r0, %r1}, ${text.register('q')};`,
        `mov.b32 ${a}, {${text.register('h')}, ${text.register('h')}};`,
        `mov.b32 {%h0, %h1}, ${a};`,
        `mov.b32 ${a}, ${text.register('f')};`,
        `mov.b32 ${text.register('f')}, ${a};`,
        `mov.u32 ${a}, %laneid;`,
        `mov.u32 ${a}, %lanemask_lt;`,
        `mov.u32 ${a}, %nctaid.x;`,
      ]),
    );
  }

  /** Statements that all threads of the block execute together. */
  private cooperate(): void {
    switch (this.text.random.below(6)) {
      case 0:
        this.exchange();
        break;
      case 1:
      case 2:
        if (this.style.mayLeave) this.vote();
        else this.shuffle();
        break;
      case 3:
        this.vote();
        break;
      case 4:
        this.reduce();
        break;
      default:
        if (this.style.hasFullWarps && !this.style.mayLeave) this.halves();
        else this.text.emit('bar.warp.sync 0xffffffff;');
    }
  }

  /** Each thread writes its slot, then reads another's: barriers before, between and after. */
  private exchange(): void {
    const { text } = this;
    text.emit('bar.sync 0;', `st.shared.u32 [%slot], ${text.register('r')};`, 'bar.sync 0;');
    text.emit(`rem.u32 %index, ${text.register('r')}, ${this.style.activeThreads};`);
    text.emit('mad.lo.s32 %index, %index, 4, %slots;', `ld.shared.u32 ${text.register('r')}, [%index];`);
    text.emit(text.random.chance(0.5) ? 'bar.sync 0;' : 'barrier.sync.aligned 0;');
  }

  private shuffle(): void {
    const { text, style } = this;
    const { random } = text;
    // Without full warps only lower lanes are sure to be there.
    const mode = style.hasFullWarps ? random.pick(['bfly', 'bfly', 'down', 'up', 'idx']) : 'up';
    const width = random.pick([32, 16, 8, 4]);
    const clamp = ((32 - width) << 8) | (mode === 'up' ? 0 : 31);
    const by = random.chance(0.7) || mode === 'bfly' ? String(random.below(32)) : text.register('r');
    const pair = random.chance(0.4) ? `|${text.register('p')}` : '';
    const value = random.chance(0.5) ? text.register('r') : text.register('f');
    const target = value.startsWith('%f') ? text.register('f') : text.register('r');
    text.emit(`shfl.sync.${mode}.b32 ${target}${pair}, ${value}, ${by}, ${clamp}, 0xffffffff;`);
  }

  private vote(): void {
    const { text } = this;
    const predicate = `${text.random.chance(0.3) ? '!' : ''}${text.register('p')}`;
    text.emit(
      text.random.pick([
        `vote.sync.ballot.b32 ${text.register('r')}, ${predicate}, 0xffffffff;`,
        `vote.sync.any.pred ${text.register('p')}, ${predicate}, 0xffffffff;`,
        `vote.sync.all.pred ${text.register('p')}, ${predicate}, 0xffffffff;`,
        `vote.sync.uni.pred ${text.register('p')}, ${predicate}, 0xffffffff;`,
      ]),
    );
  }

  private reduce(): void {
    const { text } = this;
    const source = text.register('r');
    text.emit(`and.b32 %index, ${source}, 3;`);
    text.emit(
      text.random.pick([
        `redux.sync.add.s32 ${text.register('r')}, ${source}, 0xffffffff;`,
        `redux.sync.min.s32 ${text.register('r')}, ${source}, 0xffffffff;`,
        `redux.sync.max.u32 ${text.register('r')}, ${source}, 0xffffffff;`,
        `redux.sync.xor.b32 ${text.register('r')}, ${source}, 0xffffffff;`,
        `match.any.sync.b32 ${text.register('r')}, %index, 0xffffffff;`,
        `match.all.sync.b32 ${text.register('r')}|${text.register('p')}, %index, 0xffffffff;`,
      ]),
    );
  }

  /** The halves of each warp shuffle apart from each other, in a divergent branch. */
  private halves(): void {
    const { text } = this;
    const [low, end] = [text.label(), text.label()];
    const by = text.random.below(16);
    text.emit('mov.u32 %index, %laneid;', 'setp.lt.u32 %flow, %index, 16;', `@%flow bra ${low};`);
    text.emit(`shfl.sync.bfly.b32 ${text.register('r')}, ${text.register('r')}, ${by}, 31, 0xffff0000;`);
    this.compute();
    text.emit(`bra.uni ${end};`);
    text.place(low);
    this.compute();
    text.emit(`shfl.sync.bfly.b32 ${text.register('r')}, ${text.register('r')}, ${by}, 31, 0x0000ffff;`);
    text.place(end);
  }

  private control(flow: Flow): void {
    const { random } = this.text;
    const choice = random.below(12);
    if (choice < 4) this.branch(flow);
    else if (choice < 6) this.uniformBranch(flow);
    else if (choice < 8) this.countedLoop(flow);
    else if (choice < 10) this.dataLoop(flow);
    else if (choice === 10) this.irreducible(flow);
    else this.leave(flow);
  }

  private branch(flow: Flow): void {
    const { text } = this;
    const inner = { ...flow, isUniform: false, depth: flow.depth + 1 };
    const condition = text.register('p');
    const end = text.label();
    if (text.random.chance(0.5)) {
      text.emit(`@${text.random.chance(0.5) ? '!' : ''}${condition} bra ${end};`);
      this.block(inner);
    } else {
      const other = text.label();
      text.emit(`@${condition} bra ${other};`);
      this.block(inner);
      text.emit(`bra.uni ${end};`);
      text.place(other);
      this.block(inner);
    }
    text.place(end);
  }

  /** A branch that the whole block takes alike. */
  private uniformBranch(flow: Flow): void {
    const { text } = this;
    const end = text.label();
    text.emit(text.random.chance(0.5) ? 'mov.u32 %index, %ctaid.x;' : 'ld.param.u32 %index, [fuzz_n];');
    text.emit(`and.b32 %index, %index, 3;`, `setp.lt.u32 %flow, %index, ${text.random.between(1, 3)};`);
    text.emit(`@%flow bra ${end};`);
    this.block({ ...flow, depth: flow.depth + 1 });
    text.place(end);
  }

  private loop(trips: string[], counter: string, body: () => void): void {
    const { text } = this;
    const top = text.label();
    text.emit(...trips);
    text.place(top);
    body();
    text.emit(
      `sub.s32 ${counter}, ${counter}, 1;`,
      `setp.gt.s32 %flow, ${counter}, 0;`,
      `@%flow bra ${top};`,
    );
  }

  /** A loop that every thread runs equally often. */
  private countedLoop(flow: Flow): void {
    const counter = this.counter();
    const trips = this.text.random.between(1, 4);
    this.loop([`mov.u32 ${counter}, ${trips};`], counter, () =>
      this.block({ ...flow, depth: flow.depth + 1 }),
    );
  }

  /** A loop whose length a register tells, between 1 and 8; threads may break out of it and of those around it. */
  private dataLoop(flow: Flow): void {
    const { text } = this;
    const counter = this.counter();
    const end = text.label();
    const inner = {
      isUniform: false,
      depth: flow.depth + 1,
      loopEnds: [...(flow.isUniform ? [] : flow.loopEnds), end],
    };
    const mask = text.random.pick([1, 3, 7]);
    this.loop(
      [`and.b32 ${counter}, ${text.register('r')}, ${mask};`, `add.s32 ${counter}, ${counter}, 1;`],
      counter,
      () => this.block(inner),
    );
    text.place(end);
  }

  /** A loop with two entries. */
  private irreducible(flow: Flow): void {
    const { text } = this;
    const inner = { ...flow, isUniform: false, depth: flow.depth + 1 };
    const counter = this.counter();
    const [top, middle] = [text.label(), text.label()];
    text.emit(`and.b32 ${counter}, ${text.register('r')}, 3;`, `@${text.register('p')} bra ${middle};`);
    text.place(top);
    this.block(inner);
    text.place(middle);
    this.block(inner);
    text.emit(
      `sub.s32 ${counter}, ${counter}, 1;`,
      `setp.gt.s32 %flow, ${counter}, 0;`,
      `@%flow bra ${top};`,
    );
  }

  /** Leaves a loop, or, where nobody waits for the thread, the kernel. */
  private leave(flow: Flow): void {
    const { text } = this;
    const guard = `@${text.random.chance(0.5) ? '!' : ''}${text.register('p')}`;
    const ends = flow.loopEnds;
    const { isCooperative, mayLeave, isFunction } = this.style;
    if (ends.length > 0) text.emit(`${guard} bra ${text.random.pick(ends)};`);
    else if ((!isCooperative || mayLeave) && !isFunction && flow.depth > 0)
      text.emit(`${guard} ${text.random.pick(['ret', 'exit'])};`);
    else this.compute();
  }
}
