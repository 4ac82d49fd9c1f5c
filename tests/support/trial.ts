/** A service to try things on: in process, on a database of its own, with an account and a key. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { openService } from "../../server/service.ts";

/** How a trial differs from a service as it starts by itself. */
export interface TrialOptions {
  /** The clock, in milliseconds. */
  readonly now?: () => number;
  readonly adminToken?: string;
}

/** Opens a service in a temporary folder; its account has 1,000 credits. */
export async function openTrial({ now = Date.now, adminToken }: TrialOptions = {}) {
  const folder = await mkdtemp(join(tmpdir(), "trial-"));
  const config = {
    ...readConfig({ DURABILITY: "process" }),
    databaseUrl: `file:${join(folder, "metrics.db")}`,
    ...(adminToken === undefined ? {} : { adminToken }),
  };
  const service = await openService({ config, verb: "test", now });
  const post = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    type?: string,
  ): Promise<unknown> => {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const request = new Request(`http://localhost/admin/${path}`, {
      method: "POST",
      headers,
      body,
    });
    const response = await service.owner.handle(request);
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const postJson = (path: string, body: object) =>
    post(path, JSON.stringify(body), "application/json");
  await postJson("accounts", { name: "trial", credits: 1000 });
  const made = (await postJson("keys", { account: "trial" })) as { key: string };
  return {
    folder,
    service,
    key: made.key,
    /** Takes in lines of observations. */
    takeIn: async (lines: string | Uint8Array<ArrayBuffer>) =>
      (await post("observations", lines)) as {
        read: number;
        new: number;
        changed: number;
        unchanged: number;
        rejected: { line: number; reason: string }[];
      },
    /** Sends a read with the key. */
    get: async (path: string): Promise<Response> =>
      service.fetch(new Request(`http://localhost${path}`, { headers: { "x-api-key": made.key } })),
    async close(): Promise<void> {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
