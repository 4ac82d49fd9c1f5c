/** A worker that answers, fails, throws later or exits, on request. */
import { handleRequests } from "../../../server/store/database/worker-rpc.ts";

/** A request to the worker. */
export type TestWorkerRequest = "answer" | "fail" | "throw later" | "exit";

handleRequests(
  (request: TestWorkerRequest): string => {
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
    }
    return request;
  },
  { isJson: true },
);
