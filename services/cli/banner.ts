import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import { originOf } from '../http/index.js';
import type { EmbeddedServer } from '../main.js';

/** A real digit as a request, committed with the models. */
const SAMPLE = 'containers/models/samples/digit.json';

/** What `serve` prints once it is ready. */
export function banner(server: EmbeddedServer, dataDirectory: string | undefined, sharedAt?: string): string {
  const { secure, requiresKeys } = server;
  const query = originOf(server.queryAddress, secure.query);
  const here = reachable(server.queryAddress, secure.query);
  const management = originOf(server.managementAddress, secure.management);
  const local = dataDirectory === undefined ? 'nothing is kept (--ephemeral)' : `data in ${dataDirectory}`;
  const kept = sharedAt === undefined ? local : `state in ${sharedAt}, ${local}`;
  const lines = [
    `Windjammer serves on ${query}, management on ${management}, ${kept}`,
    ...(server.containerAddress === undefined
      ? []
      : [`Containers built for Clipper dial in on ${addressText(server.containerAddress)}`]),
    ...(requiresKeys ? ['Every request needs a key: docs/guides/security.md'] : []),
    '',
    ...applications(server),
    ...containers(server),
    '',
    ...examples(server, here),
    `The dashboard: ${here}/${requiresKeys ? ' (any name, and a key with the scope metrics as the password)' : ''}`,
    'Ctrl-C drains and stops.',
  ];
  return `${lines.join('\n')}\n`;
}

function addressText({ address, port, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

function applications({ registry }: EmbeddedServer): string[] {
  const records = registry.applications();
  if (records.length === 0) return ['No application is registered yet: windjammer app add --help says how.'];
  return records.map(({ name, inputType, latencyObjectiveUs, policy }) => {
    const models = registry.linkedModels(name).map((model) => `${model.name} v${model.version}`);
    const linked = models.length === 0 ? 'no model linked' : models.join(', ');
    return `  application ${name}: ${inputType}, ${latencyObjectiveUs / 1000} ms, ${policy.name} over ${linked}`;
  });
}

function containers(server: EmbeddedServer): string[] {
  return server.replicas().map(({ model, version, replica, state, lastFailure }) => {
    const why = state === 'down' && lastFailure !== undefined ? `: ${lastFailure}` : '';
    return `  container ${model} v${version} #${replica} ${state}${why}`;
  });
}

function examples({ registry, requiresKeys }: EmbeddedServer, query: string): string[] {
  const key = requiresKeys ? '-H "Authorization: Bearer $WINDJAMMER_API_KEY" ' : '';
  const json = `${key}-H 'Content-Type: application/json'`;
  const lines: string[] = [];
  const sample = join(packageRoot(), SAMPLE);
  if (registry.application('digits') !== undefined && existsSync(sample)) {
    const path = relative(process.cwd(), sample) || sample;
    lines.push('A real digit:', `  curl -s ${query}/digits/predict ${json} --data @${path}`, '');
  }
  if (registry.application('noop') !== undefined) {
    lines.push('The yardstick:', `  curl -s ${query}/noop/predict ${json} --data '{"input":[1,2,3]}'`, '');
  }
  return lines;
}

/** Where somebody on this machine asks: an address that stands for all of them is none to ask, and no certificate names it. */
function reachable({ address, port, family }: AddressInfo, isSecure: boolean): string {
  const isAny = address === '0.0.0.0' || address === '::';
  return originOf(
    { address: isAny ? 'localhost' : address, port, family: isAny ? 'IPv4' : family },
    isSecure,
  );
}
