/**
 * The environment of a transaction: its data, its signatures, and facts about the chain and the block. Only functions
 * of the interactive interpreter can change it.
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

/** A capability with arguments. It can be acquired, signatures can be limited to it, and it can be an event. */
export interface Capability {
  readonly name: QualifiedName;
  readonly args: readonly Value[];
}

/** A signature of the transaction. */
export interface Signature {
  /** The public key. */
  readonly key: string;
  /** The capabilities to which the signature is limited; empty if it has no limits. */
  readonly capabilities: readonly Capability[];
}

/** What the native `chain-data` returns to code. */
export interface ChainData {
  readonly chainId: string;
  readonly blockHeight: bigint;
  readonly blockTime: Time;
  readonly previousBlockHash: string;
  /** The account that pays for the gas. */
  readonly sender: string;
  /** In units of gas. */
  readonly gasLimit: bigint;
  /** In coins for a unit of gas. */
  readonly gasPrice: Decimal;
}

/** The rules for namespaces. */
export interface NamespacePolicy {
  /** Whether new modules can be outside of all namespaces. */
  readonly allowsRoot: boolean;
  /** Gets the name and the admin guard of a new namespace, and returns whether it may be defined. */
  readonly policy: Member<Defun>;
}

/**
 * Checks a proof that something has happened on another chain. The native `verify-spv` calls this function.
 * @param type the kind of the proof
 * @returns the content of the proof; undefined if the proof is not valid
 */
export type ProofCheck = (type: string, proof: Value) => Value | undefined;

/** The inputs of a transaction. */
export interface Environment {
  /**
   * The data that natives such as `read-msg` read. An object, unless `env-data` of dialect 4 has set another JSON
   * value.
   */
  readonly data: ExactJson;
  readonly signatures: readonly Signature[];
  /** The verifiers that have accepted the transaction: the name of each, and the capabilities that it has checked. */
  readonly verifiers: readonly { readonly name: string; readonly capabilities: readonly Capability[] }[];
  readonly chain: ChainData;
  /** The transaction's hash, in base64url. */
  readonly hash: string;
  readonly flags: ReadonlySet<Flag>;
  readonly namespacePolicy: NamespacePolicy | undefined;
  /**
   * The name of this node's participant. Dialect 4 executes the steps of this participant, and skips those of others.
   * If undefined, dialect 4 refuses the steps of single participants. Dialect 5 always refuses them.
   */
  readonly entity: string | undefined;
  /**
   * Whether error messages are those of nodes instead of those of the interactive interpreter. Messages of nodes hide
   * values, unless the flag `DisablePact47` is set.
   */
  readonly isOnChain: boolean;
  readonly proofs: ProofCheck;
  readonly gasModel: GasModel;
  /** The maximum of the gas used, in units of gas; undefined for no maximum. */
  readonly gasLimit: bigint | undefined;
}

/** @returns the `capabilities` of all signatures, in one list */
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
 * The flags of dialect 4, in the order in which `env-exec-config` returns them. Most of them switch off newer rules of
 * the language. Some have no effect here, such as those that would bring back old faults.
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

/** The flags of dialect 5, in the order in which `env-exec-config` returns them. */
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
