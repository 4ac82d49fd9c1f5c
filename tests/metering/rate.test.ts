import { expect, test } from "bun:test";
import { createRateLimit } from "../../server/metering/rate.ts";

test("createRateLimit() forgets no key that has used its requests, however many there are", () => {
  const clock = { now: 0 };
  const admit = createRateLimit(1, () => clock.now);
  for (let key = 0; key < 10_500; key++) expect(admit(key).isAdmitted).toBe(true);
  for (let key = 0; key < 10_500; key++) expect(admit(key).isAdmitted).toBe(false);
  clock.now = 60_000;
  for (let key = 0; key < 10_500; key++) expect(admit(key).isAdmitted).toBe(true);
});
