/** The API of the package: mine with your own source, and with these engines or your own. */

export type { Job } from './chain/job.ts';
export { prepareJob } from './chain/job.ts';
export { joinNonce, type Range, splitNonce } from './chain/nonce.ts';
export { powHash, type Solution, type Verification, verify } from './chain/verify.ts';
export { parseWork, type Work } from './chain/work.ts';
export { CpuEngine, type CpuEngineOptions } from './engine/cpu/cpu-engine.ts';
export {
  type Candidate,
  DeviceError,
  type Engine,
  type EngineInfo,
  type EngineListener,
  type GpuKernelInfo,
  type Ranges,
  type SearchReport,
} from './engine/engine.ts';
export { GpuEngine, type GpuInfo, type GpuOptions } from './engine/gpu/gpu-engine.ts';
export { type Gpu, listGpus } from './engine/gpu/list-gpus.ts';
export type { Telemetry } from './engine/telemetry.ts';
export type { Controls, PauseReason } from './events/controls.ts';
export { Events, type Listener, type MinerEvent } from './events/events.ts';
export { Miner, type MinerOptions } from './mine/miner.ts';
export type { TemperatureLimits } from './mine/thermal-guard.ts';
export type { SourceUpdate, Verdict, WorkSource } from './source/source.ts';
export { userCacheDirectory } from './system/cache.ts';
export { type Clock, systemClock } from './system/clock.ts';
