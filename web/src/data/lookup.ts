// Tables by words that come from files.

/** The value of a key of the table itself: a file may say `constructor`, which every object has. */
export function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
