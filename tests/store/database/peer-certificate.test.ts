import { expect, test } from "bun:test";
import {
  ensurePeerCertificate,
  readPeerCertificate,
} from "../../../server/store/database/peer-certificate.ts";
import { withDatabase } from "../../support/store/database.ts";

test("ensurePeerCertificate() gives all processes the certificate that was stored first", () =>
  withDatabase(async (database) => {
    expect(await readPeerCertificate(database)).toBeUndefined();
    let created = 0;
    const create = () => ({
      privateKey: `key ${++created}`,
      certificate: `certificate ${created}`,
    });
    const ensure = () => ensurePeerCertificate(database, create);
    const [first, second] = await Promise.all([ensure(), ensure()]);
    expect(created).toBe(2);
    expect(second).toEqual(first);
    expect(await ensure()).toEqual(first);
    expect(await readPeerCertificate(database)).toEqual(first);
    expect(created).toBe(2);
  }));
