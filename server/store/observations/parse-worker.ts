/** The thread that reads large blocks of lines while the requests go on. */
import { serializeLines, parseLines, type SerializedLines, type LineBlock } from "./parse-lines.ts";
import { handleRequests } from "../database/worker-rpc.ts";

/** Bytes of a block whose garbage is as large as all else that a process has. */
const GC_MIN_BYTES = 1_048_576;

handleRequests(
  (lines: LineBlock): SerializedLines => {
    const { buffer, byteLength } = lines.bytes;
    const gathered = serializeLines(parseLines(lines));
    // Else the bytes would be freed long after those of the next blocks are there.
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
    if (byteLength >= GC_MIN_BYTES) Bun.gc(true);
    return gathered;
  },
  { isJson: false },
);
