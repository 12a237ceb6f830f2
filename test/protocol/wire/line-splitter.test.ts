import { expect, test } from 'vitest';
import { LineSplitter, LineTooLongError } from '#pickaxe/protocol/wire/lines.js';

const bytes = (text: string) => new TextEncoder().encode(text);

test('lines end in LF or CRLF, and what has not ended waits', () => {
  const splitter = new LineSplitter(100);
  expect(splitter.push(bytes('one\ntwo\r\n\nthr'))).toEqual(['one', 'two', '']);
  expect(splitter.push(bytes('ee'))).toEqual([]);
  expect(splitter.push(bytes('\n'))).toEqual(['three']);
});

test('it does not matter where a stream is cut, not even within a character', () => {
  const text = '{"method":"größe €"}\r\n{}\n';
  const whole = new LineSplitter(100).push(bytes(text));
  const splitter = new LineSplitter(100);
  expect([...bytes(text)].flatMap((byte) => splitter.push(Uint8Array.of(byte)))).toEqual(whole);
  expect(whole).toEqual(['{"method":"größe €"}', '{}']);
});

test('nothing of a chunk is kept: a line that comes byte by byte costs no more memory than one that comes at once', () => {
  const splitter = new LineSplitter(1_000);
  const chunk = new Uint8Array(1);
  const text = 'x'.repeat(999);
  const lines = [...bytes(`${text}y\n${text}z\n`)].flatMap((byte) => {
    chunk[0] = byte;
    return splitter.push(chunk);
  });
  expect(lines).toEqual([`${text}y`, `${text}z`]);
});

test('what is not UTF-8 becomes U+FFFD', () => {
  expect(new LineSplitter(100).push(Uint8Array.of(0x61, 0xff, 0x0a))).toEqual(['a\ufffd']);
});

test('a line may be as long as the limit, and no longer, whether it ends or not', () => {
  expect(new LineSplitter(4).push(bytes('four\n'))).toEqual(['four']);
  expect(() => new LineSplitter(4).push(bytes('5ive!\n'))).toThrow(LineTooLongError);
  const splitter = new LineSplitter(4);
  splitter.push(bytes('fou'));
  expect(() => splitter.push(bytes('r+'))).toThrow('a line is longer than 4 bytes');
});
