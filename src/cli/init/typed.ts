/** Reads what was typed at a prompt as the value of a setting. The prompt says what is wrong, and asks again. */

import { z } from 'zod';
import { type SettingType, whyOf } from '../../config/setting-types/setting-type.ts';

/** @returns a check of typed texts for a prompt: its result is true, or says what is wrong */
export function accepts(type: SettingType<string>): (text: string) => true | string {
  const schema = type.schema(z);
  return (text) => {
    const { error } = schema.safeParse(text.trim());
    if (!error) return true;
    const why = whyOf(error.issues);
    return why === undefined ? type.says : `Not valid: ${why}. ${type.says}`;
  };
}

/** @param text one that the type accepts */
export function read(type: SettingType<string>, text: string): string {
  return type.schema(z).parse(text.trim());
}
