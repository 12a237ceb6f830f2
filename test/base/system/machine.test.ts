import { expect, test } from 'vitest';
import { parseOsRelease } from '#pickaxe/base/system/machine.js';

test.each([
  ['NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n', 'Debian GNU/Linux 12 (bookworm)'],
  ["PRETTY_NAME='Alpine Linux v3.20'", 'Alpine Linux v3.20'],
  ['PRETTY_NAME=HiveOS\n', 'HiveOS'],
  ['NOT_PRETTY_NAME=x\n', null],
  ['PRETTY_NAME=""\n', null],
  ['PRETTY_NAME="\u001b[2J"\n', null],
  [`PRETTY_NAME="${'x'.repeat(200)}"\n`, null],
  ['', null],
])('the name of the operating system is found in %j', (text, name) => {
  expect(parseOsRelease(text)).toBe(name);
});
