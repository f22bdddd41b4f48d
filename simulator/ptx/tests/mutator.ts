import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

const pieces = (
  '{ } ( ) ; , [ ] : % . " /* */ // @ ! < > = - + | _ # 0x 0f3F800000 0d3FF0000000000000 99999999999999999999 -1 1e400 ' +
  '4294967296 \0 é \u2028 .reg .param .entry .func .shared .global .align .v4 .b128 .pred .callprototype .branchtargets ' +
  '.alias .extern .weak .visible .section .loc .file .pragma .maxntid .ptr call brx.idx ret bra mov.b32 %p0 %r1 %rd1 %tid.x ' +
  'WARP_SZ generic(x) <0> <99999999> .version .target {%r1,%r2} [%rd1+4] %v.x .h0 .b3210 .sat .cc .ftz .v2 .sync'
).split(' ');

const tokenPattern = /[A-Za-z_$%][\w$]*|\.[\w$:]+|\d[\w.]*|\s+|[^\s]/g;

/** Damages texts, the same for a seed every time: bytes, tokens, lines, truncations, and pieces of other texts. */
export class Mutator {
  private readonly random;

  constructor(
    seed: number,
    private readonly others: readonly string[],
  ) {
    this.random = xoroshiro128plus(seed);
  }

  mutate(text: string): string {
    let mutated = text;
    for (let times = 1 + this.below(4); times > 0; times--) mutated = this.once(mutated);
    return mutated;
  }

  private below(count: number): number {
    return (this.random.next() >>> 0) % Math.max(count, 1);
  }

  private pick<T>(values: readonly T[], otherwise: T): T {
    return values[this.below(values.length)] ?? otherwise;
  }

  private once(text: string): string {
    const at = this.below(text.length);
    switch (this.below(12)) {
      case 0:
        return text.slice(0, at) + text.slice(at + 1 + this.below(12));
      case 1: {
        const from = this.below(text.length);
        return text.slice(0, at) + text.slice(from, from + 1 + this.below(40)) + text.slice(at);
      }
      case 2:
        return text.slice(0, at) + this.pick(pieces, '') + text.slice(at);
      case 3:
        return this.below(4) === 0 ? text.slice(0, at) : text.slice(0, text.length - this.below(60));
      case 4:
        return (
          text.slice(0, at) +
          String.fromCharCode(this.below(this.below(8) === 0 ? 65536 : 128)) +
          text.slice(at + 1)
        );
      case 5:
      case 6:
        return this.onLines(text);
      case 7:
      case 8:
      case 9:
        return this.onTokens(text);
      case 10:
        return this.splice(text);
      default:
        return this.changeNumber(text, at);
    }
  }

  private onLines(text: string): string {
    const lines = text.split('\n');
    const at = this.below(lines.length);
    const other = this.below(lines.length);
    switch (this.below(4)) {
      case 0:
        lines.splice(at, 1 + this.below(3));
        break;
      case 1:
        lines.splice(at, 0, lines[other] ?? '');
        break;
      case 2:
        lines[at] = lines[other] ?? '';
        break;
      default:
        lines.splice(at, 0, ...lines.splice(other, 1 + this.below(6)));
    }
    return lines.join('\n');
  }

  /** Drops, doubles, swaps or replaces a token near a place, so that the cost does not grow with the text. */
  private onTokens(text: string): string {
    const from = this.below(text.length);
    const window = text.slice(from, from + 400);
    const tokens = window.match(tokenPattern) ?? [];
    const at = this.below(tokens.length);
    const other = this.below(tokens.length);
    switch (this.below(4)) {
      case 0:
        tokens.splice(at, 1);
        break;
      case 1:
        tokens.splice(at, 0, tokens[other] ?? '');
        break;
      case 2:
        [tokens[at], tokens[other]] = [tokens[other] ?? '', tokens[at] ?? ''];
        break;
      default:
        tokens[at] = this.pick(pieces, '');
    }
    return text.slice(0, from) + tokens.join('') + text.slice(from + 400);
  }

  /** A piece of another text in the middle of this one, or the head of this and the tail of another. */
  private splice(text: string): string {
    const other = this.pick(this.others, text);
    const at = this.below(text.length);
    const from = this.below(other.length);
    if (this.below(2) === 0) return text.slice(0, at) + other.slice(from);
    return text.slice(0, at) + other.slice(from, from + this.below(600)) + text.slice(at);
  }

  private changeNumber(text: string, near: number): string {
    const found = /\d+/.exec(text.slice(near, near + 200));
    if (found === null) return text;
    const at = near + found.index;
    const values = [
      '0',
      '1',
      '3',
      '16',
      '255',
      '4096',
      '65536',
      '16777217',
      '4294967295',
      '9007199254740993',
      '1'.repeat(40),
    ];
    return text.slice(0, at) + this.pick(values, '0') + text.slice(at + found[0].length);
  }
}
