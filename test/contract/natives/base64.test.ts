/** Texts that are not base64url, by the present rules and by those before version 4.9. */

import { describe, expect, it } from 'vitest';
import { lastOf } from '../dialogue.ts';

const TODAY = 'Could not base64-decode string';

describe('texts that are not base64url', () => {
  it.each([
    ['aGVsbG8gd29ybGQh%', TODAY],
    ['aaa', TODAY],
    ['!@#$%&', TODAY],
    ['_w', 'Base64URL decode failed: invalid unicode'],
  ])('%s', (text, why) => {
    expect(lastOf(4, [`(base64-decode "${text}")`])).toBe(`Could not decode string: ${why}`);
  });

  it.each([
    ['aGVsbG8gd29ybGQh%', 'invalid padding near offset 16'],
    ['aGVs=Gxv', 'invalid padding near offset 4'],
    ['aGVs%Gxv', 'invalid base64 encoding near offset 4'],
    ['aGVsaaaaa', 'invalid padding near offset 8'],
    ['a===', 'invalid padding near offset -1'],
    ['aaa', 'invalid unicode'],
    ['asdflk', 'invalid unicode'],
    ['!@#$%&', 'invalid base64 encoding near offset 0'],
    ['\\x0237', 'invalid base64 encoding near offset 0'],
    ['+\\x0000', 'invalid base64 encoding near offset 0'],
  ])('%s, before version 4.9', (text, why) => {
    const inputs = ['(env-exec-config ["DisableFlow49"])', `(base64-decode "${text}")`];
    expect(lastOf(4, inputs)).toBe(`Could not decode string: Base64URL decode failed: ${why}`);
  });

  it('ignored bits that belong to no byte, before version 4.9', () => {
    const inputs = ['(env-exec-config ["DisablePact49"])', '[(base64-decode "ZE==") (str-to-int 64 "ZE")]'];
    expect(lastOf(4, inputs)).toBe('["d" 100]');
    expect(lastOf(4, ['(base64-decode "ZE==")'])).toBe(`Could not decode string: ${TODAY}`);
    expect(lastOf(4, ['(str-to-int 64 "ZE")'])).toBe(TODAY);
  });
});
