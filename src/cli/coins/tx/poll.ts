/** `pickaxe tx poll`, `local` and `spv`: ask a node for results and proofs of commands. */

import type { NodesInTurn, Subject } from '../../../app/nodes/nodes-in-turn.ts';
import { EXIT, UsageError } from '../../../app/process/exit.ts';
import { pause } from '../../../base/system/abort.ts';
import { systemClock } from '../../../base/system/clock.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { ProofRefusedError } from '../../../node/client/commands.ts';
import { MARGIN_S } from '../../../node/sweep/command-search.ts';
import type { CommandResult } from '../../../protocol/ledger/command/results.ts';
import { LedgerFormatError } from '../../../protocol/ledger/json.ts';
import { parseSpvProof } from '../../../protocol/ledger/spv-proof.ts';
import { formatDuration } from '../../../rig/status/units.ts';
import type { Io } from '../../io.ts';
import { readAsked, readBatch, readInput } from './command-files.ts';
import type { Prove } from './outcomes.ts';
import { printResults, type ShownResult, showLocal, showResult, without } from './results.ts';

interface PollOptions {
  readonly chain: number | null;
  readonly confirmationDepth: number;
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly pauseMs: number;
  readonly json: boolean;
  readonly prove: Prove;
}

/**
 * @throws UsageError for a request key without a chain
 * @throws UsageError, RequestFileError or LedgerFormatError for an unusable file
 * @throws NodeError when the node does not answer
 */
export async function runTxPoll(what: string, options: PollOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { chain, confirmationDepth: depth, once, pauseMs, json } = options;
  const timeoutMs = once ? 0 : options.timeoutMs;
  const asked = await readAsked(what, chain, io);
  const endMs = io.now() + timeoutMs;
  let results: readonly ShownResult[];
  // While a result is in doubt, the nodes are asked again: some results can be proven only when more blocks are above
  // their block.
  for (;;) {
    const leftMs = Math.max(0, endMs - io.now());
    const reported = await waitForResults({ ...asked, nodes, depth, timeoutMs: leftMs, pauseMs, io });
    results = await options.prove({ ...asked, results: reported }, nodes, io.stop);
    if (!results.some(({ doubt }) => doubt !== null) || io.now() + pauseMs > endMs || io.stop.aborted) break;
    await pause(systemClock, pauseMs, io.stop);
  }
  if (results.some(({ status }) => status === 'pending')) io.say(stillWaiting(timeoutMs, io.stop.aborted));
  return printResults({ chain: asked.chain, results }, json, io);
}

interface LocalOptions {
  readonly chain: number | null;
  /** Whether the node treats the command as if it were sent: it checks the metadata, and counts all gas. */
  readonly preflight: boolean;
  /** Number of blocks to go back from the newest block. The command runs on the state of that time. */
  readonly rewindDepth?: number;
  /** Whether the node checks signatures. Without the check, a command can be tried before it is signed. */
  readonly signatureVerification: boolean;
  readonly json: boolean;
}

/**
 * Lets a node run a command, without changing the ledger.
 * @throws UsageError, RequestFileError or LedgerFormatError for an unusable file, NodeError when the node does not
 *   answer
 */
export async function runTxLocal(file: string, options: LocalOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { preflight, rewindDepth, signatureVerification, json } = options;
  const batch = readBatch(await readInput(file, io), { chain: options.chain, signed: signatureVerification });
  const [command] = batch.commands;
  if (batch.commands.length > 1) throw new UsageError(`${batch.name} has several commands: /local runs one at a time.`);
  const asked = {
    preflight,
    ...(rewindDepth !== undefined && { rewindDepth }),
    ...(!signatureVerification && { signatureVerification }),
  };
  const answer = await nodes.ask((api) => api.local(batch.chain, command, asked, io.stop), batch);
  return printResults({ chain: batch.chain, results: [showLocal(answer)], warnings: answer.warnings }, json, io);
}

interface SpvOptions {
  readonly chain: number | null;
  readonly targetChain: number;
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly pauseMs: number;
  readonly json: boolean;
}

/**
 * Prints the proof that the next step of a command needs on another chain.
 * @returns the exit code: noWork if there was no proof in time, or if the user has ended pickaxe
 * @throws UsageError, RequestFileError or LedgerFormatError for an unusable file
 * @throws UsageError for a request key without a chain, for several commands, or if the target chain is the chain on
 *   which the command ran
 * @throws LedgerFormatError if the node's text is no proof for the target chain
 * @throws NodeError when the node refuses
 */
export async function runTxSpv(what: string, options: SpvOptions, nodes: NodesInTurn, io: Io): Promise<number> {
  const { targetChain, json } = options;
  const { requestKeys, chain, ...subject } = await readAsked(what, options.chain, io);
  const [requestKey] = requestKeys;
  if (requestKeys.length > 1) throw new UsageError(`${subject.name} has several commands: give one request key.`);
  if (chain === targetChain)
    throw new UsageError(`The command ran on chain ${chain} itself: name another target chain.`);
  const ask = () => nodes.ask((api) => api.proof(chain, requestKey, targetChain, io.stop), subject);
  const proof = await untilThere(ask, options, io);
  if (proof === undefined) return EXIT.noWork;
  const { targetChain: proven } = parseSpvProof(proof);
  if (proven !== targetChain)
    throw new LedgerFormatError(`The node's proof is for chain ${proven}, not for chain ${targetChain}`);
  io.out(json ? `${JSON.stringify({ requestKey, chain, targetChain, proof })}\n` : `${proof}\n`);
  return EXIT.done;
}

