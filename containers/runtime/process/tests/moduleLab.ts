import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { InputType } from '../../../protocol/index.js';
import { ProcessHost } from '../processHost.js';
import type { ProcessLimits } from '../processLimits.js';
import type { OwnProcessSource, PythonSource } from '../processSource.js';
import { Line } from './line.js';

export type MoreOfModule = { inputType?: InputType; contentHash?: string } & Partial<PythonSource>;

/** Modules of users, each written and started for one test; none runs on behind it. */
export class ModuleLab {
  folder = '';
  host = new ProcessHost();
  private modules = 0;

  /** Within a `describe`. */
  constructor(
    readonly kind: 'process' | 'python',
    readonly ending: '.mjs' | '.py',
  ) {
    beforeAll(() => void (this.folder = mkdtempSync(join(tmpdir(), `windjammer-${kind}-`))));
    afterAll(() => rmSync(this.folder, { recursive: true }));
    afterEach(async () => {
      const pids = this.host.pids();
      await this.close();
      expect(this.host.pids()).toEqual([]);
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    });
  }

  written(text: string, name = `model${this.modules++}${this.ending}`): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  source(path: string): OwnProcessSource {
    return { kind: this.kind, path };
  }

  start(text: string, more: MoreOfModule = {}, limits: Partial<ProcessLimits> = {}): Line {
    this.host = new ProcessHost();
    return this.startAlso(text, more, limits);
  }

  /** Beside what runs. */
  startAlso(text: string, more: MoreOfModule = {}, limits: Partial<ProcessLimits> = {}): Line {
    const identity = { model: 'm', version: '1', replica: '0' };
    return new Line(
      this.host.start({ kind: this.kind, path: this.written(text), ...identity, limits, ...more }),
    );
  }

  /** Ends all that runs. */
  close(): Promise<void> {
    return new Promise((resolve) => this.host.close(resolve));
  }
}
