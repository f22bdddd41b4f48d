import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compactJson } from '../report/index.js';

/** Where an experiment leaves its files: the folder that the command names, or its own under docs/experiments. */
export class ResultFolder {
  private readonly path: string;
  private printed = '';

  /** @param experiment the last part of its name is that of the file with what it prints */
  constructor(
    name: string,
    given: string | undefined,
    private readonly experiment: string,
  ) {
    this.path = given ?? fileURLToPath(new URL(`../../../docs/experiments/${name}`, import.meta.url));
    mkdirSync(this.path, { recursive: true });
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  writeJson(name: string, value: object): void {
    this.write(name, compactJson(value));
  }

  /** Says it on standard output, and keeps all that was said: tables, as Markdown. */
  print(text: string): void {
    process.stdout.write(text);
    this.printed += text;
    this.write(`${this.experiment.split('/').at(-1)}.md`, this.printed);
  }
}
