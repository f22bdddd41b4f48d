import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { reasonOf } from '../../simulator/text/index.js';
import { answerLine } from '../result/index.js';
import { LoadError } from '../trace/index.js';

const BUFFERED = 65_536;

/** Answers as JSON lines, in the order in which they come, each with its query's number. Several processes may write one file. */
export class AnswersFile {
  private readonly file: number;
  private lines: string[] = [];
  private buffered = 0;

  private hasFailed = false;

  /** @param onFailed told once, where it cannot be written any more. @throws LoadError */
  constructor(
    path: string,
    private readonly onFailed: (why: string) => void,
  ) {
    this.file = attempted(() => openSync(path, 'a'));
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

  /** What an earlier run left goes, and nothing that is no plain file. @throws LoadError */
  static empty(path: string): void {
    attempted(() => writeFileSync(path, ''));
  }

  private flush(): void {
    // Appended whole: what other processes append comes before or after it.
    const text = this.lines.join('');
    this.lines = [];
    this.buffered = 0;
    if (text === '' || this.hasFailed) return;
    try {
      attempted(() => writeSync(this.file, text));
    } catch (error) {
      this.hasFailed = true;
      this.onFailed(reasonOf(error));
    }
  }
}

function attempted<T>(act: () => T): T {
  try {
    return act();
  } catch (cause) {
    throw new LoadError('--save-answers', reasonOf(cause), { cause });
  }
}
