// Random and mutated programs of the contract language, for contract-fuzz.mjs. The same seed gives the same programs.

import { readdirSync, readFileSync } from 'node:fs';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { hostileTexts } from './hostile.mjs';

/** Number of programs in a row that have one dialect, and may share a session. */
export const GROUP = 10;

const read = (path) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const vectors = JSON.parse(read('test/contract/vectors.json'));

/** Each item has the inputs of one session. */
const DIALOGUES = { 4: dialoguesOf('4'), 5: dialoguesOf('5') };
const CONTRACTS = filesOf('src/mock-node/contracts', '.pact');
const SUITES = filesOf('test/mock-node/contracts', '.repl');

function dialoguesOf(dialect) {
  const isIn = ({ dialects }) => dialects.includes(dialect);
  const expressions = Object.values(vectors.expressions).flat().filter(isIn);
  const sessions = vectors.sessions.filter(isIn).map(({ steps }) => steps.map(({ code }) => code));
  const wrong = vectors.syntax_errors.filter((each) => each.dialect === dialect);
  const { setup, lines } = vectors.gas;
  return [...[...expressions, ...wrong].map(({ code }) => [code]), ...sessions, [setup, ...lines.map((l) => l.code)]];
}

function filesOf(folder, ending) {
  const names = readdirSync(new URL(`../../../../${folder}`, import.meta.url)).filter((name) => name.endsWith(ending));
  return names.map((name) => ({ name, text: read(`${folder}/${name}`) }));
}

/** The files that programs can load. One of them loads itself. */
export const FILES = new Map([
  ...[...CONTRACTS, ...SUITES].map(({ name, text }) => [name, text]),
  ['self.repl', '(load "self.repl")(load "self.repl")'],
  ['self.pact', '(load "self.pact")'],
]);

const TOKEN = /;[^\n]*|"(?:[^"\\]|\\.)*"|[()[\]{}]|:=|::|[:,]|[^\s()[\]{}:,"]+|"/g;
export const tokensOf = (text) => text.match(TOKEN) ?? [];

const VOCABULARY = {
  4: vocabularyOf(DIALOGUES[4]),
  5: vocabularyOf(DIALOGUES[5]),
};

function vocabularyOf(dialogues) {
  const texts = [...dialogues.flat(), ...CONTRACTS.map(({ text }) => text)];
  return [...new Set([...texts.flatMap(tokensOf), ...NATIVES.keys()])];
}

/** Literals and expressions that are easily forgotten. */
const ODD = [
  '0',
  '-1',
  '-0',
  '1.0',
  '-0.0',
  '1e5',
  '007',
  '9'.repeat(400),
  `-${'9'.repeat(9_999)}`,
  `0.${'0'.repeat(254)}1`,
  `${'7'.repeat(300)}.${'3'.repeat(200)}`,
  '9007199254740993',
  '18446744073709551616',
  '(^ 2 65535)',
  '(^ 2.0 1023.0)',
  '""',
  '"\\u0000"',
  '"\u{1f600}\u0301\u202e\ufeff"',
  '"\ud800"',
  '"\udc00\ud800"',
  "'é",
  '"__proto__"',
  "'constructor",
  '"{}{}{}"',
  '"2016-07-22T12:00:00Z"',
  '"%Y-%m-%dT%H:%M:%SZ"',
  '"%-%E%O%99Y%%%v"',
  '(time "0001-01-01T00:00:00Z")',
  '(add-time (time "9999-12-31T23:59:59Z") (days 1000000000000))',
  '[]',
  '{}',
  '[[[[]]]]',
  '{"a":{"a":{"a":1}}}',
  '{"__proto__":1}',
  '{"toString":1,"constructor":2}',
  '(make-list 1000000 0)',
  '(make-list 1048577 "a")',
  '[1 "a" 2.0 true {}]',
  '(enumerate -100000 100000)',
  '(lambda (x) x)',
  '(lambda (x y) (+ x y))',
  '(+ 1)',
  '(map (+ 1))',
  'true',
  'false',
  '(read-keyset "k")',
  '(keyset-ref-guard "k")',
  '(create-module-guard "a")',
  '(sig-keyset)',
  'coin',
  'CHARSET_ASCII',
  '(decrypt-cc20p1305 "" "" "" "" "")',
  '(str-to-list (concat (make-list 1000 "ab")))',
  '*',
  '@doc',
  ':integer',
  'm::f',
];

/** @returns how many steps each form of a program may take: one group in ten may take all */
export function stepsOf(number, maxSteps) {
  return Math.floor(number / GROUP) % 10 === 0 ? maxSteps : Math.ceil(maxSteps / 10);
}

/** @returns the program with this number: its dialect, its inputs, and whether a session is shared by its group */
export function programOf(number, seed) {
  const group = seededRandom(seed * 7919 + Math.floor(number / GROUP));
  const dialect = group() < 0.5 ? 4 : 5;
  const shared = group() < 0.5;
  const draw = new Draw(seededRandom((seed * 1_000_003 + number) ^ 0x5bd1e995), dialect);
  return { dialect, shared, texts: draw.program() };
}

class Draw {
  constructor(random, dialect) {
    this.random = random;
    this.dialect = dialect;
  }

  below(count) {
    return Math.floor(this.random() * count);
  }

  of(items) {
    return items[this.below(items.length)];
  }

  program() {
    const kind = this.random();
    if (kind < 0.35) return this.of(DIALOGUES[this.dialect]).map((text) => this.mutated(text, 0.7));
    if (kind < 0.7) return this.compositions();
    if (kind < 0.94) return hostileTexts(this);
    if (kind < 0.97) return [this.of(CONTRACTS).text, this.of(SUITES).text].map((text) => this.mutated(text, 0.8));
    return this.characters();
  }

