/** A thread that does as it is told, also what no thread should. */
import { handleRequests } from "../../../server/store/database/worker-rpc.ts";

/** What it can be told. */
export type TestWorkerRequest = "answer" | "fail" | "throw later" | "exit";

handleRequests(
  (errand: TestWorkerRequest): string => {
    switch (errand) {
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
    return errand;
  },
  { isJson: true },
);
