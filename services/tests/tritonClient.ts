/** A tensor as Triton's own clients send it: the data behind the JSON. */
export interface InputTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

export interface OutputTensor {
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly bytes: Buffer;
}

export class TritonError extends Error {
  override readonly name = 'TritonError';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/**
 * Speaks to a server as Triton’s HTTP client libraries do: no Content-Type, inputs and
 * all outputs as binary data unless asked otherwise, errors by status and `{"error"}`.
 */
export class TritonClient {
  constructor(private readonly base: string) {}

  async isModelReady(model: string, version = ''): Promise<boolean> {
    const path = version === '' ? `v2/models/${model}/ready` : `v2/models/${model}/versions/${version}/ready`;
    return (await fetch(`${this.base}/${path}`)).status === 200;
  }

  get(path: string): Promise<unknown> {
    return this.json(fetch(`${this.base}/${path}`));
  }

  index(): Promise<unknown> {
    return this.json(this.post('v2/repository/index', ''));
  }

  load(model: string): Promise<unknown> {
    return this.json(this.post(`v2/repository/models/${model}/load`, JSON.stringify({ parameters: {} })));
  }

  unload(model: string): Promise<unknown> {
    const body = JSON.stringify({ parameters: { unload_dependents: false } });
    return this.json(this.post(`v2/repository/models/${model}/unload`, body));
  }

  async infer(
    model: string,
    inputs: readonly InputTensor[],
    more: object = {},
    encode: (body: Buffer) => Buffer = (body) => body,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ReadonlyMap<string, OutputTensor>> {
    const parameters = { binary_data_output: true };
    const described = inputs.map(({ name, datatype, shape, bytes }) => {
      return { name, datatype, shape, parameters: { binary_data_size: bytes.length } };
    });
    const json = Buffer.from(JSON.stringify({ parameters, ...more, inputs: described }));
    const body = Buffer.concat([json, ...inputs.map(({ bytes }) => bytes)]);
    const response = await this.post(`v2/models/${model}/infer`, encode(body), {
      'inference-header-content-length': String(json.length),
      ...headers,
    });
    if (response.status !== 200) throw await errorOf(response);
    // fetch has undone a Content-Encoding by now, and the header counts what it makes.
    const bytes = Buffer.from(await response.arrayBuffer());
    let offset = Number(response.headers.get('inference-header-content-length'));
    const { outputs } = JSON.parse(bytes.subarray(0, offset).toString()) as {
      outputs: {
        name: string;
        datatype: string;
        shape: number[];
        parameters: { binary_data_size: number };
      }[];
    };
    const found = new Map<string, OutputTensor>();
    for (const { name, datatype, shape, parameters: kept } of outputs) {
      const end = offset + kept.binary_data_size;
      found.set(name, { datatype, shape, bytes: bytes.subarray(offset, end) });
      offset = end;
    }
    if (offset !== bytes.length) throw new Error(`${bytes.length - offset} bytes belong to no output`);
    return found;
  }

  private post(
    path: string,
    body: string | Buffer,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    // A body of bytes has no Content-Type of its own.
    return fetch(`${this.base}/${path}`, { method: 'POST', body: Buffer.from(body), headers });
  }

  private async json(answer: Promise<Response>): Promise<unknown> {
    const response = await answer;
    if (response.status !== 200) throw await errorOf(response);
    return await response.json();
  }
}

async function errorOf(response: Response): Promise<TritonError> {
  const { error } = (await response.json()) as { error: string };
  return new TritonError(response.status, error);
}
