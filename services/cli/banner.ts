import { existsSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { packageRoot } from '../../containers/models/index.js';
import type { EmbeddedServer } from '../main.js';

/** A real digit as a request, committed with the models. */
const SAMPLE = 'containers/models/samples/digit.json';

/** What `serve` prints once it is ready. */
export function banner(server: EmbeddedServer, dataDirectory: string | undefined): string {
  const query = origin(server.queryAddress);
  const kept = dataDirectory === undefined ? 'nothing is kept (--ephemeral)' : `data in ${dataDirectory}`;
  const lines = [
    `Windjammer serves on ${query}, management on ${origin(server.managementAddress)}, ${kept}`,
    '',
    ...applications(server),
    ...containers(server),
    '',
    ...examples(server, query),
    `The dashboard: ${query}/`,
    'Ctrl-C drains and stops.',
  ];
  return `${lines.join('\n')}\n`;
}

function applications({ registry }: EmbeddedServer): string[] {
  const records = registry.applications();
  if (records.length === 0) return ['No application is registered yet: see /admin/add_app.'];
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

function examples({ registry }: EmbeddedServer, query: string): string[] {
  const json = "-H 'Content-Type: application/json'";
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

function origin({ address, port, family }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
