import { describe, expect, it } from 'vitest';
import { optionCommand } from './optionCommand.js';
import type { ServeOptions } from './serveCommand.js';
import { clipperOption } from './servePlan.js';

function clipper(...words: string[]) {
  const command = optionCommand('serve');
  command.parse(words, { from: 'user' });
  return clipperOption(command.opts<ServeOptions>());
}

describe('the port for containers of Clipper', () => {
  it('is closed unless it is asked for, and on loopback unless told', () => {
    expect(clipper()).toBeUndefined();
    expect(clipper('--clipper-port', '7000')).toEqual({
      host: '127.0.0.1',
      port: 7000,
      maxContainers: undefined,
      maxMessageBytes: undefined,
    });
    const all = [
      '--clipper-host',
      '0.0.0.0',
      '--clipper-max-containers',
      '5',
      '--clipper-max-message-mib',
      '0.25',
    ];
    expect(clipper('--clipper-port', '0', ...all)).toEqual({
      host: '0.0.0.0',
      port: 0,
      maxContainers: 5,
      maxMessageBytes: 262_144,
    });
  });

  it.each([
    ['--clipper-host', '0.0.0.0'],
    ['--clipper-max-containers', '5'],
    ['--clipper-max-message-mib', '1'],
  ])('%s means nothing without it', (option, value) => {
    expect(() => clipper(option, value)).toThrow(`${option} needs --clipper-port beside it`);
  });
});
