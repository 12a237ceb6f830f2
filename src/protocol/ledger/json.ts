import { visit } from 'jsonc-parser';

/** Thrown for bytes or values that violate the ledger's formats. The message names the fault and its place. */
export class LedgerFormatError extends Error {
  override readonly name = 'LedgerFormatError';
}

/** @returns an untrusted text in quotes, for a message. Only its first 60 characters are quoted */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/* Base64url without padding (RFC 4648 §5; document 1, convention 3). Every sequence of bytes has exactly one text. */

/** Matches 32 bytes in base64url, such as a block hash or a request key: 43 characters. */
export const HASH_TEXT = /^[\w-]{43}$/;

export function encodeBase64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
}

/**
 * @param byteLength the required number of bytes; by default, any number is accepted
 * @throws LedgerFormatError for invalid characters, padding, nonzero bits after the last byte, and another length
 */
export function decodeBase64url(text: string, byteLength?: number): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64url'));
  // Buffer skips unknown characters, so only encoding the bytes again shows whether the text was valid.
  if (encodeBase64url(bytes) !== text) {
    throw new LedgerFormatError(`${quoted(text)} is not base64url without padding`);
  }
  if (byteLength !== undefined && bytes.length !== byteLength) {
    throw new LedgerFormatError(`${quoted(text)} stands for ${bytes.length} bytes, but must stand for ${byteLength}`);
  }
  return bytes;
}

/* JSON (RFC 8259) with a custom type for numbers. */

type JsonWith<N> = null | boolean | string | N | JsonWith<N>[] | { [key: string]: JsonWith<N> };

interface JsonReading<N> {
  /** Makes the value of a number. @param text the number as written, which may violate the syntax of JSON */
  readonly number: (text: string) => N;
  readonly mostDepth: number;
}

type Container<N> = JsonWith<N>[] | { [key: string]: JsonWith<N> };

/** @throws LedgerFormatError for malformed JSON, too deep nesting, and duplicate keys in an object */
function readJson<N>(text: string, { number, mostDepth }: JsonReading<N>): JsonWith<N> {
  let whole: JsonWith<N> = null;
  /** The open arrays and objects, innermost last. */
  const open: Container<N>[] = [];
  /**
   * The key of the value that is being read in each open object, at the object's index in `open`. Unused for arrays.
   */
  const keys: string[] = [];

  const put = (value: JsonWith<N>) => {
    const container = open.at(-1);
    if (container === undefined) whole = value;
    else if (Array.isArray(container)) container.push(value);
    else setOwn(container, keys[open.length - 1], value);
  };
  const begin = (container: Container<N>) => {
    if (open.length === mostDepth) throw new LedgerFormatError(`The JSON is nested more than ${mostDepth} deep`);
    put(container);
    open.push(container);
  };
  const end = () => void open.pop();

  visit(
    text,
    {
      onObjectBegin: () => begin({}),
      onObjectProperty: (key, at) => {
        if (Object.hasOwn(open.at(-1)!, key)) {
          throw new LedgerFormatError(`This is not JSON: the key ${quoted(key)} comes twice, again at position ${at}`);
        }
        keys[open.length - 1] = key;
      },
      onObjectEnd: end,
      onArrayBegin: () => begin([]),
      onArrayEnd: end,
      onLiteralValue: (value, at, length) => {
        put(typeof value === 'number' ? number(text.slice(at, at + length)) : value);
      },
      onError: (_, at) => {
        const found = at < text.length ? quoted(text[at]) : 'the end';
        throw new LedgerFormatError(`This is not JSON: ${found} cannot be at position ${at}`);
      },
    },
    { disallowComments: true },
  );
  return whole;
}

/** Adds a key to an object. For the key `__proto__`, an assignment would change the object's prototype instead. */
function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/* JSON whose numbers keep their text. `JSON.parse` rounds amounts, and integers above 2^53, such as feature flags. */

/**
 * Maximum length of a JSON text, in characters. The longest answer of a node, a page of whole blocks, is far shorter.
 */
const MAX_CHARACTERS = 2 ** 25;
/**
 * Maximum depth of nesting. Commands and their results are far less deep. Without a limit, the stack could overflow.
 */
const MAX_DEPTH = 200;
/**
 * Maximum length of a number, in characters. All values of the ledger are shorter. Computing with longer numbers would
 * take long.
 */
const MAX_NUMBER_CHARACTERS = 1000;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?\d+$/;

export class JsonNumber {
  readonly text: string;

  /** @throws LedgerFormatError unless the text is a JSON number of at most 1000 characters */
  constructor(text: string) {
    if (text.length > MAX_NUMBER_CHARACTERS || !NUMBER.test(text)) {
      throw new LedgerFormatError(
        `${quoted(text)} is not a JSON number of at most ${MAX_NUMBER_CHARACTERS} characters`,
      );
    }
    this.text = text;
  }
}

export type ExactJson = null | boolean | string | JsonNumber | readonly ExactJson[] | ExactJsonObject;
export interface ExactJsonObject {
  readonly [key: string]: ExactJson;
}

export function isExactJsonObject(value: ExactJson | undefined): value is ExactJsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/**
 * Parses JSON (RFC 8259) of at most 2^25 characters, nested at most 200 deep, with numbers of at most 1000 characters.
 * Keys such as `__proto__` are ordinary keys. As in all JavaScript objects, keys that are integers come first, in
 * ascending order.
 * @throws LedgerFormatError for any other text, and for duplicate keys
 */
export function parseExactJson(text: string): ExactJson {
  if (text.length > MAX_CHARACTERS) {
    throw new LedgerFormatError(`The JSON has ${text.length} characters, but may have at most ${MAX_CHARACTERS}`);
  }
  return readJson(text, { number: (number) => new JsonNumber(number), mostDepth: MAX_DEPTH });
}

/** @throws LedgerFormatError like `parseExactJson`, and for bytes that are not UTF-8 */
export function parseExactJsonBytes(bytes: Uint8Array): ExactJson {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new LedgerFormatError('This is not JSON: its bytes are not UTF-8');
  }
  return parseExactJson(text);
}

/** @returns JSON without spaces. Numbers keep their original texts, and keys keep their order */
export function stringifyExactJson(value: ExactJson): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringifyExactJson)}]`;
  if (!isExactJsonObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}:${stringifyExactJson(each)}`)}}`;
}

/** @throws LedgerFormatError for a number with a decimal point or an exponent, even if its value is an integer */
export function integerOf({ text }: JsonNumber): bigint {
  if (!INTEGER.test(text)) throw new LedgerFormatError(`${quoted(text)} is not an integer in digits`);
  return BigInt(text);
}

/** @throws LedgerFormatError unless the number is an integer in digits, from −(2^53 − 1) to 2^53 − 1 */
export function safeInteger(number: JsonNumber): number {
  const value = Number(integerOf(number));
  if (!Number.isSafeInteger(value)) throw new LedgerFormatError(`${quoted(number.text)} is beyond 2^53`);
  return value;
}

/** @param value an integer. A value of type `number` is from −(2^53 − 1) to 2^53 − 1 */
export function jsonInteger(value: bigint | number): JsonNumber {
  return new JsonNumber(String(value));
}
