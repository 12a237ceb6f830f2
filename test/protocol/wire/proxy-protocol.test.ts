import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseProxyHeader } from '#pickaxe/protocol/wire/lines.js';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const text = (line: string) => Buffer.from(line, 'latin1');
const hex = (digits: string) => Buffer.from(digits.replaceAll(' ', ''), 'hex');
const invalid = (why: string) => ({ kind: 'invalid', why });

describe('a PROXY protocol header of version 1', () => {
  it.each([
    ['PROXY TCP4 192.0.2.9 192.0.2.1 56324 443\r\n', '192.0.2.9'],
    ['PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n', '255.255.255.255'],
    ['PROXY TCP6 2001:db8::9 2001:db8::1 0 1\r\n', '2001:db8::9'],
  ])('%j has the client’s address', (line, address) => {
    const header = { kind: 'header', bytes: line.length, address };
    expect(parseProxyHeader(text(line))).toEqual(header);
    expect(parseProxyHeader(text(`${line}{"id":1}\n`))).toEqual(header);
  });

  const longest = `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`;

  it.each(['PROXY UNKNOWN\r\n', 'PROXY UNKNOWN ffff:f::1 ffff::2 65535 65535\r\n', longest])('%j has none', (line) => {
    expect(parseProxyHeader(text(line))).toEqual({ kind: 'header', bytes: line.length });
  });

  it.each([
    ['PROXY TCP4 192.0.2.9 192.0.2.1 56324 443\n'.padEnd(107, 'x'), 'its line is too long'],
    [`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`, 'its line is too long'],
    ['PROXY UDP4 192.0.2.9 192.0.2.1 1 2\r\n', 'its protocol is none of TCP4, TCP6 and UNKNOWN'],
    ['PROXY \r\n', 'its protocol is none of TCP4, TCP6 and UNKNOWN'],
    ['PROXY TCP4 2001:db8::9 192.0.2.1 1 2\r\n', 'its addresses and ports are wrong'],
    ['PROXY TCP6 192.0.2.9 2001:db8::9 1 2\r\n', 'its addresses and ports are wrong'],
    ['PROXY TCP4 192.0.2.9 192.0.2.1 65536 2\r\n', 'its addresses and ports are wrong'],
    ['PROXY TCP4 192.0.2.9 192.0.2.1 01 2\r\n', 'its addresses and ports are wrong'],
    ['PROXY TCP4 192.0.2.9 192.0.2.1 1\r\n', 'its addresses and ports are wrong'],
    ['PROXY TCP4 192.0.2.9 192.0.2.1 1 2 3\r\n', 'its addresses and ports are wrong'],
    ['PROXY TCP4  192.0.2.9 192.0.2.1 1 2\r\n', 'its addresses and ports are wrong'],
    ['proxy TCP4 192.0.2.9 192.0.2.1 1 2\r\n', 'it does not begin like one'],
    ['{"id":1}\n', 'it does not begin like one'],
  ])('%j is refused', (line, why) => {
    expect(parseProxyHeader(text(line))).toEqual(invalid(why));
  });
});

describe('a PROXY protocol header of version 2', () => {
  const v4 = hex(`${SIGNATURE} 21 11 000c c0000209 c0000201 dc04 077d`);
  const v6 = hex(`${SIGNATURE} 21 21 0024 20010db8000000000000000000000009 20010db8000000000000000000000001 dc04 077d`);

  it('has the client’s address, and perhaps notes', () => {
    expect(parseProxyHeader(v4)).toEqual({ kind: 'header', bytes: 28, address: '192.0.2.9' });
    expect(parseProxyHeader(v6)).toEqual({ kind: 'header', bytes: 52, address: '2001:db8:0:0:0:0:0:9' });
    const noted = hex(`${SIGNATURE} 21 11 0010 c0000209 c0000201 dc04 077d 04000100`);
    expect(parseProxyHeader(noted)).toEqual({ kind: 'header', bytes: 32, address: '192.0.2.9' });
  });

  it.each([
    ['the proxy’s own connection', `${SIGNATURE} 20 00 0000`, 16],
    ['the proxy’s own, with addresses', `${SIGNATURE} 20 11 0002 0000`, 18],
    ['no address', `${SIGNATURE} 21 00 0000`, 16],
    ['a socket in the file system', `${SIGNATURE} 21 31 0001 00`, 17],
    ['as many notes as there may be', `${SIGNATURE} 21 00 1000 ${'00'.repeat(4_096)}`, 4_112],
  ])('has none: %s', (_, digits, bytes) => {
    expect(parseProxyHeader(hex(digits))).toEqual({ kind: 'header', bytes });
  });

  it.each([
    [`${SIGNATURE} 11 11 000c`, 'its version is not 2'],
    [`${SIGNATURE} 22 11 000c`, 'its command is neither LOCAL nor PROXY'],
    [`${SIGNATURE} 21 11 ffff`, 'it is too long'],
    [`${SIGNATURE} 21 11 1001`, 'it is too long'],
    [`${SIGNATURE} 21 11 000b ${'00'.repeat(11)}`, 'its IPv4 addresses are cut off'],
    [`${SIGNATURE} 21 21 000c ${'00'.repeat(12)}`, 'its IPv6 addresses are cut off'],
    [`${SIGNATURE} 21 21 0023 ${'00'.repeat(35)}`, 'its IPv6 addresses are cut off'],
    [`${SIGNATURE} 21 12 000c ${'00'.repeat(12)}`, 'its protocol is not TCP'],
  ])('%s is refused', (digits, why) => {
    expect(parseProxyHeader(hex(digits))).toEqual(invalid(why));
  });

  it.each([v4, v6, text('PROXY TCP4 192.0.2.9 192.0.2.1 56324 443\r\n')])('cut off anywhere needs more', (whole) => {
    for (let end = 0; end < whole.length; end++) {
      expect(parseProxyHeader(whole.subarray(0, end))).toEqual({ kind: 'incomplete' });
    }
  });
});

it('whatever bytes come, the header is within them, valid or not', () => {
  const begin = fc.constantFrom('', 'PROXY ', 'PROXY TCP4 ').map(text);
  const signed = fc.constant(hex(`${SIGNATURE} 21`));
  const bytes = fc
    .tuple(fc.oneof(begin, signed), fc.uint8Array({ maxLength: 300 }))
    .map((parts) => Buffer.concat(parts));
  fc.assert(
    fc.property(bytes, (some) => {
      const header = parseProxyHeader(some);
      if (header.kind === 'header') expect(header.bytes).toBeLessThanOrEqual(some.length);
      if (header.kind === 'incomplete') expect(some.length).toBeLessThan(16 + 4_096);
    }),
  );
});
