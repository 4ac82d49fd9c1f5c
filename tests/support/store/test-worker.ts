/** A worker that answers, fails, hangs, throws later or exits, on request. */
import { handleRequests } from "../../../server/worker-rpc.ts";

/** A request to the worker. */
export type TestWorkerRequest =
  | "answer"
  | "fail"
  | "throw later"
  | "exit"
  | "hang"
  | "answer a BigInt"
  | "answer with broken JSON";

/** Makes the text of the next response one that cannot be parsed, as if it were too long. */
function respondWithBrokenJson(): void {
  const { stringify } = JSON;
  JSON.stringify = () => {
    JSON.stringify = stringify;
    return "{";
  };
}

handleRequests((request: TestWorkerRequest): string | bigint => {
  switch (request) {
    case "fail":
      throw Object.assign(new Error("It did not work"), { code: "E_TEST" });
    case "throw later":
      queueMicrotask(() => {
        throw new Error("Nobody catches this");
      });
      break;
    case "exit":
      process.exit(1);
    case "hang":
      for (;;);
    case "answer a BigInt":
      return 1n; // JSON has none.
    case "answer with broken JSON":
      respondWithBrokenJson();
  }
  return request;
});
