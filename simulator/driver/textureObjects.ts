import {
  encodeObject,
  OBJECT_BYTES,
  objectAt,
  resourceBytes,
  TextureError,
  textureObject,
  type DeviceAddressSpace,
  type Sampler,
  type TextureResource,
} from '../executor/index.js';
import { Refusal } from './refusal.js';

/**
 * Makes a texture object, or a surface object where no sampler is given. Its record lies in device memory that kernels cannot
 * write, so that snapshots and forks have it. @returns its handle
 * @throws Refusal `invalidValue` naming the field
 */
export function createObject(
  space: DeviceAddressSpace,
  resource: TextureResource,
  sampler: Sampler | undefined,
): number {
  let object;
  try {
    object = textureObject(resource, sampler);
  } catch (error) {
    if (!(error instanceof TextureError)) throw error;
    throw new Refusal('invalidValue', error.message);
  }
  const bytes = resourceBytes(object.resource);
  const { address } = object.resource;
  const segment = space.find(address);
  const end = segment === undefined ? 0 : segment.virtualAddress + segment.bytes;
  if (segment?.permission !== 'readWrite' || address + bytes > end) {
    throw new Refusal(
      'invalidValue',
      `resource.address: ${bytes} bytes are read from 0x${address.toString(16)} on, ` +
        (segment === undefined ? 'where nothing is allocated' : `but ${end - address} are allocated there`),
    );
  }
  const record = space.map(OBJECT_BYTES, 'read');
  if (record.offset >= 0) space.view(record.virtualAddress, OBJECT_BYTES).set(encodeObject(object));
  return record.virtualAddress;
}

/** @throws Refusal `invalidHandle` */
export function requireObject(space: DeviceAddressSpace, handle: number): void {
  const segment = Number.isSafeInteger(handle) ? space.find(handle) : undefined;
  // Memory that is only declared holds no record to look at.
  const isObject =
    segment?.virtualAddress === handle &&
    segment.permission === 'read' &&
    (segment.offset < 0 ? segment.askedBytes === OBJECT_BYTES : objectAt(space, handle) !== undefined);
  if (!isObject)
    throw new Refusal('invalidHandle', `object: ${handle} is no texture or surface object of the context`);
}
