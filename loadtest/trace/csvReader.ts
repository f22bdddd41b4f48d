import { LONGEST_RECORD, MOST_BLANK_LINES, type TextSource } from './textSource.js';

/** Records of a CSV file (RFC 4180, quotes and line breaks in quotes included), read as they are asked for. */
export class CsvReader {
  private text = '';
  private at = 0;
  private linesRead = 0;

  constructor(private readonly source: TextSource) {}

  /** Fields of the next record that is not blank; undefined at the end. @throws LoadError naming the line. */
  next(): string[] | undefined {
    for (let blank = 0; blank <= MOST_BLANK_LINES; blank++) {
      const record = this.record();
      if (record === undefined || record.length > 1 || record[0].trim() !== '') return record;
    }
    throw this.source.problem(`more than ${MOST_BLANK_LINES} blank lines: is this a trace?`);
  }

  private record(): string[] | undefined {
    const fields: string[] = [];
    let field = '';
    let quoted = false;
    let from = this.at;
    this.source.line = this.linesRead + 1;
    for (;;) {
      if (this.at >= this.text.length) {
        if (this.text.length - from + field.length > LONGEST_RECORD) {
          throw this.source.problem(
            `a record of more than ${LONGEST_RECORD} characters: is a quote not closed?`,
          );
        }
        const more = this.readOn(from);
        from = 0;
        if (!more) {
          if (quoted) throw this.source.problem('the file ends inside quotes: close them with "');
          if (this.text === '' && field === '' && fields.length === 0) return undefined;
          fields.push(field + this.text);
          this.text = '';
          this.at = 0;
          return fields;
        }
      }
      const sign = this.text[this.at];
      if (quoted) {
        if (sign === '\n') this.linesRead += 1;
        if (sign === '"') {
          // The sign after a quote decides what it means.
          if (this.at + 1 >= this.text.length) {
            this.readOn(from);
            from = 0;
          }
          field += this.text.slice(from, this.at);
          if (this.text[this.at + 1] === '"') {
            field += '"';
            this.at += 1;
          } else {
            quoted = false;
          }
          from = this.at + 1;
        }
      } else if (sign === '"') {
        const before = field + this.text.slice(from, this.at);
        if (before.trim() !== '')
          throw this.source.problem('a quote inside a field: quote the whole field and double it');
        field = '';
        quoted = true;
        from = this.at + 1;
      } else if (sign === ',') {
        fields.push(field + this.text.slice(from, this.at));
        field = '';
        from = this.at + 1;
      } else if (sign === '\n') {
        this.linesRead += 1;
        fields.push((field + this.text.slice(from, this.at)).replace(/\r$/, ''));
        this.at += 1;
        return fields;
      }
      this.at += 1;
    }
  }

  /** Drops what was used up, which is all before `from`, and reads on; false at the file's end. */
  private readOn(from: number): boolean {
    this.text = this.text.slice(from);
    this.at -= from;
    const more = this.source.read();
    this.text += more ?? '';
    return more !== undefined;
  }
}
