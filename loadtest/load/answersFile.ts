import { closeSync, openSync, writeSync } from 'node:fs';
import { answerLine } from '../result/index.js';

const BUFFERED = 65_536;

/** Answers as JSON lines, in the order in which they come, each with its query's number. Several processes may write one file. */
export class AnswersFile {
  private readonly file: number;
  private lines: string[] = [];
  private buffered = 0;

  /** @throws Error of the file system */
  constructor(path: string) {
    this.file = openSync(path, 'a');
  }

  add(number: number, application: string, output: string, isDefault: boolean): void {
    const line = answerLine(number, application, output, isDefault);
    this.lines.push(line);
    this.buffered += line.length;
    if (this.buffered > BUFFERED) this.flush();
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }

  private flush(): void {
    // Appended whole: what other processes append comes before or after it.
    if (this.lines.length > 0) writeSync(this.file, this.lines.join(''));
    this.lines = [];
    this.buffered = 0;
  }
}
