/**
 * The payment for gas: the sender pays for the whole gas limit before a command, and the miner gets the fee after it.
 */

import { appliedCapability } from '../../contract/capabilities/applied.ts';
import { acquireForTransaction } from '../../contract/capabilities/capabilities.ts';
import { continueDefpact } from '../../contract/defpacts/defpacts.ts';
import { ContractError } from '../../contract/errors.ts';
import type { TreeEvaluator } from '../../contract/evaluator/evaluator.ts';
import { type Capability, type Environment, signedCapabilities } from '../../contract/runtime/environment.ts';
import { findModule, requireModule } from '../../contract/runtime/lookup.ts';
import type { Member } from '../../contract/runtime/module.ts';
import type { Event } from '../../contract/runtime/state.ts';
import type { Defcap } from '../../contract/syntax/tree.ts';
import { hashText } from '../../contract/values/hash.ts';
import { KeysetGuard } from '../../contract/values/values.ts';
import type { Decimal as Coins } from '../../protocol/ledger/decimal.ts';
import { type ExactJson, jsonInteger } from '../../protocol/ledger/json.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';
import type { ReadCommand } from '../commands/command-checks.ts';
import {
  blockEnvironment,
  coinsValue,
  commandEnvironment,
  type ExecutionContext,
  evaluatorOn,
} from './block-environment.ts';
import { formsOfCode, MAX_COMMAND_BYTES } from './code.ts';
import { coinMember, grant } from './coin-contract.ts';
import { contractFault } from './internal-faults.ts';
import { decimalJson, type Failure, failureOf } from './output.ts';

