/** The package's API. docs/library.md explains it, and `examples/` uses it. None of its functions logs or prints. */

export { type Paid, PayError, type PayOptions, pay } from './app/nodes/pay.ts';
export type { Trust } from './base/net/tls-trust.ts';
export { type Clock, systemClock } from './base/system/clock.ts';
export { userCacheDirectory } from './base/system/files.ts';
export type {
  Expectation as ContractExpectation,
  Failure as ContractFailure,
  Place as ContractPlace,
} from './contract/repl/result.ts';
export {
  type ContractOptions,
  type ContractResult,
  type ContractSignature,
  runContract,
} from './contract/repl/run-contract.ts';
export { FleetRelay, type FleetRelayOptions } from './fleet/coordinator/fleet-relay.ts';
export { readCredentials } from './fleet/nats/credentials.ts';
export type { Credentials, Link, LinkMessage, LinkSettings, LinkState } from './fleet/nats/link.ts';
export { type LinkContext, NatsLink } from './fleet/nats/nats-link.ts';
export { FleetSource, type FleetSourceOptions } from './fleet/rig/fleet-source.ts';
export { FleetSubjects } from './fleet/subjects.ts';
export { CpuEngine, type CpuEngineOptions } from './miner/engine/cpu/cpu-engine.ts';
export type { Telemetry } from './miner/engine/device.ts';
export {
  type Candidate,
  DeviceError,
  type Engine,
  type EngineInfo,
  type EngineListener,
  type GpuKernelInfo,
  type Ranges,
  type SearchReport,
} from './miner/engine/engine.ts';
export { GpuEngine, type GpuInfo, type GpuOptions } from './miner/engine/gpu/gpu-engine.ts';
export { type Gpu, listGpus } from './miner/engine/gpu/list-gpus.ts';
export type { Controls, PauseReason } from './miner/events/events.ts';
export { Events, type Listener, type MinerEvent } from './miner/events/events.ts';
export { Miner, type MinerOptions } from './miner/loop/miner.ts';
export type { TemperatureLimits } from './miner/loop/thermal-guard.ts';
export {
  type Judgement,
  type Relay,
  RelayedWorks,
  type RelayedWorksOptions,
  type RelayLog,
} from './miner/relay/relay.ts';
export { type StratumOptions, StratumRelay } from './miner/relay/stratum/stratum-server.ts';
export { type FailoverOptions, FailoverSource } from './miner/source/failover.ts';
export { SharedSource, updatesOf } from './miner/source/following.ts';
export {
  NodeSource,
  type NodeSourceContext,
  type NodeSourceOptions,
} from './miner/source/node/node-source.ts';
export {
  PoolSource,
  type PoolSourceContext,
  type PoolSourceOptions,
} from './miner/source/pool/pool-source.ts';
export type {
  Judge,
  SourceUpdate,
  UpdateListener,
  Verdict,
  WorkSource,
} from './miner/source/source.ts';
export { type DevAccount, devAccounts } from './mock-node/dev-accounts.ts';
export { GenesisError } from './mock-node/genesis-error.ts';
export { MockNode } from './mock-node/lazy-mock-node.ts';
export type { MockNodeAddress } from './mock-node/mock-node.ts';
export type { MockNodeOptions } from './mock-node/options.ts';
export { StateError } from './mock-node/state-error.ts';
export type { Block, BranchBounds, CutQuery } from './node/client/blocks.ts';
export { type LocalOptions, type PollOptions, ProofRefusedError, SendRefusedError } from './node/client/commands.ts';
export type { NodeInfo, PeersQuery } from './node/client/info.ts';
export type { MinerIdentity } from './node/client/miner-identity.ts';
export { NodeApi, type NodeApiContext, type NodeApiOptions } from './node/client/node-api.ts';
export type { PayloadPlace, PayloadQuery } from './node/client/payloads.ts';
export { NodeError, type NodeErrorDetails, type NodeErrorKind } from './node/http/node-error.ts';
export type { DialectSetting, HeightRange } from './node/http/request.ts';
export type { ApiLimits } from './node/http/request-limits.ts';
export { type Job, prepareJob } from './protocol/chain/job.ts';
export { joinNonce, NO_NONCE1, type Nonce1, type Range, splitNonce } from './protocol/chain/nonce.ts';
export { difficultyOf, targetForDifficulty } from './protocol/chain/target.ts';
export { powHash, type Solution, type Verification, verify } from './protocol/chain/verify.ts';
export { parseWork, type Work, WorkFormatError, type WorkTerms } from './protocol/chain/work.ts';
export { buildCommand } from './protocol/ledger/command/build.ts';
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
} from './protocol/ledger/command/coin.ts';
export { type Command, KeyPair, type Signature, verifyCommand } from './protocol/ledger/command/command.ts';
export type {
  Capability,
  Message,
  Payload as CommandPayload,
  PublicMeta,
  Signer,
} from './protocol/ledger/command/command-payload.ts';
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
} from './protocol/ledger/command/results.ts';
export { type Cut, checkCut, type Head, type Peer, peerIdOf } from './protocol/ledger/cut.ts';
export { type Decimal, decimalOf, formatDecimal, parseDecimal } from './protocol/ledger/decimal.ts';
export {
  checkAdjacents,
  type Graph,
  type GraphSpan,
  graphsOfNetwork,
  knownGraph,
  onlyGraph,
} from './protocol/ledger/graphs.ts';
export type { Dialect } from './protocol/ledger/header.ts';
export {
  type Adjacent,
  type BlockHeader,
  blockHash,
  checkWork,
  encodeHeader,
  parseHeader,
} from './protocol/ledger/header.ts';
export {
  decodeBase64url,
  type ExactJson,
  type ExactJsonObject,
  encodeBase64url,
  JsonNumber,
  LedgerFormatError,
  parseExactJson,
  stringifyExactJson,
} from './protocol/ledger/json.ts';
export type { MerkleStep } from './protocol/ledger/merkle.ts';
export {
  type Payload,
  type PayloadRoots,
  type PayloadWithOutputs,
  type Proven,
  provePayload,
} from './protocol/ledger/payload.ts';
export { type BlockReward, rewardOf } from './protocol/ledger/reward.ts';
export { checkSpvProof, parseSpvProof, type SpvProof } from './protocol/ledger/spv-proof.ts';
export type { DeviceCounts, DeviceStatus, RigStatus, Summary } from './rig/status/status.ts';
export { Tally } from './rig/status/tally.ts';
export { formatHashrate } from './rig/status/units.ts';
