/**
 * Request files, the input of the contract tool (document 2, "Request-file formats"). The field `pactTxHash` may also
 * be named `flowTxHash`.
 */

import { cmdOf, MAX_SIGNATURES } from '../command/build.ts';
import { amountFault } from '../command/coin.ts';
import { type Command, hashOfCmd, type KeyPair, requestKeyOfCmd } from '../command/command.ts';
import type { Capability, Message, Payload, PublicMeta, Signer } from '../command/command-payload.ts';
import { toolArg } from '../command/tool-json.ts';
import { type ExactJson, LedgerFormatError, parseExactJson } from '../json.ts';
import { readKeyPair, type UnsignedForm } from './unsigned-form.ts';
import { Place, readHash, readPublicKey } from './yaml.ts';

export type RequestKind = 'signed' | 'unsigned';

export interface Request {
  readonly kind: RequestKind;
  readonly message: Message;
  readonly signers: readonly Signer[];
  /** For a signed command, one key pair for each signer, in the same order. Empty for an unsigned command. */
  readonly keyPairs: readonly KeyPair[];
  readonly networkId: string | null;
  /**
   * The metadata. If it is absent, all of its fields are zero or empty. If only the creation time is absent, the time
   * when the command is built is used.
   */
  readonly meta?: Omit<PublicMeta, 'creationTime'> & { readonly creationTime?: number };
  /** The nonce. If it is absent, the time when the command is built is used. */
  readonly nonce?: string;
}

interface RequestOptions {
  /** The file's name, for error messages. */
  readonly file: string;
  readonly kind: RequestKind;
  /**
   * Reads a file that the request names. The path is relative to the request's folder. If `load` throws an error, the
   * error's message becomes a part of the message about the request, unless the path may contain a key.
   */
  readonly load: (path: string, field: string) => string;
}

const KEYS = [
  ...['type', 'code', 'codeFile', 'data', 'dataFile', 'pactTxHash', 'flowTxHash', 'step', 'rollback', 'proof'],
  ...['keyPairs', 'signers', 'networkId', 'publicMeta', 'nonce'],
] as const;
/** Keys of another tool's request files, kda-tool's, and the names that they have here. */
const KEYS_OF_KDA_TOOL = new Map<string, (typeof KEYS)[number]>([
  ['meta', 'publicMeta'],
  ['pactId', 'pactTxHash'],
]);
const EXEC_KEYS = ['code', 'codeFile'] as const;
const CONT_KEYS = ['pactTxHash', 'flowTxHash', 'step', 'rollback', 'proof'] as const;
const ED25519 = 'ED25519';
/** Matches a text that may contain a key or at least half of one: 32 hex digits in a row. */
const MAYBE_A_KEY = /[\da-f]{32}/i;
/** Time to live if the metadata has no `ttl`, in seconds. */
const DEFAULT_TTL = 1800;

type Fields = Readonly<Record<(typeof KEYS)[number], Place>>;

/**
 * @throws RequestFileError with the line of the fault, or without a line if the file is too long. No message contains
 *   a key
 */
export function parseRequest(text: string, options: RequestOptions): Request {
  const place = Place.read(text, options.file);
  refuseOtherNames(place);
  const fields = place.fields(...KEYS);
  const message = readMessage(fields, options.load);
  const { signers, keyPairs } = readSigners(fields, options.kind, 'exec' in message ? message.exec.code : '');
  const { networkId, publicMeta, nonce } = fields;
  return {
    kind: options.kind,
    message,
    signers,
    keyPairs,
    networkId: networkId.isAbsent ? null : networkId.text(),
    ...(!publicMeta.isAbsent && { meta: readMeta(publicMeta) }),
    ...(!nonce.isAbsent && { nonce: nonce.text() }),
  };
}

function refuseOtherNames(request: Place): void {
  for (const [key, place] of request.entries()) {
    const name = KEYS_OF_KDA_TOOL.get(key);
    if (name !== undefined) throw place.fault(`is called ${name} here`);
  }
}

function readMessage(fields: Fields, load: RequestOptions['load']): Message {
  const { type } = fields;
  switch (type.isAbsent ? 'exec' : type.text()) {
    case 'exec':
      refuse(fields, CONT_KEYS, 'belongs to a request of the type cont');
      return { exec: { code: readCode(fields, load), data: readData(fields, load) } };
    case 'cont':
      refuse(fields, EXEC_KEYS, 'belongs to a request of the type exec');
      return { cont: { ...readContinuation(fields), data: readData(fields, load) } };
    default:
      throw type.fault('must be exec or cont');
  }
}

