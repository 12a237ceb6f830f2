/** Runs one command: buys gas, runs its code or its step, and pays the miner. */

import { ContractError } from '../../contract/errors.ts';
import type { Evaluator } from '../../contract/evaluator/evaluator.ts';
import { runTopLevel } from '../../contract/evaluator/top-level.ts';
import { continueFlow } from '../../contract/flows/flows.ts';
import { tableModel } from '../../contract/gas/model.ts';
import type { FlowState } from '../../contract/runtime/flow-state.ts';
import { topLevelOf } from '../../contract/syntax/program.ts';
import { readForms } from '../../contract/syntax/reader.ts';
import { jsonOf } from '../../contract/values/json.ts';
import { isStorable, type Value } from '../../contract/values/values.ts';
import type { ContMessage } from '../../ledger/command/payload.ts';
import type { ExactJson } from '../../ledger/json.ts';
import type { Miner } from '../../ledger/payload.ts';
import { provenFlow } from './arrival.ts';
import { commandEnvironment, dialectOf, evaluatorOn, type Ground } from './environment.ts';
import { buyGas, gasOfSize, payableGas, redeemGas } from './gas-payment.ts';
import { failureOf } from './outcome.ts';
import { continuationJson, type Output } from './output.ts';
import type { ReadCommand } from './read-command.ts';

export type Finished = Omit<Output, 'txId' | 'requestKey' | 'hasLogs'>;

/** Runs a command, and changes the state. @throws BuyGasError if its gas cannot be paid; then the state is as before */
export function runPaid(read: ReadCommand, ground: Ground, miner: Miner): Finished {
  const { gasPrice } = read.payload.meta;
  const initialGas = payableGas(read);
  const paid = { ...ground, state: ground.state.next() };
  buyGas(read, paid, miner);
  const finished = run(read, paid, { initialGas, isLocal: false });
  const fees = redeemGas(read, paid, BigInt(finished.gas) * gasPrice);
  ground.state.absorb(paid.state);
  return { ...finished, events: [...fees, ...(finished.events ?? [])] };
}

/** @throws BuyGasError if the gas of the command cannot be paid now */
export function checkPayment(read: ReadCommand, ground: Ground, miner: Miner): void {
  payableGas(read);
  buyGas(read, { ...ground, state: ground.state.next() }, miner);
}

/** Runs a command without payment, and without effect. In version 5, its size then costs no gas. */
export function runUnpaid(read: ReadCommand, ground: Ground): Finished {
  const initialGas = ground.words === 'old' ? gasOfSize(read) : 0n;
  return run(read, { ...ground, state: ground.state.next() }, { initialGas, isLocal: true });
}

interface Terms {
  /** Gas that the command's size has taken already. */
  readonly initialGas: bigint;
  readonly isLocal: boolean;
}

/** A failure takes all gas, and leaves the state as it was. */
function run(read: ReadCommand, ground: Ground, { initialGas, isLocal }: Terms): Finished {
  const { gasLimit } = read.payload.meta;
  const attempt = { ...ground, state: ground.state.next() };
  try {
    const environment = commandEnvironment(read, ground, isLocal);
    const gasModel = tableModel(environment.flags);
    const evaluator = evaluatorOn(attempt, { ...environment, gasModel, gasLimit: BigInt(gasLimit) });
    evaluator.gas.set(initialGas);
    const data = jsonOfResult(runMessage(read, evaluator, ground));
    ground.state.absorb(attempt.state);
    const { events, flow } = evaluator.state;
    const continuation = flow ? continuationJson(flow) : null;
    return { outcome: { data }, gas: Number(evaluator.gas.used), events, continuation };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return { outcome: { error: failureOf(error, ground.words) }, gas: gasLimit, events: [], continuation: null };
  }
}

function runMessage({ payload: { payload } }: ReadCommand, evaluator: Evaluator, ground: Ground): Value {
  if ('cont' in payload) return continueStep(payload.cont, evaluator, ground);
  const dialect = dialectOf(ground.words);
  const forms = readForms(payload.exec.code, dialect);
  let value: Value | undefined;
  for (const form of forms) value = runTopLevel(evaluator, topLevelOf(form, dialect));
  if (value === undefined) throw new ContractError('eval', 'The code of a command must have an expression');
  return value;
}

function continueStep(message: ContMessage, evaluator: Evaluator, ground: Ground): Value {
  const { pactId, step, rollback } = message;
  const foreign: FlowState | undefined = message.proof === null ? undefined : provenFlow(message.proof, ground);
  return continueFlow(evaluator, { flowId: pactId, step, isRollback: rollback, resumed: foreign?.yielded }, foreign);
}

/** @throws ContractError for a value that cannot be stored, such as a function */
function jsonOfResult(value: Value): ExactJson {
  if (isStorable(value)) return jsonOf(value);
  throw new ContractError('eval', `Only value-level terms permitted: ${value}`);
}
