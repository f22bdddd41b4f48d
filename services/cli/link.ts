import type { Command } from 'commander';
import { clientOf, withManagementOptions, type ClientOptions } from './clientOptions.js';
import { print, printDone, table } from './printing.js';

/** Links between applications and models, as Clipper's administration names their verbs. */
export function addLinkCommand(program: Command): void {
  const link = program.command('link').description('which models an application asks');
  withManagementOptions(
    link
      .command('add')
      .description('link models to an application: all of them or, on an error, none')
      .argument('<application>')
      .argument('<models...>'),
  ).action(async (application: string, models: string[], options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.addLinks(application, models)),
  );
  withManagementOptions(
    link
      .command('delete')
      .description('unlink models from an application: all of them or, on an error, none')
      .argument('<application>')
      .argument('<models...>'),
  ).action(async (application: string, models: string[], options: ClientOptions) =>
    printDone(options.json, await (await clientOf(options)).management.deleteLinks(application, models)),
  );
  withManagementOptions(
    link
      .command('list')
      .description('models linked to an application, in order of linking')
      .argument('<application>'),
  ).action(async (application: string, options: ClientOptions) => {
    const names = await (await clientOf(options)).management.linkedModels(application);
    const rows = names.map((name) => [name]);
    print(options.json, names, table(['MODEL'], rows));
  });
}
