/**
 * The lines of the block log. Each line is a JSON object with a new block, with a change of a block, or with an
 * addition to a sum. Of several states of a block, the last one counts. Lines that cannot be understood are skipped, so
 * that older versions of pickaxe can read newer logs.
 */

import { z } from 'zod';
import { HEADER_BYTES } from '../../protocol/chain/bytes.ts';
import { formatDecimal, parseDecimal } from '../../protocol/ledger/decimal.ts';
import { opaqueId, reading } from '../../protocol/ledger/fields.ts';
import { decodeBase64url, encodeBase64url } from '../../protocol/ledger/json.ts';
import type { ProvenReward } from './block-reward.ts';
import type { Standing } from './confirmations.ts';
import { BLOCK_STATES } from './fate.ts';
import type { BlockRecord } from './record.ts';

export type Line =
  | { readonly type: 'found'; readonly record: BlockRecord }
  /** The node's answer to a block that was sent. A refused block is hidden, unless a node shows it later. */
  | { readonly type: 'answer'; readonly hash: string; readonly outcome: AnswerOutcome; readonly answerSeconds: number }
  | { readonly type: 'state'; readonly hash: string; readonly atMs: number; readonly standing: Standing }
  | { readonly type: 'reward'; readonly hash: string; readonly reward: ProvenReward }
  | { readonly type: 'reward-fault'; readonly hash: string; readonly fault: string }
  /**
   * Written at the end of a run: the number of blocks to expect from the devices' hashes since the last block that the
   * run recorded.
   */
  | { readonly type: 'searched'; readonly expectedBlocks: number }
  /** Numbers of blocks that came too fast to be recorded one by one. */
  | ({ readonly type: 'not-followed' } & NotFollowed);

const ANSWER_OUTCOMES = ['accepted', 'unanswered', 'refused'] as const;
export type AnswerOutcome = (typeof ANSWER_OUTCOMES)[number];

export interface NotFollowed {
  /** Number of accepted blocks that devices found. */
  readonly own: number;
  /** Number of accepted blocks that hashers of relays found. */
  readonly relayed: number;
  /** Number of blocks whose answer was lost. */
  readonly unanswered: number;
}

/**
 * Whether the line adds to a sum. `BlockStore` applies other lines as soon as they are added, and once more when it
 * reads them from the file. A line of a sum is applied only when it is read, so that it counts once.
 */
export function isSum(line: Line): boolean {
  return line.type === 'searched' || line.type === 'not-followed';
}

const count = z.int().nonnegative();
const amount = z.number().nonnegative();
const MAX_TEXT = 1_000;
/** Maximum length of a written fault, in characters. It is below MAX_TEXT, because a node can cause many faults. */
const MAX_FAULT = 300;
const text = z.string().max(MAX_TEXT);
const decimal = reading(z.string(), parseDecimal);

const Found = z.object({
  hash: opaqueId,
  chain: count,
  height: count.transform(BigInt),
  header: reading(z.string(), (it) => decodeBase64url(it, HEADER_BYTES)),
  timeMillis: count,
  network: text,
  node: text,
  isAnswered: z.boolean().default(true),
  account: text,
  keyset: z.object({ predicate: text, publicKeys: z.array(text) }).exactOptional(),
  device: text,
  isRelay: z.boolean(),
  difficulty: amount,
  answerSeconds: amount,
  switchSeconds: amount.exactOptional(),
  expectedBlocks: amount,
});
const Answer = z.object({ hash: opaqueId, outcome: z.enum(ANSWER_OUTCOMES), answerSeconds: amount });
const State = z.object({
  hash: opaqueId,
  timeMillis: count,
  state: z.enum(BLOCK_STATES),
  depth: count,
  nodesDisagree: z.boolean(),
  winner: opaqueId.exactOptional(),
});
const Reward = z.object({
  hash: opaqueId,
  account: text,
  hasOtherKeys: z.literal(true).exactOptional(),
  reward: decimal.exactOptional(),
  fees: decimal,
});
const RewardFault = z.object({ hash: opaqueId, fault: text });
const Searched = z.object({ expectedBlocks: amount });
const NotFollowedLine = z.object({ own: count, relayed: count, unanswered: count });

const READERS: Readonly<Record<string, (json: unknown) => Line | undefined>> = {
  found: (json) => {
    const { success, data } = Found.safeParse(json);
    if (!success) return undefined;
    const { timeMillis: foundMs, ...record } = data;
    return { type: 'found', record: { ...record, foundMs } };
  },
  answer: (json) => {
    const { success, data } = Answer.safeParse(json);
    return success ? { type: 'answer', ...data } : undefined;
  },
  state: (json) => {
    const { success, data } = State.safeParse(json);
    if (!success) return undefined;
    const { hash, timeMillis: atMs, ...standing } = data;
    return { type: 'state', hash, atMs, standing };
  },
  reward: (json) => {
    const { success, data } = Reward.safeParse(json);
    if (!success) return undefined;
    const { hash, reward, ...paid } = data;
    return { type: 'reward', hash, reward: { ...paid, reward } };
  },
  'reward-fault': (json) => {
    const { success, data } = RewardFault.safeParse(json);
    return success ? { type: 'reward-fault', ...data } : undefined;
  },
  searched: (json) => {
    const { success, data } = Searched.safeParse(json);
    return success ? { type: 'searched', ...data } : undefined;
  },
  'not-followed': (json) => {
    const { success, data } = NotFollowedLine.safeParse(json);
    return success ? { type: 'not-followed', ...data } : undefined;
  },
};

/** @returns the line; undefined if it is torn, damaged or of an unknown type */
export function readLine(line: string): Line | undefined {
  try {
    const json: unknown = JSON.parse(line);
    const type = (json as { readonly type?: unknown } | null)?.type;
    return typeof type === 'string' && Object.hasOwn(READERS, type) ? READERS[type](json) : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the line as text, with its line end */
export function writeLine(line: Line): string {
  return `${JSON.stringify({ type: line.type, ...fieldsOf(line) })}\n`;
}

function fieldsOf(line: Line): Record<string, unknown> {
  switch (line.type) {
    case 'found': {
      const { header, height, foundMs, ...rest } = line.record;
      return { timeMillis: foundMs, ...rest, height: Number(height), header: encodeBase64url(header) };
    }
    case 'state':
      return { hash: line.hash, timeMillis: line.atMs, ...line.standing };
    case 'reward': {
      const { account, reward, fees, ...more } = line.reward;
      const proven = reward === undefined ? {} : { reward: formatDecimal(reward) };
      // The account's name comes from the payload, and can have any length.
      return { hash: line.hash, account: account.slice(0, MAX_TEXT), ...more, ...proven, fees: formatDecimal(fees) };
    }
    case 'reward-fault':
      return { hash: line.hash, fault: line.fault.slice(0, MAX_FAULT) };
    case 'answer':
    case 'not-followed': {
      const { type: _, ...fields } = line;
      return fields;
    }
    case 'searched':
      return { expectedBlocks: line.expectedBlocks };
  }
}
