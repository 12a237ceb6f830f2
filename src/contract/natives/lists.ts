/** Natives for lists and objects. Some of them accept a text as a list of characters. */

import { ContractError } from '../errors.ts';
import { costOfLookUp, ELEMENT } from '../gas/natives5.ts';
import { characterCount } from '../gas/sizes.ts';
import {
  type Argument,
  type Call,
  type Evaluator,
  lazy,
  type Native,
  type Remaining,
  strict,
  wrongArguments,
} from '../runtime/native.ts';
import { abbreviated, type BeforeShown, shownValue } from '../runtime/shown.ts';
import { characters, SteppedWalk, spendParts, spendText } from '../runtime/steps.ts';
import { Decimal } from '../values/decimal.ts';
import { absolute } from '../values/integers.ts';
import { printed, typeText } from '../values/printing.ts';
import { Time } from '../values/time.ts';
import {
  areEqual,
  CHARACTERS_PER_STEP,
  type ContractObject,
  compareTexts,
  isList,
  isObject,
  isText,
  order,
  sortedObject,
  type Value,
} from '../values/values.ts';
import { containsText, SEARCHED_PER_STEP } from './search.ts';

function fail(message: string): never {
  throw new ContractError('eval', message);
}

/* Parts of lists, objects and texts. */

function at([index, from, ...more]: readonly Value[], call: Call): Value | undefined {
  if (more.length > 0) return undefined;
  if (typeof index === 'bigint' && isList(from)) return itemAt(index, from, call);
  return isObject(from) ? fieldAt(index, from, call) : undefined;
}

function itemAt(index: bigint, list: readonly Value[], { evaluator: { dialect } }: Call): Value {
  const item = index >= 0n && index < list.length ? list[Number(index)] : undefined;
  if (item !== undefined) return item;
  if (dialect === 5) fail(`Array index out of bounds. Length (${list.length}), Index (${index})`);
  return fail(`at: bad index ${index}, length ${list.length}`);
}

/**
 * @returns undefined in dialect 5 if the key is not a text
 * @throws ContractError in dialect 4 if the key is not a text; in both dialects if the object lacks the key
 */
function fieldAt(key: Value, object: ContractObject, { evaluator: { dialect } }: Call): Value | undefined {
  if (!isText(key)) return dialect === 5 ? undefined : fail('object lookup only supported with strings');
  const value = object.get(key);
  if (value !== undefined) return value;
  if (dialect === 5) fail(`Key "${key}" not found in object: ${printed(object, { dialect })}`);
  return fail(`key not found in object: ${key}`);
}

/** @param isTake true for `take`, which keeps the counted items, and false for `drop` @returns the native */
function part(name: string, isTake: boolean): Native {
  const signatures = [
    'count:integer list:<a[[<l>],string]> -> <a[[<l>],string]>',
    'keys:[string] object:object:<{o}> -> object:<{o}>',
  ];
  return strict(name, signatures, ([which, from, ...more], { evaluator }) => {
    if (more.length > 0) return undefined;
    if (typeof which === 'bigint') {
      if (typeof from === 'string') return countedCharacters(from, which, isTake, evaluator);
      if (!isList(from)) return undefined;
      evaluator.spend(from.length);
      return counted(from, which, isTake);
    }
    if (!isList(which) || !isObject(from)) return undefined;
    evaluator.spend(which.length + from.size);
    if (!which.every(isText)) return evaluator.dialect === 5 ? undefined : fail('String required');
    const keys = new Set(which);
    return sortedObject([...from].filter(([key]) => keys.has(key) === isTake));
  });
}

/**
 * @param count number of items, counted from the beginning; if negative, from the end
 * @param isTake whether the counted items are kept. Otherwise, the other items are kept
 */
function counted<T>(items: readonly T[], count: bigint, isTake: boolean): readonly T[] {
  const border = borderOf(items.length, count);
  return count >= 0n === isTake ? items.slice(0, border) : items.slice(border);
}

/**
 * As `counted`, for the characters of a text. The text is not converted to a list, which would take far more memory.
 */
