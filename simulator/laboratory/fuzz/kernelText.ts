import type { SeededRandom } from '../../random/index.js';

/** Registers of each letter that statements read and write at will. */
export const registerCounts = { h: 6, r: 10, q: 6, f: 8, d: 5, p: 5 } as const;
export type RegisterLetter = keyof typeof registerCounts;

const interesting = [
  0, 1, -1, 2, 3, 7, 31, 32, 33, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fffffff, -0x80000000,
];
const singles = [
  '0f00000000',
  '0f80000000',
  '0f3F800000',
  '0fBF000000',
  '0f7F800000',
  '0f7FFFFFFF',
  '0f00000001',
  '0f4B800001',
];
const doubles = [
  '0d0000000000000000',
  '0d3FF0000000000000',
  '0dBFE0000000000000',
  '0d7FF0000000000000',
  '0dFFF8000000000000',
  '0d0000000000000001',
  '0d41EFFFFFFFE00000',
];

/** Lines of a kernel under construction, with random registers and fresh names. */
export class KernelText {
  readonly lines: string[] = [];
  private labels = 0;

  /** @param labelPrefix what the labels begin with, which differs between the functions of a module */
  constructor(
    readonly random: SeededRandom,
    private readonly labelPrefix = '$L',
  ) {}

  emit(...lines: string[]): void {
    for (const line of lines) this.lines.push(`\t${line}`);
  }

  label(): string {
    return `${this.labelPrefix}${this.labels++}`;
  }

  /** @param directive what the label names, when that is no instruction */
  place(label: string, directive = ''): void {
    this.lines.push(`${label}:${directive === '' ? '' : ` ${directive}`}`);
  }

  register(letter: RegisterLetter): string {
    return `%${letter}${this.random.below(registerCounts[letter])}`;
  }

  immediate(letter: RegisterLetter): string {
    const { random } = this;
    if (letter === 'f') return random.pick(singles);
    if (letter === 'd') return random.pick(doubles);
    const value = random.chance(0.6) ? random.pick(interesting) : random.word() >> random.below(32);
    if (letter === 'h') return String((value << 16) >> 16);
    return String(value);
  }

  /** One instruction of a template, possibly guarded. */
  instruction(template: string, guard = ''): void {
    const [name = '', ...operands] = template.split(' ');
    const written = operands.map((operand) => this.operand(operand));
    this.emit(`${guard}${name} ${written.join(', ')};`);
  }

  private operand(code: string): string {
    if (code === 'n') return String(this.random.below(71));
    if (code === 'm') {
      const register = this.register('r');
      this.emit(`and.b32 %field, ${register}, 255;`);
      return '%field';
    }
    if (code === 'p|p') {
      const first = this.random.below(registerCounts.p);
      return `%p${first}|%p${(first + 1) % registerCounts.p}`;
    }
    if (code === '!p') return `!${this.register('p')}`;
    const dot = code.indexOf('.');
    if (dot > 0) return this.register(code.charAt(0) as RegisterLetter) + code.slice(dot);
    if (code === 'r|p') return `${this.register('r')}|${this.register('p')}`;
    if (code === '0') return code;
    const letter = code.charAt(0) as RegisterLetter;
    return code.endsWith('i') && this.random.chance(0.35) ? this.immediate(letter) : this.register(letter);
  }
}
