import { LONGEST_RECORD, MOST_BLANK_LINES, type TextSource } from './textSource.js';

/** Lines of a text that are not blank, read as they are asked for. */
export class LineReader {
  private text = '';
  private at = 0;
  private linesRead = 0;

  constructor(private readonly source: TextSource) {}

  /** undefined at the end. @throws LoadError naming the line. */
  next(): string | undefined {
    for (let blank = 0; blank <= MOST_BLANK_LINES; blank++) {
      const line = this.line();
      if (line === undefined || line.trim() !== '') return line;
    }
    throw this.source.problem(`more than ${MOST_BLANK_LINES} blank lines: is this a trace?`);
  }

  private line(): string | undefined {
    this.linesRead += 1;
    this.source.line = this.linesRead;
    let looked = this.at;
    for (;;) {
      const end = this.text.indexOf('\n', looked);
      if (end >= 0) {
        const line = this.text.slice(this.at, end);
        this.at = end + 1;
        return line;
      }
      const rest = this.text.slice(this.at);
      if (rest.length > LONGEST_RECORD) {
        throw this.source.problem(`a line of more than ${LONGEST_RECORD} characters`);
      }
      const more = this.source.read();
      if (more === undefined) {
        this.text = '';
        this.at = 0;
        return rest === '' ? undefined : rest;
      }
      this.text = rest + more;
      this.at = 0;
      looked = rest.length;
    }
  }
}
