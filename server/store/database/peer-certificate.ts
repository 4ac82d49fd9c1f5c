/** The certificate by which the processes that share a database know each other. */
import type { Database } from "./database.ts";

/** A private key and its certificate, in PEM. */
export interface PeerCertificate {
  readonly privateKey: string;
  readonly certificate: string;
}

const SELECT_CERTIFICATE = `
  SELECT json_object('privateKey', private_key, 'certificate', certificate)
  FROM peer_certificates`;

const INSERT_CERTIFICATE = `
  INSERT INTO peer_certificates (id, private_key, certificate)
  VALUES (1, ?, ?)
  ON CONFLICT DO NOTHING`;

/** Reads the certificate of the database; `undefined` if it has none yet. */
export const readPeerCertificate = ({ queryJson }: Database) =>
  queryJson<PeerCertificate>(SELECT_CERTIFICATE, []);

/** Reads the certificate of the database, which gets one if it has none. */
export async function ensurePeerCertificate(
  database: Database,
  create: () => PeerCertificate,
): Promise<PeerCertificate> {
  const stored = await readPeerCertificate(database);
  if (stored !== undefined) return stored;
  const created = create();
  const args = [created.privateKey, created.certificate];
  await database.write([{ sql: INSERT_CERTIFICATE, args }], { idempotent: true });
  // Another process may have inserted its own first.
  return (await readPeerCertificate(database)) ?? created;
}
