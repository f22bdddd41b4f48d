import { SeededRandom } from '../../../random/index.js';

/** A random kernel that stores bytes at computed places: `walk(base, a, b)`. */
export interface AddressKernel {
  readonly text: string;
  readonly a: number;
  readonly b: number;
  readonly grid: number;
  readonly block: number;
}

/** Registers that hold small integers; all are read and written at random. */
const VALUES = 6;

/**
 * Integer arithmetic as it leads to addresses (sums, products, shifts, masks, division, minima, choices), branches around parts
 * of it, and loops, with stores and loads between. Values stay small, so that most kernels end without a fault.
 */
export function randomAddressKernel(seed: number): AddressKernel {
  return new KernelWriter(new SeededRandom(seed)).kernel();
}

class KernelWriter {
  private readonly lines: string[] = [];
  private labels = 0;
  private counters = 0;

  constructor(private readonly random: SeededRandom) {}

  kernel(): AddressKernel {
    const { random } = this;
    const a = random.below(48) - 8;
    const b = 1 + random.below(24);
    this.lines.push(
      'ld.param.u64 %rd0, [base];',
      'ld.param.u32 %v0, [a];',
      'ld.param.u32 %v1, [b];',
      'mov.u32 %v2, %tid.x;',
      'mov.u32 %v3, %ctaid.x;',
      'mov.u32 %t0, %ntid.x;',
      'mad.lo.s32 %v4, %v3, %t0, %v2;',
      `mov.u32 %v5, ${random.below(40)};`,
    );
    this.statements(10 + random.below(10), 0);
    this.access();
    const counters = Array.from({ length: this.counters }, (_, index) => `%k${index}`).join(', ');
    const text = `.version 9.0
.target sm_90
.address_size 64
.visible .entry walk(.param .u64 base, .param .u32 a, .param .u32 b)
{
.reg .b32 %v<${VALUES}>, %t<3>;
.reg .b64 %rd<3>;
.reg .pred %p<2>;
${counters === '' ? '' : `.reg .b32 ${counters};`}
${this.lines.join('\n')}
ret;
}`;
    return { text, a, b, grid: 1 + random.below(2), block: [1, 5, 12, 33][random.below(4)] ?? 12 };
  }

  private value(): string {
    return `%v${this.random.below(VALUES)}`;
  }

  private statements(count: number, depth: number): void {
    for (let index = 0; index < count; index++) {
      const kind = this.random.below(16);
      if (kind === 0 && depth < 2) this.branch(depth);
      else if (kind === 1 && depth < 2) this.loop(depth);
      else if (kind === 2) this.access();
      else this.arithmetic();
    }
  }

  private arithmetic(): void {
    const { random } = this;
    const [d, x, y] = [this.value(), this.value(), this.value()];
    const constant = 1 + random.below(12);
    const sign = random.below(2) === 0 ? 's' : 'u';
    const forms = [
      `add.s32 ${d}, ${x}, ${y};`,
      `add.s32 ${d}, ${x}, ${constant};`,
      `sub.s32 ${d}, ${x}, ${y};`,
      `mul.lo.s32 ${d}, ${x}, ${constant};`,
      `mad.lo.s32 ${d}, ${x}, ${constant}, ${y};`,
      `shl.b32 ${d}, ${x}, ${random.below(3)};`,
      `shr.${sign}32 ${d}, ${x}, ${random.below(4)};`,
      `and.b32 ${d}, ${x}, ${[1, 3, 7, 15, 28, 31, -4, 255][random.below(8)]};`,
      `or.b32 ${d}, ${x}, ${constant};`,
      `xor.b32 ${d}, ${x}, ${constant};`,
      `min.${sign}32 ${d}, ${x}, ${y};`,
      `max.s32 ${d}, ${x}, ${y};`,
      `div.${sign}32 ${d}, ${x}, ${constant};`,
      `rem.${sign}32 ${d}, ${x}, ${constant};`,
      `ld.param.u32 %t0, [b];\nrem.s32 ${d}, ${x}, %t0;`,
      `ld.param.u32 %t0, [b];\ndiv.s32 ${d}, ${x}, %t0;`,
      `setp.lt.${sign}32 %p0, ${x}, ${y};\nselp.b32 ${d}, ${x}, ${y}, %p0;`,
      `setp.ge.s32 %p0, ${x}, ${constant};\n@%p0 add.s32 ${d}, ${y}, ${constant};`,
      `neg.s32 ${d}, ${x};`,
      `abs.s32 ${d}, ${x};`,
      `bfe.u32 ${d}, ${x}, ${random.below(4)}, ${1 + random.below(5)};`,
      `mul.hi.${sign}32 ${d}, ${x}, 1717986919;\nshr.${sign}32 ${d}, ${d}, 2;`,
      `mov.u32 ${d}, ${random.below(64)};`,
      `mov.u32 ${d}, %laneid;`,
    ];
    this.lines.push(forms[random.below(forms.length)] ?? '');
  }

