import { approximateTemplates, exactTemplates } from './instructionTemplates.js';
import type { KernelText } from './kernelText.js';
import { commonAtomic, ownAccess, ownAtomic, sharedRead } from './memoryStatements.js';

/** What a random kernel may contain. */
export interface FuzzStyle {
  /** Threads of a block that work together; false: each thread alone, which may return anywhere. */
  readonly isCooperative: boolean;
  /** Threads of a block that go on after the start. */
  readonly activeThreads: number;
  /** Every warp has all its lanes, so that any lane may be read. */
  readonly hasFullWarps: boolean;
  /** Without approximate functions and f64. */
  readonly forCard: boolean;
}

interface Flow {
  /** All threads of the block are here together. */
  readonly isUniform: boolean;
  readonly depth: number;
  /** Ends of enclosing loops that a thread may leave alone. */
  readonly loopEnds: readonly string[];
}

const cardTemplates = exactTemplates.filter((template) => !/ d/.test(template));

/** Writes random statements; `remaining` bounds how many. */
export class StatementWriter {
  private counters = 0;

  constructor(
    private readonly text: KernelText,
    private readonly style: FuzzStyle,
    private remaining: number,
  ) {}

  /** Loop counters that were used, to be declared. */
  get counterCount(): number {
    return this.counters;
  }

  write(): void {
    while (this.remaining > 0) this.statement({ isUniform: true, depth: 0, loopEnds: [] });
  }

  private block(flow: Flow): void {
    for (let left = this.text.random.between(1, 6); left > 0 && this.remaining > 0; left--)
      this.statement(flow);
  }

  private statement(flow: Flow): void {
    this.remaining--;
    const { random } = this.text;
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

  private guard(): string {
    const { random } = this.text;
    if (!random.chance(0.15)) return '';
    return `@${random.chance(0.4) ? '!' : ''}${this.text.register('p')} `;
  }

  private compute(): void {
    const { random } = this.text;
    const { forCard } = this.style;
    const pool = forCard ? cardTemplates : random.chance(0.06) ? approximateTemplates : exactTemplates;
    this.text.instruction(random.pick(pool), this.guard());
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
        this.shuffle();
        break;
      case 3:
        this.vote();
        break;
      case 4:
        this.reduce();
        break;
      default:
        if (this.style.hasFullWarps) this.halves();
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
    const counter = `%c${this.counters++}`;
    const trips = this.text.random.between(1, 4);
    this.loop([`mov.u32 ${counter}, ${trips};`], counter, () =>
      this.block({ ...flow, depth: flow.depth + 1 }),
    );
  }

  /** A loop whose length a register tells, between 1 and 8; threads may break out of it and of those around it. */
  private dataLoop(flow: Flow): void {
    const { text } = this;
    const counter = `%c${this.counters++}`;
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
    const counter = `%c${this.counters++}`;
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
    if (ends.length > 0) text.emit(`${guard} bra ${text.random.pick(ends)};`);
    else if (!this.style.isCooperative && flow.depth > 0)
      text.emit(`${guard} ${text.random.pick(['ret', 'exit'])};`);
    else this.compute();
  }
}
