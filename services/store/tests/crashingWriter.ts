/** Run compiled, by store.test.ts, in a process of its own: writes without end and prints what is confirmed, until it is killed. */
import { EmbeddedStore } from '../index.js';

const store = new EmbeddedStore(process.argv[2]);
let next = 0;

function write(): void {
  const value = ++next;
  store.set('counter', value, 'any');
  store.set(`entry/${value}`, value, 'any', (outcome) => {
    if (outcome.ok) process.stdout.write(`${value}\n`);
  });
  setImmediate(write);
}
write();
