/** What a room uses of its object's storage. */
export interface MemoryStorage {
  readonly sql: { readonly databaseSize: number };
  get(key: string): Promise<unknown>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<boolean>;
}

/** The storage of a tenant's object, in memory. */
export function memoryStorage(): MemoryStorage {
  const rows = new Map<string, unknown>();
  return {
    sql: { databaseSize: 0 },
    get: (key) => Promise.resolve(rows.get(key)),
    put: (key, value) => Promise.resolve(void rows.set(key, value)),
    delete: (key) => Promise.resolve(rows.delete(key)),
  };
}
