/** What a device is and how it hashes, as results say it. */

import type { Engine, EngineInfo } from '../engine/engine.ts';
import type { DeviceIdentity } from './result.ts';

export function identityOf(
  { name, kind }: Engine,
  { model, kernel, threads, cores, bus, gpu }: EngineInfo,
): DeviceIdentity {
  if (kind === 'cpu') {
    return { kind: 'cpu', name, model, kernel, threads: threads ?? null, cores: cores ? [...cores] : null };
  }
  return {
    kind: 'gpu',
    name,
    model,
    bus: bus ?? null,
    driver: gpu?.driver ?? null,
    kernel,
    variant: gpu?.variant ?? null,
    workgroupSize: gpu?.workgroupSize ?? null,
    noncesPerInvocation: gpu?.noncesPerInvocation ?? null,
    batchSeconds: gpu === undefined ? null : gpu.batchMs / 1000,
  };
}
