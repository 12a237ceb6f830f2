/** Types of settings for a rig that nobody watches. */

import { formatWindows, parseWindows, type ScheduleWindow } from '../../text/schedule-windows.ts';
import { time } from './numbers.ts';
import { choice, parsed, type SettingType, text } from './setting-type.ts';

/** Systems report to within 8 seconds when somebody last used the machine; more than a day is as good as never. */
const idle = time(
  10,
  86_400,
  'Give at least 10 seconds, or a time like 5m, up to a day; or true (60 seconds), or none.',
);

/** Seconds; `true` stands for 60. */
export const idleTime: SettingType<number | 'none'> = {
  form: idle.form,
  says: idle.says,
  schema: (z) => z.union([z.literal('none'), z.literal([true, 'true']).transform(() => 60), idle.schema(z)]),
};

export const schedule = parsed<readonly ScheduleWindow[]>({
  says: 'Write it like 22:00-07:00, or mon-fri 22:00-07:00, sat,sun.',
  parse: parseWindows,
  print: formatWindows,
});

/** A shell command. */
export const command = text(/^[^\0]*[^\0\s][^\0]*$/, 'Give a shell command.');

/** The notices of notify/; a test compares the lists. */
export const notice = choice('start', 'stop', 'block', 'device-lost', 'low-hashrate', 'hashrate-ok');
