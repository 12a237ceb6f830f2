/** Formats the results of `pickaxe tx` commands that ask nodes, as JSON and for people. */

import { z } from 'zod';
import { EXIT } from '../../../app/process/exit.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { provenText } from '../../../node/sweep/next-step.ts';
import type { CommandResult, LocalAnswer, Outcome } from '../../../protocol/ledger/command/results.ts';
import { type ExactJson, HASH_TEXT, isExactJsonObject, JsonNumber } from '../../../protocol/ledger/json.ts';
import { count, millis } from '../../../rig/status/shapes.ts';
import type { Io } from '../../io.ts';

const ShownEvent = z.object({ name: z.string(), parameters: z.array(z.unknown()) });

/** The result of one command, as `local`, `send`, `poll` and `listen` print it. */
export const ShownResult = z.object({
  requestKey: z.string().nullable().meta({ description: 'null: the server does not tell it' }),
  status: z.enum(['success', 'failure', 'pending', 'expired']).meta({
    description:
      'pending: no result yet, or not deep enough, or not proven; expired: no result, and the time to live is over, so there will be none',
  }),
  provenBy: z.enum(['work', 'nodes', 'node']).nullable().meta({
    description:
      'what proves it: the work of its blocks, or only the word of several nodes or of one; null without a result, and of a dry run',
  }),
  doubt: z.string().nullable().meta({ description: 'why what the node reports is not proven, so that it is pending' }),
  data: z.unknown().meta({ description: 'what the code has returned; null without success' }),
  error: z.string().nullable(),
  gas: count.nullable(),
  block: z
    .object({ hash: z.string().nullable(), height: count.nullable(), timeMillis: millis.nullable() })
    .nullable()
    .meta({ description: 'the block that the command is in; of a dry run, the block that it would follow' }),
  events: z.array(ShownEvent),
  continuation: z
    .object({ requestKey: z.string(), step: count, stepCount: count, targetChain: z.string().nullable() })
    .nullable()
    .meta({ description: 'where a command of several steps stands; targetChain: where the next step runs' }),
});
export type ShownResult = z.output<typeof ShownResult>;

export const ShownResults = z.object({ chain: count, results: z.array(ShownResult), warnings: z.array(z.string()) });

export const SentPrivately = z.object({ requestKey: z.string(), chain: count });
export const FoundProof = z.object({ requestKey: z.string(), chain: count, targetChain: count, proof: z.string() });

/** @param requestKey null when the server does not name it */
export function showOutcome(requestKey: string | null, outcome: Outcome): ShownResult {
  const isSuccess = outcome.status === 'success';
  return {
    ...without(requestKey, outcome.status),
    data: isSuccess ? plainJson(outcome.data) : null,
    error: isSuccess ? null : outcome.error.message,
  };
}

export function showResult({ reqKey, result, gas, metaData, events, continuation }: CommandResult): ShownResult {
  const { blockHash = null, blockHeight = null, blockTime } = metaData ?? {};
  const timeMillis = blockTime === undefined ? null : Math.floor(blockTime / 1000);
  return {
    ...showOutcome(reqKey, result),
    gas,
    block: metaData && { hash: blockHash, height: blockHeight, timeMillis },
    events: events.map(({ name, module, params }) => ({
      name: [...(module.namespace === null ? [] : [module.namespace]), module.name, name].join('.'),
      parameters: params.map(plainJson),
    })),
    continuation: continuation && {
      requestKey: continuation.pactId,
      step: continuation.step,
      stepCount: continuation.stepCount,
      targetChain: continuation.yield?.provenance?.targetChainId ?? null,
    },
  };
}

export function showLocal({ result, outcome }: LocalAnswer): ShownResult {
  return result ? showResult(result) : showOutcome(null, outcome);
}

/** @returns an entry without a result */
export function without(requestKey: string | null, status: ShownResult['status']): ShownResult {
  const proof = { provenBy: null, doubt: null };
  return {
    requestKey,
    status,
    ...proof,
    data: null,
    error: null,
    gas: null,
    block: null,
    events: [],
    continuation: null,
  };
}

/* Results as text for people. Texts that a node or another person may have chosen are made safe to print. */

