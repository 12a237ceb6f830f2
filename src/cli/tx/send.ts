/** `pickaxe tx send`: sends commands as they are. What an earlier try has sent already is success. */

import { EXIT, UsageError } from '../../app/exit.ts';
import type { NodesInTurn } from '../../app/nodes-in-turn.ts';
import type { Command } from '../../ledger/command/command.ts';
import { ApiError } from '../../node/api/api-error.ts';
import { SendRefusedError } from '../../node/api/commands.ts';
import { formatDuration } from '../../report/units.ts';
import { oneLine } from '../../text/plain-text.ts';
import type { Io } from '../io.ts';
import { explain, type ShownSigner, type ShownTransaction } from './explain.ts';
import { type Batch, parseTransactions, readBatch, readInput } from './files.ts';
import { waitForResults } from './poll.ts';
import { printResults, row } from './results.ts';

interface SendOptions {
  readonly chain: number | null;
  /** Whether not to ask. */
  readonly yes: boolean;
  readonly json: boolean;
}

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not take it. */
export async function runTxSend(
  file: string,
  { chain, yes, json }: SendOptions,
  nodes: NodesInTurn,
  io: Io,
): Promise<number> {
  const batch = readBatch(await readInput(file, io), { chain, signed: true });
  sayWhatIsSent(batch, io);
  if (!yes && (await io.confirm('Send this?')) === false) {
    io.say('Nothing was sent.');
    return EXIT.failed;
  }
  await sending(() => sendAll(nodes, batch, io), io, 'Send the same file again: that does no harm.');
  // What is on the chain already has a result.
  const requestKeys = batch.commands.map(({ hash }) => hash);
  const results = await waitForResults({ ...batch, nodes, requestKeys, depth: 0, timeoutMs: 0, pauseMs: 0, io });
  if (results.some(({ status }) => status === 'pending'))
    io.say(`Sent. See what becomes of it: pickaxe tx poll ${oneLine(file)}`);
  const code = printResults({ chain: batch.chain, results }, json, io);
  // That there is no result yet is what is expected.
  return code === EXIT.noWork ? EXIT.done : code;
}

function sayWhatIsSent({ transactions, commands }: Batch, io: Io): void {
  const now = io.now();
  for (const [i, transaction] of transactions.entries()) {
    for (const line of explainedLines(explain(transaction, now), now)) io.say(line);
    io.say(`cmd        ${oneLine(commands[i].cmd)}`);
  }
}

/**
 * A node takes all commands of a batch or none, so those that are on the chain already are not sent with the others.
 */
async function sendAll(nodes: NodesInTurn, batch: Batch, io: Io): Promise<void> {
  let left: readonly Command[] = batch.commands;
  while (left.length > 0) {
    try {
      await nodes.ask((api) => api.send(batch.chain, left, io.stop), batch);
      return;
    } catch (error) {
      const known = error instanceof SendRefusedError && error.refusal.isKnown ? error.refusal.reqKey : undefined;
      if (known === undefined || !left.some(({ hash }) => hash === known)) throw error;
      left = left.filter(({ hash }) => hash !== known);
    }
  }
}

/* `pickaxe tx private`: sends a command that only the entities in its metadata can read. */

/** @throws UsageError or RequestFileError for an unusable file, ApiError when the node does not take it. */
export async function runTxPrivate(
  file: string,
  { chain, json }: { readonly chain: number | null; readonly json: boolean },
  nodes: NodesInTurn,
  io: Io,
): Promise<number> {
  const batch = readBatch(await readInput(file, io), { chain, signed: true });
  const [command] = batch.commands;
  if (batch.commands.length > 1) throw new UsageError(`${batch.name} has several commands: /private takes one.`);
  const send = () => nodes.ask((api) => api.sendPrivate(batch.chain, command, io.stop), batch);
  const requestKey = await sending(send, io, `Look for it before you send it again: it is ${command.hash}.`);
  io.out(json ? `${JSON.stringify({ requestKey, chain: batch.chain })}\n` : `${requestKey}\n`);
  return EXIT.done;
}

/* Sends something to a node, and says what to do if the answer is lost. */

/**
 * @param hint what to do when the node may have taken it, although its answer did not come
 * @throws what `send` throws
 */
export async function sending<T>(send: () => Promise<T>, io: Pick<Io, 'say' | 'stop'>, hint: string): Promise<T> {
  try {
    return await send();
  } catch (error) {
    // A person may end the command while the request is under way.
    const mayBeTaken = io.stop.aborted || (error instanceof ApiError && error.mayHaveBeenTaken);
    if (mayBeTaken) io.say(`The node may have taken it all the same. ${hint}`);
    throw error;
  }
}

/* `pickaxe tx show`: explains commands and forms, for people or as JSON. */

/**
 * @returns the exit code: failed when something is wrong; missing signatures are not
 * @throws UsageError, RequestFileError or LedgerFormatError for a file without commands.
 */
export async function runTxShow(file: string, { json }: { readonly json: boolean }, io: Io): Promise<number> {
  const now = io.now();
  const transactions = parseTransactions(await readInput(file, io)).map((each) => explain(each, now));
  if (json) io.out(`${JSON.stringify({ transactions })}\n`);
  else io.out(`${transactions.map((each) => explainedLines(each, now).join('\n')).join('\n\n')}\n`);
  return transactions.some(({ verdict }) => verdict === 'wrong') ? EXIT.failed : EXIT.done;
}

/* The explanation of a command or a form, for people. Its texts are foreign, so they are made safe to print. */

type Content = NonNullable<ShownTransaction['content']>;
type Capability = ShownSigner['capabilities'][number];

/** @param now milliseconds since 1970 */
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

/** The capabilities of coins in words, and all others as they are written in code. */
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