function refuse(fields: Fields, keys: readonly (keyof Fields)[], predicate: string): void {
  const there = keys.find((key) => !fields[key].isAbsent);
  if (there) throw fields[there].fault(predicate);
}

function readCode({ code, codeFile }: Fields, load: RequestOptions['load']): string {
  if (code.isAbsent === codeFile.isAbsent) {
    throw (code.isAbsent ? code : codeFile).fault('is wrong: there must be either code or codeFile, and not both');
  }
  return code.isAbsent ? loaded(codeFile, 'codeFile', load) : code.text();
}

function readData({ data, dataFile }: Fields, load: RequestOptions['load']): ExactJson {
  if (dataFile.isAbsent) return data.json();
  if (!data.isAbsent) throw dataFile.fault('is wrong: there must not be both data and dataFile');
  try {
    return parseExactJson(loaded(dataFile, 'dataFile', load));
  } catch (error) {
    if (error instanceof LedgerFormatError) throw dataFile.fault(`names a file that cannot be read: ${error.message}`);
    throw error;
  }
}

function loaded(file: Place, field: string, load: RequestOptions['load']): string {
  const path = file.text();
  try {
    return load(path, field);
  } catch (error) {
    // A key may have been written instead of a file's name. Then the message of the error could contain the key.
    if (MAYBE_A_KEY.test(path)) throw file.fault('names a file that cannot be read');
    const why = error instanceof Error ? error.message : `${error}`;
    throw file.fault(`names a file that cannot be read: ${why.replace(/\.$/, '')}`);
  }
}

function readContinuation({ pactTxHash, flowTxHash, step, rollback, proof }: Fields) {
  if (!pactTxHash.isAbsent && !flowTxHash.isAbsent)
    throw flowTxHash.fault('means the same as pactTxHash: leave one of them out');
  const id = flowTxHash.isAbsent ? pactTxHash : flowTxHash;
  return {
    pactId: readHash(id),
    step: step.integer(),
    rollback: rollback.boolean(),
    proof: proof.isAbsent ? null : proof.text(),
  };
}

function readSigners({ signers, keyPairs }: Fields, kind: RequestKind, code: string) {
  if (kind === 'unsigned') {
    if (!keyPairs.isAbsent)
      throw keyPairs.fault('must not be in a request for an unsigned command: name signers instead');
    if (signers.isAbsent) throw signers.fault('must be there for an unsigned command');
    return { signers: limited(signers).map((place) => readSigner(place, code)), keyPairs: [] };
  }
  if (!signers.isAbsent) throw signers.fault('must not be in a request for a signed command: give keyPairs instead');
  const both = keyPairs.isAbsent ? [] : limited(keyPairs).map((place) => readKeyPairSigner(place, code));
  return { signers: both.map(({ signer }) => signer), keyPairs: both.map(({ keyPair }) => keyPair) };
}

function limited(list: Place): Place[] {
  const items = list.items();
  if (items.length > MAX_SIGNATURES)
    throw list.fault(`may have at most ${MAX_SIGNATURES} entries, but has ${items.length}`);
  return items;
}

function readSigner(place: Place, code: string): Signer {
  const { public: key, scheme, address, caps } = place.fields('public', 'scheme', 'address', 'caps');
  checkScheme(scheme);
  return {
    pubKey: readPublicKey(key.text(), key),
    ...(!scheme.isAbsent && { scheme: ED25519 }),
    ...(!address.isAbsent && { addr: readPublicKey(address.text(), address) }),
    clist: readCapabilities(caps, code),
  };
}

function readKeyPairSigner(place: Place, code: string): { signer: Signer; keyPair: KeyPair } {
  const { scheme, caps, ...keys } = place.fields('public', 'secret', 'address', 'scheme', 'caps');
  checkScheme(scheme);
  const keyPair = readKeyPair(keys);
  return { signer: { pubKey: keyPair.publicKey, clist: readCapabilities(caps, code) }, keyPair };
}

function checkScheme(scheme: Place): void {
  if (!scheme.isAbsent && scheme.text() !== ED25519)
    throw scheme.fault(`must be ${ED25519}: no other signatures can be made here`);
}

function readCapabilities(caps: Place, code: string): Capability[] {
  return caps.isAbsent ? [] : caps.items().map((place) => readCapability(place, code));
}

