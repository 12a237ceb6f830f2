/** `pickaxe tx show`: explains the commands in a file, signed or still without some signatures. */

import { EXIT } from '../../../app/process/exit.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { formatDuration } from '../../../rig/status/units.ts';
import type { Io } from '../../io.ts';
import { parseTransactions, readInput } from './command-files.ts';
import { explain, type ShownSigner, type ShownTransaction } from './explain.ts';
import { row } from './results.ts';

/**
 * @returns the exit code: failed if a command is wrong, but not if only signatures are missing
 * @throws UsageError, RequestFileError or LedgerFormatError for a file without commands
 */
export async function runTxShow(file: string, { json }: { readonly json: boolean }, io: Io): Promise<number> {
  const now = io.now();
  const transactions = parseTransactions(await readInput(file, io)).map((each) => explain(each, now));
  if (json) io.out(`${JSON.stringify({ transactions })}\n`);
  else io.out(`${transactions.map((each) => explainedLines(each, now).join('\n')).join('\n\n')}\n`);
  return transactions.some(({ verdict }) => verdict === 'wrong') ? EXIT.failed : EXIT.done;
}

type Content = NonNullable<ShownTransaction['content']>;
type Capability = ShownSigner['capabilities'][number];

/**
 * Texts of the transaction are made safe to print, because others may have written them.
 * @param now milliseconds since 1970
 * @returns lines that explain a transaction to people
 */
export function explainedLines({ hash, verdict, reason, signers, content, warnings }: ShownTransaction, now: number) {
  const missing = signers.filter(({ isSigned }) => !isSigned).length;
  return [
    row('command', oneLine(hash)),
    row('state', stateText(verdict, reason, missing)),
    ...(content ? contentLines(content, now) : []),
    ...signers.flatMap(signerLines),
    ...warnings.map((warning) => row('warning', oneLine(warning))),
  ];
}

function stateText(verdict: ShownTransaction['verdict'], reason: string | null, missing: number): string {
  switch (verdict) {
    case 'valid':
      return 'complete: the hash and all signatures are right';
    case 'signatures-missing':
      return `${missing === 1 ? '1 signature is' : `${missing} signatures are`} missing; all else is right`;
    case 'not-checkable':
      return `not checkable: ${oneLine(reason ?? '')}`;
    case 'wrong':
      return `WRONG: ${oneLine(reason ?? '')}`;
  }
}

function contentLines({ network, runs, continues, meta }: Content, now: number): string[] {
  const chain = meta?.chain ? `, chain ${oneLine(meta.chain)}` : '';
  const lines = [row('network', `${network === null ? 'none' : oneLine(network)}${chain}`)];
  if (runs) {
    lines.push(
      ...runs.code.split('\n').map((line, i) => row(i === 0 ? 'runs' : '', oneLine(line))),
      ...dataRow(runs.data),
    );
  }
  if (continues) {
    const { requestKey, step, rollsBack, hasProof, data } = continues;
    const what = rollsBack ? `rolls back step ${step} of` : `runs step ${step} of`;
    lines.push(row('continues', `${what} ${oneLine(requestKey)}${hasProof ? ', with a proof' : ''}`), ...dataRow(data));
  }
  if (!meta) return lines;
  const { gasPayer, gasLimit, gasPrice, mostGasCost, createdMillis, endsMillis } = meta;
  const payer = gasPayer === '' ? 'nobody' : oneLine(gasPayer);
  lines.push(
    row('gas', `at most ${mostGasCost}, paid by ${payer} (${gasLimit} units at ${gasPrice})`),
    row('valid', `from ${momentOf(createdMillis)} to ${momentOf(endsMillis)} (${leftText(endsMillis - now)})`),
  );
  return lines;
}

function dataRow(data: unknown): string[] {
  const isEmpty = data === null || (typeof data === 'object' && Object.keys(data).length === 0);
  return isEmpty ? [] : [row('data', oneLine(JSON.stringify(data)))];
}

function leftText(milliseconds: number): string {
  const time = formatDuration(Math.abs(milliseconds) / 1000);
  return milliseconds > 0 ? `${time} left` : `over since ${time}`;
}

function signerLines({ publicKey, isSigned, signsForEverything, capabilities }: ShownSigner): string[] {
  const everything = signsForEverything ? ', for EVERYTHING that the command does' : '';
  return [
    row('signer', `${oneLine(publicKey)} ${isSigned ? 'has signed' : 'has NOT signed'}${everything}`),
    ...capabilities.map((capability) => row('', `  ${capabilityText(capability)}`)),
  ];
}

/** @returns a capability about coins in words, and any other capability as code */
function capabilityText({ name, arguments: args, amount }: Capability): string {
  if (name.endsWith('.GAS') && args.length === 0) return `pays for gas (${oneLine(name)})`;
  if (amount === null) return oneLine(`(${[name, ...args.map((arg) => JSON.stringify(arg))].join(' ')})`);
  const [sender, receiver, , chain] = args.map((arg) => oneLine(String(arg)));
  const target = chain === undefined ? '' : ` on chain ${chain}`;
  return `pays at most ${amount} from ${sender} to ${receiver}${target} (${oneLine(name)})`;
}

/** @param milliseconds since 1970 */
function momentOf(milliseconds: number): string {
  const date = new Date(milliseconds);
  if (Number.isNaN(date.getTime())) return `${milliseconds / 1000} s`;
  return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
