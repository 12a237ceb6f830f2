/** The two generations of the contract language: version 4 in its last release, and version 5 as live nodes run it. */
export type Dialect = 4 | 5;

export const DEFAULT_DIALECT: Dialect = 4;
