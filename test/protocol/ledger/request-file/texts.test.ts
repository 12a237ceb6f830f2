import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { showText, timeText } from '#pickaxe/protocol/ledger/request-file/request-file.js';
import { Place, yamlText } from '#pickaxe/protocol/ledger/request-file/yaml.js';
import { texts } from '../texts.ts';

const read = (value: string) => Place.read(`x: ${value}\n`, 'f.yaml').fields('x').x.text();

describe('a text in YAML', () => {
  test.each([
    ['tTg1a9B8jWRM3KrAq2ITSZtL5yq1wQj30SpugHiLqiE', 'tTg1a9B8jWRM3KrAq2ITSZtL5yq1wQj30SpugHiLqiE'],
    ['-1npoTU2Mi71pKE_oteJiJuHuXTXxoObJm8zzVRK2pk', '-1npoTU2Mi71pKE_oteJiJuHuXTXxoObJm8zzVRK2pk'],
    ['---poTU2Mi71pKE_oteJiJuHuXTXxoObJm8zzVRK2pk', "'---poTU2Mi71pKE_oteJiJuHuXTXxoObJm8zzVRK2pk'"],
    ['1234567', "'1234567'"],
    ['123e45', "'123e45'"],
    ['{"a":"b\'s"}', `'{"a":"b''s"}'`],
    ['{"é":"\x7f"}', '"{\\"é\\":\\"\\x7F\\"}"'],
    ['{"😀":"\u2028"}', '"{\\"\\U0001F600\\":\\"\\u2028\\"}"'],
  ])('%j is written as %s', (text, yaml) => {
    expect(yamlText(text)).toBe(yaml);
    expect(read(yaml)).toBe(text);
  });

  it('is read as it was written', () => {
    const values = fc.oneof(texts, fc.stringMatching(/^[\w-]{1,8}$/));
    fc.assert(
      fc.property(values, (text) => {
        expect(read(yamlText(text))).toBe(text);
      }),
    );
  });
});

describe('the tool’s language', () => {
  test.each([
    ['just-sign-cont', '"just-sign-cont"'],
    ['a "b"\\', '"a \\"b\\"\\\\"'],
    ['\0\x07\n\x7f', '"\\NUL\\a\\n\\DEL"'],
    ['é1', '"\\233\\&1"'],
    ['éa', '"\\233a"'],
    ['\x0eH\x0eI', '"\\SO\\&H\\SOI"'],
    ['aH1\n1', '"aH1\\n1"'],
    ['😀', '"\\128512"'],
  ])('shows %j as %s', (text, shown) => {
    expect(showText(text)).toBe(shown);
  });

  test.each([
    [Date.UTC(2024, 8, 6, 20, 4, 12, 679) + 0.143, '2024-09-06 20:04:12.679143 UTC'],
    [Date.UTC(2024, 8, 6, 20, 24, 45, 822) + 0.71, '2024-09-06 20:24:45.82271 UTC'],
    [Date.UTC(2024, 8, 6, 20, 24, 45), '2024-09-06 20:24:45 UTC'],
    [0, '1970-01-01 00:00:00 UTC'],
  ])('writes the time %d as %s', (milliseconds, text) => {
    expect(timeText(milliseconds)).toBe(text);
  });
});
