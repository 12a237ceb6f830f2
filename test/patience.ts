/**
 * Time limit of `vi.waitFor` and `vi.waitUntil` for what takes a second on an idle machine. On a busy one, even the
 * start of a process takes ten.
 */
export const PATIENCE = { timeout: 60_000 };
