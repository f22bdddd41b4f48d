/** Why a texture or surface object cannot be made. `field` is a path such as `sampler.filter`. */
export class TextureError extends Error {
  override readonly name = 'TextureError';

  constructor(
    readonly field: string,
    reason: string,
  ) {
    super(`${field}: ${reason}`);
  }
}
