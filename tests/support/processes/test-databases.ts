/** Creates databases for test services, of the kind that the variable `TEST_DATABASE` names. */
import { join } from "node:path";
import { hasSqld, startSqld } from "./sqld.ts";

/** An empty database: the settings of a service that uses it, and what ends it. */
interface TestDatabase {
  readonly settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

type CreateDatabase = (folder: string) => Promise<TestDatabase>;

/** Two namespaces of a libSQL server: one for the ledger, and one for the entities. */
const createNamespaces: CreateDatabase = async () => {
  const { url, entitiesUrl, close } = await startSqld({ isSplit: true });
  return { settings: { DATABASE_URL: url, ENTITIES_URL: entitiesUrl }, close };
};

/** Each service on a server has a server of its own, which starts in 24 to 70 ms. */
const CREATORS: Readonly<Record<string, CreateDatabase>> = {
  /** A file in the folder. */
  file: async (folder) => ({
    settings: { DATABASE_URL: `file:${join(folder, "metrics.db")}` },
    close: async () => undefined,
  }),
  /** A libSQL server. */
  async server() {
    const { url, close } = await startSqld();
    return { settings: { DATABASE_URL: url }, close };
  },
  namespaces: createNamespaces,
  /** Two namespaces, and an embedded replica of the entities in the folder. */
  async replica(folder) {
    const { settings, close } = await createNamespaces(folder);
    const replica = `file:${join(folder, "replica.db")}`;
    return { settings: { ...settings, DATABASE_REPLICA: replica }, close };
  },
};

/** The kind of database that the test services use: `file` by default. */
export const TEST_DATABASE = process.env["TEST_DATABASE"] || "file";

/** Creates an empty database. A database file is in the folder. */
export function createTestDatabase(folder: string, kind = TEST_DATABASE): Promise<TestDatabase> {
  const create = CREATORS[kind];
  if (create === undefined) {
    throw new Error(`TEST_DATABASE is ${Object.keys(CREATORS).join(", ")}, got ${kind}`);
  }
  if (kind !== "file" && !hasSqld()) throw new Error(`TEST_DATABASE=${kind} needs sqld`);
  return create(folder);
}
