/**
 * The numbers by which headers name their network. Only some are known: other networks have numbers of their own, which
 * stand in their headers, and names, which their nodes tell.
 */

const CODES: ReadonlyMap<string, number> = new Map([
  ['mainnet01', 5],
  ['testnet04', 7],
  ['development', 1],
  ['recap-development', 2],
]);

const NAMES: ReadonlyMap<number, string> = new Map([...CODES].map(([name, code]) => [code, name]));

/** How a network is called whose name is not known. */
const UNNAMED = /^code (\d{1,10})$/;

/** @param network a network id, or `code 123` @returns undefined when the network's number is not known */
export function versionCodeOf(network: string): number | undefined {
  const code = CODES.get(network) ?? Number(UNNAMED.exec(network)?.[1]);
  return code < 2 ** 32 ? code : undefined;
}

/** @param code u32 @returns the network id, or `code 123` when it is not known */
export function networkOf(code: number): string {
  return NAMES.get(code) ?? `code ${code}`;
}