  private condition(): string {
    const { random } = this;
    const relation = ['lt', 'le', 'gt', 'ge', 'eq', 'ne'][random.below(6)];
    const sign = random.below(4) === 0 ? 'u32' : 's32';
    const right = random.below(3) === 0 ? this.value() : String(random.below(40));
    const test = `setp.${relation}.${sign} %p0, ${this.value()}, ${right};`;
    if (random.below(3) > 0) return test;
    const joined = ['and', 'or'][random.below(2)];
    return `${test}\nsetp.lt.s32 %p1, ${this.value()}, ${this.value()};\n${joined}.pred %p0, %p0, %p1;`;
  }

  private branch(depth: number): void {
    const [other, end] = [this.labels++, this.labels++];
    this.lines.push(this.condition(), `@%p0 bra $L${other};`);
    this.statements(1 + this.random.below(3), depth + 1);
    this.lines.push(`bra $L${end};`, `$L${other}:`);
    if (this.random.below(2) === 0) this.statements(1 + this.random.below(2), depth + 1);
    this.lines.push(`$L${end}:`);
  }

  /** A loop that ends: up to a bound, down to zero, until a value is met, or while it halves. */
  private loop(depth: number): void {
    const { random } = this;
    const counter = `%k${this.counters++}`;
    const start = this.labels++;
    const kind = random.below(5);
    const step = 1 + random.below(5);
    const times = 1 + random.below(6);
    const begin = kind === 0 ? 'and.b32 ' + counter + ', ' + this.value() + ', 15;' : '';
    const first = [
      begin,
      `mov.u32 ${counter}, ${times * step};`,
      `mov.u32 ${counter}, 0;`,
      `mov.u32 ${counter}, 37;`,
      `mov.u32 ${counter}, -${times * step};`,
    ];
    this.lines.push(first[kind] ?? '', `$L${start}:`);
    const uses = random.below(2) === 0 ? `add.s32 ${this.value()}, ${this.value()}, ${counter};` : '';
    this.lines.push(uses);
    this.statements(1 + random.below(3), depth + 1);
    const ends = [
      `add.s32 ${counter}, ${counter}, ${step};\nsetp.lt.s32 %p0, ${counter}, ${10 + random.below(20)};`,
      `sub.s32 ${counter}, ${counter}, ${step};\nsetp.ne.s32 %p0, ${counter}, 0;`,
      `add.s32 ${counter}, ${counter}, 1;\nsetp.lt.u32 %p0, ${counter}, ${times};`,
      `shr.s32 ${counter}, ${counter}, 1;\nsetp.gt.s32 %p0, ${counter}, 0;`,
      `add.s32 ${counter}, ${counter}, ${step};\nsetp.ne.s32 %p0, ${counter}, 0;`,
    ];
    this.lines.push(ends[kind] ?? '', `@%p0 bra $L${start};`);
  }

  /** One byte at a value from the middle of the buffer, read or written. */
  private access(): void {
    const { random } = this;
    const value = this.value();
    this.lines.push(
      random.below(2) === 0
        ? `cvt.s64.s32 %rd1, ${value};`
        : `mul.wide.s32 %rd1, ${value}, ${1 + random.below(4)};`,
      'add.s64 %rd1, %rd0, %rd1;',
      random.below(2) === 0
        ? `st.global.u8 [%rd1+${random.below(8)}], ${value};`
        : 'ld.global.u8 %t1, [%rd1];',
    );
  }
}
