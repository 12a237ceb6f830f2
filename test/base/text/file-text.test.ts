import { expect, test } from 'vitest';
import { decodeText } from '#pickaxe/base/text/plain-text.js';

const TEXT = 'name = "Zürich 𝄞"\r\n';

test.each([
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`)],
  ['UTF-16, as PowerShell 5 writes it', Buffer.from(`\ufeff${TEXT}`, 'utf16le')],
])('%s is decoded without its mark', (_, bytes) => {
  expect(decodeText(bytes)).toBe(TEXT);
});

test.each([
  ['another encoding', Buffer.from('Zürich', 'latin1')],
  ['UTF-16 that is cut off', Buffer.from([0xff, 0xfe, 0x41])],
])('%s is refused', (_, bytes) => {
  expect(() => decodeText(bytes)).toThrow(TypeError);
});
