/**
 * Answers of nodes about commands (document 2, "Command result"). Numbers in results keep their exact texts, so that
 * `decimalOf` can read amounts.
 */

import { z } from 'zod';
import { checked, opaqueId } from '../fields.ts';
import { type ExactJson, type ExactJsonObject, isExactJsonObject, LedgerFormatError, quoted } from '../json.ts';
import { anyJson, fields, integer, orNull } from './command-payload.ts';

export type Outcome =
  | { readonly status: 'success'; readonly data: ExactJson }
  | { readonly status: 'failure'; readonly error: Failure };

export type Failure = z.output<typeof Failure>;
export type LedgerEvent = z.output<typeof LedgerEvent>;
export type Continuation = z.output<typeof Continuation>;
export type NestedContinuation = z.output<typeof NestedContinuation>;
/**
 * The block that contains the command; for a dry run, the block on which the command ran. `blockTime` is in
 * microseconds since 1970.
 */
export type ResultMeta = z.output<typeof ResultMeta>;

export interface CommandResult {
  /** The request key. For a user's command, it has 43 characters. */
  readonly reqKey: string;
  readonly result: Outcome;
  /** The gas that the command used. */
  readonly gas: number;
  readonly txId: number | null;
  readonly logs: ExactJson;
  readonly events: readonly LedgerEvent[];
  readonly metaData: ResultMeta | null;
  readonly continuation: Continuation | null;
}

export interface LocalAnswer {
  readonly outcome: Outcome;
  /** The whole result. Absent in answers of old stand-alone servers. */
  readonly result?: CommandResult;
  /** Warnings about deprecated features. Only answers to a `preflight` request can have warnings. */
  readonly warnings: readonly string[];
}

/** A stand-alone server that has no result within its time limit answers with this limit, in microseconds. */
type ListenAnswer = CommandResult | { readonly timeoutMicros: number };

const Failure = fields({
  message: z.string(),
  type: z.string().nullish(),
  info: z.string().nullish(),
  callStack: z.array(z.string()).nullish(),
});

const Outcome = fields({
  status: z.enum(['success', 'failure']),
  data: anyJson.optional(),
  error: Failure.optional(),
}).transform(({ status, data, error }, { issues }): Outcome => {
  if (status === 'success' && data !== undefined) return { status, data };
  if (status === 'failure' && error !== undefined) return { status, error };
  issues.push({ code: 'custom', input: status, message: 'must have data with a success, and an error with a failure' });
  return z.NEVER;
});

const ModuleName = fields({ name: z.string(), namespace: orNull(z.string()) });
/** The name of a module as one string, such as `free.token`. Some servers write it in this form. */
const ModuleText = z.string().transform((text) => {
  const dot = text.lastIndexOf('.');
  return { name: text.slice(dot + 1), namespace: dot < 0 ? null : text.slice(0, dot) };
});

const LedgerEvent = fields({
  name: z.string(),
  params: z.array(anyJson),
  module: z.union([ModuleName, ModuleText], { error: 'must be the name of a module' }),
  moduleHash: z.string(),
});

const Yield = fields({
  data: anyJson,
  source: orNull(z.string()),
  provenance: orNull(fields({ targetChainId: z.string(), moduleHash: z.string() })),
});

const continuationFields = {
  pactId: z.string(),
  step: integer,
  stepCount: integer,
  executed: orNull(z.boolean()),
  yield: orNull(Yield),
  continuation: fields({ def: z.string(), args: anyJson }),
  /** The continuation of each nested defpact, by the id of the defpact. */
  nested: z.record(z.string(), anyJson).nullish(),
};

const Continuation = fields({ ...continuationFields, stepHasRollback: z.boolean() });
/**
 * The continuation of a nested defpact. It has no `stepHasRollback`: a step of a nested defpact has a rollback if the
 * step of the outer defpact has one.
 */
const NestedContinuation = fields(continuationFields);

const ResultMeta = fields({
  blockHash: z.string().optional(),
  blockHeight: integer.optional(),
  blockTime: integer.optional(),
  prevBlockHash: z.string().optional(),
  publicMeta: anyJson.optional(),
});

/** The number of a transaction. Some servers write it as a string. */
const TxId = z.union(
  [
    integer,
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ],
  { error: 'must be a number' },
);

const CommandResult = fields({
  // In old blocks, the request key of a coinbase is longer: base64url of a JSON string with the parent's hash.
  reqKey: z.string().regex(/^[\w-]{43,100}$/, 'must be a request key'),
  result: Outcome,
  gas: integer,
  txId: orNull(TxId),
  logs: orNull(anyJson),
  events: z
    .array(LedgerEvent)
    .nullish()
    .transform((events) => events ?? []),
  metaData: orNull(ResultMeta),
  continuation: orNull(Continuation),
});