function countedCharacters(text: string, count: bigint, isTake: boolean, evaluator: Evaluator): string {
  spendText(evaluator, text.length);
  let border = borderOf(characterCount(text), count);
  let at = 0;
  for (; border > 0; border--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return count >= 0n === isTake ? text.slice(0, at) : text.slice(at);
}

/**
 * @param count number of items before the cut; if negative, the magnitude is the number of items after the cut
 * @returns the index at which to cut a list of this length, from 0 to the length
 */
function borderOf(length: number, count: bigint): number {
  const border = count >= 0n ? count : BigInt(length) + count;
  return Number(border < 0n ? 0n : border > length ? BigInt(length) : border);
}

function contains([value, within, ...more]: readonly Value[], { evaluator }: Call): boolean | undefined {
  if (more.length > 0 || within === undefined) return undefined;
  if (isList(within)) {
    const walk = new SteppedWalk(evaluator, { isBounded: false });
    return within.some((item) => areEqual(item, value, walk));
  }
  if (!isText(value)) return undefined;
  if (isObject(within)) return within.has(value);
  if (!isText(within)) return undefined;
  evaluator.spend(1 + Math.floor((within.length + value.length) / SEARCHED_PER_STEP));
  return containsText(within, value);
}

function length([of, ...more]: readonly Value[], { evaluator }: Call): bigint | undefined {
  if (more.length > 0 || of === undefined) return undefined;
  if (isText(of)) {
    spendText(evaluator, of.length);
    return BigInt(characterCount(of));
  }
  if (isList(of)) return BigInt(of.length);
  return isObject(of) ? BigInt(of.size) : undefined;
}

function reverse([list, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (more.length > 0 || list === undefined) return undefined;
  if (isText(list) && evaluator.dialect === 5) return [...characters(evaluator, list)].reverse().join('');
  if (!isList(list)) return undefined;
  evaluator.spend(list.length);
  evaluator.gas.reverse(list.length);
  return [...list].reverse();
}

/* New lists. */

function makeList([length, value, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (typeof length !== 'bigint' || value === undefined || more.length > 0) return undefined;
  if (length > 0n) spendParts(evaluator, length);
  evaluator.gas.makeList(length > 0n ? Number(length) : 0);
  if (length <= 0n) return [];
  return new Array<Value>(Number(length)).fill(value);
}

function enumerate([from, to, step, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (typeof from !== 'bigint' || typeof to !== 'bigint' || more.length > 0) return undefined;
  const increment = step ?? (from > to ? -1n : 1n);
  if (typeof increment !== 'bigint') return undefined;
  const largest = [from, to].map(absolute).reduce((a, b) => (a > b ? a : b));
  if (from === to) {
    evaluator.gas.enumerate(1, largest);
    return [from];
  }
  if (increment === 0n) {
    evaluator.gas.enumerate(1, 0n);
    return [];
  }
  if (from < to !== increment > 0n) {
    const message = `enumerate: increment diverges ${from < to ? 'below' : 'above'} from interval bounds.`;
    fail(evaluator.dialect === 5 ? `Enumeration error: ${message}` : message);
  }
  // `to - from` and the increment have the same sign, so the quotient is at least 0.
  const count = (to - from) / increment + 1n;
  spendParts(evaluator, count);
  evaluator.gas.enumerate(Number(count), largest);
  return Array.from({ length: Number(count) }, (_, index) => from + BigInt(index) * increment);
}

/** The native `distinct`, which keeps only the first of several equal values. */
function distinct([list, ...more]: readonly Value[], { evaluator }: Call): Value | undefined {
  if (list === undefined || !isList(list) || more.length > 0) return undefined;
  if (list.length > 0) evaluator.gas.sort(list.length, 'distinct');
  const walk = new SteppedWalk(evaluator, { isBounded: false });
  // Earlier texts, integers and bools are found in a set. Any other value is compared with all earlier values of its
  // type.
  const simple = new Set<Value>();
  const others = new Map<string, Value[]>();
  return list.filter((value) => {
    walk.visit(1);
    if (typeof value !== 'object') {
      const isNew = !simple.has(value);
      simple.add(value);
      return isNew;
    }
    const type = typeText(value, evaluator.dialect);
    const known = others.get(type) ?? [];
    others.set(type, known);
    const isNew = !known.some((each) => areEqual(each, value, walk));
    if (isNew) known.push(value);
    return isNew;
  });
}

/* Sorting. */

/**
 * Values of different types are sorted by the ranks of their types.
 * @returns the rank of the value's type; undefined for a type without a rank. A value of such a type counts as equal to
 *   every other value
 */
function rankOf(value: Value): number | undefined {
  if (isText(value)) return 0;
  if (typeof value === 'bigint') return 1;
  if (value instanceof Decimal) return 2;
  if (typeof value === 'boolean') return 3;
  return value instanceof Time ? 4 : undefined;
}

/**
 * @returns a negative number if `a` comes first, a positive number if `b` comes first, and 0 for values that are equal
 *   or have no order
 */
function compareLiterals(a: Value, b: Value, { evaluator }: Call): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  evaluator.spend(isText(a) && isText(b) ? 1 + Math.floor(Math.min(a.length, b.length) / CHARACTERS_PER_STEP) : 1);
  if (rankA === undefined || rankB === undefined) return 0;
  if (rankA !== rankB) return rankA - rankB;
  return typeof a === 'boolean' ? Number(a) - Number(b) : (order(a, b) ?? 0);
}

function sort(values: readonly Value[], call: Call): Value | undefined {
  const [first, second, ...more] = values;
  if (first === undefined || !isList(first) || more.length > 0) return undefined;
  call.evaluator.spend(first.length);
  if (second === undefined && first.length > 0) call.evaluator.gas.sort(first.length);
  if (second === undefined) return [...first].sort((a, b) => compareLiterals(a, b, call));
  return isList(second) ? sortObjects(first, second, call) : undefined;
}

/**
 * Sorts objects by the values of some fields. If there are no objects, the types of the fields are not checked.
 * @returns undefined in dialect 5 if a field is not a text, or if an item is not an object
 * @throws ContractError in dialect 4 if there are no fields, or if a field is not a text
 */
function sortObjects(fields: readonly Value[], objects: readonly Value[], call: Call): Value | undefined {
  const { dialect } = call.evaluator;
  if (fields.length === 0 && dialect === 4) fail('Empty fields list');
  if (objects.length === 0) return objects;
  if (!fields.every(isText)) return dialect === 5 ? undefined : fail('String required');
  if (dialect === 5 && !objects.every(isObject)) return undefined;
  call.evaluator.spend(objects.length);
  // The last field is compared first. Dialect 4 first removes repeated fields, and sorts the fields by code points.
  const deciding = dialect === 5 ? [...fields] : [...new Set(fields)].sort(compareTexts);
  deciding.reverse();
  call.evaluator.gas.sort(objects.length);
  call.evaluator.gas.sortFields(new Set(fields).size);
  return [...objects].sort((a, b) => {
    if (!isObject(a) || !isObject(b)) return 0;
    for (const field of deciding) {
      const [valueA, valueB] = [a.get(field), b.get(field)];
      const result = valueA !== undefined && valueB !== undefined ? compareLiterals(valueA, valueB, call) : 0;
      if (result !== 0) return result;
    }
    return 0;
  });
}

/* Natives that apply a function to each item. */

/**
 * @returns the value of an argument that must be a list; undefined in dialect 5 for any other value
 * @throws ContractError in dialect 4 for any other value
 */
function listOf(name: string, { value }: Argument, { evaluator }: Call) {
  if (isList(value)) {
    evaluator.spend(value.length);
    return value;
  }
  if (evaluator.dialect === 5) return undefined;
  const before: BeforeShown = [': ', ', received argument of type: '];
  const shown = shownValue(evaluator, value, before, (each) => abbreviated(evaluator.print(each)));
  return fail(`${name}: expecting list${shown}`);
}

/** @returns the function, which also charges in dialect 5 for the element of the list that it gets */
function forEach(name: string, app: Remaining | undefined, { evaluator }: Call): Remaining | undefined {
  return (
    app &&
    ((...items) => {
      evaluator.gas.charge5(name, () => ELEMENT);
      return app(...items);
    })
  );
}

function map(args: readonly Argument[], call: Call): Value | undefined {
  const app = args.length === 2 ? forEach('map', args[0].asRepeated(), call) : undefined;
  const list = app && listOf('map', args[1], call);
  return app && list?.map((item) => app(item));
}

function filter(args: readonly Argument[], call: Call): Value | undefined {
  const app = args.length === 2 ? forEach('filter', args[0].asFunction(), call) : undefined;
  const list = app && listOf('filter', args[1], call);
  return app && list?.filter((item) => isAccepted(app(item), args[0], call));
}

function isAccepted(result: Value, app: Argument, { evaluator: { dialect, environment } }: Call): boolean {
  if (typeof result === 'boolean') return result;
  if (dialect === 4 && environment.flags.has('DisablePact42')) return false;
  if (dialect === 5) fail(`expected bool value, got ${printed(result, { dialect })}`);
  return fail(`filter: expected closure to return bool: ${app.text}`);
}

/** The native `fold`, which evaluates the list before the initial value. */
function fold(args: readonly Argument[], call: Call): Value | undefined {
  const app = args.length === 3 ? forEach('fold', args[0].asFunction(), call) : undefined;
  const list = app && listOf('fold', args[2], call);
  return app && list?.reduce((result: Value, item) => app(result, item), args[1].value);
}

const ZIP = lazy('zip', 'f:(x:<a> y:<b> -> <c>) list1:[<a>] list2:[<b>] -> [<c>]', zip);

function zip(args: readonly Argument[], call: Call): Value | undefined {
  const { evaluator } = call;
  const app = args.length === 3 ? forEach('zip', args[0].asFunction(), call) : undefined;
  if (!app) return undefined;
  const [first, second] = [args[1].value, args[2].value];
  if (!isList(first) || !isList(second)) {
    if (evaluator.dialect === 5) return undefined;
    // The message shows only the two values that should be lists, and not the function.
    throw wrongArguments({ ...ZIP, isLazy: false }, args.slice(1), evaluator);
  }
  const shortest = first.slice(0, second.length);
  evaluator.spend(shortest.length);
  return shortest.map((item, index) => app(item, second[index]));
}

function where(args: readonly Argument[], call: Call): Value | undefined {
  const app: Remaining | undefined = args.length === 3 ? args[1].asFunction() : undefined;
  const [field, object] = app ? [args[0].value, args[2].value] : [];
  if (!app || field === undefined || object === undefined || !isObject(object)) return undefined;
  if (isText(field)) call.evaluator.gas.charge5('where', () => costOfLookUp(field, object.size));
  const value = fieldAt(field, object, call);
  const result = value === undefined ? undefined : app(value);
  const { dialect } = call.evaluator;
  if (result === undefined || typeof result === 'boolean' || dialect === 4) return result;
  return fail(`expected bool value, got ${printed(result, { dialect })}`);
}

export const LISTS: readonly Native[] = [
  strict('at', ['idx:integer list:[<l>] -> <a>', 'idx:string object:object:<{o}> -> <a>'], at),
  strict(
    'contains',
    ['value:<a> list:[<a>] -> bool', 'key:<a> object:object:<{o}> -> bool', 'value:string string:string -> bool'],
    contains,
  ),
  strict('distinct', 'values:[<a>] -> [<a>]', distinct),
  part('drop', false),
  strict(
    'enumerate',
    ['from:integer to:integer inc:integer -> [integer]', 'from:integer to:integer -> [integer]'],
    enumerate,
  ),
  lazy('filter', 'app:(x:<a> -> bool) list:[<a>] -> [<a>]', filter),
  lazy('fold', 'app:(x:<a> y:<b> -> <a>) init:<a> list:[<b>] -> <a>', fold),
  strict('length', 'x:<a[[<l>],string,object:<{o}>]> -> integer', length),
  { ...strict('list', 'elems:* -> [*]', (values) => values), dialect: 4 },
  strict('make-list', 'length:integer value:<a> -> [<a>]', makeList),
  lazy('map', 'app:(x:<b> -> <a>) list:[<b>] -> [<a>]', map),
  strict('remove', 'key:string object:object:<{o}> -> object:<{o}>', ([key, object, ...more], { evaluator }) => {
    if (!isText(key) || object === undefined || !isObject(object) || more.length > 0) return undefined;
    evaluator.spend(object.size);
    return sortedObject([...object].filter(([name]) => name !== key));
  }),
  strict('reverse', 'list:[<a>] -> [<a>]', reverse),
  strict('sort', ['values:[<a>] -> [<a>]', 'fields:[string] values:[object:<{o}>] -> [object:<{o}>]'], sort),
  part('take', true),
  lazy('where', 'field:string app:(x:<a> -> bool) value:object:<{row}> -> bool', where),
  ZIP,
];
