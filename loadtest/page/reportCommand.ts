import type { Command } from 'commander';

export interface ReportOptions {
  readonly html?: string;
}

export function addReportCommand(program: Command): void {
  program
    .command('report')
    .description('print runs of replay and loadtest side by side, or draw them')
    .argument('<run...>', 'JSON that replay or loadtest has printed; one, or two and more to compare')
    .option('--html <file>', 'write one HTML file that needs nothing else')
    .action(async (paths: readonly string[], options: ReportOptions) => {
      const { runReport } = await import('./reportMain.js');
      runReport(paths, options);
    });
}
