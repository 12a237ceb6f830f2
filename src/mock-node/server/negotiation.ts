/** Content negotiation: reads the types that a request sends and accepts, as real nodes do. */

/** The type of a body without a `content-type` (RFC 9110 §8.3). */
const DEFAULT_TYPE = 'application/octet-stream';

/** Whether a `content-type` stands for this type. Parameters are ignored. */
export function isOfType(contentType: string | undefined, type: string): boolean {
  return (contentType ?? DEFAULT_TYPE).split(';')[0].trim().toLowerCase() === type;
}

/** @returns which of the types an `accept` header wants most, the first of equals; undefined when it admits none */
export function preferred(accept: string | undefined, types: readonly string[]): string | undefined {
  const weights = types.map((type) => weightOf(accept, type));
  const most = Math.max(...weights);
  return most > 0 ? types[weights.indexOf(most)] : undefined;
}

/** @returns how much an `accept` header wants a type (RFC 9110 §12.5.1): the most specific range that matches it decides */
function weightOf(accept = '*/*', type: string): number {
  const wildcards = ['*/*', type.replace(/\/.*/, '/*'), type];
  const ranges = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { precedence: wildcards.indexOf(name), weight: Number(weight) };
  });
  const matching = ranges.filter(({ precedence }) => precedence >= 0).sort((a, b) => b.precedence - a.precedence);
  return matching[0]?.weight || 0;
}
