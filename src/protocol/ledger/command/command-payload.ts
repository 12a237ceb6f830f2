/**
 * The contents of a command's text `cmd` (document 2, "Command payload"). The types have the field names of its JSON.
 * This file reads the text, and `build.ts` writes it.
 */

import { z } from 'zod';
import { type Decimal, divideDecimal, metaDecimalOf, ONE } from '../decimal.ts';
import { checked, reading } from '../fields.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  isExactJsonObject,
  JsonNumber,
  jsonInteger,
  parseExactJson,
  safeInteger,
} from '../json.ts';

/* Schemas for commands as well as results. */

/** Any JSON value, also null. The value must be present. */
export const anyJson = z.custom<ExactJson>((value) => value !== undefined, 'is missing');
const anyObject = z.custom<ExactJsonObject>(
  (value) => value !== undefined && isExactJsonObject(value as ExactJson),
  'must be an object',
);
const jsonNumber = z.instanceof(JsonNumber, { error: 'must be a number' });
/** An integer in digits, from −(2^53 − 1) to 2^53 − 1. */
export const integer = reading(jsonNumber, safeInteger);

/** An object with these fields. Other fields are left out of the result. */
export function fields<Shape extends z.ZodRawShape>(shape: Shape) {
  // z.object would accept a JsonNumber, which is an object in JavaScript, but a number in JSON.
  return z.preprocess((value) => (value instanceof JsonNumber ? undefined : value), z.object(shape));
}

/** A value that may be absent or null. Both are read as null. */
export function orNull<Out, In>(schema: z.ZodType<Out, In>) {
  return schema.nullish().transform((value) => value ?? null);
}

export interface Capability {
  /** The name with its module, such as `coin.GAS`. */
  readonly name: string;
  readonly args: readonly ExactJson[];
}

export interface Signer {
  /** The public key. For Ed25519, it has 64 hex digits. */
  readonly pubKey: string;
  /** The signature scheme. If it is absent, the scheme is Ed25519. */
  readonly scheme?: string | undefined;
  readonly addr?: string | undefined;
  /** The capabilities that the signer signs for. Without capabilities, the signature is valid for everything. */
  readonly clist?: readonly Capability[] | undefined;
}

export interface PublicMeta {
  /** The digits of the chain's number, such as `0`. Empty for a server without chains. */
  readonly chainId: string;
  /** The account that pays for gas. */
  readonly sender: string;
  /** Maximum amount of gas that the command may use. */
  readonly gasLimit: number;
  /** Price of a unit of gas, in coins. */
  readonly gasPrice: Decimal;
  /** Time to live, in seconds from the creation time. */
  readonly ttl: number;
  /** Creation time, in seconds since 1970. */
  readonly creationTime: number;
}

interface ExecMessage {
  readonly code: string;
  readonly data: ExactJson;
}

export interface ContMessage {
  /** The request key of the first step's command. */
  readonly pactId: string;
  readonly step: number;
  readonly rollback: boolean;
  readonly data: ExactJson;
  /** The answer of /spv, for a step that continues on another chain. */
  readonly proof: string | null;
}

export type Message = { readonly exec: ExecMessage } | { readonly cont: ContMessage };

export interface Payload<Meta = PublicMeta> {
  readonly networkId: string | null;
  readonly payload: Message;
  readonly signers: readonly Signer[];
  readonly meta: Meta;
  readonly nonce: string;
}

const optionalText = z
  .string()
  .nullish()
  .transform((text) => text ?? undefined);

const Capability = fields({ name: z.string(), args: z.array(anyJson) });

const Signer = fields({
  pubKey: z.string(),
  scheme: optionalText,
  addr: optionalText,
  clist: z
    .array(Capability)
    .nullish()
    .transform((clist) => clist ?? undefined),
});

const Exec = fields({ code: z.string(), data: orNull(anyJson) });

const Cont = fields({
  pactId: z.string(),
  step: integer.refine((step) => step >= 0, 'must not be negative'),
  rollback: z.boolean(),
  data: orNull(anyJson),
  proof: orNull(z.string()),
});

const Message = fields({ exec: Exec.nullish(), cont: Cont.nullish() }).transform(
  ({ exec, cont }, { issues }): Message => {
    if (exec && !cont) return { exec };
    if (cont && !exec) return { cont };
    issues.push({ code: 'custom', input: undefined, message: 'must be either an exec or a cont message' });
    return z.NEVER;
  },
);

const ReadPayload = fields({
  networkId: orNull(z.string()),
  payload: Message,
  signers: z.array(Signer),
  meta: anyObject,
  nonce: z.string(),
});

/** An integer in the metadata. Like nodes, this schema also accepts a fraction, and rounds it half to even. */
const metaInteger = reading(anyJson, (json) => safeInteger(jsonInteger(divideDecimal(metaDecimalOf(json), ONE))));

const Meta = fields({
  chainId: z.string(),
  sender: z.string(),
  gasLimit: metaInteger,
  gasPrice: reading(anyJson, metaDecimalOf),
  ttl: metaInteger,
  creationTime: metaInteger,
});

/**
 * Does not check the metadata, which may be public (see `publicMetaOf`), private or in an old form.
 * @param cmd the text of a command
 * @throws LedgerFormatError for any other text
 */
export function parsePayload(cmd: string): Payload<ExactJsonObject> {
  return checked(ReadPayload, parseExactJson(cmd), 'cmd');
}

/**
 * The known members of an object, or of each object in a list. For each name, the known members inside that member;
 * null if nothing inside that member is checked.
 */
interface Members {
  readonly [name: string]: Members | null;
}
const MEMBERS: Members = {
  networkId: null,
  payload: {
    exec: { code: null, data: null },
    cont: { pactId: null, step: null, rollback: null, data: null, proof: null },
  },
  signers: { pubKey: null, scheme: null, addr: null, clist: { name: null, args: null } },
  meta: { chainId: null, sender: null, gasLimit: null, gasPrice: null, ttl: null, creationTime: null },
  nonce: null,
};

/** A member of a command's JSON that is not in `MEMBERS`. The command's signatures cover it. */
interface UnknownMember {
  /** The path of the member, such as `signers.0.weight`. */
  readonly path: string;
  readonly value: ExactJson;
}

/**
 * Finds members that are not in `MEMBERS`, but may have a meaning for nodes, such as `verifiers`. Members whose value
 * is null or an empty list are ignored.
 */
export function unknownMembers(cmd: string): UnknownMember[] {
  return [...unknownIn(parseExactJson(cmd), MEMBERS, '')];
}

function* unknownIn(json: ExactJson, known: Members | null, path: string): Generator<UnknownMember> {
  if (known === null || typeof json !== 'object' || json === null) return;
  if (Array.isArray(json)) {
    for (const [i, each] of json.entries()) yield* unknownIn(each, known, `${path}.${i}`);
    return;
  }
  if (!isExactJsonObject(json)) return;
  for (const [name, value] of Object.entries(json)) {
    const place = path === '' ? name : `${path}.${name}`;
    const hasContent = value !== null && !(Array.isArray(value) && value.length === 0);
    if (Object.hasOwn(known, name)) yield* unknownIn(value, known[name], place);
    else if (hasContent) yield { path: place, value };
  }
}

/**
 * @throws LedgerFormatError unless the metadata is public and complete, with a gas price of at most 12 decimal places
 */
export function publicMetaOf(meta: ExactJsonObject): PublicMeta {
  return checked(Meta, meta, 'cmd.meta');
}
