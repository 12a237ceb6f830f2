/** What `--print-config --json` prints. */

import { z } from 'zod';

const PrintedSetting = z.object({
  /** As a file has it; null where it is not set. Secrets are not shown. */
  value: z.unknown(),
  /** Where it comes from: the project's file, the user's, or another of these. */
  origin: z.enum(['flag', 'environment', 'project', 'user', 'default']),
  /** The flag, the variable, or the file with its line. */
  where: z.string(),
});

/** By the setting's path, as in a file: `cpu.threads`. */
export const PrintedConfig = z.record(z.string(), PrintedSetting);
export type PrintedConfig = z.infer<typeof PrintedConfig>;
/** Where a setting's value can come from. */
export type Layer = PrintedConfig[string]['origin'];