/** A command that no block can contain, because nobody pays for its gas. */
export class BuyGasError extends Error {
  override readonly name = 'BuyGasError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Maximum number of evaluation steps when gas is bought, which take about 20 ms. The purchase runs the guard of the
 * payer and the conditions of a gas station. This code costs no gas, so only the number of its steps is limited.
 */
const MAX_PAYMENT_STEPS = 50_000;
const GAS_PAYER_INTERFACE = 'gas-payer-v1';
const GAS_PAYER = 'GAS_PAYER';
const GAS_PER_BYTE = 0.01;
/**
 * The surcharge for a large command is (gas for its size / `STEEP_FROM_GAS`) to the power of `STEEPNESS`, in units of
 * gas.
 */
const STEEP_FROM_GAS = 512;
const STEEPNESS = 7;

/**
 * @returns the gas for a command's size, in units
 * @throws BuyGasError if the gas limit is lower, or the command is too large
 */
export function payableGas(read: ReadCommand): bigint {
  const { command, payload } = read;
  const gas = gasOfSize(read);
  if (gas > payload.meta.gasLimit || Buffer.byteLength(command.cmd) > MAX_COMMAND_BYTES) {
    // Real nodes have the same misspelling.
    const message = `"${command.hash}" Failed to purchas gas: tx too big for gas limit`;
    throw new BuyGasError({ kind: 'EvalError', message });
  }
  return gas;
}

/** @returns the gas for a command's size without its proof, in units */
export function gasOfSize({ command, payload: { payload } }: ReadCommand): bigint {
  const proofBytes = 'cont' in payload ? (payload.cont.proof ?? '').length : 0;
  const gas = (Buffer.byteLength(command.cmd) - proofBytes) * GAS_PER_BYTE;
  return BigInt(Math.ceil(gas + (gas / STEEP_FROM_GAS) ** STEEPNESS));
}

/**
 * Takes the price of the whole gas limit from the sender.
 * @returns the events of the payment; none in dialect 4, whose outputs do not contain them
 * @throws BuyGasError if the price cannot be paid
 */
export function buyGas(read: ReadCommand, context: ExecutionContext, miner: Miner): readonly Event[] {
  const { meta } = read.payload;
  try {
    const environment = { ...commandEnvironment(read, context, false), data: payerData(read, context) };
    const evaluator = evaluatorOn(context, { ...environment, hash: pactIdOf(read) }, MAX_PAYMENT_STEPS);
    grant(evaluator, 'GAS');
    acquirePayer(evaluator, environment);
    const { account, predicate, publicKeys } = miner;
    const total = coinsValue(BigInt(meta.gasLimit) * meta.gasPrice);
    const args = [meta.sender, account, new KeysetGuard(publicKeys, predicate), total];
    evaluator.applyMember({ member: coinMember(evaluator, 'fund-tx'), args });
    return context.dialect === 4 ? [] : evaluator.state.events;
  } catch (thrown) {
    const error = contractFault(thrown, context.report);
    // Nodes of dialect 5 use one kind for all faults of the payment, and do not shorten the message.
    throw new BuyGasError(
      context.dialect === 4
        ? failureOf(error, 4)
        : { kind: 'EvalError', message: `"${read.command.hash}" Failed to buy gas: ${error.message}` },
    );
  }
}

/**
 * Pays the fee to the miner, and pays the rest of the price back to the sender.
 * @returns the events of the payment
 * @throws BuyGasError if one of the two accounts cannot get its coins, for example because the command has changed the
 *   account's guard. Neither of them is then paid
 */
export function redeemGas(read: ReadCommand, context: ExecutionContext, fee: Coins): readonly Event[] {
  const environment = { ...blockEnvironment(context, pactIdOf(read)), data: { fee: decimalJson(fee) } };
  const evaluator = evaluatorOn(context, environment);
  grant(evaluator, 'GAS');
  try {
    continueDefpact(evaluator, { pactId: pactIdOf(read), step: 1, isRollback: false, resumed: undefined });
  } catch (thrown) {
    throw new BuyGasError(failureOf(contractFault(thrown, context.report), context.dialect));
  }
  return evaluator.state.events;
}

/** @returns the id of the payment's defpact. A defpact that the command itself begins has another id */
function pactIdOf({ command }: ReadCommand): string {
  return hashText(`${command.hash} gas`);
}

/**
 * Acquires the capability of a gas station, if a signer of the command has signed for it. In dialect 4, further such
 * capabilities are ignored; in dialect 5, they are an error.
 * @throws ContractError if the gas station refuses to pay; in dialect 5 also for several such capabilities, or for one
 *   that does not exist
 */
function acquirePayer(evaluator: TreeEvaluator, environment: Environment): void {
  const [capability, ...more] = signedCapabilities(environment).filter(({ name }) => name.member === GAS_PAYER);
  if (!capability) return;
  if (more.length > 0 && evaluator.dialect === 5) throw new ContractError('eval', 'Multiple gas payer capabilities');
  const member = payerOf(evaluator, capability);
  if (!member) return;
  acquireForTransaction(evaluator, appliedCapability(evaluator, { member, args: capability.args }, undefined));
}

/**
 * @returns the capability of a gas station. In dialect 4, only modules with the interface `gas-payer-v1` are gas
 *   stations; for other modules, the result is undefined. In dialect 5, the interface is not necessary
 * @throws ContractError in dialect 5 if the capability does not exist
 */
function payerOf(evaluator: TreeEvaluator, { name }: Capability): Member<Defcap> | undefined {
  if (evaluator.dialect === 5) {
    const { members, hash } = requireModule(evaluator, name.module);
    const member = members.get(name.member);
    if (member?.is('defcap')) return member;
    throw new ContractError('eval', `Module member does not exist ${name.text}.{${hash}}`);
  }
  const module = findModule(evaluator, name.module);
  if (!module?.interfaces.some(({ text }) => text === GAS_PAYER_INTERFACE)) return undefined;
  const member = module.members.get(name.member);
  return member?.is('defcap') ? member : undefined;
}

/** @returns the data about a command that the code of a gas station can read */
function payerData({ payload: { payload } }: ReadCommand, { dialect }: ExecutionContext): ExactJson {
  if ('cont' in payload) {
    const { pactId, step, rollback, data, proof } = payload.cont;
    return {
      'tx-type': 'cont',
      'cont-pact-id': pactId,
      'cont-step': { int: jsonInteger(step) },
      'cont-is-rollback': rollback,
      'cont-user-data': data ?? {},
      'cont-has-proof': proof !== null,
    };
  }
  const { code, data } = payload.exec;
  const forms = formsOfCode(code, dialect).map((form) => form.code.trim());
  return { 'tx-type': 'exec', 'exec-code': forms, 'exec-user-data': data ?? {} };
}
