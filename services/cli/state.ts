import type { Command } from 'commander';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { wholeNumber } from './optionValues.js';
import { print, printDone, table } from './printing.js';

interface StateOptions extends ClientOptions {
  readonly context?: string;
  readonly to?: number;
}

/** What applications have learned: shown, stopped, taken back. */
export function addStateCommand(program: Command): void {
  const state = program.command('state').description('what applications have learned from feedback');
  const place = (name: string, description: string): Command =>
    withManagementOptions(
      state
        .command(name)
        .description(description)
        .argument('<application>')
        .option('--context <name>', "of a selection context (uid), in place of the application's own"),
    );
  place('export', 'the state as it is kept, its version, and earlier ones').action(
    async (application: string, options: StateOptions) => {
      const exported = await (await clientOf(options)).management.exportState(application, options.context);
      const { policy, version, pinned, past } = exported;
      const head = `${policy}, version ${version}${pinned ? ', pinned' : ''}\n${JSON.stringify(exported.state, null, 2)}`;
      const rows = past.map((one) => [String(one.version), one.replaced_at]);
      print(
        options.json,
        exported,
        rows.length === 0 ? head : `${head}\n${table(['EARLIER VERSION', 'UNTIL'], rows)}`,
      );
    },
  );
  place('rollback', 'take it back to an earlier version')
    .option(
      '--to <version>',
      'one that export lists; the last before the present one unless given',
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .action(async (application: string, options: StateOptions) =>
      printDone(
        options.json,
        await (await clientOf(options)).management.rollBackState(application, options.context, options.to),
      ),
    );
  for (const [name, description, verb] of [
    ['reset', 'forget what was learned; earlier versions stay', 'resetState'],
    ['pin', 'learn nothing from here on', 'pinState'],
    ['unpin', 'learn again', 'unpinState'],
  ] as const) {
    place(name, description).action(async (application: string, options: StateOptions) => {
      const { management } = await clientOf(options);
      printDone(options.json, await management[verb](application, options.context));
    });
  }
}
