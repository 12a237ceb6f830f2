/** The two generations of the contract language: 4 as of its last release, and 5 as live nodes run it. */
export type Dialect = 4 | 5;

export const DEFAULT_DIALECT: Dialect = 4;
