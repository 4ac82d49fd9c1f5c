/** Sends an idempotent write to a libSQL server again until there is a response. */
import pRetry from "p-retry";
import { DomainError } from "../../../../core/errors.ts";
import { NotSentError, toUncertainError } from "../errors.ts";

/** These retries take about a second in all. */
const LOST_RESPONSE_RETRIES = { retries: 4, minTimeout: 50, factor: 2, randomize: true };

/** Runs an idempotent write until there is a response, or `isOver()` says that none is awaited. */
export function retryWrite<Result>(write: () => Promise<Result>, isOver: () => boolean) {
  let wasSent = false;
  const attempt = async () => {
    try {
      return await write();
    } catch (error) {
      wasSent ||= !(error instanceof NotSentError);
      throw wasSent ? toUncertainError(error) : error;
    }
  };
  return pRetry(attempt, {
    ...LOST_RESPONSE_RETRIES,
    shouldRetry: ({ error }) =>
      error instanceof DomainError && !(error instanceof NotSentError) && !isOver(),
  });
}
