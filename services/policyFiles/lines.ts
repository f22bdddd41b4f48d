import { StringDecoder } from 'node:string_decoder';

/** Lines of a stream of bytes. */
export class LineReader {
  private readonly decoder = new StringDecoder('utf8');
  private rest: string[] = [];
  /** Characters that wait for the end of their line. */
  waiting = 0;

  constructor(private readonly onLine: (line: string) => void) {}

  push(piece: Buffer | string): void {
    const text = typeof piece === 'string' ? piece : this.decoder.write(piece);
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      const line = text.slice(from, end);
      const whole = this.rest.length === 0 ? line : [...this.rest, line].join('');
      this.rest = [];
      this.waiting = 0;
      from = end + 1;
      this.onLine(whole);
    }
    if (from === text.length) return;
    this.rest.push(text.slice(from));
    this.waiting += text.length - from;
  }
}
