/** DuckDB as a reader of exported files: it shares no code with their writer. */
import { DuckDBInstance } from '@duckdb/node-api'

export type DuckRow = { [column: string]: string | number | boolean | null }

/** Times are shown in UTC, whatever zone the machine is in. */
export async function duck(): Promise<{ ask: (sql: string) => Promise<DuckRow[]>; close: () => void }> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  return {
    ask: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as DuckRow[],
    close: () => {
      connection.closeSync()
      instance.closeSync()
    },
  }
}