/** @param chain the chain on which the command ran, for the line about the next step */
export function resultLines(result: ShownResult, chain: number): string[] {
  const { requestKey, status, provenBy, doubt, data, error, gas, block, events } = result;
  return [
    ...(requestKey === null ? [] : [row('command', requestKey)]),
    row('result', error === null ? WORDS[status] : `failure: ${oneLine(error)}`),
    ...(provenBy === null ? [] : [row('', provenText({ provenBy })!)]),
    ...(doubt === null ? [] : [row('', oneLine(doubt))]),
    ...(status === 'success' ? [row('data', oneLine(JSON.stringify(data)))] : []),
    ...(gas === null ? [] : [row('gas', `${gas} units`)]),
    ...(block
      ? [row('block', oneLine([`height ${block.height ?? 'unknown'}`, block.hash ?? []].flat().join(', ')))]
      : []),
    ...events.map(({ name, parameters }) =>
      row('event', oneLine(`(${[name, ...parameters.map((each) => JSON.stringify(each))].join(' ')})`)),
    ),
    ...nextLines(result, chain),
  ];
}

const WORDS: Readonly<Record<ShownResult['status'], string>> = {
  success: 'success',
  failure: 'failure',
  pending: 'none yet',
  expired: 'none, and the time to live is over: there will be none, so build the command again if you still want it',
};

const CHAIN = /^\d{1,9}$/;

function nextLines({ status, continuation }: ShownResult, chain: number): string[] {
  if (!continuation || status !== 'success') return [];
  const { requestKey, step, stepCount, targetChain } = continuation;
  const left = stepCount - step - 1;
  if (left <= 0) return [row('steps', `all ${stepCount} are done`)];
  const lines = [row('steps', `${step + 1} of ${stepCount} done`)];
  if (targetChain === null) return lines;
  const next = `runs on chain ${oneLine(targetChain)}`;
  // A command line that people copy must not contain words that a node has chosen.
  if (!HASH_TEXT.test(requestKey) || !CHAIN.test(targetChain)) return [...lines, row('next', next)];
  const ask = `pickaxe tx spv ${requestKey} --chain ${chain} --target-chain ${targetChain}`;
  return [...lines, row('next', `${next}, with the proof of: ${ask}`)];
}

interface Printed {
  readonly chain: number;
  readonly results: readonly ShownResult[];
  /** Warnings in the node's answer. */
  readonly warnings?: readonly string[];
}

/** @returns the exit code: failed if a command has failed or expired, otherwise noWork if one has no result yet */
export function printResults({ chain, results, warnings = [] }: Printed, json: boolean, io: Io): number {
  if (json) {
    io.out(`${JSON.stringify({ chain, results, warnings })}\n`);
  } else {
    for (const warning of warnings) io.say(`warning: ${oneLine(warning)}`);
    io.out(`${results.map((result) => resultLines(result, chain).join('\n')).join('\n\n')}\n`);
  }
  const has = (...states: ShownResult['status'][]) => results.some(({ status }) => states.includes(status));
  if (has('failure', 'expired')) return EXIT.failed;
  return has('pending') ? EXIT.noWork : EXIT.done;
}

/** A value for `JSON.stringify`. */
type PlainJson = null | boolean | string | number | PlainJson[] | { [key: string]: PlainJson };

/** @returns the value, in which a number becomes a text of its digits if a double might not preserve it */
export function plainJson(json: ExactJson): PlainJson {
  if (json instanceof JsonNumber) return plainNumber(json.text);
  if (isExactJsonObject(json))
    return Object.fromEntries(Object.entries(json).map(([key, each]) => [key, plainJson(each)]));
  return Array.isArray(json) ? json.map(plainJson) : (json as null | boolean | string);
}

/** Smallest normal double. Smaller doubles, which are subnormal, have fewer digits. */
const LEAST_NORMAL = 2 ** -1022;

/**
 * A double preserves a number that has at most 15 digits and is 0 or in the range of normal doubles.
 * @returns a double for such a number; otherwise the text
 */
function plainNumber(text: string): number | string {
  const digits = text.replace(/e.*$/i, '').replace(/\D/g, '').replace(/^0+/, '');
  const value = Number(text);
  const isKept = digits === '' || (Number.isFinite(value) && Math.abs(value) >= LEAST_NORMAL);
  return digits.length <= 15 && isKept ? value : text;
}

const NAME_COLUMNS = 10;

export function row(name: string, text: string): string {
  return `${name.padEnd(NAME_COLUMNS)} ${text}`.trimEnd();
}
