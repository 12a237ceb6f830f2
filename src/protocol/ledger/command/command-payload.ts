/**
 * The contents of a command's text `cmd` (document 2, "Command payload"), with the names of its JSON. This file only
 * reads the text; `build.ts` writes it.
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

/* Schemas that commands and results share. */

/** Any JSON value except an absent one. */
export const anyJson = z.custom<ExactJson>((value) => value !== undefined, 'is missing');
const anyObject = z.custom<ExactJsonObject>(
  (value) => value !== undefined && isExactJsonObject(value as ExactJson),
  'must be an object',
);
const jsonNumber = z.instanceof(JsonNumber, { error: 'must be a number' });
/** An integer in digits, of at most 2^53 − 1. */
export const integer = reading(jsonNumber, safeInteger);

/** An object with these fields. Other fields are left out. */
export function fields<Shape extends z.ZodRawShape>(shape: Shape) {
  // A JsonNumber is an object, but not a JSON object.
  return z.preprocess((value) => (value instanceof JsonNumber ? undefined : value), z.object(shape));
}

/** A value that may be left out or null. */
export function orNull<Out, In>(schema: z.ZodType<Out, In>) {
  return schema.nullish().transform((value) => value ?? null);
}

export interface Capability {
  /** With module, such as `coin.GAS`. */
  readonly name: string;
  readonly args: readonly ExactJson[];
}

export interface Signer {
  /** 64 hex digits for Ed25519. */
  readonly pubKey: string;
  /** Absent for Ed25519. */
  readonly scheme?: string | undefined;
  readonly addr?: string | undefined;
  /** A signer without capabilities signs for everything. */
  readonly clist?: readonly Capability[] | undefined;
}

export interface PublicMeta {
  /** A number's digits, such as `0`; empty for a server without chains. */
  readonly chainId: string;
  /** The account that pays for gas. */
  readonly sender: string;
  /** In units of gas. */
  readonly gasLimit: number;
  /** In coins per unit of gas. */
  readonly gasPrice: Decimal;
  /** In seconds from the creation time. */
  readonly ttl: number;
  /** In seconds since 1970. */
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
  /** For a step on another chain: the answer of /spv. */
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

/** Nodes accept fractions here, and round them; halves to the even neighbour. */
const metaInteger = reading(anyJson, (json) => safeInteger(jsonInteger(divideDecimal(metaDecimalOf(json), ONE))));

const Meta = fields({
  chainId: z.string(),
  sender: z.string(),
  gasLimit: metaInteger,
  gasPrice: reading(anyJson, metaDecimalOf),
  ttl: metaInteger,
  creationTime: metaInteger,
});

/** The metadata may be public (see `publicMetaOf`), private or old. @throws LedgerFormatError */
export function parsePayload(cmd: string): Payload<ExactJsonObject> {
  return checked(ReadPayload, parseExactJson(cmd), 'cmd');
}

/** For lists, the members of their items. */
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

/** A member of a command's text that is signed, but unknown here. */
interface UnknownMember {
  /** Such as `signers.0.weight`. */
  readonly path: string;
  readonly value: ExactJson;
}

/**
 * Finds members that have no meaning here, but may have one for nodes, such as `verifiers`. Null and empty lists are
 * ignored.
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
