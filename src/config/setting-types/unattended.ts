/** Types of settings for a rig that nobody watches. */

import { formatWindows, parseWindows, type ScheduleWindow } from '../../text/schedule-windows.ts';
import { time } from './numbers.ts';
import { choice, MAX_CHARACTERS, MAX_ITEMS, parsed, type SettingType } from './setting-type.ts';

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

/** Batch files, which Windows gives to cmd.exe. It ignores dots and blanks at the end of a name. */
const BATCH = /\.(bat|cmd)[. ]*$/i;

/** A command line for the shell; as a list, a program and its arguments, which no shell interprets. */
export function commandOn(platform: string): SettingType<string | readonly string[]> {
  const isProgram = (name = '') => name.trim() !== '' && !(platform === 'win32' && BATCH.test(name));
  const batch = platform === 'win32' ? '; a .cmd or .bat file can only be in a shell command' : '';
  return {
    form: 'text',
    says: `Give a shell command, or a list of a program and its arguments${batch}.`,
    schema: (z) => {
      const word = z
        .string()
        .max(MAX_CHARACTERS)
        .regex(/^[^\0]*$/);
      const words = z.array(word).min(1).max(MAX_ITEMS);
      return z.union([words.refine(([program]) => isProgram(program)), word.regex(/\S/)]);
    },
  };
}

export const command = commandOn(process.platform);

/** The notices of notify/; a test compares the lists. */
export const notice = choice(
  'start',
  'stop',
  'block',
  'block-state',
  'block-reward',
  'device-lost',
  'low-hashrate',
  'hashrate-ok',
);
