/**
 * Reads JSON (RFC 8259) with numbers of one's own. Strings, which are most of a payload, are taken as a whole: even long
 * ones take next to no time.
 */

import { LedgerFormatError, quoted } from './errors.ts';

/** A JSON value whose numbers are of another type. */
export type JsonWith<N> = null | boolean | string | N | JsonWith<N>[] | { [key: string]: JsonWith<N> };

export interface JsonReading<N> {
  /** @param text a JSON number */
  readonly number: (text: string) => N;
  /** How deep arrays and objects may be nested. */
  readonly mostDepth: number;
}

/** What may not stand for itself in a string. */
const NOT_ITSELF = /[\\\p{Cc}]/u;
const SPACES = ' \t\n\r';
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** @throws LedgerFormatError for what is not JSON, is nested too deep, or has a key twice in one object. */
export function readJson<N>(text: string, reading: JsonReading<N>): JsonWith<N> {
  return new JsonReader(text, reading).read();
}

class JsonReader<N> {
  readonly #text: string;
  readonly #reading: JsonReading<N>;
  #at = 0;

  constructor(text: string, reading: JsonReading<N>) {
    this.#text = text;
    this.#reading = reading;
  }

  read(): JsonWith<N> {
    const value = this.#value(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#fault();
    return value;
  }

  /** @param depth how many brackets are open */
  #value(depth: number): JsonWith<N> {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth + 1);
      case '[':
        return this.#array(depth + 1);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): JsonWith<N> {
    const object: { [key: string]: JsonWith<N> } = {};
    this.#items('}', depth, () => {
      this.#skipSpace();
      const at = this.#at;
      const key = this.#string();
      if (Object.hasOwn(object, key)) {
        throw new LedgerFormatError(`This is not JSON: the key ${quoted(key)} comes twice, again at position ${at}`);
      }
      if (!this.#takes(':')) throw this.#fault();
      setOwn(object, key, this.#value(depth));
    });
    return object;
  }

  #array(depth: number): JsonWith<N> {
    const items: JsonWith<N>[] = [];
    this.#items(']', depth, () => items.push(this.#value(depth)));
    return items;
  }

  /** Reads the items of an array or an object, from the opening bracket to the closing one. */
  #items(end: string, depth: number, read: () => void): void {
    const { mostDepth } = this.#reading;
    if (depth > mostDepth) throw new LedgerFormatError(`The JSON is nested more than ${mostDepth} deep`);
    this.#at += 1;
    if (this.#takes(end)) return;
    do read();
    while (this.#takes(','));
    if (!this.#takes(end)) throw this.#fault();
  }

  #string(): string {
    const start = this.#at;
    if (this.#text[start] !== '"') throw this.#fault();
    let end = start;
    do end = this.#text.indexOf('"', end + 1);
    while (end > 0 && this.#isEscaped(end));
    if (end < 0) throw this.#fault();
    this.#at = end + 1;
    const inside = this.#text.slice(start + 1, end);
    if (!NOT_ITSELF.test(inside)) return inside;
    try {
      return JSON.parse(`"${inside}"`);
    } catch {
      this.#at = start;
      throw this.#fault();
    }
  }

  /** Whether the backslashes before a quote make it a part of the string. */
  #isEscaped(quote: number): boolean {
    let first = quote;
    while (this.#text[first - 1] === '\\') first--;
    return (quote - first) % 2 === 1;
  }

  #word<T>(name: string, value: T): T {
    if (!this.#text.startsWith(name, this.#at)) throw this.#fault();
    this.#at += name.length;
    return value;
  }

  #number(): N {
    NUMBER.lastIndex = this.#at;
    const [number] = NUMBER.exec(this.#text) ?? [];
    if (number === undefined) throw this.#fault();
    this.#at += number.length;
    return this.#reading.number(number);
  }

  /** Goes on behind a character, if it comes next. */
  #takes(character: string): boolean {
    this.#skipSpace();
    const isNext = this.#text[this.#at] === character;
    if (isNext) this.#at += 1;
    return isNext;
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && SPACES.includes(this.#text[this.#at])) this.#at += 1;
  }

  #fault(): LedgerFormatError {
    const found = this.#at < this.#text.length ? quoted(this.#text[this.#at]) : 'the end';
    return new LedgerFormatError(`This is not JSON: ${found} cannot be at position ${this.#at}`);
  }
}

/** An assignment of the key `__proto__` would change the object's prototype. */
function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
