import { EmbeddedServer, type EmbeddedOptions } from '../main.js';

/** A whole server in the test's process: on ports that the system picks, with nothing kept, registered or complained about unless asked. */
export function startEmbedded(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  return EmbeddedServer.start({
    host: '127.0.0.1',
    port: 0,
    managementHost: '127.0.0.1',
    managementPort: 0,
    dataDirectory: undefined,
    seed: 1,
    withDefaults: false,
    complain: () => undefined,
    announce: () => undefined,
    ...options,
  });
}
