/** A thread that does as it is told, also what no thread should. */
import { obeyOrders } from "../../server/store/thread.ts";

/** What it can be told. */
export type Errand = "answer" | "fail" | "throw later" | "exit";

obeyOrders(
  (errand: Errand): string => {
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
  { isText: true },
);
