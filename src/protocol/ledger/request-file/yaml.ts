/**
 * Reads and writes YAML like the contract tool. Each value keeps its place in the file, so that messages can name the
 * line. No message contains a text that may be a part of a secret key.
 */

import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  Scalar,
  visit,
} from 'yaml';
import { oneLine } from '../../../base/text/plain-text.ts';
import { isPublicKey } from '../command/command.ts';
import { type Decimal, parseDecimal } from '../decimal.ts';
import { decodeBase64url, type ExactJson, JsonNumber, LedgerFormatError } from '../json.ts';

const MAX_DEPTH = 100;
const HASH_BYTES = 32;
/** Maximum number of values that are read as JSON. With aliases, even a short file can have very many values. */
const MAX_VALUES = 100_000;
/** Maximum length of a text that messages quote, in characters. */
const MAX_SHOWN = 40;
/** Matches a text that may contain a part of a key: 8 hex digits in a row. In a damaged file, a key can be anywhere. */
const MAYBE_OF_A_KEY = /[\da-f]{8}/i;

const NULL = /^(|~|null|Null|NULL)$/;
const TRUE = /^(y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const FALSE = /^(n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const NUMBER = /^([+-]?)0*(\d+)(\.\d*)?([eE][+-]?\d{1,9})?$/;
/** Matches hexadecimal and octal numbers, which the contract tool reads as numbers, too. */
const HEXADECIMAL_OR_OCTAL = /^0(x[\da-fA-F]+|o[0-7]+)$/;
/** Maximum length of a number, in characters. The longest number of the ledger is far shorter. */
const MAX_NUMBER_CHARACTERS = 1000;
/** Matches a public or secret key. A key is read as a text, even if all of its digits are decimal digits. */
const KEY = /^[\da-f]{64}$/;
const TEXT_TAGS = ['!', 'tag:yaml.org,2002:str'];

type Meaning =
  | { readonly kind: 'null' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'number'; readonly value: JsonNumber; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

interface Source {
  readonly name: string;
  readonly document: YamlDocument;
  valuesLeft: number;
}

/** A value of a YAML file, or the place where an absent value could be. */
export class Place {
  readonly #source: Source;
  readonly #node: Node | null;
  /** The path of the value, such as `publicMeta.ttl`. Empty for the whole file. */
  readonly #path: string;
  /** The offset of the value in the file. An absent value has the offset of its key or its parent. */
  readonly #offset: number;

  private constructor(source: Source, node: unknown, path: string, offset: number) {
    this.#source = source;
    this.#path = path;
    this.#offset = (node as Node | null)?.range?.[0] ?? offset;
    this.#node = this.#resolved(node as Node | null);
  }

  /** @throws RequestFileError like `parseYaml` */
  static read(text: string, name: string): Place {
    const document = parseYaml(text, name);
    return new Place({ name, document, valuesLeft: MAX_VALUES }, document.contents, '', 0);
  }

  /**
   * @param predicate the rest of a sentence whose subject is the value, such as `must be a list`
   * @returns an error with the name of the file, the line and the sentence
   */
  fault(predicate: string): RequestFileError {
    return this.#refusal(`${this.#path || 'the file'} ${predicate}`);
  }

  #refusal(message: string): RequestFileError {
    const { name, document } = this.#source;
    return new RequestFileError(`${name}, line ${document.lineOf(this.#offset)}: ${message}.`);
  }

  /** Whether the value is absent or null. */
  get isAbsent(): boolean {
    return this.#node === null || this.#meaning()?.kind === 'null';
  }

  get isList(): boolean {
    return isSeq(this.#node);
  }

  hasAny(keys: readonly string[]): boolean {
    const node = this.#node;
    return isMap(node) && node.items.some(({ key }) => isScalar<string>(key) && keys.includes(key.value));
  }

  /** @throws RequestFileError for a key that is not in `known`, and like `entries` */
  fields<Key extends string>(...known: readonly Key[]): Readonly<Record<Key, Place>> {
    const entries = new Map<string, Place>(this.entries());
    for (const [key, place] of entries) {
      if (!(known as readonly string[]).includes(key)) {
        throw place.fault(`is not a key that is known here; these are: ${known.join(', ')}`);
      }
    }
    const placeOf = (key: Key) => entries.get(key) ?? new Place(this.#source, null, this.#pathOf(key), this.#offset);
    return Object.fromEntries(known.map((key) => [key, placeOf(key)])) as Record<Key, Place>;
  }

  /** @throws RequestFileError unless the value is a map, and each key is a text in Unicode that occurs only once */
  entries(): [key: string, Place][] {
    const node = this.#node;
    if (!isMap(node)) throw this.fault('must be a map of keys and values');
    const known = new Set<string>();
    return node.items.map(({ key, value }) => {
      if (!isScalar<string>(key)) throw this.fault('has a key that is not a text');
      const place = new Place(this.#source, value, this.#pathOf(key.value), key.range?.[0] ?? this.#offset);
      if (known.has(key.value)) throw place.#refusal('this key is there twice');
      known.add(key.value);
      return [place.#unicode(key.value), place];
    });
  }

  /** @throws RequestFileError unless the value is a list */
  items(): Place[] {
    const node = this.#node;
    if (!isSeq(node)) throw this.fault('must be a list');
    return node.items.map((item, i) => new Place(this.#source, item, `${this.#path}[${i}]`, this.#offset));
  }

  /** @returns the text; for a number, its text in the file @throws RequestFileError for any other value */
  text(): string {
    const meaning = this.#meaning();
    if (meaning?.kind === 'text' || meaning?.kind === 'number') return meaning.text;
    if (meaning?.kind === 'boolean')
      throw this.fault(`must be a text; YAML reads ${this.#shown()} as ${meaning.value}, so quote it`);
    throw this.fault('must be a text');
  }

  /** @throws RequestFileError unless the value is true or false */
  boolean(): boolean {
    const meaning = this.#meaning();
    if (meaning?.kind === 'boolean') return meaning.value;
    throw this.fault(`must be true or false${this.#butIs()}`);
  }

  /**
   * Also accepts digits in quotes.
   * @throws RequestFileError unless the value is an integer from 0 to 2^53 − 1, in at most 16 digits
   */
  integer(): number {
    const meaning = this.#meaning();
    const value = meaning && 'text' in meaning && /^\d{1,16}$/.test(meaning.text) ? Number(meaning.text) : NaN;
    if (Number.isSafeInteger(value)) return value;
    throw this.fault(`must be a whole number of at least 0${this.#butIs()}`);
  }

  /**
   * Also accepts a number in quotes.
   * @throws RequestFileError unless the value is a number of at least 0 with at most 12 decimal places
   */
  decimal(): Decimal {
    const meaning = this.#meaning();
    const text = meaning?.kind === 'number' ? meaning.value.text : meaning?.kind === 'text' ? meaning.text : '';
    try {
      const decimal = parseDecimal(text);
      if (decimal >= 0n) return decimal;
    } catch (error) {
      if (!(error instanceof LedgerFormatError)) throw error;
    }
    throw this.fault(`must be a number from 0 on with at most 12 decimal places${this.#butIs()}`);
  }

  /**
   * @throws RequestFileError for a merge key, for too many or too deeply nested values, for a scalar with a tag that is
   *   not in `TEXT_TAGS`, for a text that is not Unicode, and like `entries`
   */
  json(depth = 0): ExactJson {
    if (depth > MAX_DEPTH) throw this.fault(`is nested more than ${MAX_DEPTH} deep`);
    if (--this.#source.valuesLeft < 0) throw this.fault(`has more than ${MAX_VALUES} values`);
    if (isSeq(this.#node)) return this.items().map((item) => item.json(depth + 1));
    if (isMap(this.#node)) return this.#object(depth);
    const meaning = this.#meaning() ?? { kind: 'null' };
    if (meaning.kind === 'null') return null;
    return meaning.kind === 'text' ? meaning.text : meaning.value;
  }

  #object(depth: number): ExactJson {
    const entries = this.entries();
    const merge = entries.find(([key]) => key === '<<')?.[1];
    if (merge) throw merge.fault('is a merge key, which is not read here: write its values out');
    return Object.fromEntries(entries.map(([key, place]) => [key, place.json(depth + 1)]));
  }

  /** @returns the meaning of a scalar value; undefined for a map, a list and an absent value */
  #meaning(): Meaning | undefined {
    const node = this.#node;
    if (!isScalar<string>(node)) return undefined;
    if (node.tag !== undefined && !TEXT_TAGS.includes(node.tag))
      throw this.fault('has a tag, which is not read here: leave it out');
    if (node.type === Scalar.PLAIN && node.tag === undefined) return meaningOf(node.value);
    return { kind: 'text', text: this.#unicode(node.value) };
  }

  #unicode(text: string): string {
    if (/\p{Surrogate}/u.test(text)) throw this.fault('has half of a surrogate pair, so it is not Unicode');
    return text;
  }

  #resolved(node: Node | null): Node | null {
    if (!isAlias(node)) return node;
    const target = this.#source.document.aliases.get(node);
    if (!target) throw this.fault('refers to an anchor that does not stand before it');
    return target;
  }

  #pathOf(key: string): string {
    const shown = isShown(key) ? oneLine(key) : '…';
    return this.#path === '' ? shown : `${this.#path}.${shown}`;
  }

  /** @returns a clause that quotes the value, for the end of a message. It is empty if the value must not be shown */
  #butIs(): string {
    const shown = this.#shown();
    if (shown === '') return '';
    return shown.endsWith(',"') ? `, but is ${shown}: remove the comma` : `, but is ${shown}`;
  }

  #shown(): string {
    const text = isScalar<string>(this.#node) ? this.#node.value : '';
    return text !== '' && isShown(text) ? `"${oneLine(text)}"` : '';
  }
}

/** @returns a hash: 43 characters of base64url @throws RequestFileError for any other value */
export function readHash(place: Place): string {
  const hash = place.text();
  try {
    decodeBase64url(hash, HASH_BYTES);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw place.fault('must be a hash: 43 characters of base64url');
    throw error;
  }
  return hash;
}

/**
 * @param place the value that the error refers to
 * @returns the key
 * @throws RequestFileError unless the key is 64 lower-case hex digits
 */
export function readPublicKey(key: string, place: Place): string {
  if (!isPublicKey(key)) throw place.fault('must be a public key: 64 lower-case hex digits');
  return key;
}

/**
 * @returns the signature; null if it is absent or null
 * @throws RequestFileError unless it is 128 lower-case hex digits
 */
export function readSignature(place: Place): string | null {
  if (place.isAbsent) return null;
  const signature = place.text();
  if (!/^[\da-f]{128}$/.test(signature)) throw place.fault('must be null or a signature: 128 lower-case hex digits');
  return signature;
}

function isShown(text: string): boolean {
  return text.length <= MAX_SHOWN && !MAYBE_OF_A_KEY.test(text);
}

function meaningOf(text: string): Meaning {
  if (NULL.test(text)) return { kind: 'null' };
  if (TRUE.test(text)) return { kind: 'boolean', value: true };
  if (FALSE.test(text)) return { kind: 'boolean', value: false };
  const json = jsonNumberOf(text);
  return json === undefined ? { kind: 'text', text } : { kind: 'number', value: json, text };
}

function jsonNumberOf(text: string): JsonNumber | undefined {
  if (text.length > MAX_NUMBER_CHARACTERS || KEY.test(text)) return undefined;
  if (HEXADECIMAL_OR_OCTAL.test(text)) {
    const digits = `${BigInt(text)}`;
    return digits.length > MAX_NUMBER_CHARACTERS ? undefined : new JsonNumber(digits);
  }
  const [, sign, whole, fraction = '', exponent = ''] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return undefined;
  return new JsonNumber(`${sign === '-' ? '-' : ''}${whole}${fraction === '.' ? '' : fraction}${exponent}`);
}

/*
 * Parses untrusted YAML in a bounded time. By default, the package `yaml` compares each key of a map with all other
 * keys, and searches the whole document for the anchor of each alias. Large maps and many aliases would take long. So
 * `Place.entries` compares the keys, and `aliasesOf` finds the anchors.
 */

/** Maximum length of a file, in characters. All requests and forms that nodes accept are far shorter. */
const MAX_CHARACTERS = 2 ** 18;
/** Maximum number of lexemes. A value in a map or a list has about eight. */
const MAX_LEXEMES = 50_000;
/** Maximum number of levels that are open at the same time. The limit of `json` for JSON values is lower. */
const MAX_OPEN = 250;
const MAX_ALIASES = 100;

/** Scalars are read as texts. Duplicate keys are accepted here, and found by `Place.entries`. */
const OPTIONS = { schema: 'failsafe', stringKeys: true, prettyErrors: false, uniqueKeys: false } as const;

/** Replaces the messages of the package `yaml`, which can contain a part of the file, such as a secret key. */
const NO_YAML = 'this is not YAML: check the indentation, the colons and the quotes';
const TAB = 'lines are indented with spaces, not with tabs';

interface YamlDocument {
  readonly contents: Node | null;
  /** The target of each alias. An alias without an earlier anchor has no entry. */
  readonly aliases: ReadonlyMap<Node, Node>;
  /** @returns the number of the line at an offset. The first line is 1 */
  readonly lineOf: (offset: number) => number;
}

/** @throws RequestFileError for a text that is not exactly one document of YAML, or that exceeds a bound */
function parseYaml(text: string, name: string): YamlDocument {
  if (text.length > MAX_CHARACTERS) throw new RequestFileError(`${name} is longer than ${MAX_CHARACTERS} characters.`);
  const lines = new LineCounter();
  const lineOf = (offset: number) => lines.linePos(offset).line || 1;
  const refuse = (offset: number, message: string) =>
    new RequestFileError(`${name}, line ${lineOf(offset)}: ${message}.`);
  const tokens = tokensOf(text, lines, refuse);
  const [document, second] = new Composer(OPTIONS).compose(tokens, true, text.length);
  const [error] = document.errors;
  if (error) throw refuse(error.pos[0], error.code === 'TAB_AS_INDENT' ? TAB : NO_YAML);
  if (second) throw refuse(second.range[0], 'a second document begins here, but only one can be read');
  return { contents: document.contents, aliases: aliasesOf(document, refuse), lineOf };
}

type Refuse = (offset: number, message: string) => RequestFileError;

/** Like `Parser.parse` of the package `yaml`, but throws at the first fault, and as soon as a bound is exceeded. */
function* tokensOf(text: string, lines: LineCounter, refuse: Refuse) {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let left = MAX_LEXEMES;
  for (const lexeme of new Lexer().lex(text)) {
    if (--left < 0) throw refuse(parser.offset, `the file has more than ${MAX_LEXEMES} parts up to here`);
    for (const token of parser.next(lexeme)) {
      // Only the first fault is reported. Collecting all faults would take a long time.
      if (token.type === 'error') throw refuse(token.offset, NO_YAML);
      yield token;
    }
    if (parser.stack.length > MAX_OPEN) throw refuse(parser.offset, `the file is nested more than ${MAX_OPEN} deep`);
  }
  yield* parser.end();
}

/** @returns the target of each alias: the most recent preceding node with the same anchor */
function aliasesOf(document: Document.Parsed, refuse: Refuse): YamlDocument['aliases'] {
  const anchored = new Map<string, Node>();
  const aliases = new Map<Node, Node>();
  let left = MAX_ALIASES;
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchored.set(node.anchor, node);
        return;
      }
      if (--left < 0) throw refuse(node.range?.[0] ?? 0, `the file has more than ${MAX_ALIASES} aliases`);
      const target = anchored.get(node.source);
      if (target) aliases.set(node, target);
    },
  });
  return aliases;
}

/* Writes single values of YAML like the contract tool: without quotes if possible, and otherwise in quotes. */

/** `NUMBER_TEXT` and `WORD` match texts that need quotes, because YAML would read them as other values. */
const NUMBER_TEXT = /^([+-]?\d+(\.\d*)?([eE][+-]?\d+)?|0x[\da-fA-F]+|0o[0-7]+)$/;
const WORD = /^(y|yes|n|no|true|false|on|off|null)$/i;
const PLAIN = /^(\w|-[\w-])[\w-]*$/;
/** Matches a text whose characters need no escape in quotes: all are printable, and none ends a line. */
const PRINTABLE = /^[\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]*$/;

/** @param text a hash, a key, a signature or the text of a command */
export function yamlText(text: string): string {
  if (PLAIN.test(text) && !NUMBER_TEXT.test(text) && !WORD.test(text) && !text.startsWith('---')) return text;
  return PRINTABLE.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${[...text].map(escaped).join('')}"`;
}

function escaped(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  if (PRINTABLE.test(character)) return character;
  const hex = character.codePointAt(0)!.toString(16).toUpperCase();
  if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}

/** Thrown for a wrong file. The message contains the file's name and, if it is known, the line. */
export class RequestFileError extends Error {
  override readonly name = 'RequestFileError';
}
