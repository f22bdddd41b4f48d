/** Why a ledger of jobs does not do what it was asked. */
export class JobError extends Error {
  override readonly name = 'JobError';
  constructor(
    readonly code: 'unknown' | 'full' | 'unusable' | 'away',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function unknownJob(id: string): JobError {
  return new JobError('unknown', `there is no job '${id.slice(0, 60)}'`);
}

export function noRoom(mostBytes: number): JobError {
  return new JobError(
    'full',
    `all jobs together may take ${Math.floor(mostBytes / 2 ** 20)} MiB (--jobs-mib): remove jobs that are done`,
  );
}
