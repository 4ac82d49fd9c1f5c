/** The thread that reads large blocks of lines while the requests go on. */
import { crossing, gatherLines, type Crossing, type Lines } from "./intake-lines.ts";
import { obeyOrders } from "./thread.ts";

/** Bytes of a block whose garbage is as large as all else that a process has. */
const HUGE_BYTES = 1_048_576;

obeyOrders(
  (lines: Lines): Crossing => {
    const { buffer, byteLength } = lines.bytes;
    const gathered = crossing(gatherLines(lines));
    // Else the bytes would be freed long after those of the next blocks are there.
    if (buffer instanceof ArrayBuffer) buffer.transfer(0);
    if (byteLength >= HUGE_BYTES) Bun.gc(true);
    return gathered;
  },
  { isText: false },
);
