/** Runs one command: buys gas, runs the code or the step of a defpact, and pays the miner. */

import { continueDefpact } from '../../contract/defpacts/defpacts.ts';
import { ContractError } from '../../contract/errors.ts';
import type { TreeEvaluator } from '../../contract/evaluator/evaluator.ts';
import { runTopLevel } from '../../contract/evaluator/top-level.ts';
import { tableModel } from '../../contract/gas/model.ts';
import type { DefpactState } from '../../contract/runtime/defpact-state.ts';
import { topLevelOf } from '../../contract/syntax/program.ts';
import { jsonOf } from '../../contract/values/json.ts';
import { isStorable, type Value } from '../../contract/values/values.ts';
import type { ContMessage } from '../../protocol/ledger/command/command-payload.ts';
import type { ExactJson } from '../../protocol/ledger/json.ts';
import type { Miner } from '../../protocol/ledger/payload.ts';
import type { ReadCommand } from '../commands/command-checks.ts';
import { commandEnvironment, type ExecutionContext, evaluatorOn } from './block-environment.ts';
import { formsOfCode } from './code.ts';
import { provenDefpact } from './continuation-proof.ts';
import { buyGas, gasOfSize, payableGas, redeemGas } from './gas-payment.ts';
import { contractFault } from './internal-faults.ts';
import { continuationJson, failureOf, type Output } from './output.ts';

export type Finished = Omit<Output, 'txId' | 'requestKey' | 'hasLogs'>;

/** The miner who gets the fee if a command is only tried. The state with this payment is dropped. */
export const NO_MINER: Miner = { account: 'NoMiner', predicate: 'keys-all', publicKeys: [] };

/**
 * Runs a command, which changes the state.
 * @throws BuyGasError if the gas cannot be paid. The state is then unchanged
 */
export function runPaid(read: ReadCommand, context: ExecutionContext, miner: Miner): Finished {
  const { gasPrice } = read.payload.meta;
  const initialGas = payableGas(read);
  const paid = { ...context, state: context.state.next() };
  const bought = buyGas(read, paid, miner);
  const finished = run(read, paid, { initialGas, isLocal: false });
  const fees = redeemGas(read, paid, BigInt(finished.gas) * gasPrice);
  context.state.absorb(paid.state);
  const own = finished.events ?? [];
  // In dialect 4, the event of the fee comes before the events of the code.
  return { ...finished, events: context.dialect === 4 ? [...bought, ...fees, ...own] : [...bought, ...own, ...fees] };
}

/** @throws BuyGasError if the gas of the command cannot be paid on this state */
export function checkPayment(read: ReadCommand, context: ExecutionContext): void {
  payableGas(read);
  buyGas(read, { ...context, state: context.state.next() }, NO_MINER);
}

/** Runs a command without payment, and without changing the state. The command's size costs gas only in dialect 4. */
export function runUnpaid(read: ReadCommand, context: ExecutionContext): Finished {
  const initialGas = context.dialect === 4 ? gasOfSize(read) : 0n;
  return run(read, { ...context, state: context.state.next() }, { initialGas, isLocal: true });
}

interface Terms {
  /** Gas for the command's size. */
  readonly initialGas: bigint;
  readonly isLocal: boolean;
}

/**
 * Runs the code or the step of a command. A failed command uses its whole gas limit, and leaves the state as it was.
 */
function run(read: ReadCommand, context: ExecutionContext, { initialGas, isLocal }: Terms): Finished {
  const { gasLimit } = read.payload.meta;
  const attempt = { ...context, state: context.state.next() };
  try {
    const environment = commandEnvironment(read, context, isLocal);
    const gasModel = tableModel(environment.flags);
    const evaluator = evaluatorOn(attempt, { ...environment, gasModel, gasLimit: BigInt(gasLimit) });
    evaluator.gas.set(initialGas);
    const data = jsonOfResult(runMessage(read, evaluator, context));
    context.state.absorb(attempt.state);
    const { events, defpact } = evaluator.state;
    const continuation = defpact ? continuationJson(defpact) : null;
    return { outcome: { data }, gas: Number(evaluator.gas.used), events, continuation };
  } catch (thrown) {
    const error = failureOf(contractFault(thrown, context.report), context.dialect);
    return { outcome: { error }, gas: gasLimit, events: [], continuation: null };
  }
}

function runMessage({ payload: { payload } }: ReadCommand, evaluator: TreeEvaluator, context: ExecutionContext): Value {
  if ('cont' in payload) return continueStep(payload.cont, evaluator, context);
  const { dialect } = context;
  let value: Value | undefined;
  for (const form of formsOfCode(payload.exec.code, dialect)) value = runTopLevel(evaluator, topLevelOf(form, dialect));
  if (value === undefined) throw new ContractError('eval', 'The code of a command must have an expression');
  return value;
}

function continueStep(message: ContMessage, evaluator: TreeEvaluator, context: ExecutionContext): Value {
  const { pactId, step, rollback } = message;
  const foreign: DefpactState | undefined = message.proof === null ? undefined : provenDefpact(message.proof, context);
  return continueDefpact(evaluator, { pactId, step, isRollback: rollback, resumed: foreign?.yielded }, foreign);
}

/** @throws ContractError for a value that cannot be stored, such as a function */
function jsonOfResult(value: Value): ExactJson {
  if (isStorable(value)) return jsonOf(value);
  throw new ContractError('eval', `Only value-level terms permitted: ${value}`);
}
