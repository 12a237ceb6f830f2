/** Reads JSON (RFC 8259) with numbers of one's own. */

import { visit } from 'jsonc-parser';
import { LedgerFormatError, quoted } from './errors.ts';

/** A JSON value whose numbers are of another type. */
export type JsonWith<N> = null | boolean | string | N | JsonWith<N>[] | { [key: string]: JsonWith<N> };

export interface JsonReading<N> {
  /** @param text what stands where a JSON number may be */
  readonly number: (text: string) => N;
  /** How deep arrays and objects may be nested. */
  readonly mostDepth: number;
}

type Container<N> = JsonWith<N>[] | { [key: string]: JsonWith<N> };

/** @throws LedgerFormatError for what is not JSON, is nested too deep, or has a key twice in one object. */
export function readJson<N>(text: string, { number, mostDepth }: JsonReading<N>): JsonWith<N> {
  let whole: JsonWith<N> = null;
  /** The arrays and objects that are open, the innermost last. */
  const open: Container<N>[] = [];
  /** For each of them the key whose value comes next. */
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

/** An assignment of the key `__proto__` would change the object's prototype. */
function setOwn<T>(object: { [key: string]: T }, key: string, value: T): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