const Preflight = fields({ preflightResult: CommandResult, preflightWarnings: z.array(z.string()) });
const Keys = fields({ requestKeys: z.array(opaqueId) });
const Proof = z.string().regex(/^[\w-]+$/, 'is not base64url');
const Timeout = fields({ status: z.literal('timeout'), 'timeout-micros': integer });

/** @throws LedgerFormatError that names the wrong field */
export function parseCommandResult(json: ExactJson): CommandResult {
  return checked(CommandResult, json, 'result');
}

/** Reads a nested defpact in the continuation of a result. @throws LedgerFormatError that names the wrong field */
export function parseNestedContinuation(json: ExactJson): NestedContinuation {
  return checked(NestedContinuation, json, 'nested');
}

/**
 * Reads a result, a preflight result, or the answer of a stand-alone server.
 * @throws LedgerFormatError for any other answer
 */
export function parseLocalAnswer(json: ExactJson): LocalAnswer {
  const answer = unwrapped(json);
  if (has(answer, 'preflightResult')) {
    const { preflightResult, preflightWarnings } = checked(Preflight, answer, 'answer');
    return { outcome: preflightResult.result, result: preflightResult, warnings: preflightWarnings };
  }
  if (has(answer, 'status')) return { outcome: checked(Outcome, answer, 'answer'), warnings: [] };
  const result = checked(CommandResult, answer, 'answer');
  return { outcome: result.result, result, warnings: [] };
}

/** @returns the request keys @throws LedgerFormatError that names the wrong field */
export function parseSendAnswer(json: ExactJson): readonly string[] {
  return checked(Keys, unwrapped(json), 'answer').requestKeys;
}

/**
 * @returns the results by request key. A command without a result is pending, or unknown to the node
 * @throws LedgerFormatError for any other answer, and for a result whose request key differs from its key in the answer
 */
export function parsePollAnswer(json: ExactJson): ReadonlyMap<string, CommandResult> {
  const answer = unwrapped(json);
  if (!isExactJsonObject(answer)) throw new LedgerFormatError('The answer of /poll must be an object');
  const results = Object.entries(answer).map(([key, value]) => {
    const result = checked(CommandResult, value, `answer.${quoted(key)}`);
    if (result.reqKey !== key)
      throw new LedgerFormatError(`The answer of /poll for ${quoted(key)} is that for another key`);
    return [key, result] as const;
  });
  return new Map(results);
}

/** @throws LedgerFormatError that names the wrong field */
export function parseListenAnswer(json: ExactJson): ListenAnswer {
  const answer = unwrapped(json);
  if (!has(answer, 'timeout-micros')) return checked(CommandResult, answer, 'answer');
  return { timeoutMicros: checked(Timeout, answer, 'answer')['timeout-micros'] };
}

/** @returns the unverified proof, in base64url @throws LedgerFormatError for any other answer */
export function parseProofAnswer(json: ExactJson): string {
  return checked(Proof, unwrapped(json), 'proof');
}

/** @returns the answer itself. Old stand-alone servers wrap each answer in `{status, response}` */
function unwrapped(json: ExactJson): ExactJson {
  return has(json, 'response') && has(json, 'status') ? json.response : json;
}

function has(json: ExactJson, key: string): json is ExactJsonObject {
  return isExactJsonObject(json) && Object.hasOwn(json, key);
}

/*
 * Messages with which nodes refuse commands and proofs. The messages are untrusted, so they must be made safe before
 * they are shown.
 */

export interface SendRefusal {
  /** The request key of the refused command, if the message contains it. */
  readonly reqKey?: string;
  readonly reason: string;
  /** Whether a block already contains the command. If so, the caller should ask for the result, not send it again. */
  readonly isKnown: boolean;
}

/** A refusal by /spv. If `wait` is true, the node will probably have the proof later. */
export interface ProofRefusal {
  readonly reason: string;
  readonly wait: boolean;
}

/** @param text the body of an answer of /send with status 400 */
export function readSendRefusal(text: string): SendRefusal {
  const [, reqKey, reason] = /Transaction "?([\w-]{43})"? at index \d+ failed with: (.*)$/s.exec(text) ?? [];
  const isKnown = text.includes('Transaction already exists on chain');
  return { ...(reqKey && { reqKey }), reason: (reason ?? text).trim(), isKnown };
}

/** @param text the body of an answer of /spv with status 400 */
export function readProofRefusal(text: string): ProofRefusal {
  return { reason: text.trim(), wait: /SPV target not reachable|Transaction hash not found/i.test(text) };
}

/** @returns whether the command failed because an earlier command has already done the last step of the transfer */
export function isAlreadyCompleted(outcome: Outcome): boolean {
  return (
    outcome.status === 'failure' && /pact completed|defpact execution already completed/i.test(outcome.error.message)
  );
}
