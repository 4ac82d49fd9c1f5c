/**
 * Preloaded by the tests that run in another time zone: refuses to run where the runtime did not
 * take the zone, so that they cannot pass in UTC unnoticed.
 */
const expected = Number(process.env["ZONE_OFFSET_MINUTES"]);
const offset = new Date(0).getTimezoneOffset();
if (offset !== expected) throw new Error(`Wanted a zone of ${expected} minutes, got ${offset}`);
console.error(`in the zone of ${offset} minutes`);
