/** @returns lines of a JSON log as their levels, tags and messages */
export function messagesOf(lines: readonly string[]): string[] {
  return lines.map((line) => {
    const { level, tag, message } = JSON.parse(line);
    return `${level} ${tag}: ${message}`;
  });
}
