/** Reads inputs in a worker thread: one part is read and parsed while others are stored. */
import { getProgramUrl } from "../../programs.ts";
import { createWorkerClient } from "../../worker-rpc.ts";
import { CommandError } from "../command.ts";
import type { InputRequest, InputResponse } from "./import-worker.ts";
import type { InputOptions } from "./input-blocks.ts";
import type { InputPart } from "./input-parts.ts";

const WORKER_FILE = getProgramUrl("commands/input/import-worker.ts");

/** Requests for parts that wait at the worker: while one part is stored, the next is built. */
const READ_AHEAD_PARTS = 2;

export type InputReader = ReturnType<typeof createInputReader>;

/** Creates a reader of inputs, one after another. `open()` starts to read before `readParts()`. */
export function createInputReader(options: InputOptions) {
  const worker = createWorkerClient<InputRequest, InputResponse>(WORKER_FILE);
  /** The requests whose responses come next, of the input that was opened last. */
  let pending: Promise<InputResponse>[] = [];

  function request(input: InputRequest): void {
    const response = worker.call(input, { isJson: false });
    response.catch(() => undefined); // It is awaited later.
    pending.push(response);
  }

  function open(file: string): void {
    pending = [];
    request({ opened: { file, options } });
  }

  return {
    open,

    /** @throws {CommandError} If the input cannot be read, after all parts before that point. */
    async *readParts(file: string): AsyncGenerator<InputPart> {
      if (pending.length === 0) open(file);
      for (;;) {
        while (pending.length < READ_AHEAD_PARTS) request({});
        const { part, failure } = (await pending.shift()) ?? {};
        if (part === undefined) pending = [];
        if (failure !== undefined) throw new CommandError(failure.message, failure);
        if (part === undefined) return;
        yield part;
      }
    },

    close: worker.terminate,
  };
}
