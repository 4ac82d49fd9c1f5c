/** Reads whose connection closes before their response. */
import type { TestService } from "./service.ts";
import { waitUntil } from "./wait.ts";

/** Counts the requests whose connection closed, as `/metrics` has them. */
export async function countClosedReads({ address }: TestService): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  const counts = metrics.matchAll(/^http_requests_total\{.*status="499"\} (\d+)$/gm);
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/**
 * Waits until reads whose connection closed have ended: they were not debited, or are refunded.
 *
 * @param closed What {@link countClosedReads} counts then.
 * @returns The credits that the account was charged.
 */
export async function waitForCharged(
  service: TestService,
  account: string,
  closed: number,
): Promise<number> {
  await waitUntil(async () => (await countClosedReads(service)) >= closed);
  let charged = Number.NaN;
  await waitUntil(async () => {
    const before = charged;
    const { debited, refunded } = await service.readSums(account);
    charged = debited - refunded;
    return charged === before;
  });
  return charged;
}
