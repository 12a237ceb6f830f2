/**
 * The environment of a transaction, which stays the same while its code runs: its data, its signatures, and the state
 * of the chain at its block.
 */

import type { ExactJson } from '../../protocol/ledger/json.ts';
import { FREE_OF_CHARGE, type GasModel } from '../gas/model.ts';
import type { QualifiedName } from '../names.ts';
import type { Defun } from '../syntax/tree.ts';
import { Decimal } from '../values/decimal.ts';
import { hashText } from '../values/hash.ts';
import { Time } from '../values/time.ts';
import type { Value } from '../values/values.ts';
import type { Member } from './module.ts';

/** An application of a capability, which can be granted, signed for, and emitted as an event. */
export interface Capability {
  readonly name: QualifiedName;
  readonly args: readonly Value[];
}

/**
 * A key that has signed, with the capabilities to which its signature is limited. Without capabilities, the signature
 * has no limits.
 */
export interface Signature {
  readonly key: string;
  readonly capabilities: readonly Capability[];
}

export interface ChainData {
  readonly chainId: string;
  readonly blockHeight: bigint;
  readonly blockTime: Time;
  readonly previousBlockHash: string;
  readonly sender: string;
  readonly gasLimit: bigint;
  readonly gasPrice: Decimal;
}

/** Decides who may define a namespace, and whether modules may exist outside of all namespaces. */
export interface NamespacePolicy {
  readonly allowsRoot: boolean;
  /** A function of the namespace's name and its admin guard. It returns a bool. */
  readonly policy: Member<Defun>;
}

/**
 * Verifies a proof of what happened on another chain.
 * @returns the content of the proof; undefined if it is not valid
 */
export type ProofCheck = (type: string, proof: Value) => Value | undefined;

/** The inputs of a transaction, which its code cannot change. */
export interface Environment {
  /** A JSON object. */
  readonly data: ExactJson;
  readonly signatures: readonly Signature[];
  /** Capabilities that a verifier of the node has checked, by the verifier's name. */
  readonly verifiers: readonly { readonly name: string; readonly capabilities: readonly Capability[] }[];
  readonly chain: ChainData;
  /** The transaction's hash, in base64url. */
  readonly hash: string;
  readonly flags: ReadonlySet<Flag>;
  readonly namespacePolicy: NamespacePolicy | undefined;
  /** The participant of defpacts for which this node executes private steps. */
  readonly entity: string | undefined;
  /** Whether failures have the messages of nodes, which hide values, instead of those of the interpreter. */
  readonly isOnChain: boolean;
  readonly proofs: ProofCheck;
  readonly gasModel: GasModel;
  /** In units of gas; undefined for no limit. */
  readonly gasLimit: bigint | undefined;
}

/** @returns the capabilities that signatures are limited to */
export function signedCapabilities({ signatures }: Environment): readonly Capability[] {
  return signatures.flatMap(({ capabilities }) => capabilities);
}

export const INITIAL_CHAIN_DATA: ChainData = {
  chainId: '',
  blockHeight: 0n,
  blockTime: new Time(0n),
  previousBlockHash: '',
  sender: '',
  gasLimit: 0n,
  gasPrice: new Decimal(0n, 0),
};

/** The environment of a transaction without data, signatures and chain data, in which gas is free. */
export const INITIAL_ENVIRONMENT: Environment = {
  data: {},
  signatures: [],
  verifiers: [],
  chain: INITIAL_CHAIN_DATA,
  hash: hashText(''),
  flags: new Set(),
  namespacePolicy: undefined,
  entity: undefined,
  isOnChain: false,
  proofs: () => undefined,
  gasModel: FREE_OF_CHARGE,
  gasLimit: undefined,
};

/**
 * The flags that disable rules of the language, in the order of their definition. Flags that only bring back old faults
 * are accepted without effect.
 */
const FLAGS4 = [
  'DisableModuleInstall',
  'DisableHistoryInTransactionalMode',
  'OldReadOnlyBehavior',
  'AllowReadInLocal',
  'PreserveModuleNameBug',
  'PreserveNsModuleInstallBug',
  'DisablePactEvents',
  'PreserveModuleIfacesBug',
  'PreserveShowDefs',
  'DisablePact40',
  'EnforceKeyFormats',
  'DisablePact42',
  'DisableInlineMemCheck',
  'DisablePact43',
  'DisablePact431',
  'DisablePact44',
  'DisableNewTrans',
  'DisablePact45',
  'DisablePact46',
  'DisablePact47',
  'DisableRuntimeReturnTypeChecking',
  'DisablePact48',
  'DisablePact49',
  'DisablePact410',
  'DisablePact411',
  'DisablePact412',
  'DisablePact413',
] as const;

const FLAGS5 = [
  'DisableModuleInstall',
  'DisableHistoryInTransactionalMode',
  'AllowReadInLocal',
  'DisablePactEvents',
  'EnforceKeyFormats',
  'RequireKeysetNs',
  'DisableRuntimeRTC',
  'EnableLegacyEventHashes',
  'DisablePact51',
  'DisablePact52',
  'DisablePact53',
  'DisablePact54',
  'DisableReentrancyCheck',
] as const;

export const FLAGS = { 4: FLAGS4, 5: FLAGS5 } as const;

export type Flag = (typeof FLAGS)[4 | 5][number];