function readCapability(place: Place, code: string): Capability {
  const { name, args } = place.fields('name', 'args');
  const capability = { name: name.text(), args: args.items().map(readArg) };
  const fault = amountFault(capability, code);
  if (fault !== undefined) throw args.fault(`is wrong: ${fault}`);
  return capability;
}

function readArg(place: Place): ExactJson {
  try {
    return toolArg(place.json());
  } catch (error) {
    if (error instanceof LedgerFormatError) throw place.fault(`is wrong: ${error.message}`);
    throw error;
  }
}

function readMeta(place: Place): NonNullable<Request['meta']> {
  const keys = ['chainId', 'sender', 'gasLimit', 'gasPrice', 'ttl', 'creationTime'] as const;
  const { chainId, sender, gasLimit, gasPrice, ttl, creationTime } = place.fields(...keys);
  return {
    chainId: chainId.isAbsent ? '' : chainId.text(),
    sender: sender.isAbsent ? '' : sender.text(),
    gasLimit: gasLimit.isAbsent ? 0 : gasLimit.integer(),
    gasPrice: gasPrice.isAbsent ? 0n : gasPrice.decimal(),
    ttl: ttl.isAbsent ? DEFAULT_TTL : ttl.integer(),
    ...(!creationTime.isAbsent && { creationTime: creationTime.integer() }),
  };
}

/* Builds commands from requests, with the same bytes as the contract tool. */

const NO_META: PublicMeta = { chainId: '', sender: '', gasLimit: 0, gasPrice: 0n, ttl: 0, creationTime: 0 };

/** @param now milliseconds since 1970. Used for a missing creation time or nonce */
export function signedCommand(request: Request, now: number): Command {
  const cmd = cmdOf(payloadOf(request, now));
  const hash = hashOfCmd(cmd);
  return { cmd, hash: requestKeyOfCmd(cmd), sigs: request.keyPairs.map((pair) => ({ sig: pair.sign(hash) })) };
}

/** @param now milliseconds since 1970. Used for a missing creation time or nonce */
export function unsignedForm(request: Request, now: number): UnsignedForm {
  const cmd = cmdOf(payloadOf(request, now));
  return { hash: requestKeyOfCmd(cmd), sigs: new Map(request.signers.map(({ pubKey }) => [pubKey, null])), cmd };
}

function payloadOf({ kind, message, signers, networkId, meta, nonce }: Request, now: number): Payload {
  const text = nonce ?? timeText(now);
  // In the unsigned form of a continuation, the contract tool puts quotes around the nonce, and the quotes are part of
  // the nonce's value: `"\"2024-…\""` in JSON.
  const isShown = kind === 'unsigned' && 'cont' in message;
  return {
    networkId,
    payload: message,
    signers,
    meta: meta ? { creationTime: Math.floor(now / 1000), ...meta } : NO_META,
    nonce: isShown ? showText(text) : text,
  };
}

/* Texts in the syntax of the language that the contract tool is written in. */

/** The names of the control characters U+0000 to U+001F, in this order. */
const CONTROL_NAMES =
  'NUL SOH STX ETX EOT ENQ ACK a b t n v f r SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  );

/**
 * @param milliseconds a time in milliseconds since 1970, with a fraction down to the microsecond
 * @returns a text such as `2024-09-06 20:04:12.679143 UTC`. The fraction has no trailing zeros
 */
export function timeText(milliseconds: number): string {
  const microseconds = BigInt(Math.round(milliseconds * 1000));
  const seconds = new Date(Number(microseconds / 1_000_000n) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  const fraction = `${microseconds % 1_000_000n}`.padStart(6, '0').replace(/0+$/, '');
  return `${seconds}${fraction && `.${fraction}`} UTC`;
}

/**
 * @returns the text in quotes, with escapes for quotes, backslashes, control characters and all characters beyond
 *   ASCII
 */
export function showText(text: string): string {
  const shown = [...text].map(escaped);
  // The mark `\&` separates a numeric escape from a digit after it, and `\SO` from an H after it.
  const separated = shown.map((each, i) => {
    const next = shown[i + 1] ?? '';
    const runsOn = (/^\\\d+$/.test(each) && /^\d/.test(next)) || (each === '\\SO' && next.startsWith('H'));
    return runsOn ? `${each}\\&` : each;
  });
  return `"${separated.join('')}"`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  if (character === '"' || character === '\\') return `\\${character}`;
  if (code < CONTROL_NAMES.length) return `\\${CONTROL_NAMES[code]}`;
  if (code === 0x7f) return '\\DEL';
  return code > 0x7f ? `\\${code}` : character;
}
