/** Of the server's environment, what every model's process gets: where things are, and in which language and time zone. */
const USUAL = [
  'PATH',
  'HOME',
  'USER',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'NODE_ENV',
  'NODE_EXTRA_CA_CERTS',
];

/** @param named variables that a model's owner asked for, in addition. */
export function childEnvironment(named: readonly string[]): NodeJS.ProcessEnv {
  const present = [...USUAL, ...named].filter((name) => Object.hasOwn(process.env, name));
  return Object.fromEntries(present.map((name) => [name, process.env[name]]));
}

/** Why variables cannot be passed on; undefined when they can. */
export function environmentRefusal(named: readonly string[]): string | undefined {
  const missing = named.find((name) => !Object.hasOwn(process.env, name));
  if (missing === undefined) return undefined;
  return `environment: ${missing} is not set where the server runs; set it and start the server again`;
}
