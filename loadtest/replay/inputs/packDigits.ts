/**
 * Makes heldOutDigits.bin.gz: the first fifty held-out digits of each class, classes in turn.
 * Usage: node dist/loadtest/replay/inputs/packDigits.js FILE
 */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { digitAt, loadDigits } from '../../../containers/models/index.js';

const EACH = 50;

const target = process.argv.at(2);
if (target === undefined) throw new RangeError('give the file to write');
const { heldOut } = loadDigits();
const records: number[] = [];
for (let number = 0; number < EACH; number++) {
  for (let label = 0; label < 10; label++) {
    const index = heldOut.labels.indexOf(label) + number;
    if (heldOut.labels[index] !== label) throw new RangeError(`there are fewer than ${EACH} digits ${label}`);
    records.push(label);
    for (const pixel of digitAt(heldOut, index)) {
      const level = Math.round(pixel * 255);
      if (Math.fround(Math.round((level / 255) * 1000) / 1000) !== pixel)
        throw new RangeError(`${pixel} is no grey level`);
      records.push(level);
    }
  }
}
writeFileSync(target, gzipSync(Uint8Array.from(records), { level: 9 }));
