/** The package's API. Nothing here logs or prints. docs/library.md explains it, and `examples/` uses it. */

export { type Job, prepareJob } from './chain/job.ts';
export { joinNonce, NO_NONCE1, type Nonce1, type Range, splitNonce } from './chain/nonce.ts';
export { difficultyOf, targetForDifficulty } from './chain/target.ts';
export { powHash, type Solution, type Verification, verify } from './chain/verify.ts';
export { parseWork, type Work, WorkFormatError, type WorkTerms } from './chain/work.ts';
export { CpuEngine, type CpuEngineOptions } from './engine/cpu/cpu-engine.ts';
export type { Telemetry } from './engine/device.ts';
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
export type { Controls, PauseReason } from './events/events.ts';
export { Events, type Listener, type MinerEvent } from './events/events.ts';
export { buildCommand } from './ledger/command/build.ts';
export {
  type CoinCall,
  type CrosschainPayment,
  continueOnTarget,
  gasCapability,
  getBalance,
  getDetails,
  type Keyset,
  type Payment,
  type PaymentToGuard,
  transfer,
  transferCreate,
  transferCrosschain,
} from './ledger/command/coin.ts';
export { type Command, KeyPair, type Signature, verifyCommand } from './ledger/command/command.ts';
export type { Capability, Message, Payload as CommandPayload, PublicMeta, Signer } from './ledger/command/payload.ts';
export type {
  CommandResult,
  Continuation,
  Failure,
  LedgerEvent,
  LocalAnswer,
  Outcome,
  ProofRefusal,
  ResultMeta,
  SendRefusal,
} from './ledger/command/results.ts';
export { type Cut, checkCut, type Head, type Peer, peerIdOf } from './ledger/cut.ts';
export { type Decimal, decimalOf, formatDecimal, parseDecimal } from './ledger/decimal.ts';
export { checkAdjacents, type Graph, type GraphSpan, graphsOfNetwork, knownGraph, onlyGraph } from './ledger/graphs.ts';
export type { Dialect } from './ledger/header.ts';
export {
  type Adjacent,
  type BlockHeader,
  blockHash,
  checkWork,
  encodeHeader,
  parseHeader,
} from './ledger/header.ts';
export {
  decodeBase64url,
  type ExactJson,
  type ExactJsonObject,
  encodeBase64url,
  JsonNumber,
  LedgerFormatError,
  parseExactJson,
  stringifyExactJson,
} from './ledger/json.ts';
export type { MerkleStep } from './ledger/merkle.ts';
export {
  type Payload,
  type PayloadRoots,
  type PayloadWithOutputs,
  type Proven,
  provePayload,
} from './ledger/payload.ts';
export { type BlockReward, rewardOf } from './ledger/reward.ts';
export { checkSpvProof, parseSpvProof, type SpvProof } from './ledger/spv-proof.ts';
export type { TemperatureLimits } from './mine/device-health.ts';
export { Miner, type MinerOptions } from './mine/miner.ts';
export { GenesisError } from './mock-node/genesis-error.ts';
export { MockNode } from './mock-node/lazy-mock-node.ts';
export type { MockNodeAddress } from './mock-node/mock-node.ts';
export type { MockNodeOptions } from './mock-node/options.ts';
export { readCredentials } from './nats/credentials.ts';
export type { Credentials, Link, LinkMessage, LinkSettings, LinkState } from './nats/link.ts';
export { type LinkContext, NatsLink } from './nats/nats-link.ts';
export type { Trust } from './net/trust.ts';
export type { Block, BranchBounds, CutQuery } from './node/blocks.ts';
export { type LocalOptions, type PollOptions, ProofRefusedError, SendRefusedError } from './node/commands.ts';
export { NodeError, type NodeErrorDetails, type NodeErrorKind } from './node/errors.ts';
export type { NodeInfo, PeersQuery } from './node/info.ts';
export type { ApiLimits } from './node/limits.ts';
export type { MinerIdentity } from './node/miner-identity.ts';
export { NodeApi, type NodeApiContext, type NodeApiOptions } from './node/node-api.ts';
export type { PayloadPlace, PayloadQuery } from './node/payloads.ts';
export type { DialectSetting, HeightRange } from './node/request.ts';
export { FleetRelay, type FleetRelayOptions } from './relay/fleet/fleet-relay.ts';
export { type Judgement, type Relay, RelayedWorks, type RelayedWorksOptions, type RelayLog } from './relay/relay.ts';
export { type StratumOptions, StratumRelay } from './relay/stratum/server.ts';
export type { DeviceCounts, DeviceStatus, RigStatus, Summary } from './report/status.ts';
export { Tally } from './report/tally.ts';
export { formatHashrate } from './report/units.ts';
export { type FailoverOptions, FailoverSource } from './source/failover.ts';
export { FleetSource, type FleetSourceOptions } from './source/fleet/fleet-source.ts';
export {
  NodeSource,
  type NodeSourceContext,
  type NodeSourceOptions,
} from './source/node/node-source.ts';
export {
  PoolSource,
  type PoolSourceContext,
  type PoolSourceOptions,
} from './source/pool/pool-source.ts';
export { SharedSource } from './source/shared-source.ts';
export {
  type Judge,
  type SourceUpdate,
  type UpdateListener,
  updatesOf,
  type Verdict,
  type WorkSource,
} from './source/source.ts';
export { type Clock, systemClock } from './system/clock.ts';
export { userCacheDirectory } from './system/files.ts';
export { FleetSubjects } from './wire/fleet.ts';
