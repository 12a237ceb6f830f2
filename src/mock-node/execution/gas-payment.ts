/** Pays for gas: buys it before a command, and pays the miner after the command. */

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
 * Maximum number of steps of the payment for gas: some twenty milliseconds. The payment is free of gas. It runs the
 * payer's guard and the conditions of gas stations.
 */
const MAX_PAYMENT_STEPS = 50_000;
const GAS_PAYER_INTERFACE = 'gas-payer-v1';
const GAS_PAYER = 'GAS_PAYER';
const GAS_PER_BYTE = 0.01;
/** From this gas for its size on, a command becomes expensive: the surcharge grows with this power. */
const STEEP_FROM_GAS = 512;
const STEEPNESS = 7;

/** @returns the gas for a command's size, in units @throws BuyGasError if the command's gas limit is lower */
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

/**
 * Takes the price of all gas that the command may use from its sender.
 * @returns the events of the purchase, which outputs contain since version 5
 * @throws BuyGasError
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
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    // The newest nodes have one kind for all faults of payers, and show the whole message.
    throw new BuyGasError(
      context.dialect === 4
        ? failureOf(error, 4)
        : { kind: 'EvalError', message: `"${read.command.hash}" Failed to buy gas: ${error.message}` },
    );
  }
}

/**
 * Pays the fee to the miner, and the rest back to the sender.
 * @returns the events of the payment
 * @throws BuyGasError if an account refuses the coins, because the command has changed its guard: then nobody is paid
 */
export function redeemGas(read: ReadCommand, context: ExecutionContext, fee: Coins): readonly Event[] {
  const environment = { ...blockEnvironment(context, pactIdOf(read)), data: { fee: decimalJson(fee) } };
  const evaluator = evaluatorOn(context, environment);
  grant(evaluator, 'GAS');
  try {
    continueDefpact(evaluator, { pactId: pactIdOf(read), step: 1, isRollback: false, resumed: undefined });
  } catch (error) {
    if (error instanceof ContractError) throw new BuyGasError(failureOf(error, context.dialect));
    throw error;
  }
  return evaluator.state.events;
}

/** The payment is a defpact of its own, apart from one that the command may begin. */
function pactIdOf({ command }: ReadCommand): string {
  return hashText(`${command.hash} gas`);
}

/**
 * Acquires the signed capability of a gas station. Before version 5, only the first signed one counts.
 * @throws ContractError if the gas station refuses
 */
function acquirePayer(evaluator: TreeEvaluator, environment: Environment): void {
  const [capability, ...more] = signedCapabilities(environment).filter(({ name }) => name.member === GAS_PAYER);
  if (!capability) return;
  if (more.length > 0 && evaluator.dialect === 5) throw new ContractError('eval', 'Multiple gas payer capabilities');
  const member = payerOf(evaluator, capability);
  if (!member) return;
  acquireForTransaction(evaluator, appliedCapability(evaluator, { member, args: capability.args }, undefined));
}

/** Since version 5, a module can be a gas station without the interface. */
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

/** @returns the facts about a command that its gas station can read */
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
