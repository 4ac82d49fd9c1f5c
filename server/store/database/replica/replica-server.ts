/** A replica server. It follows the primary by itself, so it is only asked how far it got. */
import { openRemoteDatabase } from "../remote/remote-database.ts";
import type { DatabaseOptions } from "../database.ts";
import type { ReplicaSource } from "./catch-up.ts";

export async function openReplicaServer(
  address: Pick<DatabaseOptions, "url" | "authToken">,
): Promise<ReplicaSource> {
  // It writes nothing here, so what its own commits survive does not matter.
  const database = await openRemoteDatabase({ ...address, durability: "process" });
  return {
    reads: database,
    advance: () => Promise.resolve(),
    // The server makes its copy anew by itself.
    discard: () => undefined,
    close: database.close,
  };
}