/** @returns the proof; undefined if there was none in time, or if the user has ended pickaxe */
async function untilThere(
  ask: () => Promise<string>,
  { once, timeoutMs, pauseMs }: SpvOptions,
  io: Io,
): Promise<string | undefined> {
  const endMs = io.now() + (once ? 0 : timeoutMs);
  for (let said = ''; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (io.stop.aborted) return sayStopped(io);
      if (!(error instanceof ProofRefusedError) || !error.refusal.wait) throw error;
      const reason = oneLine(error.refusal.reason, 200);
      if (io.now() + pauseMs > endMs) {
        io.say(`There is no proof yet: ${reason}. It takes a few blocks of both chains; ask again.`);
        return undefined;
      }
      if (reason !== said) io.say(`Waiting for the proof, which takes a few blocks of both chains: ${reason}`);
      said = reason;
      await pause(systemClock, pauseMs, io.stop);
      if (io.stop.aborted) return sayStopped(io);
    }
  }
}

function sayStopped(io: Io): undefined {
  io.say(
    'Stopped waiting: there is no proof yet. Ask again later; until then the coins are on no chain, and nothing is lost.',
  );
}

interface Waiting extends Subject {
  readonly nodes: Pick<NodesInTurn, 'ask'>;
  readonly chain: number;
  readonly requestKeys: readonly string[];
  /** Number of blocks that must be above each command's block. */
  readonly depth: number;
  /** Maximum time to wait. With 0, the node is asked once. */
  readonly timeoutMs: number;
  /** When the first of the commands expires, in milliseconds since 1970; undefined if that is not known. */
  readonly endsMs: number | undefined;
  readonly pauseMs: number;
  readonly io: Pick<Io, 'say' | 'now' | 'stop'>;
}

/**
 * Time from the end of a command's validity until the command counts as expired. Blocks lag behind the clock, and the
 * last block before the end may contain the command.
 */
const GRACE_MS = MARGIN_S * 1000;

/**
 * Polls until every command has a result or has expired, until the time is over, or until the user ends pickaxe.
 * @returns one entry for each request key
 * @throws NodeError
 */
export async function waitForResults(waiting: Waiting): Promise<ShownResult[]> {
  const { requestKeys, io, timeoutMs, pauseMs } = waiting;
  const startMs = io.now();
  const progress = new Progress(io);
  let before: ShownResult[] = requestKeys.map((key) => without(key, 'pending'));
  for (;;) {
    const now = await lookUnlessStopped(waiting);
    if (!now) return before;
    const { results, seen } = now;
    const isOver = waiting.endsMs !== undefined && io.now() > waiting.endsMs + GRACE_MS;
    const shown = requestKeys.map((key) => {
      const result = results.get(key);
      if (result) return showResult(result);
      return without(key, isOver && !seen.has(key) ? 'expired' : 'pending');
    });
    const passedMs = io.now() - startMs;
    if (!shown.some(({ status }) => status === 'pending') || timeoutMs === 0 || passedMs + pauseMs > timeoutMs)
      return shown;
    before = shown;
    progress.show(shown.length, seen, waiting.depth);
    await pause(systemClock, pauseMs, io.stop);
    if (io.stop.aborted) return shown;
  }
}

/** A node's answers, by request key. */
interface Look {
  readonly results: ReadonlyMap<string, CommandResult>;
  /** Commands that are in a block, but without the wanted number of blocks above it. */
  readonly seen: ReadonlyMap<string, CommandResult>;
}

/** @returns undefined if the request failed because the user has ended pickaxe */
async function lookUnlessStopped(waiting: Waiting): Promise<Look | undefined> {
  try {
    return await look(waiting);
  } catch (error) {
    if (waiting.io.stop.aborted) return undefined;
    throw error;
  }
}

async function look(waiting: Waiting): Promise<Look> {
  const { nodes, chain, requestKeys, depth, io } = waiting;
  return await nodes.ask(async (api) => {
    const results = await api.poll(chain, requestKeys, depth === 0 ? {} : { confirmationDepth: depth }, io.stop);
    const missing = requestKeys.filter((key) => !results.has(key));
    const seen = depth === 0 ? new Map() : await api.poll(chain, missing, {}, io.stop);
    return { results, seen };
  }, waiting);
}

/** Prints what pickaxe waits for, whenever that changes. */
class Progress {
  readonly #io: Pick<Io, 'say'>;
  #last = '';

  constructor(io: Pick<Io, 'say'>) {
    this.#io = io;
  }

  show(all: number, seen: ReadonlyMap<string, CommandResult>, depth: number): void {
    const heights = [...seen.values()].flatMap(({ metaData }) => metaData?.blockHeight ?? []);
    const where = heights.length === 0 ? '' : ` at height ${[...new Set(heights)].join(', ')}`;
    const text =
      seen.size === 0
        ? 'Waiting for a block with the command.'
        : `In a block${where}${all > 1 ? ` (${seen.size} of ${all})` : ''}. Waiting for ${depth} blocks above it.`;
    if (text !== this.#last) this.#io.say(text);
    this.#last = text;
  }
}

function stillWaiting(timeoutMs: number, isStopped: boolean): string {
  if (isStopped)
    return 'Stopped waiting: there is no result yet, but it may still come. Ask again, and do not build the command again.';
  return timeoutMs === 0
    ? 'There is no result yet. Ask again, or leave --once out to wait for it.'
    : `There is no result after ${formatDuration(timeoutMs / 1000)}. Ask again, and do not build the command again.`;
}
