/** `pickaxe tx spv`: gets the proof with which another chain takes the next step of a command. */

import { EXIT, UsageError } from '../../../app/exit-codes.ts';
import type { NodesInTurn } from '../../../app/nodes-in-turn.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { parseSpvProof } from '../../../ledger/spv-proof.ts';
import { ProofRefusedError } from '../../../node/api/commands.ts';
import { pause } from '../../../system/abort.ts';
import { oneLine } from '../../../text/one-line.ts';
import type { Io } from '../../tx/io.ts';
import { readAsked } from '../../tx/keys.ts';

export interface SpvOptions {
  readonly chain: number | null;
  readonly targetChain: number;
  readonly once: boolean;
  readonly timeoutMs: number;
  readonly pauseMs: number;
  readonly json: boolean;
}

/**
 * @throws UsageError or RequestFileError for an unusable file, LedgerFormatError for a proof that is none, and ApiError
 * when there is none
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

/** @returns undefined when there is none in time */
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
      await pause(pauseMs, io.stop);
      if (io.stop.aborted) return sayStopped(io);
    }
  }
}

function sayStopped(io: Io): undefined {
  io.say(
    'Stopped waiting: there is no proof yet. Ask again later; until then the coins are on no chain, and nothing is lost.',
  );
}