  /* Mutations of tokens. */

  mutated(text, chance) {
    if (this.random() > chance) return text;
    const tokens = tokensOf(text);
    const changes = 1 + this.below(this.random() < 0.2 ? 8 : 2);
    for (let at = 0; at < changes; at++) this.change(tokens);
    return tokens.join(' ').slice(0, 2 ** 20 + 2);
  }

  change(tokens) {
    const at = this.below(tokens.length);
    const to = this.below(tokens.length);
    const vocabulary = VOCABULARY[this.dialect];
    const many = 2 ** this.below(14);
    switch (this.below(10)) {
      case 0:
        tokens.splice(at, 1);
        break;
      case 1:
        tokens.splice(at, 0, tokens[to] ?? '');
        break;
      case 2:
        [tokens[at], tokens[to]] = [tokens[to] ?? '', tokens[at] ?? ''];
        break;
      case 3:
      case 4:
        tokens[at] = this.of(vocabulary);
        break;
      case 5:
        tokens[at] = this.of(ODD);
        break;
      case 6:
        tokens[at] = `${this.of(['(', '[', '{', '((', '(+ 1 ', '(not ']).repeat(many)}${tokens[at]}`;
        break;
      case 7:
        tokens.splice(at, 0, ...Array(Math.min(many, 2000)).fill(tokens.slice(at, at + 1 + this.below(8)).join(' ')));
        break;
      case 8:
        tokens.splice(at, 1 + this.below(10));
        break;
      default:
        tokens.splice(at, 0, this.expression(2));
    }
  }

  /* Natives with arguments of any types. */

  compositions() {
    return Array.from({ length: 1 + this.below(3) }, () => this.expression(1 + this.below(5)));
  }

  expression(depth) {
    if (depth <= 0 || this.random() < 0.1)
      return this.random() < 0.5 ? this.of(ODD) : this.of(VOCABULARY[this.dialect]);
    const inner = () => this.expression(depth - 1);
    switch (this.below(14)) {
      case 0:
        return `(let* ((x ${inner()}) (y ${inner()})) ${inner()} ${this.of(['x', 'y', '(+ x y)', '[x y]', '(= x y)'])})`;
      case 1:
        return `(map (lambda (x) ${inner()}) ${inner()})`;
      case 2:
        return `(fold (lambda (x y) ${this.of([inner(), '(+ x x)', '[x x]', '(+ x [x])'])}) ${inner()} (enumerate 0 ${2 ** this.below(12)}))`;
      case 3:
        return `[${inner()} ${inner()}]`;
      case 4:
        return `{"a":${inner()},"b":${inner()}}`;
      case 5:
        return `(try ${inner()} ${inner()})`;
      case 6:
        return `(format ${this.of(['"{}"', '"{} {}"', inner()])} [${inner()} ${inner()}])`;
      default:
        return this.call(inner);
    }
  }

  call(inner) {
    const native = this.of([...NATIVES.values()]);
    const signature = this.of(native.signatures);
    const parameters = signature
      .slice(0, signature.lastIndexOf(' -> '))
      .split(' ')
      .filter((part) => part.includes(':'));
    const args = parameters.map((type) => (this.random() < 0.3 ? inner() : this.argument(type, inner)));
    if (this.random() < 0.05) args.push(inner());
    return `(${native.name} ${args.join(' ')})`;
  }

  argument(type, inner) {
    if (/:\(/.test(type))
      return this.of(['(lambda (x) x)', '(lambda (x y) (+ x y))', '(+ 1)', '(= 1)', 'length', 'f', inner()]);
    if (/integer/.test(type))
      return this.of(['1', '2', '0', '-1', '64', '16', '1000000', '(^ 2 30000)', `${this.below(1e9)}`]);
    if (/decimal/.test(type)) return this.of(['1.5', '0.0', '-2.25', `0.${'1'.repeat(255)}`, '(^ 2.0 1000.0)']);
    if (/\[/.test(type))
      return this.of([
        '[]',
        '[1 2 3]',
        '["a" "b"]',
        '[{"a":1} {"a":2}]',
        '(enumerate 1 5000)',
        '(make-list 50000 "é")',
      ]);
    if (/object/.test(type)) return this.of(['{}', '{"a":1}', '{"a":1,"b":"c"}', '{"a":[{"b":1.0}]}', inner()]);
    if (/string/.test(type))
      return this.of([
        '""',
        '"a"',
        '"k:ab"',
        '"abc"',
        '"SGk"',
        '"2016-07-22T12:00:00Z"',
        '"%F"',
        `"${'x'.repeat(this.below(3000))}"`,
      ]);
    if (/time/.test(type))
      return this.of(['(time "2016-07-22T12:00:00Z")', '(add-time (time "2016-07-22T12:00:00Z") 1e300)', 'x']);
    if (/bool/.test(type)) return this.of(['true', 'false', '(= 1 1)']);
    return this.of([...ODD, inner()]);
  }

  /* Characters. */

  characters() {
    const kinds = [
      '()[]{}',
      '"\\\n\r\t;',
      " '.:,@",
      'aé\u0301\u{1f600}\ud800\ufffe\u00a0\u2028',
      '0123456789-+eE.',
      '\0\x1b\x7f',
    ];
    const length = 2 ** this.below(16);
    const few = Array.from({ length: 1 + this.below(6) }, () => this.of([...this.of(kinds)]));
    return [Array.from({ length }, () => this.of(few)).join('')];
  }
}
