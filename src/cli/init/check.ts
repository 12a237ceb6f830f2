/** Whether a text that was typed is what a setting takes: for prompts, which say what is wrong and ask again. */

import { z } from 'zod';
import type { Kind } from '../../config/kinds.ts';

export function accepts(kind: Kind<string>): (text: string) => true | string {
  const schema = kind.schema(z);
  return (text) => schema.safeParse(text.trim()).success || kind.says;
}
