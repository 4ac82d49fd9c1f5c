/** The calls that wait to be sent to a libSQL server, in their order; urgent ones come first. */

interface WaitingCall {
  readonly isUrgent: boolean;
}

const WAITING_CALLS_MAX = 10_000;

/** Creates an empty list. */
export function createWaitingCalls<Call extends WaitingCall>() {
  let calls: Call[] = [];
  return {
    isFull: (): boolean => calls.length >= WAITING_CALLS_MAX,

    add: (call: Call): void => void calls.push(call),

    /** Removes the call to send next; `undefined` if there is none. */
    takeNext(): Call | undefined {
      const urgent = calls.findIndex(({ isUrgent }) => isUrgent);
      return urgent > 0 ? calls.splice(urgent, 1)[0] : calls.shift();
    },

    /** Removes all calls that meet a condition. */
    takeAll(isTaken: (call: Call) => boolean): Call[] {
      const taken = calls.filter(isTaken);
      if (taken.length > 0) calls = calls.filter((call) => !isTaken(call));
      return taken;
    },
  };
}
