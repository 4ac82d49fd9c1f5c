import { afterAll, expect, spyOn, test } from "bun:test";
import { startTestService } from "../support/service.ts";

const service = await startTestService();
afterAll(() => service.close());

test("createChargedReadParts(): keys need no lookup while their reads are charged", async () => {
  const { key } = await service.createAccountWithKey(100);
  const read = () => service.get("/api/video/channels", key);
  await read();
  const queryJson = spyOn(service.service.database, "queryJson");
  const countLookups = () =>
    queryJson.mock.calls.filter(([sql]) => sql.includes("keys.hash")).length;
  for (let reads = 0; reads < 10; reads++) {
    service.clock.now += 499;
    expect((await read()).status).toBe(200);
  }
  expect(countLookups()).toBe(0);
  service.clock.now += 500;
  expect((await read()).status).toBe(200);
  expect(countLookups()).toBe(1);
  queryJson.mockRestore();
});
