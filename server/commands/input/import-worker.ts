/** The worker thread that reads, parses and groups the input of an import. */
import { handleRequests } from "../../worker-rpc.ts";
import { CommandError } from "../command.ts";
import { readInput, type InputOptions } from "./input-blocks.ts";
import { readParts, type InputPart } from "./input-parts.ts";

/** Opens an input, and asks for its first part; without a file, asks for the next part. */
export interface InputRequest {
  readonly opened?: { readonly file: string; readonly options: InputOptions };
}

/** A part of the input; there is neither a part nor a failure at its end. */
export interface InputResponse {
  readonly part?: InputPart;
  readonly failure?: Pick<CommandError, "message" | "code" | "advice">;
}

// Each bad line is an error: without their stack traces, they take three quarters of the time.
Error.stackTraceLimit = 0;

let parts: AsyncGenerator<InputPart> | undefined;

handleRequests(
  async ({ opened }: InputRequest): Promise<InputResponse> => {
    if (opened !== undefined) parts = openParts(opened);
    try {
      const next = await parts?.next();
      return next === undefined || next.done === true ? {} : { part: next.value };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const { message, code, advice } = error;
      return { failure: { message, code, advice } };
    }
  },
  ({ part }) => (part === undefined ? [] : [part.message.buffer]),
);

function openParts({ file, options }: NonNullable<InputRequest["opened"]>) {
  let inputBytes = 0;
  const blocks = readInput(file, options, (count) => void (inputBytes += count));
  function takeInputBytes(): number {
    const taken = inputBytes;
    inputBytes = 0;
    return taken;
  }
  return readParts(blocks, { now: Date.now, takeInputBytes });
}
