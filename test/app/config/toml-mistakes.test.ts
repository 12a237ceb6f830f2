import { expect, it } from 'vitest';
import { parseToml } from '#pickaxe/app/config/parse.js';

it.each([
  ['[log]\nfile = "C:\\Users\\new\\p.log"', 'write paths in single quotes'],
  ['[log]\nfile = "C:\\pickaxe\\p.log"', 'write paths in single quotes'],
  ['[node]\nnetwork = “mainnet01”', 'quotes must be straight'],
  ['[node]\nnetwork = ‘mainnet01’', 'quotes must be straight'],
  ['[node]\nurls = [“a”]', 'quotes must be straight'],
  ['[node]\n“network” = "x"', 'quotes must be straight'],
  ['[node]\nnetwork\u00a0= "x"', 'a special blank'],
  ['[node]\nnetwork =\u00a0"x"', 'a special blank'],
  ['\u200b[node]', 'a special blank'],
  ['[node]\nnetwork: "x"', 'instead of the colon'],
  ['[node]\nnetwork : x', 'instead of the colon'],
  ['node:\n  network: x', 'like [node]'],
  ['[node]\nnetwork == "x"', 'one = is enough'],
  ['// words\n[node]', 'a comment begins with #'],
  ['; words\n[node]', 'a comment begins with #'],
  ['[node]\nnetwork = "x" // words', 'a comment begins with #'],
  ['[cpu]\nthreads = 4,', 'leave the last character out'],
  ['[cpu]\nthreads = 4;', 'leave the last character out'],
  ['{"node":{"urls":[]}}', 'this looks like JSON'],
  ['--network x', 'flags belong to the command line'],
  ['[node\nnetwork = "x"', 'a ] is missing'],
  ['[cpu]\nthreads 4', 'a = is missing'],
  ['[gpu]\nenabled = True', 'write true'],
  ['[gpu]\nenabled = off', 'write false'],
  ['[node]\nnetwork = null', 'leave a setting out'],
  ['[node]\nnetwork = ', 'a value is missing'],
  ['[node]\nnetwork = "x', 'a quote is missing'],
  ['[cpu]\nthreads = 08', 'leave the zero'],
  ['[cpu]\nthreads = 1,000', 'digits alone'],
  ['[cpu]\nthreads = 50%', 'a text needs quotes'],
  ['[cpu] threads = 4', 'on the line below their table'],
  ['[pool]\npassword = "a"b"', 'quotes of the other kind'],
  ['[node]\nurls = http://a:1', 'a text needs quotes'],
  ['[node]\nnetwork = "x\n', 'a quote is missing'],
  ['[node]\nnetwork = "x\u0001y"', 'control character'],
])('%j is explained with its cure', (text, cure) => {
  const { faults } = parseToml(text);
  expect(faults[0].what).toMatch(/^not valid TOML: /);
  expect(faults[0].what).toContain(cure);
});
