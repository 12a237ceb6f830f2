/** `pickaxe service` where there is no systemd. */

import { expect, it } from 'vitest';
import { pretendPlatform } from '../../platform.ts';
import { pickaxe } from '../in-process.ts';

it.each(
  ['print', 'install', 'uninstall'].flatMap((command) =>
    [
      ['darwin', 'launchd starts programs at login'],
      ['win32', 'the Task Scheduler starts programs'],
      ['freebsd', 'Run '],
    ].map(([platform, instead]) => [command, platform, instead]),
  ),
)('%s says on %s what to use instead', async (command, platform, instead) => {
  pretendPlatform(platform);
  const { code, stdout, stderr } = await pickaxe('service', command);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('pickaxe service needs systemd, which only Linux has.');
  expect(stderr).toContain(instead);
});
