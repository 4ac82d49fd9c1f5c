/** The command `openapi`: prints the OpenAPI document. */
import { createDocument } from "../http/openapi/document.ts";
import type { CommandLineIo } from "../commands/terminal/process-io.ts";

/** Prints the document that `/swagger/json` answers. */
export async function printOpenApi({ writeOut }: CommandLineIo): Promise<void> {
  await writeOut(`${JSON.stringify(createDocument(), null, 2)}\n`);
}
