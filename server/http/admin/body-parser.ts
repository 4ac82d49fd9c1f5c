/** Bodies of the administrator's interface: read as those of the public one are. */
import { Elysia } from "elysia";
import { readJsonBody } from "../request-body.ts";

/** Reads the bodies of the routes that are declared after it. */
export const jsonBodyParser = new Elysia({ name: "admin-body" }).onParse(
  { as: "scoped" },
  ({ request }) => readJsonBody(request),
);
