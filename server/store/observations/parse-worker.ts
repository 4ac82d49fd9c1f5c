/** The worker thread that parses large blocks of lines, so that the main thread serves requests. */
import { serializeLines, parseLines, type SerializedLines, type LineBlock } from "./parse-lines.ts";
import { handleRequests } from "../database/worker-rpc.ts";

/** Blocks of this size leave so much garbage that an import takes 340 MiB instead of 300. */
const GC_MIN_BYTES = 1_048_576;

// Each bad line is an error: without their stack traces, they take three quarters of the time.
Error.stackTraceLimit = 0;

handleRequests(
  (lines: LineBlock): SerializedLines => {
    const { buffer, byteLength } = lines.bytes;
    const serialized = serializeLines(parseLines(lines));
    // Frees the bytes at once; else they would stay until after the next blocks arrived.
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
    if (byteLength >= GC_MIN_BYTES) Bun.gc(true);
    return serialized;
  },
  { isJson: false },
);
