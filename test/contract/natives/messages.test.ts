import { describe, expect, it } from 'vitest';
import { TreeEvaluator } from '#pickaxe/contract/evaluator/evaluator.js';
import { runTopLevel } from '#pickaxe/contract/evaluator/top-level.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { INITIAL_ENVIRONMENT } from '#pickaxe/contract/runtime/environment.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import { JsonNumber } from '#pickaxe/protocol/ledger/json.js';
import { dialogue } from '../dialogue.ts';

const DATA = `(env-data { "text": "x", "n": 1, "list": [1 "a"], "formed": ["${'0f'.repeat(32)}"], "plain": ["bob"] })`;

describe('the data of a transaction', () => {
  it('can be read as a whole', () => {
    const { say } = dialogue(4, '(env-data { "b": 1, "a": true })');
    expect(say('(read-msg)')).toBe('{"a": true,"b": 1}');
    expect(say('(read-msg "b")')).toBe('1');
  });

  it('need not be an object in dialect 4', () => {
    const { say, fault } = dialogue(4, '(env-data [1 2])');
    expect(say('(read-msg)')).toBe('[1 2]');
    expect(fault('(read-msg "a")')).toBe('No such key in message: a');
  });

  it('may be another value than an object in dialect 5', () => {
    const { say, fault } = dialogue(5, '(env-data { "keys": ["a"], "more": 1 })');
    expect(say('(read-msg)')).toBe('KeySet {keys: [a],pred: keys-all}');
    expect(fault('(read-keyset "keys")')).toBe('read-keyset failure');
    expect(dialogue(4, '(env-data { "keys": ["a"], "more": 1 })').say('(read-keyset "keys")')).toBe(
      'KeySet {keys: [a],pred: keys-all}',
    );
  });

  it.each([
    ['(read-msg 1)', 'Invalid arguments, received [1] for [ -> <a>, key:string -> <a>]'],
    ['(read-string)', 'Invalid arguments, received [] for key:string -> string'],
    ['(read-integer 1)', 'Invalid arguments, received [1] for key:string -> integer'],
    ['(read-decimal "n" 1)', 'Invalid arguments, received ["n" 1] for key:string -> decimal'],
    ['(read-keyset)', 'Invalid arguments, received [] for key:string -> keyset'],
    ['(chain-data 1)', 'Invalid arguments, received [1] for  -> object:{public-chain-data}'],
    ['(tx-hash 1)', 'Invalid arguments, received [1] for  -> string'],
    ['(read-string "n")', 'read-string: parse failed: {"int":1}'],
    ['(read-msg "none")', 'No such key in message: none'],
  ])('%s', (code, message) => {
    expect(dialogue(4, DATA).fault(code)).toBe(message);
  });

  it('may lack a key, which code can catch since version 4.7', () => {
    const { say, fault } = dialogue(4, DATA);
    expect(say('(try 2 (read-msg "none"))')).toBe('2');
    say("(env-exec-config ['DisablePact47])");
    expect(fault('(try 2 (read-msg "none"))')).toBe('No such key in message: none');
  });

  it('have the messages of dialect 5, which code can catch', () => {
    const { say, fault } = dialogue(5, DATA);
    for (const native of ['read-msg', 'read-string', 'read-integer', 'read-decimal', 'read-keyset']) {
      expect(fault(`(${native} "none")`)).toBe(`${native} failure`);
    }
    expect(say('(try 2 (read-integer "text"))')).toBe('2');
    expect(fault('(read-string)')).toBe(
      'Incorrect number of arguments (0) for native function read-string supplied; expected (1)',
    );
  });

  it.each([
    ['(length (read-msg "list"))', { list: Array.from({ length: 1000 }, () => 'a') }],
    ['(read-msg "deep")', { deep: [{ a: Array.from({ length: 1000 }, () => true) }] }],
    ['(read-keyset "list")', { list: Array.from({ length: 1000 }, (_, i) => `${i}`) }],
    ['(read-decimal "large")', { large: new JsonNumber('1e9000') }],
    ['(read-integer "large")', { large: '1'.repeat(9000) }],
  ])('count steps for each part, as often as they are read: %s', (code, data) => {
    const environment = { ...INITIAL_ENVIRONMENT, data };
    const evaluator = new TreeEvaluator({ dialect: 4, natives: NATIVES, maxSteps: 9000, environment });
    const [form] = parseProgram(`(map (lambda (x) ${code}) [1 2 3 4 5])`, 4);
    expect(() => runTopLevel(evaluator, form)).toThrow('Code takes more than 9000 steps');
  });
});

describe('the chain data', () => {
  const module = (body: string) => `(module m G (defcap G () true) (defun f:object{public-chain-data} () ${body}))`;

  it('have a schema that all code of dialect 4 knows', () => {
    expect(dialogue(4, module('(chain-data)')).say("(at 'chain-id (f))")).toBe('""');
    expect(dialogue(4, module('{ "chain-id": "1" }')).fault('(f)')).toContain(
      'Missing fields for {public-chain-data}: [block-height:integer, ',
    );
    expect(dialogue(5).fault(module('(chain-data)'))).toBe('Unbound variable public-chain-data');
  });

  it('can be read in modules', () => {
    const { say } = dialogue(4, '(module m G (defcap G () true) (defun f () [(tx-hash) (chain-data)]))');
    expect(say('(= (f) [(tx-hash) (chain-data)])')).toBe('true');
  });
});

describe('the form of keys', () => {
  it.each([
    ['formed', true],
    ['plain', false],
  ])('of %s is checked only with the flag EnforceKeyFormats', (key, isFormed) => {
    const read = `(read-keyset "${key}")`;
    const { say, fault } = dialogue(4, DATA);
    const shown = say(read);
    say("(env-exec-config ['EnforceKeyFormats])");
    if (isFormed) expect(say(read)).toBe(shown);
    else expect(fault(read)).toBe('Invalid keyset');
  });

  it('may be that of a WebAuthn device since version 4.10', () => {
    const flags = "(env-exec-config ['EnforceKeyFormats])";
    const { say, fault } = dialogue(4, '(env-data { "k": ["WEBAUTHN-a501"], "odd": ["WEBAUTHN-a50"] })', flags);
    expect(say('(read-keyset "k")')).toBe('KeySet {keys: [WEBAUTHN-a501],pred: keys-all}');
    expect(fault('(read-keyset "odd")')).toBe('Invalid keyset');
    say("(env-exec-config ['EnforceKeyFormats 'DisablePact410])");
    expect(fault('(read-keyset "k")')).toBe('Invalid keyset');
  });

  it('is named in dialect 5', () => {
    const { fault } = dialogue(5, DATA, "(env-exec-config ['EnforceKeyFormats])");
    expect(fault('(read-keyset "plain")')).toBe('Invalid keyset format: KeySet {keys: [bob],pred: keys-all}');
  });
});
