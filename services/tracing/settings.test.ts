import { describe, expect, it } from 'vitest';
import { tracingSettings, TracingSettingError } from './settings.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('tracingSettings', () => {
  it('takes an endpoint to trace, by option or by variable', () => {
    expect(tracingSettings({})).toBeUndefined();
    expect(tracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' })).toBeUndefined();
    expect(tracingSettings(ENDPOINT)).toEqual({ protocol: 'http/protobuf', url: undefined });
    expect(tracingSettings({ OTEL_TRACES_EXPORTER: 'otlp' })).toEqual({
      protocol: 'http/protobuf',
      url: undefined,
    });
    for (const endpoint of ['http://c:4318', 'http://c:4318/']) {
      expect(tracingSettings(ENDPOINT, endpoint)?.url).toBe('http://c:4318/v1/traces');
    }
    expect(tracingSettings({}, 'https://c/otlp')?.url).toBe('https://c/otlp/v1/traces');
    expect(tracingSettings({}, 'https://c/otlp/?tenant=a')?.url).toBe('https://c/otlp/v1/traces?tenant=a');
  });

  it('is off when a variable says so', () => {
    expect(tracingSettings({ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
    expect(tracingSettings({ OTEL_SDK_DISABLED: 'true' }, 'http://c:4318')).toBeUndefined();
  });

  it('takes the protocol of traces before that of all signals', () => {
    const both = {
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    };
    expect(tracingSettings(both)?.protocol).toBe('http/json');
  });

  it.each([
    [{ ...ENDPOINT, OTEL_TRACES_EXPORTER: 'zipkin' }, undefined, /OTEL_TRACES_EXPORTER must be otlp or none/],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, undefined, /must be http\/protobuf or http\/json/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      undefined,
      /OTEL_EXPORTER_OTLP_ENDPOINT must be an http/,
    ],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'x' }, undefined, /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be/],
    [{}, 'localhost', /--otlp-endpoint must be an http or https URL, not 'localhost'/],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'some' }, undefined, /OTEL_TRACES_SAMPLER must be/],
    [
      { ...ENDPOINT, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7' },
      undefined,
      /OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1/,
    ],
  ])('names what is wrong: %j %s', (environment, endpoint, message) => {
    expect(() => tracingSettings(environment, endpoint)).toThrow(TracingSettingError);
    expect(() => tracingSettings(environment, endpoint)).toThrow(message);
  });
});
