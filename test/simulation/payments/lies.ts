/** Single lies of nodes. Each is told again and again, to about two of three requests that it is about. */

import type { Random } from '#pickaxe/mock-node/random.js';
import {
  type ExactJson,
  isExactJsonObject,
  parseExactJsonBytes,
  stringifyExactJson,
} from '#pickaxe/protocol/ledger/json.js';
import { type Answer, type Asked, CHAINS, type LedgerNode, type Lie } from './ledger-node.ts';

export interface LieContext {
  readonly random: Random;
  /** Does something after at most this time. */
  readonly later: (mostMs: number, act: () => void) => void;
  readonly nodes: readonly LedgerNode[];
}

export const jsonAnswer = (value: unknown, status = 200): Answer => ({
  status,
  body: Buffer.from(JSON.stringify(value)),
});

const textAnswer = (body: string, status = 400): Answer => ({ status, body: Buffer.from(body), type: 'text/plain' });

/** What a request is about: `send`, `block/branch` and so on. */
export function endpointOf({ path }: Asked): string {
  const [bare] = path.split('?');
  return /(local|send|poll|spv|cut|(?:block|header|hash)\/branch)$/.exec(bare)?.[1] ?? '';
}

export function chainOf({ path }: Asked): number {
  return Number(/\/chain\/(\d+)\//.exec(path)?.[1] ?? -1);
}

const commandsOf = ({ body }: Asked): { hash: string; cmd: string }[] => JSON.parse(body.toString()).cmds;
const keysOf = ({ body }: Asked): string[] => JSON.parse(body.toString()).requestKeys;

/** A result of a command, as an output in a block has it. */
export function resultOf(reqKey: string, blockHeight: number, isSuccess: boolean) {
  const error = { message: 'Insufficient funds', type: 'EvalError', info: '', callStack: [] };
  const result = isSuccess ? { status: 'success', data: 'Write succeeded' } : { status: 'failure', error };
  const more = { gas: 600, txId: 7, logs: null, events: [], continuation: null };
  return { reqKey, result, ...more, metaData: { blockHeight } };
}

type Teller = (node: LedgerNode, asked: Asked, truth: () => Promise<Answer>) => Promise<Answer> | Answer;

/** Lies about one endpoint. */
function about(endpoint: string, tell: (context: LieContext) => Teller) {
  return (context: LieContext): Lie => {
    const teller = tell(context);
    return async (node, asked, truth) => {
      if (endpointOf(asked) !== endpoint || context.random() < 0.33) return await truth();
      return await teller(node, asked, truth);
    };
  };
}

const heightOf = ({ ledger }: LedgerNode, asked: Asked) => Number(ledger.chains.heightOf(chainOf(asked)));

function results(isSuccess: boolean) {
  return about('poll', ({ random }) => (node, asked) => {
    const height = Math.max(1, heightOf(node, asked) - Math.floor(random() * 9));
    return jsonAnswer(Object.fromEntries(keysOf(asked).map((key) => [key, resultOf(key, height, isSuccess)])));
  });
}

/** Changes what an answer says, if it is JSON with the status 200. */
async function changed(truth: () => Promise<Answer>, change: (json: ExactJson) => ExactJson): Promise<Answer> {
  const answer = await truth();
  if (answer.status !== 200) return answer;
  return { ...answer, body: Buffer.from(stringifyExactJson(change(parseExactJsonBytes(answer.body)))) };
}

/** The fields of answers of `/local` that lies change. */
interface LocalJson {
  gas: number;
  result: { status: string; data?: { balance?: unknown; guard?: unknown }; error?: object };
  metaData?: { blockTime: number; blockHeight: number; publicMeta?: object } | null;
}

function local(change: (json: LocalJson, context: LieContext) => void) {
  return about('local', (context) => async (_, __, truth) => {
    const answer = await truth();
    if (answer.status !== 200) return answer;
    const json = JSON.parse(answer.body.toString());
    change(json.preflightResult ?? json, context);
    return jsonAnswer(json);
  });
}

function items(change: (items: readonly ExactJson[], context: LieContext) => readonly ExactJson[]) {
  return about('block/branch', (context) => (_, __, truth) => {
    return changed(truth, (json) => {
      if (!isExactJsonObject(json) || !Array.isArray(json.items)) return json;
      return { ...json, items: change(json.items, context) };
    });
  });
}

export const LIES: Readonly<Record<string, (context: LieContext) => Lie>> = {
  'hides results': about('poll', () => () => jsonAnswer({})),
  'says that commands have failed': results(false),
  'says that commands have succeeded': results(true),
  'swallows commands': about('send', () => (_, asked) => {
    return jsonAnswer({ requestKeys: commandsOf(asked).map(({ hash }) => hash) });
  }),
  'says that commands are there already': about('send', () => (_, asked) => {
    const [{ hash }] = commandsOf(asked);
    return textAnswer(
      `One or more transactions were invalid: Transaction ${hash} at index 0 failed with: Transaction already exists on chain`,
    );
  }),
  'refuses commands that it takes': about('send', () => async (_, asked, truth) => {
    await truth();
    const [{ hash }] = commandsOf(asked);
    return textAnswer(
      `One or more transactions were invalid: Transaction ${hash} at index 0 failed with: Transaction time-to-live is expired`,
    );
  }),
  'holds commands back': about('send', ({ later, nodes }) => (_, asked) => {
    const texts = commandsOf(asked).map((command) => JSON.stringify(command));
    later(40 * 60_000, () => {
      for (const { commands } of nodes) commands.insert(chainOf(asked), texts);
    });
    return jsonAnswer({ requestKeys: commandsOf(asked).map(({ hash }) => hash) });
  }),
  'shows other balances': local(({ result }, { random }) => {
    if (result.data?.balance !== undefined) result.data.balance = [0, 0.25, 3.5, 1_000.5][Math.floor(random() * 4)];
  }),
  'shows other guards': local(({ result }) => {
    if (result.data?.guard !== undefined) result.data.guard = { pred: 'keys-all', keys: ['e'.repeat(64)] };
  }),
  'says that accounts do not exist': local((json) => {
    if (json.result.data?.guard === undefined) return;
    json.result = {
      status: 'failure',
      error: { message: 'with-read: row not found', type: 'EvalError', info: '', callStack: [] },
    };
  }),
  'shows other times': local(({ metaData }, { random }) => {
    if (metaData) metaData.blockTime += Math.round((random() - 0.5) * 40 * 60_000_000);
  }),
  'shows other heights': local(({ metaData }, { random }) => {
    if (metaData) metaData.blockHeight = Math.max(1, metaData.blockHeight + Math.round((random() - 0.3) * 30));
  }),
  'shows other gas': local((json, { random }) => {
    json.gas = random() < 0.5 ? 1 : json.gas * 5;
  }),
  'says that all transfers are finished': local((json) => {
    const message = 'resumePact: pact completed: ';
    if (json.metaData?.publicMeta) {
      json.result = { status: 'failure', error: { message, type: 'EvalError', info: '', callStack: [] } };
    }
  }),
  'says that all commands would fail': local((json) => {
    json.result = { status: 'failure', error: { message: 'no', type: 'EvalError', info: '', callStack: [] } };
  }),
  'gives wrong proofs': about('spv', ({ random }) => async (_, __, truth) => {
    const { status, body } = await truth();
    if (status !== 200 || random() < 0.3) return textAnswer('SPV target not reachable: no');
    const proof: string = JSON.parse(body.toString());
    const at = Math.floor(random() * proof.length);
    return jsonAnswer(proof.slice(0, at) + (proof[at] === 'A' ? 'B' : 'A') + proof.slice(at + 1));
  }),
  'shows cuts from nowhere': about('cut', ({ random }) => async (_, __, truth) => {
    const { body } = await truth();
    const cut = JSON.parse(body.toString());
    const head = cut.hashes[Math.floor(random() * CHAINS)];
    head.height += Math.floor(random() * 20);
    head.hash = 'A'.repeat(43);
    return jsonAnswer(cut);
  }),
  'shows old cuts': about('cut', ({ random }) => async ({ ledger }, __, truth) => {
    const { body } = await truth();
    const cut = JSON.parse(body.toString());
    const back = BigInt(1 + Math.floor(random() * 12));
    for (let chain = 0; chain < CHAINS; chain++) {
      const old = ledger.chains.blocksOf(chain).canonical(ledger.chains.heightOf(chain) - back);
      if (old) cut.hashes[chain] = { height: Number(old.header.height), hash: old.id };
    }
    return jsonAnswer(cut);
  }),
  'empties blocks': items((all) => {
    return all.map((item) => {
      if (!isExactJsonObject(item) || !isExactJsonObject(item.payloadWithOutputs)) return item;
      return { ...item, payloadWithOutputs: { ...item.payloadWithOutputs, transactions: [] } };
    });
  }),
  'leaves out blocks': items((all, { random }) => all.filter(() => random() < 0.8)),
};

/** @returns a lie that tells all of these */
export function allOf(lies: readonly Lie[]): Lie {
  return async (node, asked, truth) => {
    const told = lies.reduce<() => Promise<Answer>>((next, lie) => () => lie(node, asked, next), truth);
    return await told();
  };
}
