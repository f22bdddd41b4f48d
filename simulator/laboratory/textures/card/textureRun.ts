/** What `probes/runTextures.py` writes: bytes are base64 of zlib. */
export interface TextureRun {
  readonly card: readonly [name: string, driver: number];
  readonly experiments: readonly Experiment[];
  readonly times: unknown;
}

export interface Experiment {
  readonly name: string;
  /** Of `probes/textures.cu`. */
  readonly kernel: string;
  readonly texture: {
    readonly fmt: string;
    readonly channels: 1 | 2 | 4;
    /** As the driver has them: the third one counts layers and faces, too. */
    readonly extents: readonly [width: number, height: number, depth: number];
    /** Of each level. */
    readonly texels: readonly string[];
    readonly address: readonly [number, number, number];
    readonly filter: number;
    readonly flags: number;
    readonly array: number;
    readonly kind: 'array' | 'linear' | 'pitched' | 'mipmap';
    readonly border: readonly number[];
    readonly levels: number;
    readonly mipFilter: number;
    readonly bias: number;
    readonly low: number;
    readonly high: number;
    readonly pitch: number;
  };
  readonly surface: boolean | 'read';
  /** Words of each result that are kept. */
  readonly out: number;
  readonly count: number;
  /** Four columns of words each. */
  readonly points: string;
  readonly d?: string;
  readonly e?: string;
  /** A column of words for each word of a result. */
  readonly results?: string;
  /** Bytes of the array behind a surface. */
  readonly left?: string;
  readonly error?: string;
}
