/**
 * The state of a mock node as a text, for its next start: the blocks of all chains since the first ones, and the
 * commands that wait for a block. The next start checks and runs the blocks like those of another node, so that a state
 * that was changed, or that another version of the contracts has made, is noticed.
 */

import { hash } from 'node:crypto';
import { z } from 'zod';
import { oneLine } from '../../base/text/plain-text.ts';
import { bytes, checked } from '../../protocol/ledger/fields.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { payloadWithOutputsFromJson, payloadWithOutputsToJson } from '../../protocol/ledger/payload.ts';
import type { Settings } from '../options.ts';
import { StateError } from '../state-error.ts';
import type { Block } from './block-store.ts';
import type { Ledger } from './ledger.ts';

/** Maximum number of blocks in a state, over all chains: a node runs some hundred a second at its start. */
const MOST_BLOCKS = 20_000;

const FORMAT = 'pickaxe mock-node 1';
const INCOMPLETE = 'it is not a complete state of a mock node';
/** Later than every block: the node's clock may have been ahead when it made a block. */
const ANY_TIME_US = 2n ** 62n;
/** Maximum length of a quoted message, in characters. */
const MOST_SHOWN = 200;

const Saved = z.strictObject({
  /** The program, and the version of this format. */
  state: z.literal(FORMAT),
  /** The settings on which the blocks depend. */
  settings: z.record(z.string(), z.string()),
  /** The first blocks' headers, without their hashes. */
  first: z.array(bytes).min(1),
  /** The later blocks, lowest first. */
  blocks: z.array(z.strictObject({ header: bytes, payload: z.custom<ExactJson>() })).max(MOST_BLOCKS),
  /** For each chain, the commands that wait for a block. */
  waiting: z.array(z.array(z.string())),
});
export type Saved = z.output<typeof Saved>;

/** @throws StateError for a text that is no state, or the state of a node with other settings */
export function readState(text: string, settings: Settings): Saved {
  const saved = orStateError(INCOMPLETE, () => checked(Saved, JSON.parse(text), 'state'));
  const own = settingsOf(settings);
  const other = Object.keys(own).find((name) => own[name] !== saved.settings[name]);
  if (other !== undefined) throw new StateError(`it is the state of a node with another option "${other}"`);
  return saved;
}

/** @throws StateError that begins with `what` in place of an error about the text of the state */
export function orStateError<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof LedgerFormatError || error instanceof SyntaxError)) throw error;
    throw new StateError(`${what} (${oneLine(error.message, MOST_SHOWN)})`);
  }
}

/** The settings on which blocks depend, as texts. Of contracts, only the hash: they may be long. */
function settingsOf(settings: Settings): Readonly<Record<string, string>> {
  const { network, chains, reward, retargets, outputEvents, accounts, gasStation } = settings;
  const { contractDialect, minGasPrice, blockGasLimit } = settings;
  const contracts = settings.contracts.map(({ text }) => hash('sha256', text));
  const all = { network, chains, reward, retargets, outputEvents, accounts, contracts, gasStation };
  const entries = Object.entries({ ...all, contractDialect, minGasPrice, blockGasLimit });
  return Object.fromEntries(entries.map(([name, value]) => [name, JSON.stringify(value)]));
}

/** The commands of a node, of which a state has those that wait for a block. */
interface Commands {
  /** @returns the commands that wait for a block of the chain, as JSON */
  waitingTexts(chain: number): readonly string[];
  /** Takes over commands, without checks. */
  restore(chain: number, texts: readonly string[]): void;
}

/** What a state keeps of a block. The state of the contracts, which `Block` has, follows from the blocks. */
type Kept = Pick<Block, 'bytes'> & { readonly height: bigint; readonly payload: Omit<Block['payload'], 'state'> };

/** Follows a ledger, and makes states of it. */
export class StateRecord {
  /** Number of blocks that this record has taken. */
  blocksTaken = 0;
  readonly #ledger: Ledger;
  readonly #commands: Commands;
  readonly #settings: Settings;
  readonly #first: readonly string[];
  /** The blocks above the first one, by chain, lowest first. Of several branches, only the newest is kept. */
  readonly #blocks: Kept[][];

  constructor(ledger: Ledger, commands: Commands, settings: Settings) {
    this.#ledger = ledger;
    this.#commands = commands;
    this.#settings = settings;
    const { graph } = ledger.chains;
    this.#first = graph.map((_, chain) => encodeBase64url(ledger.chains.tip(chain).bytes));
    this.#blocks = graph.map(() => []);
    ledger.followBlocks((block) => this.#add(block));
  }

  /**
   * Runs the blocks of a state on the ledger, which has only its first blocks.
   * @throws StateError if a block is wrong
   */
  restore({ blocks, waiting }: Saved): void {
    const { chains } = this.#ledger;
    orStateError('a block cannot be run again', () => {
      for (const { header, payload } of blocks) {
        const block = chains.receive(header, payloadWithOutputsFromJson(payload), ANY_TIME_US);
        chains.moveTips([block]);
        this.#add(block);
        const texts = block.payload.transactions.map((each) => Buffer.from(each).toString());
        this.#commands.restore(block.header.chain, texts);
      }
    });
    orStateError('a command cannot be read', () => {
      for (const chain of chains.graph.keys()) this.#commands.restore(chain, waiting[chain] ?? []);
    });
  }

  /** @throws StateError if there are too many blocks */
  save(): string {
    const { chains } = this.#ledger;
    // A reorganisation can leave a chain lower than it was.
    const kept = this.#blocks.flatMap((blocks, chain) =>
      blocks.filter(({ height }) => height <= chains.heightOf(chain)),
    );
    if (kept.length > MOST_BLOCKS) throw new StateError(`there are more than ${MOST_BLOCKS} blocks`);
    const blocks = kept.sort((a, b) => Number(a.height - b.height));
    // Bytes are texts, so there are no numbers whose digits JSON.stringify could change.
    return JSON.stringify({
      state: FORMAT,
      settings: settingsOf(this.#settings),
      first: this.#first,
      blocks: blocks.map(({ bytes, payload }) => {
        return { header: encodeBase64url(bytes), payload: payloadWithOutputsToJson(payload) };
      }),
      waiting: chains.graph.map((_, chain) => this.#commands.waitingTexts(chain)),
    });
  }

  #add({ header: { chain, height }, bytes, payload: { state: _, ...payload } }: Block): void {
    const blocks = this.#blocks[chain];
    while (blocks.length > 0 && blocks[blocks.length - 1].height >= height) blocks.pop();
    blocks.push({ height, bytes, payload });
    this.blocksTaken += 1;
  }
}
