/** Which PTX a text is of, as its head says. */
export interface Dialect {
  /** `.version`, 803 of 8.3. */
  readonly version: number;
  /** The newest of its targets, 90 of sm_90; infinite when it names none by number. */
  readonly architecture: number;
  /** `.target …, texmode_independent`: samplers are apart from textures. */
  readonly hasSamplers: boolean;
}

/** Of a text whose head has not been read. */
export const newestDialect: Dialect = {
  version: Infinity,
  architecture: Infinity,
  hasSamplers: true,
};

export function dialectOf(ptxVersion: string, targets: readonly string[]): Dialect {
  const [major = 0, minor = 0] = ptxVersion.split('.').map(Number);
  const numbers = targets.flatMap((each) => {
    const found = /^(?:sm|compute)_(\d+)/.exec(each)?.[1];
    return found === undefined ? [] : [Number(found)];
  });
  return {
    version: major * 100 + minor,
    architecture: numbers.length === 0 ? Infinity : Math.max(...numbers),
    hasSamplers: targets.includes('texmode_independent'),
  };
}

/** Bytes that the parameters of an entry may take. */
export function mostEntryParameterBytes({ version, architecture }: Dialect): number {
  if (version < 105) return 256;
  return version >= 801 && architecture >= 70 ? 32764 : 4352;
}
