/** Resolving the hosts of pictures, with DNS servers of the test. */
import { afterEach, expect, test } from "bun:test";
import { fetchPicture } from "../../server/pictures/fetch-picture.ts";
import { createHostResolver } from "../../server/pictures/resolve-host.ts";

const TYPES = { 1: "A", 28: "AAAA" } as const;
type Answers = Readonly<Partial<Record<"A" | "AAAA", readonly number[]>>>;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Starts a DNS server. Without answers, it is silent. @returns Its address. */
async function startDns(answers?: Answers): Promise<string> {
  const server = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: {
      data(socket, query, port, address) {
        if (answers !== undefined) socket.send(createResponse(query, answers), port, address);
      },
    },
  });
  closers.push(() => server.close());
  return `127.0.0.1:${server.port}`;
}

/** Creates the response to a query: its question again, and at most one record (RFC 1035, 4.1). */
function createResponse(query: Buffer, answers: Answers): Buffer {
  const nameEnd = query.indexOf(0, 12);
  const question = query.subarray(12, nameEnd + 5);
  const type = query.readUInt16BE(nameEnd + 1);
  const address = answers[TYPES[type as keyof typeof TYPES]];
  const header = Buffer.from([0x81, 0x80, 0, 1, 0, address ? 1 : 0, 0, 0, 0, 0]);
  const record = [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address?.length ?? 0];
  return Buffer.concat([
    query.subarray(0, 2),
    header,
    question,
    Buffer.from(address ? [...record, ...address] : []),
  ]);
}

const LOOPBACK = [...Array.from({ length: 15 }, () => 0), 1];

test("createHostResolver() returns the addresses of both families", async () => {
  const resolve = createHostResolver([await startDns({ A: [8, 8, 8, 8], AAAA: LOOPBACK })]);
  expect(await resolve("pictures.test")).toEqual([
    { address: "8.8.8.8", family: 4 },
    { address: "::1", family: 6 },
  ]);
});

test("createHostResolver() takes a host that has addresses of one family", async () => {
  const resolve = createHostResolver([await startDns({ A: [8, 8, 8, 8] })]);
  expect(await resolve("pictures.test")).toEqual([{ address: "8.8.8.8", family: 4 }]);
});

test.each([
  ["A", { A: [127, 0, 0, 1] }],
  ["A of a metadata service", { A: [169, 254, 169, 254] }],
  ["AAAA", { AAAA: LOOPBACK }],
  ["AAAA beside a public A", { A: [8, 8, 8, 8], AAAA: LOOPBACK }],
])("fetchPicture() refuses a host whose %s record leads inside", async (_, answers) => {
  const resolve = createHostResolver([await startDns(answers)]);
  const fetching = fetchPicture("https://pictures.test/", { resolve }).catch(Object);
  expect(await fetching).toMatchObject({ failure: "address" });
});

test("while a DNS server is silent, responses are compressed at once", async () => {
  const resolve = createHostResolver([await startDns()]);
  const fetching = Array.from({ length: 8 }, (_, nth) =>
    fetchPicture(`https://pictures${nth}.test/`, { resolve }).catch(Object),
  );
  const start = performance.now();
  for (let times = 0; times < 5; times++) await Bun.zstdCompress(new Uint8Array(200_000));
  expect(performance.now() - start).toBeLessThan(1000);
  for (const failure of await Promise.all(fetching)) {
    expect(failure).toMatchObject({ failure: "network" });
  }
  expect(performance.now() - start).toBeLessThan(5000);
}, 20_000);
