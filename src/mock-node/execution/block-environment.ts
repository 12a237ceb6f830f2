/** The environment in which the contract language runs a command of a block. */

import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import { TreeEvaluator } from '../../contract/evaluator/evaluator.ts';
import { ModuleName, QualifiedName } from '../../contract/names.ts';
import { NATIVES } from '../../contract/natives/natives.ts';
import {
  type Environment,
  type Flag,
  INITIAL_ENVIRONMENT,
  type NamespacePolicy,
  type Signature,
} from '../../contract/runtime/environment.ts';
import { Decimal } from '../../contract/values/decimal.ts';
import { valueOfJson } from '../../contract/values/json.ts';
import { Time } from '../../contract/values/time.ts';
import type { Storable } from '../../contract/values/values.ts';
import type { Capability, Signer } from '../../protocol/ledger/command/command-payload.ts';
import { type Decimal as Coins, formatDecimal } from '../../protocol/ledger/decimal.ts';
import type { ExactJson } from '../../protocol/ledger/json.ts';
import type { ReadCommand } from '../commands/command-checks.ts';
import type { Block } from '../ledger/block-store.ts';
import type { ChainState } from './chain-state.ts';

/** The place where a command runs: a new block above `parent`. */
export interface ExecutionContext {
  readonly state: ChainState;
  readonly chain: number;
  readonly dialect: Dialect;
  /** The parent of the new block. Code gets the creation time of this parent as the time of the block. */
  readonly parent: Block;
  /** Whether the block with this hash (as text) is an ancestor of the new block. */
  readonly hasAncestor: (id: string) => boolean;
  /** Called with a fault of the evaluator itself. */
  readonly report: (fault: unknown) => void;
}

/** Flags for all code on nodes: keys must have a valid format, and keysets must be in a namespace. */
const KEYSET_FLAGS: readonly Flag[] = ['EnforceKeyFormats', 'RequireKeysetNs'];
/** The flags of code in blocks. */
const FLAGS: ReadonlySet<Flag> = new Set([...KEYSET_FLAGS, 'DisableHistoryInTransactionalMode']);
/** The flags of commands that run without payment (`runUnpaid`). Their code may read tables of all modules. */
const LOCAL_FLAGS: ReadonlySet<Flag> = new Set([...KEYSET_FLAGS, 'AllowReadInLocal']);

/** Before a namespace is defined, nodes call the function `validate` of the module `ns`. */
const POLICY_MODULE = new ModuleName('ns');
const POLICY = 'validate';

/**
 * Maximum number of evaluation steps of one command, which take up to three seconds. The gas limit ends most commands
 * earlier. But gas does not count every operation, and `/local` without a preflight accepts any gas limit.
 */
export const MAX_NODE_STEPS = 1_000_000;

/** @returns an evaluator whose code reads and changes the given state */
export function evaluatorOn(
  { state: { database }, dialect }: Pick<ExecutionContext, 'state' | 'dialect'>,
  environment: Environment,
  maxSteps = MAX_NODE_STEPS,
): TreeEvaluator {
  return new TreeEvaluator({ dialect, natives: NATIVES, environment, database, maxSteps });
}

/**
 * @returns the rule of nodes for namespaces: the module `ns` decides which namespaces may be defined, and new modules
 *   and keysets must be in a namespace. Undefined if the state does not have the module `ns`
 */
function policyIn({ database }: ChainState): NamespacePolicy | undefined {
  const policy = database.modules.get(POLICY_MODULE.text)?.members.get(POLICY);
  return policy?.is('defun') ? { allowsRoot: false, policy } : undefined;
}

/** @returns the environment of code in a new block, without sender and signatures */
export function blockEnvironment({ chain, parent }: ExecutionContext, hash: string, flags = FLAGS): Environment {
  return {
    ...INITIAL_ENVIRONMENT,
    hash,
    flags,
    isOnChain: true,
    chain: {
      ...INITIAL_ENVIRONMENT.chain,
      chainId: String(chain),
      blockHeight: parent.header.height + 1n,
      blockTime: new Time(parent.header.creationTimeUs),
      previousBlockHash: parent.id,
    },
  };
}

/** @param isLocal whether the command runs without payment (`runUnpaid`) */
export function commandEnvironment(
  { command, payload }: ReadCommand,
  context: ExecutionContext,
  isLocal: boolean,
): Environment {
  const { meta, signers, payload: message } = payload;
  const environment = blockEnvironment(context, command.hash, isLocal ? LOCAL_FLAGS : FLAGS);
  const { sender, gasLimit, gasPrice } = meta;
  return {
    ...environment,
    namespacePolicy: policyIn(context.state),
    data: dataOf('cont' in message ? message.cont.data : message.exec.data, context.dialect),
    signatures: signers.map((signer) => signatureOf(signer, context.dialect)),
    chain: { ...environment.chain, sender, gasLimit: BigInt(gasLimit), gasPrice: coinsValue(gasPrice) },
  };
}

export function coinsValue(amount: Coins): Decimal {
  const value = Decimal.parse(formatDecimal(amount));
  if (!value) throw new TypeError(`${amount} is no amount`);
  return value;
}

/** @returns the data, which need not be an object in dialect 5 */
function dataOf(data: ExactJson, dialect: Dialect): ExactJson {
  return dialect === 4 ? (data ?? {}) : data;
}

function signatureOf({ pubKey, addr, clist = [] }: Signer, dialect: Dialect): Signature {
  return { key: addr ?? pubKey, capabilities: clist.map((each) => capabilityOf(each, dialect)) };
}

/** @throws ContractError if the name is not qualified, or if an argument is not a value of the contract language */
function capabilityOf(
  { name, args }: Capability,
  dialect: Dialect,
): { name: QualifiedName; args: readonly Storable[] } {
  const qualified = QualifiedName.parse(name);
  if (!qualified) throw new ContractError('eval', `Invalid capability name: ${name}`);
  const values = args.map((arg) => {
    const value = valueOfJson(arg, dialect);
    if (value === undefined) throw new ContractError('eval', `Invalid argument of the capability ${name}`);
    return value;
  });
  return { name: qualified, args: values };
}
