import { readFileSync, writeFileSync } from 'node:fs';
import { bytesOf } from '../fixtureRun.js';
import type { KernelFixture } from '../kernelFixture.js';
import { cardOutputs, type CardOutputs, type CardResults } from './cardResults.js';

/** The output of `runOnCard.py`: final bytes of every buffer, as base64. */
interface CardFile {
  readonly card: string;
  readonly driver: string;
  readonly ptxas: string;
  readonly programs: Readonly<
    Record<string, { readonly buffers: Readonly<Record<string, string>>; readonly printed: string }>
  >;
}

/**
 * Keeps what a card left of some fixtures. @param path the runner's results. @param target where the digests go
 */
export function keepCardResults(fixtures: readonly KernelFixture[], path: string, target: string): void {
  const file = JSON.parse(readFileSync(path, 'utf8')) as CardFile;
  const programs: Record<string, CardOutputs> = {};
  for (const fixture of fixtures) {
    const result = file.programs[fixture.name];
    if (result === undefined) {
      console.log(`${fixture.name}: the card has no result`);
      continue;
    }
    const buffers = fixture.buffers();
    for (const [name, text] of Object.entries(result.buffers)) {
      bytesOf(buffers[name]).set(Buffer.from(text, 'base64'));
    }
    fixture.settle?.(buffers);
    programs[fixture.name] = cardOutputs(fixture, buffers, result.printed);
  }
  const { card, driver, ptxas } = file;
  const kept: CardResults = { card, driver, ptxas, programs };
  writeFileSync(target, `${JSON.stringify(kept, null, 1)}\n`);
  console.log(`${Object.keys(programs).length} programs of ${card} in ${target}`);
}
