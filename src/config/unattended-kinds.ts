/** Kinds of values that settings of a rig have which nobody looks at. */

import { parseHashrate, parseSize } from '../text/quantities.ts';
import { parseWindows } from '../text/schedule-windows.ts';
import { choice, type Kind, MAX_CHARACTERS, text, time } from './kinds.ts';

/** What tells when somebody used the machine is exact to 8 seconds at worst; a day is as good as never. */
const idle = time(
  10,
  86_400,
  'Give seconds from 10 on, or a time like 5m, up to a day; or true (60 seconds), or none.',
);
export const idleTime: Kind<number | 'none'> = {
  ...idle,
  schema: (z) => z.union([z.literal('none'), z.literal([true, 'true']).transform(() => 60), idle.schema(z)]),
};

/** For `parseWindows`. */
export const schedule: Kind<string> = {
  form: 'text',
  says: 'Write it like 22:00-07:00, or mon-fri 22:00-07:00, sat,sun: hours go from 00:00 to 24:00.',
  schema: (z) =>
    z
      .string()
      .max(MAX_CHARACTERS)
      .refine((text) => {
        try {
          return parseWindows(text).length > 0;
        } catch {
          return false;
        }
      }),
};

/** For `parseSize`. Smaller files would be all rotating; larger ones no editor opens. */
export const fileSize: Kind<string> = {
  form: 'text',
  says: 'Give a size like 500k, 10M or 1G, from 1k to 1024G.',
  schema: (z) =>
    z.string().refine((text) => {
      const bytes = parseSize(text) ?? 0;
      return Number.isInteger(bytes) && bytes >= 1024 && bytes <= 1024 ** 4;
    }),
};

/** For `parseLeastRate`: of the rig, or of a device before a `=`. */
export const leastRate: Kind<string> = {
  form: 'text',
  says: 'Write a hashrate above 0 like 800M or 20G, or gpu0=5G of a device.',
  schema: (z) =>
    z
      .string()
      .regex(/^((cpu|gpu\d{1,3})=)?[\d.]{1,32}[kMGTP]?$/)
      .refine((text) => (parseHashrate(text.replace(/^.*=/, '')) ?? 0) > 0),
};

/** Of the shell. */
export const command = text(/^[^\0]*[^\0\s][^\0]*$/, 'Give a command of the shell.');

/** No user and password in it: they would be seen. */
export const webhookUrl: Kind<string> = {
  form: 'text',
  says: 'A webhook is a URL that begins with https:// or http://, without user and password.',
  schema: (z) => z.string().max(MAX_CHARACTERS).refine(isWebhookUrl),
};

export function isWebhookUrl(url: string): boolean {
  if (!/^https?:\/\/[^\s]+$/i.test(url) || !URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username === '' && password === '';
}

/** Those of notify/, which a test holds this list against. */
export const notice = choice('start', 'stop', 'block', 'device-lost', 'low-hashrate', 'hashrate-ok');
