/** Refunds that wait, in the administrator's interface. */
import { Elysia } from "elysia";

/** What became of a file of refunds; counts are of requests. */
interface RecoveredFile {
  readonly file: string;
  readonly settled: number;
  readonly left: number;
  readonly problems: readonly string[];
}

/** Gives back what earlier processes could not. */
export interface AdminRefundsOptions {
  recoverRefunds(): Promise<readonly RecoveredFile[]>;
}

/** The routes of refunds. */
export function createAdminRefundRoutes({ recoverRefunds }: AdminRefundsOptions) {
  return new Elysia({ name: "admin-refunds" }).post("/refunds", async () => ({
    files: await recoverRefunds(),
  }));
}
