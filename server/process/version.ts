/** What this program was built from. */
import { readSqliteVersion } from "../store/database/sqlite-connection.ts";

/** The build of the executable defines it. */
declare const BUILD_COMMIT: string | undefined;

/** Describes the build, one line for each part, without the version of the package. */
export function describeBuild(): string {
  const source = typeof BUILD_COMMIT === "string" ? `commit ${BUILD_COMMIT}` : "from sources";
  return `${source}\nSQLite ${readSqliteVersion()}\n`;
}
