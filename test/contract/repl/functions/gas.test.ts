/** The functions of the interpreter for gas. */

import { describe, expect, it } from 'vitest';
import { dialogue } from '../../dialogue.ts';

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  const begin = () => dialogue(dialect);

  it('env-gas tells the gas used, and sets it', () => {
    const { say } = begin();
    say('(env-gaslimit 1000)');
    expect(say('(env-gas 77)')).toBe('"Set gas to 77"');
    expect(say('(env-gas)')).toBe('77');
    expect(say('(env-gas 0)')).toBe('"Set gas to 0"');
    expect(say('(env-gas)')).toBe('0');
  });

  it('env-gaslimit sets the limit, beyond which code fails', () => {
    const { say, fault } = begin();
    expect(say('(env-gaslimit 10)')).toBe('"Set gas limit to 10"');
    say('(env-gasrate 4)');
    say('(env-gas 0)');
    expect(say('(+ 1 2)')).toBe('3');
    expect(fault('(+ 1 (+ 2 (+ 3 4)))')).toMatch(/^Gas limit .*10.*exceeded: 12$/);
  });

  it('env-gasprice sets the price of the chain', () => {
    const { say } = begin();
    expect(say('(env-gasprice 0.25)')).toBe('"Set gas price to 0.25"');
    expect(say('(at "gas-price" (chain-data))')).toBe('0.25');
    expect(say('(at "gas-limit" (chain-data))')).toMatch(/^\d+$/);
  });

  it('env-gasrate and env-gasmodel choose the model', () => {
    const { say } = begin();
    expect(say('(env-gasmodel)')).toMatch(/^"Current gas model is '.+': .+"$/);
    for (const code of ['(env-gasrate 3)', '(env-gasmodel "fixed" 3)']) {
      expect(say(code)).toMatch(/^"Set gas model to .*3.*"$/);
      expect(say('(env-gasmodel)')).toMatch(/^"Current gas model is '.+': .*3.*"$/);
      say('(env-gas 0)');
      say('(env-gaslimit 100)');
      say('(+ 1 2)');
      expect(Number(say('(env-gas)')) % 3).toBe(0);
    }
    expect(say('(env-gasmodel "table")')).toMatch(/^"Set gas model to .+"$/);
    expect(say('(env-gasmodel)')).toMatch(/table/);
  });

  it.each(['"other"', '"fixed"', '"fixed" "1"', '"table" 1', '"fixed" 1 2', '"table" 1 2', '1'])(
    'env-gasmodel knows no model %s',
    (values) => {
      const { say } = begin();
      const before = say('(env-gasmodel)');
      const result = (() => {
        try {
          return say(`(env-gasmodel ${values})`);
        } catch (error) {
          return (error as Error).message;
        }
      })();
      expect(result).toContain('Unrecognized model, perhaps try (env-gasmodel');
      expect(say('(env-gasmodel)')).toBe(before);
    },
  );

  it.each([
    '(env-gas 1 2)',
    '(env-gas "1")',
    '(env-gaslimit)',
    '(env-gaslimit 1 2)',
    '(env-gaslimit 1.0)',
    '(env-gasprice)',
    '(env-gasprice 1)',
    '(env-gasprice 1.0 2.0)',
    '(env-gasrate)',
    '(env-gasrate 1.0)',
    '(env-gasrate 1 2)',
  ])('%s is refused', (code) => {
    expect(begin().fault(code)).not.toBe('');
  });
});

describe('env-gaslog', () => {
  it('begins a log, and then gives it', () => {
    expect(dialogue(4).say('(env-gaslog)')).toBe('"Enabled gas log"');
    expect(dialogue(5).say('(env-gaslog)')).toBe('["Enabled gas log"]');
    for (const dialect of [4, 5] as const) {
      const { say } = dialogue(dialect);
      say('(env-gaslimit 1000)');
      say('(env-gasmodel "table")');
      say('(env-gaslog)');
      say('(+ 1 2)');
      const log = say('(env-gaslog)');
      expect(log).toContain('+');
      expect(log).not.toContain('Enabled');
    }
  });

  it('ignores arguments in dialect 4, and refuses them in dialect 5', () => {
    expect(dialogue(4).say('(env-gaslog 1)')).toBe('"Enabled gas log"');
    expect(dialogue(5).fault('(env-gaslog 1)')).not.toBe('');
  });
});
