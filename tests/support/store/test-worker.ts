/** A worker that answers, fails, hangs, throws later or exits, on request. */
import { handleRequests } from "../../../server/store/database/worker-rpc.ts";

/** A request to the worker. */
export type TestWorkerRequest =
  | "answer"
  | "fail"
  | "throw later"
  | "exit"
  | "hang"
  | "answer a BigInt"
  | "post garbage";

declare const self: Worker;

handleRequests(
  (request: TestWorkerRequest): string | bigint => {
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
      case "post garbage":
        self.postMessage("1 {"); // Before the response to this first request.
    }
    return request;
  },
  { isJson: true },
);
