/** Buys gas before a command, and pays the miner after it. */

import { appliedCapability } from '../../contract/capabilities/applied.ts';
import { grantForTransaction } from '../../contract/capabilities/capabilities.ts';
import type { Dialect } from '../../contract/dialect.ts';
import { ContractError } from '../../contract/errors.ts';
import type { Evaluator } from '../../contract/evaluator/evaluator.ts';
import { continueFlow } from '../../contract/flows/flows.ts';
import { type Capability, type Environment, signedCapabilities } from '../../contract/runtime/environment.ts';
import { findModule } from '../../contract/runtime/lookup.ts';
import type { Callable, Member } from '../../contract/runtime/module.ts';
import type { Event } from '../../contract/runtime/state.ts';
import { readForms } from '../../contract/syntax/reader.ts';
import { hashText } from '../../contract/values/hash.ts';
import { KeysetGuard } from '../../contract/values/values.ts';
import type { Decimal as Coins } from '../../ledger/decimal.ts';
import { type ExactJson, jsonInteger } from '../../ledger/json.ts';
import type { Miner } from '../../ledger/payload.ts';
import { coinMember, grant } from './coin.ts';
import type { ReadCommand } from './command-checks.ts';
import { blockEnvironment, coinsValue, commandEnvironment, type ExecutionContext, evaluatorOn } from './environment.ts';
import { decimalJson, type Failure, failureOf } from './output.ts';

/** A command cannot be in a block at all, because nobody would pay for it. */
export class BuyGasError extends Error {
  override readonly name = 'BuyGasError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Maximum number of steps of the payment for gas, which itself is free: the guard of the payer and the conditions of
 * gas stations. They take some twenty milliseconds.
 */
const MAX_PAYMENT_STEPS = 50_000;
const GAS_PAYER_INTERFACE = 'gas-payer-v1';
const GAS_PAYER = 'GAS_PAYER';
const GAS_PER_BYTE = 0.01;
/** With more gas than this for its bytes, a command becomes expensive, with this power. */
const STEEP_FROM_GAS = 512;
const STEEPNESS = 7;
/** Far longer than any proof of real nodes. */
const MAX_COMMAND_BYTES = 300_000;

/** @returns the gas for a command's size, which its sender must allow, in units @throws BuyGasError */
export function payableGas(read: ReadCommand): bigint {
  const { command, payload } = read;
  const gas = gasOfSize(read);
  if (gas > payload.meta.gasLimit || Buffer.byteLength(command.cmd) > MAX_COMMAND_BYTES) {
    // The misspelling is real nodes'.
    const message = `"${command.hash}" Failed to purchas gas: tx too big for gas limit`;
    throw new BuyGasError({ kind: 'EvalError', message });
  }
  return gas;
}

/** @returns the gas for a command's size, apart from its proof, in units */
export function gasOfSize({ command, payload: { payload } }: ReadCommand): bigint {
  const proofBytes = 'cont' in payload ? (payload.cont.proof ?? '').length : 0;
  const gas = (Buffer.byteLength(command.cmd) - proofBytes) * GAS_PER_BYTE;
  return BigInt(Math.ceil(gas + (gas / STEEP_FROM_GAS) ** STEEPNESS));
}

/** Takes the price of all gas that the command may use from its sender. @throws BuyGasError */
export function buyGas(read: ReadCommand, context: ExecutionContext, miner: Miner): void {
  const { meta } = read.payload;
  try {
    const environment = { ...commandEnvironment(read, context, false), data: payerData(read, context) };
    const evaluator = evaluatorOn(context, { ...environment, hash: flowIdOf(read) }, MAX_PAYMENT_STEPS);
    grant(evaluator, 'GAS');
    acquirePayers(evaluator, environment);
    const { account, predicate, publicKeys } = miner;
    const total = coinsValue(BigInt(meta.gasLimit) * meta.gasPrice);
    const args = [meta.sender, account, new KeysetGuard(publicKeys, predicate), total];
    evaluator.applyMember({ member: coinMember(evaluator, 'fund-tx'), args });
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    // The newest nodes have one kind for all faults of payers, and say all of it.
    throw new BuyGasError(
      context.dialect === 4
        ? failureOf(error, 4)
        : { kind: 'EvalError', message: `"${read.command.hash}" Failed to buy gas: ${error.message}` },
    );
  }
}

/**
 * Gives the miner the fee, and the rest back to the sender.
 * @returns what the node tells of it
 * @throws BuyGasError if an account refuses the coins, because the command has changed its guard: then nobody is paid
 */
export function redeemGas(read: ReadCommand, context: ExecutionContext, fee: Coins): readonly Event[] {
  const environment = { ...blockEnvironment(context, flowIdOf(read)), data: { fee: decimalJson(fee) } };
  const evaluator = evaluatorOn(context, environment);
  grant(evaluator, 'GAS');
  try {
    continueFlow(evaluator, { flowId: flowIdOf(read), step: 1, isRollback: false, resumed: undefined });
  } catch (error) {
    if (error instanceof ContractError) throw new BuyGasError(failureOf(error, context.dialect));
    throw error;
  }
  return evaluator.state.events;
}

/** The payment is a flow of its own, beside the one that the command may begin. */
function flowIdOf({ command }: ReadCommand): string {
  return hashText(`${command.hash} gas`);
}

/** Acquires the capabilities of gas stations for which somebody has signed. @throws ContractError if one refuses */
function acquirePayers(evaluator: Evaluator, environment: Environment): void {
  const signed = signedCapabilities(environment);
  for (const capability of signed.filter(({ name }) => name.member === GAS_PAYER)) {
    const member = payerOf(evaluator, capability);
    if (!member) continue;
    grantForTransaction(evaluator, appliedCapability(evaluator, { member, args: capability.args }, undefined));
  }
}

function payerOf(evaluator: Evaluator, { name }: Capability): Member<Callable> | undefined {
  const module = findModule(evaluator, name.module);
  if (!module?.interfaces.some(({ text }) => text === GAS_PAYER_INTERFACE)) return undefined;
  const member = module.members.get(name.member);
  return member?.is('defcap') ? member : undefined;
}

/** @returns what a gas station can read about the command for which it is to pay */
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
  return { 'tx-type': 'exec', 'exec-code': formsOf(code, dialect), 'exec-user-data': data ?? {} };
}

/** Code that cannot be read is paid for, too, and fails then. */
function formsOf(code: string, dialect: Dialect): readonly string[] {
  try {
    return readForms(code, dialect).map((form) => form.code.trim());
  } catch (error) {
    if (error instanceof ContractError) return [code];
    throw error;
  }
}
