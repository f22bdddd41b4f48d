/** Where spans go. */
export interface TracingSettings {
  /** `http/protobuf` or `http/json` */
  readonly protocol: 'http/protobuf' | 'http/json';
  /** The receiver's URL of traces; undefined: as the environment's variables say. */
  readonly url: string | undefined;
}

/** A setting that cannot be used. */
export class TracingSettingError extends Error {
  override readonly name = 'TracingSettingError';
}

type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS: readonly string[] = ['always_on', 'always_off', 'traceidratio'].flatMap((sampler) => [
  sampler,
  `parentbased_${sampler}`,
]);

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;

/**
 * What OpenTelemetry's environment variables and `--otlp-endpoint` ask for; undefined: no tracing. It takes an endpoint or
 * OTEL_TRACES_EXPORTER=otlp to switch it on.
 * @param endpoint an OTLP receiver's base URL; its path gets `/v1/traces` behind it.
 * @throws TracingSettingError that names the variable and what it may be.
 */
export function tracingSettings(environment: Environment, endpoint?: string): TracingSettings | undefined {
  if (environment.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return undefined;
  const exporter = environment.OTEL_TRACES_EXPORTER?.trim() ?? '';
  if (!['', 'otlp', 'none'].includes(exporter)) {
    throw new TracingSettingError(`OTEL_TRACES_EXPORTER must be otlp or none, not '${exporter}'`);
  }
  const name = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].find((variable) =>
    isSet(environment[variable]),
  );
  if (endpoint === undefined && (exporter === 'none' || (name === undefined && exporter === '')))
    return undefined;
  const protocol = protocolOf(environment);
  checkSampler(environment);
  if (endpoint !== undefined) {
    const url = checkedUrl('--otlp-endpoint', endpoint);
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
    return { protocol, url: url.href };
  }
  if (name !== undefined) checkedUrl(name, environment[name] ?? '');
  return { protocol, url: undefined };
}

function protocolOf(environment: Environment): TracingSettings['protocol'] {
  const name = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'].find((variable) =>
    isSet(environment[variable]),
  );
  if (name === undefined) return 'http/protobuf';
  const given = environment[name]?.trim();
  const protocol = PROTOCOLS.find((known) => known === given);
  if (protocol === undefined) {
    throw new TracingSettingError(`${name} must be ${PROTOCOLS.join(' or ')}, not '${given}'`);
  }
  return protocol;
}

/** The SDK would go on with a sampler that takes everything. */
function checkSampler({ OTEL_TRACES_SAMPLER: given, OTEL_TRACES_SAMPLER_ARG: ratio }: Environment): void {
  if (!isSet(given)) return;
  const name = given?.trim() ?? '';
  if (!SAMPLERS.includes(name)) {
    throw new TracingSettingError(`OTEL_TRACES_SAMPLER must be one of ${SAMPLERS.join(', ')}, not '${name}'`);
  }
  if (!name.endsWith('traceidratio') || !isSet(ratio)) return;
  if (!(Number(ratio) >= 0 && Number(ratio) <= 1)) {
    throw new TracingSettingError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not '${ratio}'`);
  }
}

function checkedUrl(name: string, given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new TracingSettingError(`${name} must be an http or https URL, not '${given}'`);
}

/** An empty variable is one that is not set. */
function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '';
}
