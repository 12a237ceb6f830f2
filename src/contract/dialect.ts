/** A major version of the contract language: 4 as in its last release, or 5 as live nodes run it. */
export type Dialect = 4 | 5;

export const DEFAULT_DIALECT: Dialect = 4;
