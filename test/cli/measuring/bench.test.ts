import { expect, it } from 'vitest';
import { pickaxe } from '../in-process.ts';

it.each([
  [['--count', '65535'], '65536'],
  [['--count', '1e9'], 'whole number'],
  [['--seed', ''], 'seed'],
  [['--seed', 'x'.repeat(65)], '64 characters'],
  [['--seconds', '3601'], '--stress'],
  [['--tune', '--stress'], '--stress'],
  [['--json', '--csv'], '--csv'],
  [['--stress', '--csv'], '--stress has no --csv'],
  [['--tune', '--repeat', '2'], '--tune has no --repeat'],
  [['--tune', '--csv'], '--tune has no --csv'],
  [['--stress', '--repeat', '1'], '--stress has no --repeat'],
  [['--tune', '--kernel', 'wasm'], '--tune measures every CPU kernel: omit --kernel.'],
  [
    ['--devices', 'none'],
    'Without devices there is nothing to measure (--devices: none). Name some: --devices cpu,gpu0.',
  ],
  [['--stress', '--seconds', '1728001'], 'up to 20d'],
  [['--repeat', '0'], 'whole number'],
  [['--repeat', '1001'], '1000'],
  [['--stress', '--count', '1'], '65536'],
  [['more'], 'takes no arguments, but got'],
  [['compare'], 'a.json'],
  [['compare', 'a.json', 'b.json', '--json'], 'error: bench compare has no option --json.'],
])('wrong usage ends with exit code 2 and says what to do: %j', async (args, message) => {
  const { code, stdout, stderr } = await pickaxe('bench', ...args);
  expect(stderr).toContain(message);
  expect(stdout).toBe('');
  expect(code).toBe(2);
});
